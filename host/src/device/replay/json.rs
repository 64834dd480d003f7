//! The whole replay for programs: one JSON object.
//!
//! Numbers are those of the chip, in single precision. Numbers that are not finite are null, as
//! predictions before the first observation are.

use std::path::Path;

use serde::Serialize;
use trimtab::{Event, Level};

use super::Verdict;
use crate::device::stream::{Kind, Run, Runs, Step};
use crate::error::Error;

#[derive(Serialize)]
struct Report<'a> {
    runs: Vec<OneRun<'a>>,
    garbled: u32,
    picture: Option<String>,
}

#[derive(Serialize)]
struct OneRun<'a> {
    name: &'a str,
    seed: Option<u64>,
    firmware: Option<&'a str>,
    /// Number of missing frames.
    lost: u32,
    is_over: bool,
    proposals: usize,
    /// Number of proposals that are the same on this machine, to the bit.
    same: usize,
    /// The first difference.
    difference: Option<String>,
    obstacle: Option<&'a str>,
    best: Option<f32>,
    steps: Vec<OneStep<'a>>,
}

#[derive(Serialize)]
struct OneStep<'a> {
    frame: u32,
    kind: &'static str,
    event: &'static str,
    levels: &'a [Level],
    value: Option<f32>,
    mean: Option<f32>,
    std_dev: Option<f32>,
    score: Option<f32>,
}

/// Renders the whole log.
pub(super) fn text(runs: &Runs, verdicts: &[Verdict], garbled: u32, picture: Option<&Path>) -> Result<String, Error> {
    let report = Report {
        runs: runs.all.iter().zip(verdicts).map(|(run, verdict)| one(run, verdict)).collect(),
        garbled,
        picture: picture.map(|path| path.display().to_string()),
    };
    match serde_json::to_string(&report) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Error::Failed(format!("cannot write JSON: {error}; leave out --json"))),
    }
}

fn one<'a>(run: &'a Run, verdict: &'a Verdict) -> OneRun<'a> {
    OneRun {
        name: run.name(),
        seed: run.about.as_ref().map(|about| about.seed),
        firmware: run.about.as_ref().map(|about| about.release.as_str()),
        lost: run.lost,
        is_over: run.is_over,
        proposals: verdict.proposals,
        same: verdict.same,
        difference: verdict.difference.as_ref().map(|(_, difference)| difference.to_string()),
        obstacle: verdict.obstacle.as_deref(),
        best: run.best().map(|(_, _, value)| value),
        steps: run.steps.iter().map(step).collect(),
    }
}

fn step(step: &Step) -> OneStep<'_> {
    let finite = |x: f32| Some(x).filter(|x| x.is_finite());
    let predicted = step.predicted();
    OneStep {
        frame: step.number,
        kind: match step.kind {
            Kind::Measured(_) => "measured",
            Kind::Asked(_) => "asked",
            Kind::Told => "told",
            Kind::Resumed => "resumed",
        },
        event: match step.event {
            Event::Told(_) | Event::Measured(..) => "told",
            Event::Failed => "failed",
            Event::Enqueued => "enqueued",
            Event::Asked => "asked",
            Event::Cancelled => "cancelled",
        },
        levels: &step.levels,
        value: step.value(),
        mean: predicted.and_then(|predicted| finite(predicted.mean)),
        std_dev: predicted.and_then(|predicted| finite(predicted.std_dev)),
        score: predicted.and_then(|predicted| finite(predicted.score)),
    }
}
