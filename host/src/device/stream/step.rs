//! One step of a run: what a frame says, kept.

use trimtab::{Event, Level};
use trimtab_firmware::telemetry::{Frame, Proposed};

/// How a step came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The tuner was asked, and this is what came of its proposal.
    Measured(Opinion),
    /// The tuner was asked; the outcome comes later.
    Asked(Opinion),
    /// The tuner was told.
    Told,
    /// The tuner was told by a log.
    Resumed,
}

/// What the chip's model thought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opinion {
    pub(crate) mean: f32,
    pub(crate) std_dev: f32,
    pub(crate) score: f32,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Of the frame, counted from the hello.
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) levels: Vec<Level>,
    pub(crate) event: Event,
    /// Whether all that came before is known.
    pub(crate) is_known: bool,
}

impl Step {
    /// The step that a frame is, if it is one.
    pub(super) fn of(frame: &Frame<'_>, number: u32, is_known: bool) -> Option<Self> {
        let opinion = |p: &Proposed<'_>| Opinion { mean: p.mean, std_dev: p.std_dev, score: p.score };
        let (kind, levels, event) = match frame {
            Frame::Measured { proposed, event } => (Kind::Measured(opinion(proposed)), proposed.levels, *event),
            Frame::Asked(proposed) => (Kind::Asked(opinion(proposed)), proposed.levels, Event::Asked),
            Frame::Happened { levels, event, resumed: true } => (Kind::Resumed, *levels, *event),
            Frame::Happened { levels, event, resumed: false } => (Kind::Told, *levels, *event),
            Frame::Hello(_) | Frame::Knob(_) | Frame::End => return None,
        };
        Some(Self { number, kind, levels: levels.to_vec(), event, is_known })
    }

    /// The frame that it was.
    pub(crate) fn frame(&self) -> Frame<'_> {
        let levels = &self.levels;
        let proposed = |o: &Opinion| Proposed { levels, mean: o.mean, std_dev: o.std_dev, score: o.score };
        match &self.kind {
            Kind::Measured(opinion) => Frame::Measured { proposed: proposed(opinion), event: self.event },
            Kind::Asked(opinion) => Frame::Asked(proposed(opinion)),
            Kind::Told => Frame::Happened { levels, event: self.event, resumed: false },
            Kind::Resumed => Frame::Happened { levels, event: self.event, resumed: true },
        }
    }

    /// The value that was measured, if one was.
    pub(crate) fn value(&self) -> Option<f32> {
        match self.event {
            Event::Told(value) => Some(value),
            Event::Failed | Event::Enqueued | Event::Asked | Event::Cancelled => None,
        }
    }

    /// What the chip's model thought, if it was asked.
    pub(crate) fn opinion(&self) -> Option<Opinion> {
        match self.kind {
            Kind::Measured(opinion) | Kind::Asked(opinion) => Some(opinion),
            Kind::Told | Kind::Resumed => None,
        }
    }
}
