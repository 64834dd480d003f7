//! The figures, each as a file of its own.
//!
//! **Choices**
//! - A file has its panels side by side and the legend in rows below, where it covers no data.
//! - The page shows the same panels, one below the other on a narrow screen, with one legend for
//!   all.

use super::panel::{self, Line, Lines, Panel, Plot, Point, Row, Scale};
use super::runs::{Problem, Race, Run, Runs};
use super::style::{Style, sheet};
use crate::bench::stats::{Estimate, quantile};
use crate::bench::text;
use crate::draw::svg::Svg;

/// Panels that belong together.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Also the name of its file.
    pub(super) id: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) panels: Vec<Panel>,
}

impl Figure {
    /// Per line its name, its style and whether it is a method's; each once, in order.
    pub(super) fn legend(&self) -> Vec<(&str, Style, bool)> {
        let mut all: Vec<(&str, Style, bool)> = Vec::new();
        for entry in self.panels.iter().flat_map(Panel::names) {
            if !all.contains(&entry) {
                all.push(entry);
            }
        }
        all
    }

    /// The text of the figure's file.
    pub(super) fn file(&self) -> String {
        let legend = self.legend();
        // The title's letters are half as wide again.
        let width = (panel::WIDTH * self.panels.len() as f64 + 10.0).max(1.5 * panel::text_width(&self.title) + 40.0);
        let column = 56.0 + legend.iter().map(|(name, _, _)| panel::text_width(name)).fold(0.0, f64::max);
        let columns = ((width - 30.0) / column).floor().max(1.0) as usize;
        let tallest = self.panels.iter().map(Panel::height).fold(0.0, f64::max);
        let below = 44.0 + tallest + 20.0;
        let height = below + 20.0 * legend.len().div_ceil(columns) as f64 + 4.0;
        let descriptions: Vec<String> =
            self.panels.iter().map(|panel| format!("{}: {}", panel.title, panel.description)).collect();
        let mut svg = Svg::new(width, height, &self.title, &descriptions.join(" "), &sheet());
        svg.rect(0.0, 0.0, width, height, "paper");
        svg.text(20.0, 28.0, "title", &self.title);
        for (i, panel) in self.panels.iter().enumerate() {
            panel.draw(&mut svg, (panel::WIDTH * i as f64, 44.0));
        }
        for (i, (name, style, _)) in legend.into_iter().enumerate() {
            let (x, y) = (20.0 + column * (i % columns) as f64, below + 20.0 * (i / columns) as f64);
            svg.begin_group(&[("class", &style.classes())], name);
            panel::sample(&mut svg, (x, y), style);
            svg.text(x + 42.0, y + 4.0, "number", name);
            svg.end_group();
        }
        svg.finish()
    }
}

/// The title of a race beside its masked or unmasked twin.
fn panel_title(mask: bool) -> String {
    if mask { "masked".into() } else { "not masked".into() }
}

/// The lines of a race: at each of `1..=horizon`, the mean over seeds of a number of the run.
fn lines(runs: &Runs, race: &Race, horizon: usize, f: impl Fn(&Run, usize) -> f64) -> Vec<Line> {
    let line = |(method, (name, style)): (usize, &(String, Style))| {
        let point = |t: usize| {
            let estimate = Estimate::of(&race.numbers(method, |run| Some(f(run, t))))?;
            // Infinite while some seed has only failures.
            estimate.mean.is_finite().then(|| Point { x: t as f64, y: estimate.mean, band: estimate.band() })
        };
        let points: Vec<Point> = (1..=horizon).filter_map(point).collect();
        (!points.is_empty()).then(|| Line { name: name.clone(), style: *style, is_method: true, points })
    };
    runs.methods.iter().enumerate().filter_map(line).collect()
}

/// The ends of the lines in words, for screen readers.
fn endings(lines: &[Line], write: impl Fn(f64) -> String) -> String {
    let end = |line: &Line| line.points.last().map(|point| (point.y, format!("{} {}", line.name, write(point.y))));
    let mut ends: Vec<_> = lines.iter().filter_map(end).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    format!("At the end: {}.", text::list(&ends.into_iter().map(|(_, text)| text).collect::<Vec<_>>()))
}

/// The smallest and the largest y of the points, including bands.
fn extent<'a>(points: impl Iterator<Item = &'a Point>) -> Option<(f64, f64)> {
    points.fold(None, |extent: Option<(f64, f64)>, point| {
        let (low, high) = extent.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        Some((low.min(point.band.0), high.max(point.band.1)))
    })
}

fn seeds(problem: &Problem) -> String {
    let counts: Vec<usize> =
        problem.there().flat_map(|(_, race)| race.runs.iter().map(Vec::len)).filter(|n| *n > 0).collect();
    match (counts.iter().min(), counts.iter().max()) {
        (Some(1), Some(1)) => "One seed, so no bands.".into(),
        (Some(least), Some(most)) if least == most => format!("Mean of {most} seeds; bands are one standard error."),
        (Some(least), Some(most)) => format!("Means of {least} to {most} seeds; bands are one standard error."),
        _ => String::new(),
    }
}

/// The figures of one problem, as far as its runs have the data.
pub(super) fn of_problem(runs: &Runs, problem: &Problem, slug: &str) -> Vec<Figure> {
    let mut all = vec![best(runs, problem, slug)];
    all.extend(problem.has_test().then(|| test(runs, problem, slug)));
    if problem.has_optimum() {
        all.extend([regret(runs, problem, slug), solved(runs, problem, slug)]);
    }
    all
}

/// A number of the runs against evaluations, and whether the plot cuts bad starts.
fn course(
    runs: &Runs,
    problem: &Problem,
    name: &str,
    optimum: Option<f64>,
    f: impl Fn(&Run, usize) -> f64,
) -> (Vec<Panel>, bool) {
    let horizon = problem.horizon();
    let races: Vec<_> = problem.there().map(|(mask, race)| (mask, lines(runs, race, horizon, &f))).collect();
    let points = || races.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.points);
    // Bad starts must not flatten the rest: the top is where the lines are after a thirtieth of the
    // budget, unless everything fits.
    let early = (horizon as f64 / 30.0).max(2.0);
    let (low, top) = extent(points()).unwrap_or((0.0, 1.0));
    let (_, later) = extent(points().filter(|point| point.x >= early)).unwrap_or((low, top));
    let high = if top - low > 1.8 * (later - low) && later > low { later } else { top };
    let y = Scale::around(optimum.map_or(low, |optimum| low.min(optimum)), high);
    let panels = races.into_iter().map(|(mask, lines)| Panel {
        title: panel_title(mask),
        description: endings(&lines, text::short),
        plot: Plot::Lines(Lines {
            x: (Scale::Count(horizon), "evaluations".into()),
            y: (y, name.into()),
            lines,
            level: optimum,
        }),
    });
    (panels.collect(), high < top)
}

const CUT: &str = " Values above the plot are drawn at its edge.";

/// Best so far against evaluations, as in the paper's figures 1 and 2, and on validation data in 3.
fn best(runs: &Runs, problem: &Problem, slug: &str) -> Figure {
    let races = problem.there().flat_map(|(_, race)| race.all());
    let optima: Vec<f64> = races.filter_map(|run| run.optimum).collect();
    let optimum = problem.has_optimum().then(|| Estimate::of(&optima)).flatten().map(|estimate| estimate.mean);
    let (panels, is_cut) = course(runs, problem, "best so far", optimum, Run::best);
    let mut caption = format!("Best value so far against evaluations; lower is better. {}", seeds(problem));
    if problem.has_test() {
        caption += " The value is the error on validation data.";
    }
    if optimum.is_some() {
        caption += " The dotted line is the optimum, averaged over the instances.";
    }
    if is_cut {
        caption += CUT;
    }
    Figure { id: format!("{slug}-best"), title: format!("{}: best so far", problem.name), caption, panels }
}

/// Test error of the best so far, as in the paper's figures 3a and 3b.
fn test(runs: &Runs, problem: &Problem, slug: &str) -> Figure {
    let (panels, is_cut) = course(runs, problem, "test error of the best", None, Run::test_at);
    let mut caption = format!(
        "Error on test data of the combination with the best validation error so far; no method sees test data. {}",
        seeds(problem)
    );
    if is_cut {
        caption += CUT;
    }
    Figure { id: format!("{slug}-test"), title: format!("{}: test error", problem.name), caption, panels }
}

/// Simple regret on a log axis.
fn regret(runs: &Runs, problem: &Problem, slug: &str) -> Figure {
    let horizon = problem.horizon();
    let regret = |run: &Run, t: usize| {
        let optimum = run.optimum.unwrap_or(f64::NAN);
        if run.solved_at().is_some_and(|solved| solved <= t as f64) { 0.0 } else { (run.best(t) - optimum).max(0.0) }
    };
    let races: Vec<_> = problem.there().map(|(mask, race)| (mask, lines(runs, race, horizon, regret))).collect();
    let points = || races.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.points);
    let least = points().map(|point| point.y).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
    let most = points().map(|point| point.band.1).fold(0.0, f64::max);
    // The lower edge stands for 0.
    let (low, high) = if most > 0.0 { ((least / 2.0).max(most * 1e-12), most * 1.3) } else { (1e-9, 1.0) };
    let write = |y: f64| if y > 0.0 { text::short(y) } else { "0".into() };
    let panels = races.into_iter().map(|(mask, lines)| Panel {
        title: panel_title(mask),
        description: endings(&lines, write),
        plot: Plot::Lines(Lines {
            x: (Scale::Count(horizon), "evaluations".into()),
            y: (Scale::Log(low, high), "simple regret (log)".into()),
            lines,
            level: None,
        }),
    });
    Figure {
        id: format!("{slug}-regret"),
        title: format!("{}: simple regret", problem.name),
        caption: format!(
            "Simple regret: best so far minus the optimum, on a log axis. A line on the lower edge is at 0: every seed \
             has found the optimum. {}",
            seeds(problem)
        ),
        panels: panels.collect(),
    }
}

/// The share of seeds that have found the optimum.
fn solved(runs: &Runs, problem: &Problem, slug: &str) -> Figure {
    let horizon = problem.horizon();
    let share =
        |run: &Run, t: usize| if run.solved_at().is_some_and(|solved| solved <= t as f64) { 100.0 } else { 0.0 };
    let panels = problem.there().map(|(mask, race)| {
        let mut lines = lines(runs, race, horizon, share);
        lines.iter_mut().flat_map(|line| &mut line.points).for_each(|point| point.band = (point.y, point.y));
        Panel {
            title: panel_title(mask),
            description: endings(&lines, |y| format!("{y:.0} %")),
            plot: Plot::Lines(Lines {
                x: (Scale::Count(horizon), "evaluations".into()),
                y: (Scale::Linear(0.0, 104.0), "seeds solved, %".into()),
                lines,
                level: None,
            }),
        }
    });
    Figure {
        id: format!("{slug}-solved"),
        title: format!("{}: evaluations to the optimum", problem.name),
        caption: "Share of the seeds that have found the optimum; higher and further left is better.".into(),
        panels: panels.collect(),
    }
}

/// The time per suggestion, over all problems.
pub(super) fn seconds(runs: &Runs) -> Figure {
    let horizon = runs.problems.iter().map(Problem::horizon).max().unwrap_or(0);
    let all = |method: usize| runs.races().flat_map(move |(_, _, race)| &race.runs[method]);
    let median_at = |method: usize, t: usize| {
        let asked = all(method).filter(|run| t > run.initial).filter_map(|run| run.seconds.get(t - 1).copied());
        quantile(&asked.collect::<Vec<_>>(), 0.5)
    };
    let (mut lines, mut rows) = (Vec::new(), Vec::new());
    for (method, (name, style)) in runs.methods.iter().enumerate() {
        let points = (1..=horizon).filter_map(|t| {
            let y = median_at(method, t)?.max(1e-9);
            Some(Point { x: t as f64, y, band: (y, y) })
        });
        let points: Vec<Point> = points.collect();
        if !points.is_empty() {
            lines.push(Line { name: name.clone(), style: *style, is_method: true, points });
        }
        let asked = suggestion_seconds(runs, method);
        if let [Some(low), Some(middle), Some(high)] = [0.1, 0.5, 0.9].map(|share| quantile(&asked, share)) {
            rows.push(Row { name: name.clone(), style: *style, span: [low, middle, high].map(|x| x.max(1e-9)) });
        }
    }
    let (low, high) = extent(lines.iter().flat_map(|line| &line.points)).unwrap_or((1e-6, 1.0));
    let description = endings(&lines, text::seconds);
    let spans: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, text::seconds(row.span[1]))).collect();
    let growing = Panel {
        title: "as a run goes on".into(),
        description,
        plot: Plot::Lines(Lines {
            x: (Scale::Count(horizon), "evaluations".into()),
            y: (Scale::Log(low / 1.5, high * 1.5), "seconds (log)".into()),
            lines,
            level: None,
        }),
    };
    let overall = Panel {
        title: "all suggestions".into(),
        description: format!("Medians: {}.", text::list(&spans)),
        plot: Plot::Rows("seconds (log)".into(), rows),
    };
    Figure {
        id: "seconds".into(),
        title: "Seconds per suggestion, all problems".into(),
        caption: "Processor time to suggest a combination and to learn from its value, over all problems. Left: the \
                  median at each evaluation. Right: the median and the range of the middle 80 %. Initial points are \
                  left out."
            .into(),
        panels: vec![growing, overall],
    }
}

/// A method's seconds for every combination that it asked for.
pub(super) fn suggestion_seconds(runs: &Runs, method: usize) -> Vec<f64> {
    let all = runs.races().flat_map(|(_, _, race)| &race.runs[method]);
    all.flat_map(|run| run.seconds.iter().skip(run.initial)).copied().collect()
}
