//! Compares the tuner here with the one in the log.
//!
//! **Choices**
//! - A run is compared from its hello up to the first missing frame: after that, what the chip's
//!   tuner was told is unknown.
//! - The first difference ends the comparison of its run, because everything later follows from it.

use trimtab_embedded::telemetry::Difference;
use trimtab_sizes::{AnyTuner, Setup};

use crate::device::stream::{Kind, Run};

/// The result of comparing a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// Number of proposals that the chip made.
    pub(super) proposals: usize,
    /// Number of them that are the same, to the bit.
    pub(super) same: usize,
    /// The first difference, and the index of its step.
    pub(super) difference: Option<(usize, Difference)>,
    /// Why nothing could be compared.
    pub(super) obstacle: Option<String>,
}

impl Verdict {
    /// Repeats a run.
    pub(super) fn of(run: &Run) -> Self {
        let is_proposal = |kind: &Kind| matches!(kind, Kind::Measured(_) | Kind::Asked(_));
        let proposals = run.steps.iter().filter(|step| is_proposal(&step.kind)).count();
        let mut verdict = Self { proposals, ..Self::default() };
        let mut tuner = match tuner(run) {
            Ok(tuner) => tuner,
            Err(obstacle) => return Self { obstacle: Some(obstacle), ..verdict },
        };
        for (place, step) in run.steps.iter().enumerate().take_while(|(_, step)| step.is_known) {
            match tuner.repeat(&step.frame()) {
                Ok(is_same) => verdict.same += usize::from(is_same),
                Err(difference) => {
                    verdict.difference = Some((place, difference));
                    break;
                }
            }
        }
        verdict
    }

    /// The verdict in words.
    pub(super) fn lines(&self, run: &Run) -> Vec<String> {
        let (same, proposals) = (self.same, self.proposals);
        if let Some(obstacle) = &self.obstacle {
            return vec![obstacle.clone()];
        }
        if let Some((place, difference)) = &self.difference {
            let step = &run.steps[*place];
            let (number, levels) = (step.number, run.text(&step.levels));
            let mut lines =
                vec![format!("{same} of {proposals} proposals match to the bit, then frame {number}: {difference}")];
            lines.push(format!("that frame is about {levels}"));
            let release = run.about.as_ref().map_or("", |about| &about.release);
            if release != env!("CARGO_PKG_VERSION") {
                lines.push(format!("the chip runs version {release}, this is {}", env!("CARGO_PKG_VERSION")));
            }
            return lines;
        }
        let mut lines = vec![match (same == proposals, proposals) {
            (_, 0) => "the chip made no proposal".into(),
            (true, _) => format!("all {proposals} proposals match to the bit"),
            (false, _) => format!("{same} of {proposals} proposals match to the bit"),
        }];
        if run.lost > 0 {
            let before = run.steps.iter().take_while(|step| step.is_known).last();
            let place = before.map_or("after the hello".into(), |step| format!("after frame {}", step.number));
            let lost = if run.lost == 1 { "1 frame is".into() } else { format!("{} frames are", run.lost) };
            lines.push(format!("{lost} missing, the first {place}; nothing after that can be compared"));
        }
        lines
    }
}

/// A tuner that can repeat the chip's run, or why there is none.
fn tuner(run: &Run) -> Result<Box<dyn AnyTuner>, String> {
    const ELSEWHERE: &str =
        "compare it in a test of your own, with the firmware's tuner and trimtab_embedded::telemetry::check";
    let Some(about) = &run.about else {
        return Err("the hello is missing, so the knobs are not known; nothing can be compared".into());
    };
    let Some(knobs) = run.knobs() else {
        return Err("a frame with a knob is missing; nothing can be compared".into());
    };
    if about.is_restricted {
        return Err(format!("the chip rules combinations out by a predicate that is not in the log; {ELSEWHERE}"));
    }
    if about.map != (0, 0) {
        return Err(format!("the chip's tuner has a random map of {} × {}; {ELSEWHERE}", about.map.0, about.map.1));
    }
    let observations = about.config.observations.into();
    let setup = Setup {
        knobs: &knobs,
        conditions: &[],
        config: about.config,
        seed: about.seed,
        observations,
        feasible: None,
        prior: None,
    };
    trimtab_sizes::start(setup).map_err(|error| error.to_string())
}
