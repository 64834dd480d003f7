//! The tuner here beside the one in the log.
//!
//! **Choices.** A run is compared from its hello up to the first missing frame: after that the tuner here does not know what the chip's was told. A difference
//! ends the comparison of its run too, since everything after it follows from something else.

use trimtab_firmware::relays::{self, RelayTuner};
use trimtab_firmware::telemetry::{self, Difference, Frame};

use crate::device::stream::{About, Kind, Run};
use crate::session::engine::{self, Setup};

/// Does what a frame says; whether that was a proposal, which then was the same.
type Repeat = Box<dyn FnMut(&Frame<'_>) -> Result<bool, Difference>>;

/// What came of comparing a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdict {
    /// How many proposals the chip made.
    pub(super) proposals: usize,
    /// How many of them were the same, to the bit.
    pub(super) same: usize,
    /// The first that was not: its place among the steps, and what differed.
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
        let mut repeat = match repeater(run) {
            Ok(repeat) => repeat,
            Err(obstacle) => return Self { obstacle: Some(obstacle), ..verdict },
        };
        for (place, step) in run.steps.iter().enumerate().take_while(|(_, step)| step.is_known) {
            match repeat(&step.frame()) {
                Ok(is_same) => verdict.same += usize::from(is_same),
                Err(difference) => {
                    verdict.difference = Some((place, difference));
                    break;
                }
            }
        }
        verdict
    }

    /// The same in words.
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

/// A tuner here that does what the chip's did, or why there is none.
fn repeater(run: &Run) -> Result<Repeat, String> {
    const ELSEWHERE: &str =
        "check it by a test of your own, with the firmware's tuner: trimtab_firmware::telemetry::check";
    let Some(about) = &run.about else {
        return Err("the hello is missing, so it is not known what was tuned; nothing can be compared".into());
    };
    let Some(knobs) = run.knobs() else {
        return Err("a frame with a knob is missing; nothing can be compared".into());
    };
    if about.is_restricted {
        return Err(format!("the chip rules combinations out by a predicate that is not in the log; {ELSEWHERE}"));
    }
    if about.map != (0, 0) {
        // The one random map whose tuner is known here.
        return match about.name == "relays" && knobs == relays::KNOBS && fits_relays(about) {
            true => relay_tuner(about),
            false => {
                Err(format!("the chip's tuner has a random map of {} × {}; {ELSEWHERE}", about.map.0, about.map.1))
            }
        };
    }
    let observations = about.config.observations.into();
    let setup = Setup { knobs: &knobs, config: about.config, seed: about.seed, observations, feasible: None };
    let mut engine = engine::start(setup).map_err(|error| error.to_string())?;
    Ok(Box::new(move |frame| engine.repeat(frame)))
}

fn fits_relays(about: &About) -> bool {
    about.map == (8, relays::RELAYS as u16) && usize::from(about.config.observations) <= relays::OBSERVATIONS
}

fn relay_tuner(about: &About) -> Result<Repeat, String> {
    let mut tuner = Box::new(RelayTuner::new());
    let space = relays::space().map_err(|error| error.to_string())?;
    tuner.init(space, about.config, about.seed).map_err(|error| error.to_string())?;
    Ok(Box::new(move |frame| telemetry::repeat(&mut tuner, frame)))
}
