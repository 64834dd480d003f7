//! The result, ready to paste; as text, as one line, or as JSON.
//!
//! **Choices**
//! - If the model believes in noise, the best is the best by the model: the best value may have
//!   been luck. Otherwise it is the best value, and the model's choice stands below.
//! - With limits it is the best that keeps them. If nothing does, there is no best: the measurement
//!   that breaks them least is shown as the nearest.

use std::path::Path;

use serde_json::{Value, json};
use trimtab::{Level, PriorState};

use super::End;
use super::believed::{Best, noisy_best};
use super::change::{self, Start};
use super::history::{History, Trial};
use super::plan::Plan;
use crate::draw::number::{rough, short, with_error};
use crate::session::Session;
use crate::session::limits::Numbers;
use crate::session::study::goal_name;

/// What the summary is made from.
pub(crate) struct Summary<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) session: &'a Session,
    pub(crate) history: &'a History,
    pub(crate) log: Option<&'a Path>,
    pub(super) end: End,
    /// The user stopped the run.
    pub(crate) is_stopped: bool,
}

impl Summary<'_> {
    /// The summary for people.
    pub(crate) fn text(&self) -> String {
        let (done, failures) = (self.history.done.len(), self.history.failures());
        let failed = if failures > 0 { format!(", {failures} failed") } else { String::new() };
        let all = match self.end {
            End::Exhausted => ": every combination there is",
            End::TimeUp => "; the time was up",
            End::Settled => "; settled: more would gain little",
            End::Budget | End::GaveUp => "",
        };
        let limits = &self.plan.study.limits;
        let that_keeps = if limits.is_empty() { String::new() } else { format!(" that keeps {limits}") };
        let mut lines = Vec::new();
        let observed = self.history.best(self.plan.study.goal);
        if let Some(best) = noisy_best(self.session) {
            let expected = with_error(best.prediction.mean.into(), best.prediction.std_dev.into());
            let gain = self.gain(|start| start.expected_gain(best.prediction.mean.into()));
            lines.push(format!("best      {expected}{that_keeps}, {}{gain}", best.measured()));
            lines.extend(self.pasted(&best.prediction.levels));
            lines.extend(self.readings(self.session.readings(&best.prediction.levels), " on average"));
            if let Some((number, luckiest)) = observed {
                let value = short(luckiest.value().unwrap_or(f64::NAN));
                lines.push(format!("luckiest  {value}  (measurement {number})"));
                if luckiest.levels != best.prediction.levels {
                    lines.push(format!("          {}", self.shown(&luckiest.levels)));
                }
            }
            lines.push(format!("noise     {} per measurement", rough(self.session.tuner().noise().into())));
        } else if let Some((number, best)) = observed {
            let value = best.value().unwrap_or(f64::NAN);
            let gain = self.gain(|start| start.gain(value));
            lines.push(format!("best      {}{that_keeps}  (measurement {number}){gain}", short(value)));
            lines.extend(self.pasted(&best.levels));
            lines.extend(self.readings(Some(&best.numbers), ""));
            if let Some(model) = self.session.tuner().best_posterior() {
                let expected = with_error(model.mean.into(), model.std_dev.into());
                if model.levels == best.levels {
                    lines.push(format!("by model  the same, {expected}"));
                } else {
                    lines.push(format!("by model  {expected}"));
                    lines.extend(self.pasted(&model.levels));
                    lines.extend(self.readings(self.session.readings(&model.levels), ""));
                }
            }
        } else if self.is_none_kept() {
            lines.push(format!("best      none: no measurement keeps {limits}"));
            if let Some((number, nearest)) = self.history.nearest(self.plan.study.goal) {
                let value = short(nearest.value().unwrap_or(f64::NAN));
                lines.push(format!("nearest   {value}  (measurement {number})"));
                lines.extend(self.pasted(&nearest.levels));
                lines.extend(self.readings(Some(&nearest.numbers), ""));
            }
        }
        let again = match self.history.repeats() {
            0 => String::new(),
            repeats => format!(", {repeats} of them again"),
        };
        let broken = match self.history.breaking() {
            0 => String::new(),
            1 => ", 1 breaks a limit".into(),
            broken => format!(", {broken} break a limit"),
        };
        lines.push(format!("measured  {done}{again}{broken}{failed}{all}"));
        match (self.session.tuner().prior(), &self.plan.study.prior) {
            (PriorState::InForce, Some(prior)) => lines.push(format!("prior     {} boards", prior.prior().boards())),
            (PriorState::GivenUp { after }, _) => {
                let what = "given up: this board is unlike those that taught it";
                lines.push(format!("prior     {what} (after {after} measurements)"));
            }
            _ => {}
        }
        if let Some(log) = self.log {
            let log = super::template::quoted(&log.display().to_string());
            lines.push(format!("log       {log}; to see what was learned: trimtab report {log}"));
        }
        lines.join("\n") + "\n"
    }

    /// Whether something was measured with success, and nothing of it keeps all limits.
    pub(crate) fn is_none_kept(&self) -> bool {
        let is_best = self.history.best(self.plan.study.goal).is_some() || noisy_best(self.session).is_some();
        !is_best && self.history.breaking() > 0
    }

    /// Readings as a line of their own.
    fn readings(&self, numbers: Option<&Numbers>, note: &str) -> Option<String> {
        let readings = self.plan.study.limits.readings(numbers?);
        (!readings.is_empty()).then(|| format!("          {readings}{note}"))
    }

    /// A combination, and the command with its levels; both together tell every level.
    fn pasted(&self, levels: &[Level]) -> Vec<String> {
        let (space, template) = (&self.plan.study.space, &self.plan.measurer.template);
        let is_told = !change::is_many(space) || template.has_all_places(space);
        let whole = (!is_told).then(|| space.short_text(levels));
        let command = self.command(levels);
        let command = command.or_else(|| Some("(the command reads the levels from the environment)".into()));
        let lines = [Some(self.shown(levels)), whole, command];
        lines.into_iter().flatten().map(|line| format!("          {line}")).collect()
    }

    /// A combination, or with many knobs what differs from the start.
    fn shown(&self, levels: &[Level]) -> String {
        let space = &self.plan.study.space;
        match Start::of(self.history).filter(|_| change::is_many(space)) {
            Some(start) => format!("from start: {}", change::levels(space, levels, start.levels, usize::MAX)),
            None => space.short_text(levels),
        }
    }

    /// The gain over the start, if the user chose it or the result is told by it.
    fn gain(&self, gain: impl Fn(&Start<'_>) -> Option<String>) -> String {
        let is_told = !self.plan.start.is_empty() || change::is_many(&self.plan.study.space);
        let gain = Start::of(self.history).filter(|_| is_told).and_then(|start| gain(&start));
        gain.map_or_else(String::new, |gain| format!(", {gain}"))
    }

    /// The command with the levels filled in, if it has places for them.
    fn command(&self, levels: &[Level]) -> Option<String> {
        let template = &self.plan.measurer.template;
        template.has_places().then(|| template.pasted(&self.plan.study.space, levels))
    }

    /// Only the best, in one line.
    pub(crate) fn line(&self) -> String {
        if let Some(Best { prediction, .. }) = noisy_best(self.session) {
            return format!("{} {}\n", prediction.mean, self.plan.study.space.text(&prediction.levels));
        }
        let best = self.history.best(self.plan.study.goal);
        best.map_or_else(String::new, |(_, best)| {
            format!("{} {}\n", best.value().unwrap_or(f64::NAN), self.plan.study.space.text(&best.levels))
        })
    }

    /// The summary for programs.
    pub(crate) fn json(&self) -> Value {
        let space = &self.plan.study.space;
        let trial = |trial: &Trial| {
            let (value, failed) = match &trial.outcome {
                Some(Ok(value)) => (json!(value), Value::Null),
                Some(Err(why)) => (Value::Null, json!(why)),
                None => (Value::Null, Value::Null),
            };
            let mut row = json!({
                "id": trial.id,
                "config": space.named(&trial.levels),
                "value": value,
                "failed": failed,
                "mean": trial.mean,
                "std_dev": trial.std_dev,
                "seconds": trial.seconds,
            });
            if !self.plan.study.limits.is_empty() {
                let limits = &self.plan.study.limits;
                row["numbers"] = json!(trial.numbers);
                let broken = limits.broken(&trial.margins).iter().map(ToString::to_string).collect::<Vec<_>>();
                row["breaks"] = broken.into();
            }
            row
        };
        let with_numbers = |mut best: Value, numbers: Option<&Numbers>| {
            if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
                best["numbers"] = json!(numbers);
            }
            best
        };
        let tuner = self.session.tuner();
        let measured = |levels: &[Level]| tuner.measured(levels).map_or(0, |measured| measured.repeats);
        let observed = self.history.best(self.plan.study.goal).map(|(number, best)| {
            let own = json!({
                "config": space.named(&best.levels),
                "value": best.value(),
                "std_dev": null,
                "measurement": number,
                "measured": measured(&best.levels),
                "average": tuner.measured(&best.levels).map(|measured| measured.value),
                "command": self.plan.measurer.template.filled(space, &best.levels),
            });
            with_numbers(own, Some(&best.numbers))
        });
        let best = noisy_best(self.session).map(|best| {
            let own = json!({
                "config": space.named(&best.prediction.levels),
                "value": best.prediction.mean,
                "std_dev": best.prediction.std_dev,
                "measurement": null,
                "measured": best.measured.repeats,
                "average": best.measured.value,
                "command": self.plan.measurer.template.filled(space, &best.prediction.levels),
            });
            with_numbers(own, self.session.readings(&best.prediction.levels))
        });
        let model = observed.as_ref().and_then(|_| tuner.best_posterior()).map(|model| {
            let own = json!({
                "config": space.named(&model.levels),
                "mean": model.mean,
                "std_dev": model.std_dev,
                "measured": measured(&model.levels),
                "command": self.plan.measurer.template.filled(space, &model.levels),
            });
            with_numbers(own, self.session.readings(&model.levels))
        });
        let start = Start::of(self.history);
        let start = start.map(|start| json!({"config": space.named(start.levels), "value": start.value}));
        let mut all = json!({
            "start": start,
            "best": best.as_ref().or(observed.as_ref()),
            "best_observed": observed,
            "best_by_model": model,
            "noise": tuner.noise(),
            "goal": goal_name(self.plan.study.goal),
            "seed": self.plan.study.seed,
            "budget": self.plan.study.budget,
            "combinations": space.cardinality(),
            "measured": self.history.done.len(),
            "repeats": self.history.repeats(),
            "failures": self.history.failures(),
            "exhausted": self.end == End::Exhausted,
            "settled": self.end == End::Settled,
            "time_up": self.end == End::TimeUp,
            "stopped": self.is_stopped,
            "log": self.log.map(|log| log.display().to_string()),
            "measurements": self.history.outcomes().map(trial).collect::<Vec<_>>(),
        });
        // Only with limits: other runs print what they always did.
        if !self.plan.study.limits.is_empty() {
            all["limits"] = self.plan.study.limits.to_value();
            all["breaking"] = self.history.breaking().into();
            let nearest = self.history.nearest(self.plan.study.goal).filter(|_| self.is_none_kept());
            all["nearest"] = nearest.map_or(Value::Null, |(_, nearest)| trial(nearest));
        }
        all
    }
}
