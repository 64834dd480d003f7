//! The figures of a tuning run, each an SVG inside the page.
//!
//! **Choices**
//! - Levels are equally spaced, by rank, because their names must be readable.
//! - The effects of all knobs share one scale: a flat line does not matter.
//! - Values use a log axis if they are positive and the largest is a hundred times the smallest.
//! - Points outside a scale are drawn at its edge.
//! - The front of a trade-off is over what keeps the other limits: the best for every bound that one
//!   might set.

use std::fmt::Write;

use trimtab::{Goal, Level};

use super::effects::Effect;
use crate::draw::number::{short, with_error};
use crate::draw::plot::Axis;
use crate::draw::svg::{Svg, number};
use crate::session::limits::Limit;
use crate::space::NamedKnob;
use crate::tune::history::{History, Trial, is_better};

const WIDTH: f64 = 450.0;
const HEIGHT: f64 = 296.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
const ACROSS: (f64, f64) = (LEFT, WIDTH - RIGHT);
const UPWARDS: (f64, f64) = (HEIGHT - BOTTOM, TOP);

/// Longest number beside an axis.
const MOST_DIGITS: usize = 6;

/// Lines of an interaction; each has a colour and dashes of its own.
pub(super) const MOST_LINES: usize = 5;

/// The range of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Range {
    /// A range with a margin around the values.
    pub(super) fn around(values: impl Iterator<Item = f64>, may_be_log: bool) -> Self {
        let all = values.filter(|value| value.is_finite());
        let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Self { low: 0.0, high: 1.0, is_log: false };
        }
        if may_be_log && low > 0.0 && high / low >= 100.0 {
            return Self { low: low / 1.2, high: high * 1.2, is_log: true };
        }
        let air = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        Self { low: low - air, high: high + air, is_log: false }
    }

    fn axis(self, pixels: (f64, f64)) -> Axis {
        match self.is_log {
            true => Axis::log((self.low, self.high), pixels),
            false => Axis::linear((self.low, self.high), pixels),
        }
    }
}

/// A figure with its heading; the y axis has a grid and numbers.
fn begin(title: &str, description: &str, y: &Axis, y_name: &str) -> Svg {
    let mut svg = Svg::bare(WIDTH, HEIGHT, title, description);
    svg.text(LEFT, 18.0, "heading", title);
    let (ticks, scale) = ticks(y);
    for (tick, text) in ticks {
        let at = y.place(tick);
        svg.line((ACROSS.0, at), (ACROSS.1, at), "grid");
        svg.text(LEFT - 8.0, at + 4.0, "number end", &text);
    }
    svg.upright_text(14.0, (UPWARDS.0 + UPWARDS.1) / 2.0, "name middle", &format!("{y_name}{scale}"));
    svg
}

/// The border, and the name of the x axis, drawn last.
fn end(mut svg: Svg, x_name: &str) -> String {
    svg.rect(LEFT, TOP, ACROSS.1 - LEFT, UPWARDS.0 - TOP, "border");
    svg.text((ACROSS.0 + ACROSS.1) / 2.0, HEIGHT - 10.0, "name middle", x_name);
    svg.finish()
}

/// Numbers below the x axis; returns what they are to be multiplied with.
fn x_numbers(svg: &mut Svg, x: &Axis) -> String {
    let (ticks, scale) = ticks(x);
    for (tick, text) in ticks {
        let at = x.place(tick);
        svg.line((at, UPWARDS.0), (at, UPWARDS.0 + 4.0), "tick");
        svg.text(at, UPWARDS.0 + 17.0, "number middle", &text);
    }
    scale
}

/// Ticks with their numbers. If those are too long to stand beside the axis, a power of a thousand
/// goes to its name.
fn ticks(axis: &Axis) -> (Vec<(f64, String)>, String) {
    let ticks = axis.ticks();
    let largest = ticks.iter().fold(0.0, |largest: f64, tick| largest.max(tick.abs()));
    if largest == 0.0 || ticks.iter().all(|tick| shown(*tick).chars().count() <= MOST_DIGITS) {
        return (ticks.into_iter().map(|tick| (tick, shown(tick))).collect(), String::new());
    }
    let power = 3 * (largest.log10() / 3.0).floor() as i32;
    let text = |tick: f64| shown(tick / 10f64.powi(power));
    let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| c.to_digit(10).map_or('⁻', |digit| digits[digit as usize]);
    let scale = format!(" / 10{}", power.to_string().chars().map(raise).collect::<String>());
    (ticks.into_iter().map(|tick| (tick, text(tick))).collect(), scale)
}

/// A short number with a true minus sign; sums of ticks may miss a round number slightly.
pub(super) fn shown(x: f64) -> String {
    short(x).replace('-', "−")
}

/// The same, with so many digits that count.
pub(super) fn estimate(x: f64, digits: usize) -> String {
    format!("{x:.*e}", digits - 1).parse().map_or_else(|_| shown(x), shown)
}

/// The same, with an uncertainty.
pub(super) fn shown_with(mean: f64, std_dev: f64) -> String {
    with_error(mean, std_dev).replace('-', "−")
}

/// Every value, the best so far, and failures on the lower edge.
pub(super) fn progress(history: &History, best: &[f64], cost: &str) -> String {
    let range = Range::around(history.outcomes().filter_map(Trial::value), true);
    let (x, y) = (Axis::count(history.done.len(), ACROSS), range.axis(UPWARDS));
    let about = "Every measured value, and the best so far as a line; failures on the lower edge.";
    let mut svg = begin("Best so far", about, &y, cost);
    let mut path = String::new();
    let without = history.done.len() - best.len();
    for (i, trial) in history.outcomes().enumerate() {
        let at = x.place(i as f64 + 1.0);
        let (class, height, text) = match &trial.outcome {
            Some(Ok(value)) if trial.is_kept() => ("dot", y.place(*value), shown(*value)),
            Some(Ok(value)) => ("broken", y.place(*value), format!("{}, breaks a limit", shown(*value))),
            Some(Err(why)) => ("lost", UPWARDS.0 - 4.0, why.clone()),
            None => continue,
        };
        let title = format!("measurement {}: {text}", i + 1);
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("cx", &number(at)), ("cy", &number(height)), ("r", &"3"), ("class", &class)];
        svg.element_with_title("circle", &place, &title);
        // A step: the best changes when it changes.
        if let Some(best) = i.checked_sub(without).and_then(|place| best.get(place)) {
            let _ = match path.is_empty() {
                true => write!(path, "M{} {}", number(at), number(y.place(*best))),
                false => write!(path, "H{}V{}", number(at), number(y.place(*best))),
            };
        }
    }
    svg.path(&path, "line own");
    x_numbers(&mut svg, &x);
    end(svg, "measurements")
}

/// Predicted against measured values, with one standard deviation.
pub(super) fn foretold(history: &History, noise: f64, cost: &str) -> String {
    let foretold: Vec<(f64, f64, f64, u64)> = expectations(history, noise).collect();
    let range = Range::around(foretold.iter().flat_map(|(mean, _, value, _)| [*mean, *value]), true);
    let (x, y) = (range.axis(ACROSS), range.axis(UPWARDS));
    let about = "A point a measurement: across what was measured, upwards what the model expected, with one standard \
                 deviation. On the dashed line both are the same.";
    let mut svg = begin("Predicted and measured", about, &y, &format!("predicted {cost}"));
    for tick in x.ticks() {
        let at = x.place(tick);
        svg.line((at, UPWARDS.0), (at, UPWARDS.1), "grid");
    }
    svg.line((x.place(range.low), y.place(range.low)), (x.place(range.high), y.place(range.high)), "level");
    for (mean, std_dev, value, id) in foretold {
        let at = x.place(value);
        svg.line((at, y.place(mean - std_dev)), (at, y.place(mean + std_dev)), "doubt");
        let title = format!("measurement {id}: expected {}, got {}", shown_with(mean, std_dev), shown(value));
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("cx", &number(at)), ("cy", &number(y.place(mean))), ("r", &"3"), ("class", &"dot")];
        svg.element_with_title("circle", &place, &title);
    }
    let scale = x_numbers(&mut svg, &x);
    end(svg, &format!("measured {cost}{scale}"))
}

/// The cost over the number that limit `j` is on; `best` is the number and the cost of the best.
pub(super) fn tradeoff(
    history: &History,
    (j, limit): (usize, &Limit),
    (goal, cost): (Goal, &str),
    best: Option<(f64, f64)>,
) -> String {
    let points = || {
        history
            .outcomes()
            .enumerate()
            .filter_map(|(i, trial)| Some((i + 1, *trial.numbers.get(limit.name())?, trial.value()?, trial)))
    };
    let readings = points().map(|(_, number, ..)| number).chain([limit.bound()]);
    let across = match limit.is_log() {
        false => Range::around(readings, true),
        true => {
            // What is not positive stands on the edge, a little outside the others.
            let all = readings.filter(|number| *number > 0.0);
            let (low, high) = all.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
            Range { low: low / 2.0, high: high * 2.0, is_log: true }
        }
    };
    let upwards = Range::around(points().map(|(_, _, value, _)| value).chain(best.map(|best| best.1)), true);
    let (x, y) = (across.axis(ACROSS), upwards.axis(UPWARDS));
    let about = "A dot per measurement, filled if it keeps all limits; the dashed line is the limit, and the step line \
                 the best for every bound.";
    let mut svg = begin(&cut(&limit.to_string(), 40), about, &y, &cut(cost, 30));
    let at = x.place(limit.bound());
    let broken = if limit.is_lower() { (ACROSS.0, at) } else { (at, ACROSS.1) };
    svg.rect(broken.0, UPWARDS.1, broken.1 - broken.0, UPWARDS.0 - UPWARDS.1, "beyond");
    svg.path(
        &front(points().filter(|(.., trial)| keeps_others(trial, j)).map(|(_, x, y, _)| (x, y)), limit, goal, (&x, &y)),
        "line front",
    );
    svg.line((at, UPWARDS.0), (at, UPWARDS.1), "level");
    // What keeps the limits lies on top.
    for is_kept in [false, true] {
        for (number_of, number, value, trial) in points().filter(|(.., trial)| trial.is_kept() == is_kept) {
            let class = if is_kept { "mean" } else { "broken" };
            let title = format!("measurement {number_of}: {} {}, {}", limit.name(), shown(number), shown(value));
            let place: [(&str, &dyn std::fmt::Display); 4] = [
                ("cx", &self::number(x.place(number))),
                ("cy", &self::number(y.place(value))),
                ("r", &if trial.is_kept() { "3.4" } else { "3" }),
                ("class", &class),
            ];
            svg.element_with_title("circle", &place, &title);
        }
    }
    if let Some((reading, value)) = best {
        let (at, height) = (x.place(reading), y.place(value));
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("cx", &number(at)), ("cy", &number(height)), ("r", &"7"), ("class", &"ring")];
        svg.element_with_title("circle", &place, "the best");
    }
    let scale = x_numbers(&mut svg, &x);
    end(svg, &format!("{}{scale}", cut(limit.name(), 40)))
}

/// Whether a trial keeps every limit but one.
pub(super) fn keeps_others(trial: &Trial, but: usize) -> bool {
    trial.margins.iter().enumerate().all(|(j, margin)| j == but || *margin >= 0.0)
}

/// The best cost for every bound, as steps.
fn front(points: impl Iterator<Item = (f64, f64)>, limit: &Limit, goal: Goal, (x, y): (&Axis, &Axis)) -> String {
    let mut points: Vec<(f64, f64)> = points.collect();
    let sign = if limit.is_lower() { -1.0 } else { 1.0 };
    points.sort_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)));
    let (mut path, mut best): (String, Option<f64>) = (String::new(), None);
    for (reading, value) in points {
        if best.is_some_and(|best| !is_better(goal, value, best)) {
            continue;
        }
        let (at, height) = (number(x.place(reading)), number(y.place(value)));
        let _ = match best.replace(value) {
            None => write!(path, "M{at} {height}"),
            Some(_) => write!(path, "H{at}V{height}"),
        };
    }
    if best.is_some() {
        let _ = write!(path, "H{}", number(if limit.is_lower() { ACROSS.0 } else { ACROSS.1 }));
    }
    path
}

/// Mean and standard deviation of the prediction, value, and number of each measurement. The
/// prediction is of the mean, and one value differs from it by the noise.
pub(super) fn expectations(history: &History, noise: f64) -> impl Iterator<Item = (f64, f64, f64, u64)> {
    history.outcomes().filter_map(move |t| Some((t.mean?.into(), f64::from(t.std_dev?).hypot(noise), t.value()?, t.id)))
}

/// Names below their places, as far as there is room.
fn level_names(svg: &mut Svg, knob: &NamedKnob, levels: &[Level], places: &[f64]) {
    let longest = levels.iter().map(|level| knob.short(*level).chars().count()).max().unwrap_or(1);
    let gap = if places.len() > 1 { places[1] - places[0] } else { ACROSS.1 - ACROSS.0 };
    // Less a letter, which keeps neighbours apart.
    let room = |every: usize| ((gap * every as f64 / 7.4) as usize).saturating_sub(1);
    // Numbers can be left out, because their neighbours tell; words are cut instead.
    let is_graded = levels.iter().all(|level| knob.number(*level).is_some());
    let wanted = if is_graded { longest } else { 4 };
    let every = (1..=places.len()).find(|every| room(*every) >= wanted).unwrap_or(places.len().max(1));
    for (i, (level, at)) in levels.iter().zip(places).enumerate() {
        svg.line((*at, UPWARDS.0), (*at, UPWARDS.0 + 4.0), "tick");
        if i.is_multiple_of(every) {
            svg.text(*at, UPWARDS.0 + 17.0, "number middle", &cut(&knob.short(*level), room(every).max(4)));
        }
    }
}

/// Cuts a text to `most` letters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_string(),
    }
}

/// Where levels are drawn, equally spaced.
fn places(count: usize) -> Vec<f64> {
    let gap = (ACROSS.1 - ACROSS.0) / count.max(1) as f64;
    (0..count).map(|level| ACROSS.0 + gap * (level as f64 + 0.5)).collect()
}

/// The effect of a knob, with one standard deviation.
pub(super) fn effect(knob: &NamedKnob, effect: &Effect, range: Range, cost: &str) -> String {
    let y = range.axis(UPWARDS);
    let places = places(effect.levels.len());
    let title = cut(knob.name(), 40);
    let about = "The mean of the predictions with the knob at each level, with one standard deviation.";
    let mut svg = begin(&title, about, &y, cost);
    let points: Vec<_> = places.iter().zip(&effect.levels).filter_map(|(at, level)| Some((*at, (*level)?))).collect();
    let is_graded = effect.at.iter().all(|level| knob.number(*level).is_some());
    if is_graded && points.len() > 1 {
        let upper = points.iter().map(|(at, (mean, std_dev))| (*at, y.place(mean + std_dev)));
        let lower = points.iter().rev().map(|(at, (mean, std_dev))| (*at, y.place(mean - std_dev)));
        svg.path(&(steps(upper.chain(lower)) + "z"), "sure");
        svg.path(&steps(points.iter().map(|(at, (mean, _))| (*at, y.place(*mean)))), "line own");
    } else {
        for (at, (mean, std_dev)) in &points {
            svg.line((*at, y.place(mean - std_dev)), (*at, y.place(mean + std_dev)), "doubt wide");
        }
    }
    for (level, (at, mean_and_std_dev)) in effect.at.iter().zip(places.iter().zip(&effect.levels)) {
        let Some((mean, std_dev)) = mean_and_std_dev else { continue };
        let title = format!("{}: {}", knob.label(*level), shown_with(*mean, *std_dev));
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("cx", &number(*at)), ("cy", &number(y.place(*mean))), ("r", &"4"), ("class", &"mean")];
        svg.element_with_title("circle", &place, &title);
    }
    for (level, (at, failed)) in effect.at.iter().zip(places.iter().zip(&effect.failed)) {
        let Some(failed) = failed else { continue };
        let title = format!("{}: failed {failed} of {failed} times", knob.label(*level));
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("cx", &number(*at)), ("cy", &number(UPWARDS.0 - 4.0)), ("r", &"3"), ("class", &"lost")];
        svg.element_with_title("circle", &place, &title);
        svg.text(*at, UPWARDS.0 - 12.0, "number middle", "failed");
    }
    level_names(&mut svg, knob, &effect.at, &places);
    end(svg, "level")
}

/// The scale that all effects share.
pub(super) fn effect_range(effects: &[Effect]) -> Range {
    let ends = effects.iter().flat_map(|effect| effect.levels.iter().flatten());
    Range::around(ends.flat_map(|(mean, std_dev)| [mean - std_dev, mean + std_dev]), false)
}

/// A line for some levels of one knob over those of another.
pub(super) fn interaction(
    (a, across): (&NamedKnob, &[Level]),
    b: (&NamedKnob, &[Level]),
    grid: &[Vec<Option<f64>>],
    cost: &str,
) -> String {
    let y = Range::around(grid.iter().flatten().flatten().copied(), false).axis(UPWARDS);
    let places = places(across.len());
    let title = format!("{} by {}", cut(a.name(), 24), cut(b.0.name(), 24));
    let mut svg = begin(&title, "Lines that are not parallel show that the knobs interact.", &y, cost);
    for (i, row) in grid.iter().enumerate() {
        svg.begin_group(&[("class", &format!("i{i}"))], &format!("{} = {}", b.0.name(), b.0.label(b.1[i])));
        let points: Vec<_> = places.iter().zip(row).filter_map(|(at, mean)| Some((*at, y.place((*mean)?)))).collect();
        svg.path(&steps(points.iter().copied()), "line");
        for (at, height) in points.into_iter().filter(|_| places.len() <= 24) {
            svg.circle(at, height, 2.8, "mark");
        }
        svg.end_group();
    }
    level_names(&mut svg, a, across, &places);
    end(svg, a.name())
}

/// A sample of one line of an interaction.
pub(super) fn sample(line: usize) -> String {
    let mut svg = Svg::ornament(36.0, 14.0);
    svg.begin_group(&[("class", &format!("i{line}"))], "");
    svg.path("M1 7L35 7", "line");
    svg.circle(18.0, 7.0, 2.8, "mark");
    svg.end_group();
    svg.finish()
}

/// A path from point to point.
fn steps(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (i, (x, y)) in points.enumerate() {
        let _ = write!(path, "{}{} {}", if i == 0 { 'M' } else { 'L' }, number(x), number(y));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_air_and_wide_ones_are_logarithmic() {
        assert_eq!(Range::around([0.0, 100.0].into_iter(), true), Range { low: -5.0, high: 105.0, is_log: false });
        assert_eq!(Range::around([3.0].into_iter(), true), Range { low: 1.5, high: 4.5, is_log: false });
        assert_eq!(Range::around([1.2, 1200.0].into_iter(), true), Range { low: 1.0, high: 1440.0, is_log: true });
        assert!(!Range::around([1.2, 1200.0].into_iter(), false).is_log);
        assert_eq!(Range::around([].into_iter(), true), Range { low: 0.0, high: 1.0, is_log: false });
    }

    #[test]
    fn long_numbers_leave_a_power_to_the_name() {
        let texts = |low, high| {
            let (ticks, scale) = ticks(&Axis::linear((low, high), ACROSS));
            (ticks.first().unwrap().1.clone(), ticks.last().unwrap().1.clone(), scale)
        };
        assert_eq!(texts(0.0, 100.0), ("0".into(), "100".into(), String::new()));
        assert_eq!(texts(9e7, 1.7e8).2, " / 10⁶");
        assert!(["90", "100"].contains(&texts(9e7, 1.7e8).0.as_str()));
        assert_eq!(texts(0.0001, 0.00018).2, " / 10⁻⁶");
        assert_eq!(texts(-2_000_000.0, 0.0), ("−2".into(), "0".into(), " / 10⁶".into()));
    }

    #[test]
    fn estimates_have_the_digits_asked_for() {
        assert_eq!(
            (estimate(1.38522, 3), estimate(-28.835_2, 4), estimate(0.0, 3)),
            ("1.39".into(), "−28.84".into(), "0".into())
        );
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!((cut("abcdef", 4), cut("-O2", 4)), ("abc…".into(), "-O2".into()));
    }
}
