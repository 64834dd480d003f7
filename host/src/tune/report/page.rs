//! The page of a tuning run: one HTML file with everything in it.
//!
//! **Choices**
//! - It looks like the benchmark's report.
//! - No script, and a policy that forbids every request.
//! - A command's output is other people's text, so all of it is escaped.

use std::fmt::Write;

use trimtab::{Goal, Level};

use super::effects::{Effect, Learned, Pair, shown_levels, spread};
use super::failures;
use super::figures::{self, estimate, shown, shown_with};
use crate::draw::ABOUT;
use crate::draw::number::{grouped, rough};
use crate::draw::svg::escape;
use crate::session::Session;
use crate::session::limits::{self, Numbers};
use crate::tune::believed::noisy_best;
use crate::tune::change::{self, Start};
use crate::tune::history::{History, Trial, is_better};
use crate::tune::log::Header;
use crate::tune::template::Template;

const STYLE: [&str; 3] =
    [include_str!("../../draw/figure.css"), include_str!("../../draw/page.css"), include_str!("tune.css")];
/// Most panels of effects, pairs in the table, and pairs drawn.
const MOST_EFFECTS: usize = 12;
const MOST_PAIRS: usize = 10;
const DRAWN_PAIRS: usize = 4;
/// Most characters of a failure's reason.
const MOST_WHY: usize = 200;

/// What a page is made from.
pub(super) struct Page<'a> {
    pub(super) header: &'a Header,
    pub(super) session: &'a Session,
    pub(super) history: &'a History,
    /// `None` if there are too few measurements.
    pub(super) learned: Option<&'a Learned<'a>>,
    pub(super) template: &'a Template,
    pub(super) is_torn: bool,
}

impl Page<'_> {
    pub(super) fn html(&self) -> String {
        let mut html = String::from(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
             <link rel=\"icon\" href=\"data:,\"/>\n<title>trimtab: report of a tuning run</title>\n<style>\n",
        );
        html += &STYLE.concat();
        html += "</style>\n</head>\n<body>\n";
        let mut sections = vec![("best", "Best", self.best()), ("progress", "Progress", self.progress())];
        if !self.session.study().limits.is_empty() {
            sections.push(("limits", "Limits", self.limits()));
        }
        if let Some(learned) = self.learned {
            let effects = learned.effects();
            sections.push(("effects", "What each knob does", self.effects(&effects)));
            let pairs = learned.pairs(&effects);
            if !pairs.is_empty() {
                sections.push(("pairs", "Knobs that interact", self.pairs(learned, &pairs)));
            }
            sections.push(("foretold", "Predicted and measured", self.foretold()));
        }
        if self.history.failures() > 0 {
            sections.push(("failures", "Failures", self.failures()));
        }
        sections.push(("measurements", "All measurements", self.measurements()));
        html += "<aside>\n<nav aria-label=\"Contents\">\n<ul>\n";
        html.extend(sections.iter().map(|(id, title, _)| format!("<li><a href=\"#{id}\">{title}</a></li>\n")));
        html += "</ul>\n</nav>\n</aside>\n<main>\n<header>\n<h1>Report of a tuning run</h1>\n";
        html += &self.facts();
        html += "</header>\n";
        for (id, title, body) in sections {
            let _ = write!(html, "<section id=\"{id}\">\n<h2>{title}</h2>\n{body}</section>\n");
        }
        html + ABOUT + "</main>\n</body>\n</html>\n"
    }

    fn goal(&self) -> Goal {
        self.session.study().goal
    }

    /// What the numbers mean.
    fn cost(&self) -> &str {
        let cost = &self.header.cost;
        let named = cost.strip_prefix("number after `").and_then(|rest| rest.split_once('`'));
        match (named, self.goal()) {
            (Some((name, _)), _) => name,
            (None, _) if cost.starts_with("time") => "seconds",
            (None, Goal::Minimise) => "cost",
            (None, Goal::Maximise) => "gain",
        }
    }

    /// The noise of one measurement.
    fn noise(&self) -> f64 {
        self.session.tuner().noise().into()
    }

    fn facts(&self) -> String {
        let space = self.session.space();
        let (done, failures) = (self.history.done.len(), self.history.failures());
        let repeats = match self.history.repeats() {
            0 => String::new(),
            repeats => format!(" and {repeats} measurements repeated"),
        };
        let mut html = format!(
            "<p>{} of {} combinations were measured{repeats}, {}. {} numbers are good; the number is the {}. Seed \
             {}.</p>\n",
            done - self.history.repeats(),
            grouped(&space.cardinality()),
            if failures > 0 { format!("{failures} failed") } else { "none failed".into() },
            if self.goal() == Goal::Minimise { "Small" } else { "Large" },
            escape(
                &self
                    .header
                    .cost
                    .replace("extract ", "match of ")
                    .replace("last number", "last on standard output")
                    .replacen("number after ", "one after ", 1)
            ),
            self.session.study().seed
        );
        let _ = writeln!(html, "<pre><code>{}</code></pre>", escape(&self.header.command.join(" ")));
        if self.is_torn {
            html += "<p class=\"note\">The last line of the log was cut off and is left out.</p>\n";
        }
        let open = self.history.open().len();
        if open > 0 {
            let _ = writeln!(html, "<p class=\"note\">Measurements without an outcome so far: {open}.</p>");
        }
        html
    }

    fn best(&self) -> String {
        let observed = self.history.best(self.goal());
        let limits = &self.session.study().limits;
        let that_keeps = match limits.is_empty() {
            true => String::new(),
            false => format!(" that keeps {}", escape(&limits.to_string())),
        };
        if let Some(model) = noisy_best(self.session) {
            let expected = shown_with(model.prediction.mean.into(), model.prediction.std_dev.into());
            let gain = Start::of(self.history)
                .and_then(|start| start.expected_gain(model.prediction.mean.into()))
                .map_or_else(String::new, |gain| format!(", {gain}"));
            let mut html = format!("<p><strong>{expected}</strong>{that_keeps}, {}{gain}.</p>\n", model.measured());
            html += &self.pasted(&model.prediction.levels);
            html += &self.readings(self.session.readings(&model.prediction.levels), " on average");
            let noise = rough(self.noise());
            let _ = write!(html, "<p>By the model, because measurements have noise, about {noise} each.");
            let Some((number, best)) = observed else { return html + "</p>\n" };
            let value = shown(best.value().unwrap_or(f64::NAN));
            let _ = writeln!(html, " The best single value, {value} in measurement {number}, may have been luck.</p>");
            if best.levels != model.prediction.levels {
                html += &self.pasted(&best.levels);
            }
            return html;
        }
        let Some((number, best)) = observed else { return self.nearest() };
        let value = shown(best.value().unwrap_or(f64::NAN));
        let gain = Start::of(self.history).and_then(|start| start.gain(best.value()?));
        let gain = gain.map_or_else(String::new, |gain| format!(", {gain}"));
        let mut html =
            format!("<p>By observation: <strong>{value}</strong>{that_keeps}, measurement {number}{gain}.</p>\n");
        html += &self.pasted(&best.levels);
        html += &self.readings(Some(&best.numbers), "");
        if let Some(model) = self.session.tuner().best_posterior() {
            let expected = shown_with(model.mean.into(), model.std_dev.into());
            if model.levels == best.levels {
                let _ = writeln!(html, "<p>By the model: the same, {expected}.</p>");
            } else {
                let _ = writeln!(
                    html,
                    "<p>By the model: {expected}. With noise it is the safer choice: the best observation may have \
                     been luck.</p>"
                );
                html += &self.pasted(&model.levels);
                html += &self.readings(self.session.readings(&model.levels), "");
            }
        }
        html
    }

    /// Why there is no best, and what breaks the limits least.
    fn nearest(&self) -> String {
        let limits = &self.session.study().limits;
        let nearest = self.history.nearest(self.goal()).filter(|_| !limits.is_empty());
        let Some((number, nearest)) = nearest else { return "<p>Nothing was measured with success.</p>\n".into() };
        let value = shown(nearest.value().unwrap_or(f64::NAN));
        let limits = escape(&limits.to_string());
        let mut html = format!(
            "<p>No measurement keeps {limits}. The nearest is measurement {number}: <strong>{value}</strong>.</p>\n"
        );
        html += &self.pasted(&nearest.levels);
        html + &self.readings(Some(&nearest.numbers), "")
    }

    /// Readings as a paragraph of their own, if there are any.
    fn readings(&self, numbers: Option<&Numbers>, note: &str) -> String {
        let readings = numbers.map_or_else(String::new, |numbers| self.session.study().limits.readings(numbers));
        match readings.is_empty() {
            true => String::new(),
            false => format!("<p>{}{note}.</p>\n", clean(&readings.replace('-', "−"))),
        }
    }

    /// The trade-off with each limit as a picture, and what each limit costs.
    fn limits(&self) -> String {
        let limits = &self.session.study().limits;
        let best = match noisy_best(self.session) {
            Some(best) => {
                let numbers = self.session.readings(&best.prediction.levels).cloned();
                numbers.map(|numbers| (numbers, f64::from(best.prediction.mean)))
            }
            None => self.history.best(self.goal()).and_then(|(_, best)| Some((best.numbers.clone(), best.value()?))),
        };
        let mut html = String::from("<figure>\n<div class=\"panels\">\n");
        for (j, limit) in limits.iter().enumerate() {
            let best = best.as_ref().and_then(|(numbers, value)| Some((*numbers.get(limit.name())?, *value)));
            html += &figures::tradeoff(self.history, (j, limit), (self.goal(), self.cost()), best);
        }
        let others = if limits.iter().count() > 1 { " among what keeps the other limits" } else { "" };
        let _ = writeln!(
            html,
            "</div>\n<figcaption>One dot per measurement: filled if it keeps every limit, hollow if not; the best has a ring. The dashed line \
             is the limit; what lies in the shade breaks it. The step line is the best for every bound that you might \
             set{others}.</figcaption>\n</figure>"
        );
        let rows = limits.iter().enumerate().map(|(j, limit)| {
            let breaks = |trial: &&Trial| trial.margins.get(j).is_some_and(|margin| *margin < 0.0);
            let measured = self.history.outcomes().filter(|trial| trial.value().is_some()).count();
            let broken = self.history.outcomes().filter(breaks).count();
            let mut only: Option<f64> = None;
            for trial in self.history.outcomes().filter(breaks).filter(|trial| figures::keeps_others(trial, j)) {
                let value = trial.value();
                if value.zip(only).is_none_or(|(value, best)| is_better(self.goal(), value, best)) {
                    only = value;
                }
            }
            let only = only.map_or_else(|| "none".into(), shown);
            [figures::cut(&limit.to_string(), 60), (measured - broken).to_string(), broken.to_string(), only]
        });
        let heads = ["limit", "kept by", "broken by", "best that breaks only this one"];
        html + &table("What the limits cost", &heads, rows)
    }

    fn pasted(&self, levels: &[Level]) -> String {
        let space = self.session.space();
        let (mut html, mut lines) = (String::new(), Vec::new());
        if change::is_many(space) {
            let changes = self.levels(levels).replacen("from start: ", "From start: ", 1);
            let _ = writeln!(html, "<p>{}.</p>", escape(&changes));
        }
        if !change::is_many(space) || !self.template.has_all_places(space) {
            lines.push(space.short_text(levels));
        }
        if self.template.has_places() {
            lines.push(self.template.pasted(space, levels));
        }
        let lines: Vec<String> = lines.iter().map(|line| unbroken(line)).collect();
        html + &format!("<pre><code>{}</code></pre>\n", lines.join("\n"))
    }

    /// A combination, or with many knobs what differs from the start.
    fn levels(&self, levels: &[Level]) -> String {
        let space = self.session.space();
        let start = Start::of(self.history).filter(|start| change::is_many(space) && start.levels != levels);
        match start {
            Some(start) => format!("from start: {}", change::levels(space, levels, start.levels, usize::MAX)),
            None => space.short_text(levels),
        }
    }

    fn progress(&self) -> String {
        let best = self.history.best_so_far(self.goal());
        let figure = figures::progress(self.history, &best, self.cost());
        let broken = if self.history.breaking() > 0 { " Hollow dots break a limit." } else { "" };
        let failures = if self.history.failures() > 0 { " Failures stand on the lower edge." } else { "" };
        format!(
            "<figure>\n<div class=\"panels\">\n{figure}</div>\n\
             <figcaption>One dot per measurement; the line is the best so far.{broken}{failures}</figcaption>\n</figure>\n"
        )
    }

    fn effects(&self, effects: &[Effect]) -> String {
        let knobs = self.session.space().knobs();
        let range = figures::effect_range(&effects[..effects.len().min(MOST_EFFECTS)]);
        let mut html = String::from(
            "<p>The model's average prediction with the knob at each level, the most important knob first. The band is \
             one standard deviation of a single prediction: where it is wider than the differences, more measurements \
             are needed.</p>\n\
             <figure>\n<div class=\"panels\">\n",
        );
        for effect in effects.iter().take(MOST_EFFECTS) {
            html += &figures::effect(&knobs[effect.knob], effect, range, self.cost());
        }
        html += "</div>\n";
        let left_out = effects.len().saturating_sub(MOST_EFFECTS);
        if left_out > 0 {
            let _ =
                writeln!(html, "<figcaption>The {left_out} least important knobs are in the table only.</figcaption>");
        }
        html += "</figure>\n";
        let rows = effects.iter().map(|effect| {
            let knob = &knobs[effect.knob];
            let is_better = |a: f64, b: f64| is_better(self.goal(), a, b);
            let mut best: Option<(Level, f64)> = None;
            let means = effect.at.iter().zip(&effect.levels);
            for (level, mean) in means.filter_map(|(at, level)| Some((*at, level.as_ref()?.0))) {
                if best.is_none_or(|(_, best)| is_better(mean, best)) {
                    best = Some((level, mean));
                }
            }
            let (level, mean) =
                best.map_or((String::new(), String::new()), |(level, mean)| (knob.short(level), estimate(mean, 4)));
            [knob.name().to_string(), estimate(effect.spread, 3), level, mean].map(|cell| figures::cut(&cell, 60))
        });
        let heads = ["knob", "difference", "best level on average", "expected there"];
        html + &table("Importance", &heads, rows)
            + "<p class=\"note\">Difference: between the best and the worst level, on average over combinations of the \
               other knobs.</p>\n"
    }

    fn pairs(&self, learned: &Learned<'_>, pairs: &[Pair]) -> String {
        let knobs = self.session.space().knobs();
        let rows = pairs.iter().take(MOST_PAIRS).map(|pair| {
            let [a, b] = pair.knobs.map(|knob| figures::cut(knobs[knob].name(), 40));
            [format!("{a} and {b}"), estimate(pair.strength, 3)]
        });
        let mut html = String::from(
            "<p>The joint effect of two knobs beyond their separate effects, as far as the model can tell (root mean \
             square). Where knobs interact, the best level of one depends on the other.</p>\n",
        );
        html += &table("Strongest interactions", &["pair", "together"], rows);
        let strongest = pairs.first().map_or(0.0, |pair| pair.strength);
        for pair in pairs.iter().take(DRAWN_PAIRS).filter(|pair| pair.strength > 0.1 * strongest) {
            // The knob with more levels goes across.
            let mut both = pair.knobs;
            if knobs[both[0]].count() < knobs[both[1]].count() {
                both.reverse();
            }
            let [a, b] = both.map(|knob| &knobs[knob]);
            let across = shown_levels(a.count());
            let lines = spread(b.count(), figures::MOST_LINES);
            let grid = learned.grid(both, [&across, &lines]);
            html += "<figure>\n<div class=\"panels\">\n";
            html += &figures::interaction((a, &across), (b, &lines), &grid, self.cost());
            let _ = write!(html, "</div>\n<figcaption>{}: <span class=\"keys\">", escape(b.name()));
            for (i, level) in lines.iter().enumerate() {
                let _ =
                    write!(html, "<span>{}{}</span>", figures::sample(i), escape(&figures::cut(&b.short(*level), 24)));
            }
            html += "</span></figcaption>\n</figure>\n";
        }
        html
    }

    fn foretold(&self) -> String {
        let all: Vec<_> = figures::expectations(self.history, self.noise()).collect();
        if all.is_empty() {
            return "<p>There are no predictions yet.</p>\n".into();
        }
        let within = all.iter().filter(|(mean, std_dev, value, _)| (mean - value).abs() <= 2.0 * std_dev).count();
        let noise = if self.noise() > 0.0 { ", noise included" } else { "" };
        format!(
            "<p>The model's predictions when it asked. {within} of {} values came within two standard deviations; 95 % \
             would if the model were right.</p>\n<figure>\n<div class=\"panels\">\n{}</div>\n\
             <figcaption>One dot per measurement, with one standard deviation{noise}. On the dotted line prediction \
             and value agree.</figcaption>\n</figure>\n",
            all.len(),
            figures::foretold(self.history, self.noise(), self.cost())
        )
    }

    fn failures(&self) -> String {
        let space = self.session.space();
        let rows = failures::groups(self.history, space).into_iter().map(|group| {
            let first = group.trials.first().map_or_else(String::new, |trial| self.levels(&trial.levels));
            let suspects = group.suspects.iter().map(|suspect| figures::cut(suspect, MOST_WHY)).collect::<Vec<_>>();
            let reason = figures::cut(&group.reason, MOST_WHY);
            [reason, group.trials.len().to_string(), suspects.join(", "), figures::cut(&first, MOST_WHY)]
        });
        let heads = ["last line of standard error", "how often", "in common", "first with"];
        let mut html = table("Why measurements failed", &heads, rows);
        let failing = failures::failing(self.history, space);
        if !failing.is_empty() {
            let rows = failing.iter().map(|count| {
                let knob = &space.knobs()[count.knob];
                let level = format!("{}={}", knob.name(), knob.short(count.level));
                [figures::cut(&level, MOST_WHY), format!("{} of {}", count.failed, count.failed)]
            });
            html += &table("Levels that always failed", &["level", "failed"], rows);
        }
        html + "<p class=\"note\">In common: levels in three quarters or more of these failures, and much rarer \
                elsewhere. Without standard error, the reason stands in its place. What the commands printed is in \
                the log.</p>\n"
    }

    /// The readings of a measurement, and the limits that it breaks.
    fn kept(&self, trial: &Trial) -> String {
        let limits = &self.session.study().limits;
        let (readings, broken) = (limits.readings(&trial.numbers).replace('-', "−"), limits.broken(&trial.margins));
        match broken.is_empty() {
            true => readings,
            false => format!("{readings}: breaks {}", limits::joined(&broken)),
        }
    }

    fn measurements(&self) -> String {
        let limits = &self.session.study().limits;
        let rows = self.history.outcomes().zip(&self.history.done).enumerate().map(|(i, (trial, place))| {
            let came = match &trial.outcome {
                Some(Ok(value)) => shown(*value),
                Some(Err(_)) => format!("failed: {}", figures::cut(&trial.failure().unwrap_or_default(), 60)),
                None => String::new(),
            };
            let expected = trial.mean.zip(trial.std_dev);
            let expected = expected.map(|(mean, std_dev)| shown_with(mean.into(), std_dev.into()));
            let expected = expected.unwrap_or_else(|| "anything".into());
            let took = format!("{} s", shown(trial.seconds));
            let again = if self.history.is_again(*place) { ", again" } else { "" };
            let mut row = vec![
                format!("{}{again}", i + 1),
                figures::cut(&self.levels(&trial.levels), 2000),
                came,
                expected,
                took,
            ];
            row.extend((!limits.is_empty()).then(|| self.kept(trial)));
            row
        });
        let mut heads = vec!["", "levels", self.cost(), "expected", "took"];
        heads.extend((!limits.is_empty()).then_some("limits"));
        format!(
            "<details>\n<summary>{} measurements in order</summary>\n{}</details>\n",
            self.history.done.len(),
            table("", &heads, rows)
        )
    }
}

/// Words that a browser does not break at their hyphens: `-fno-gcse` is one flag.
fn unbroken(line: &str) -> String {
    let words = line.split(' ').map(|word| match word.contains('-') {
        true => format!("<span>{}</span>", escape(word)),
        false => escape(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A table whose first column names the rows.
fn table(caption: &str, heads: &[&str], rows: impl Iterator<Item = impl AsRef<[String]>>) -> String {
    let mut html = String::from("<div class=\"scroll\"><table class=\"left\">\n");
    if !caption.is_empty() {
        let _ = writeln!(html, "<caption>{caption}</caption>");
    }
    html += "<thead class=\"plain\"><tr>";
    html.extend(heads.iter().map(|head| format!("<th scope=\"col\">{}</th>", escape(head))));
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for (i, cell) in row.as_ref().iter().enumerate() {
            let _ = match i {
                0 if cell.chars().count() > 40 => write!(html, "<th scope=\"row\" class=\"wrap\">{}</th>", clean(cell)),
                0 => write!(html, "<th scope=\"row\">{}</th>", clean(cell)),
                _ if cell.chars().count() > 40 => write!(html, "<td class=\"wrap\">{}</td>", clean(cell)),
                _ => write!(html, "<td>{}</td>", clean(cell)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table></div>\n"
}

/// Removes characters that no page may contain.
fn clean(text: &str) -> String {
    escape(&text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_peoples_text_is_harmless() {
        let html = table("", &["a"], std::iter::once(["<script>\u{1b}[31m & \"".to_string()]));
        assert!(html.contains("&lt;script&gt; [31m &amp; &quot;") && !html.contains("<script"));
    }
}
