//! One step of a run: the contents of a frame.

use trimtab::{Event, Level};
use trimtab_embedded::telemetry::{Frame, Proposed};

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The tuner proposed, and this is the outcome.
    Measured(Predicted),
    /// The tuner proposed; the outcome comes later.
    Asked(Predicted),
    /// The tuner was told.
    Told,
    /// The tuner was told by a replayed log.
    Resumed,
}

/// What the chip's model predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Predicted {
    pub(crate) mean: f32,
    pub(crate) std_dev: f32,
    pub(crate) score: f32,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Number of the frame, counted from the hello.
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) levels: Vec<Level>,
    pub(crate) event: Event,
    /// Whether no earlier frame is missing.
    pub(crate) is_known: bool,
}

impl Step {
    /// Reads the step of a frame, if it has one.
    pub(super) fn of(frame: &Frame<'_>, number: u32, is_known: bool) -> Option<Self> {
        let predicted = |p: &Proposed<'_>| Predicted { mean: p.mean, std_dev: p.std_dev, score: p.score };
        let (kind, levels, event) = match frame {
            Frame::Measured { proposed, event } => (Kind::Measured(predicted(proposed)), proposed.levels, *event),
            Frame::Asked(proposed) => (Kind::Asked(predicted(proposed)), proposed.levels, Event::Asked),
            Frame::Happened { levels, event, resumed: true } => (Kind::Resumed, *levels, *event),
            Frame::Happened { levels, event, resumed: false } => (Kind::Told, *levels, *event),
            Frame::Hello(_) | Frame::Knob(_) | Frame::Name { .. } | Frame::End => return None,
        };
        Some(Self { number, kind, levels: levels.iter().collect(), event, is_known })
    }

    /// The frame of the step.
    pub(crate) fn frame(&self) -> Frame<'_> {
        let levels = self.levels.as_slice().into();
        let proposed = |o: &Predicted| Proposed { levels, mean: o.mean, std_dev: o.std_dev, score: o.score };
        match &self.kind {
            Kind::Measured(predicted) => Frame::Measured { proposed: proposed(predicted), event: self.event },
            Kind::Asked(predicted) => Frame::Asked(proposed(predicted)),
            Kind::Told => Frame::Happened { levels, event: self.event, resumed: false },
            Kind::Resumed => Frame::Happened { levels, event: self.event, resumed: true },
        }
    }

    /// The measured value, if there is one.
    pub(crate) fn value(&self) -> Option<f32> {
        self.event.value()
    }

    /// The margins to the chip's limits, if it has any.
    pub(crate) fn margins(&self) -> &[f32] {
        if let Event::Measured(_, margins) = &self.event { margins } else { &[] }
    }

    /// Whether it keeps all limits.
    pub(crate) fn is_kept(&self) -> bool {
        self.margins().iter().all(|margin| *margin >= 0.0)
    }

    /// What the chip's model predicted, if it was asked.
    pub(crate) fn predicted(&self) -> Option<Predicted> {
        match self.kind {
            Kind::Measured(predicted) | Kind::Asked(predicted) => Some(predicted),
            Kind::Told | Kind::Resumed => None,
        }
    }
}
