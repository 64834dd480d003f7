//! The result: the best by observation and by the model, ready to paste; as text, as one line, or
//! as JSON.

use std::path::Path;

use serde_json::{Value, json};
use trimtab::Level;

use super::history::{History, Trial};
use super::plan::Plan;
use crate::draw::number::{short, with_error};
use crate::session::Session;
use crate::session::study::goal_name;

/// What the summary is made from.
pub(crate) struct Summary<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) session: &'a Session,
    pub(crate) history: &'a History,
    pub(crate) log: Option<&'a Path>,
    /// Every combination has an outcome.
    pub(crate) is_exhausted: bool,
    /// The user stopped the run.
    pub(crate) is_stopped: bool,
}

impl Summary<'_> {
    /// The summary for people.
    pub(crate) fn text(&self) -> String {
        let (done, failures) = (self.history.done.len(), self.history.failures());
        let failed = if failures > 0 { format!(", {failures} failed") } else { String::new() };
        let all = if self.is_exhausted { ": every combination there is" } else { "" };
        let mut lines = Vec::new();
        if let Some((number, best)) = self.history.best(self.plan.study.goal) {
            let value = best.value().unwrap_or(f64::NAN);
            lines.push(format!("best      {}  (measurement {number})", short(value)));
            lines.extend(self.pasted(&best.levels));
            if let Some(model) = self.session.tuner().best_posterior() {
                let expected = with_error(model.mean.into(), model.std_dev.into());
                if model.levels == best.levels {
                    lines.push(format!("by model  the same, {expected}"));
                } else {
                    lines.push(format!("by model  {expected}"));
                    lines.extend(self.pasted(&model.levels));
                }
            }
        }
        lines.push(format!("measured  {done}{failed}{all}"));
        if let Some(log) = self.log {
            let log = super::template::quoted(&log.display().to_string());
            lines.push(format!("log       {log}; to see what was learned: trimtab report {log}"));
        }
        lines.join("\n") + "\n"
    }

    /// A combination, and the command with its levels.
    fn pasted(&self, levels: &[Level]) -> [String; 2] {
        let command =
            self.command(levels).unwrap_or_else(|| "(the command reads the levels from the environment)".into());
        [format!("          {}", self.plan.study.space.text(levels)), format!("          {command}")]
    }

    /// The command with the levels filled in, if it has places for them.
    fn command(&self, levels: &[Level]) -> Option<String> {
        let template = &self.plan.measurer.template;
        template.has_places().then(|| template.pasted(&self.plan.study.space, levels))
    }

    /// Only the best, in one line.
    pub(crate) fn line(&self) -> String {
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
            json!({
                "id": trial.id,
                "config": space.named(&trial.levels),
                "value": value,
                "failed": failed,
                "mean": trial.mean,
                "std_dev": trial.std_dev,
                "seconds": trial.seconds,
            })
        };
        let best = self.history.best(self.plan.study.goal).map(|(number, best)| {
            json!({
                "config": space.named(&best.levels),
                "value": best.value(),
                "measurement": number,
                "command": self.plan.measurer.template.filled(space, &best.levels),
            })
        });
        let model = best.as_ref().and_then(|_| self.session.tuner().best_posterior()).map(|model| {
            json!({
                "config": space.named(&model.levels),
                "mean": model.mean,
                "std_dev": model.std_dev,
                "command": self.plan.measurer.template.filled(space, &model.levels),
            })
        });
        json!({
            "best": best,
            "best_by_model": model,
            "goal": goal_name(self.plan.study.goal),
            "seed": self.plan.study.seed,
            "budget": self.plan.study.budget,
            "combinations": space.cardinality(),
            "measured": self.history.done.len(),
            "failures": self.history.failures(),
            "exhausted": self.is_exhausted,
            "stopped": self.is_stopped,
            "log": self.log.map(|log| log.display().to_string()),
            "measurements": self.history.outcomes().map(trial).collect::<Vec<_>>(),
        })
    }
}
