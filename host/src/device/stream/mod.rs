//! The runs of a chip, put together from the frames that it sends.
//!
//! ```text
//! bytes → frames → runs: the hello with the knobs, then one step after the other
//! ```
//!
//! **Choices**
//! - A hello begins a run; frames before the first hello are a run of their own.
//! - A step is kept as it was sent.
//! - Steps after a missing frame are kept and drawn, but marked: the chip's tuner may have known
//!   more.
//! - Knobs whose frames are missing are named by their index alone.

mod step;

pub(crate) use step::{Kind, Step};

use trimtab::{Config, Event, Goal, Knob, Level, Scale};
use trimtab_embedded::telemetry::{Cause, Frame, Hello, KnobPart, Received, Shape};

use crate::draw::number::short;
use crate::space::interned;
use crate::terminal::plain;

/// Longest frame in bytes: a thousand knobs, with room to spare.
pub(crate) const MOST_BYTES: usize = 2048;

/// Finds the frames of a chip.
pub(crate) type Decoder = trimtab_embedded::telemetry::Decoder<MOST_BYTES>;

/// The contents of a hello.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct About {
    pub(crate) release: String,
    pub(crate) name: String,
    pub(crate) cause: Cause,
    pub(crate) is_restricted: bool,
    pub(crate) map: (u16, u16),
    pub(crate) budget: usize,
    pub(crate) seed: u64,
    pub(crate) config: Config,
}

/// A knob, as far as its frames arrived.
#[derive(Clone, Debug, Default, PartialEq)]
enum Heard {
    #[default]
    Nothing,
    Whole(Knob),
    /// Scale, total number of values, and the values so far.
    Part(Scale, usize, Vec<f32>),
}

/// One run, as far as its frames arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Run {
    /// `None` if the hello is missing.
    pub(crate) about: Option<About>,
    knobs: Vec<Heard>,
    /// Names of the knobs; empty where the chip sent none.
    names: Vec<String>,
    pub(crate) steps: Vec<Step>,
    /// Number of missing frames.
    pub(crate) lost: u32,
    /// Whether the chip reported the end.
    pub(crate) is_over: bool,
}

impl Run {
    fn new(hello: &Hello<'_>) -> Self {
        let about = About {
            release: hello.release.into(),
            name: plain(hello.name).into(),
            cause: hello.cause,
            is_restricted: hello.is_restricted,
            map: hello.map,
            budget: hello.budget.into(),
            seed: hello.seed,
            config: hello.config,
        };
        let (knobs, names) = (vec![Heard::Nothing; hello.knobs.into()], vec![String::new(); hello.knobs.into()]);
        Self { about: Some(about), knobs, names, ..Self::default() }
    }

    /// The name in the hello, or "a chip".
    pub(crate) fn name(&self) -> &str {
        self.about.as_ref().map_or("a chip", |about| if about.name.is_empty() { "a chip" } else { &about.name })
    }

    /// The name of a knob, if the chip sent one.
    pub(crate) fn knob_name(&self, place: usize) -> Option<&str> {
        self.names.get(place).map(String::as_str).filter(|name| !name.is_empty())
    }

    pub(crate) fn goal(&self) -> Goal {
        self.about.as_ref().map_or(Goal::Minimise, |about| about.config.goal)
    }

    /// All knobs, if none is missing.
    pub(crate) fn knobs(&self) -> Option<Vec<Knob>> {
        self.knobs.iter().map(|heard| if let Heard::Whole(knob) = heard { Some(*knob) } else { None }).collect()
    }

    /// Steps with an outcome, in order.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| matches!(step.event, Event::Told(_) | Event::Measured(..) | Event::Failed))
    }

    pub(crate) fn failures(&self) -> usize {
        self.steps.iter().filter(|step| step.event == Event::Failed).count()
    }

    /// Number of measurements that break a limit.
    pub(crate) fn breaking(&self) -> usize {
        self.outcomes().filter(|step| !step.is_kept()).count()
    }

    /// The first of the best outcomes that keep all limits, and its number, counted from 1.
    pub(crate) fn best(&self) -> Option<(usize, &Step, f32)> {
        let mut best: Option<(usize, &Step, f32)> = None;
        for (i, step) in self.outcomes().enumerate() {
            if let Some(value) = step.value().filter(|_| step.is_kept())
                && best.is_none_or(|(_, _, best)| is_better(self.goal(), value, best))
            {
                best = Some((i + 1, step, value));
            }
        }
        best
    }

    /// The best value after each outcome, from the first value on that keeps all limits.
    pub(crate) fn best_so_far(&self) -> Vec<f64> {
        let mut best: Option<f32> = None;
        self.outcomes()
            .filter_map(|step| {
                if let Some(value) = step.value().filter(|_| step.is_kept())
                    && best.is_none_or(|best| is_better(self.goal(), value, best))
                {
                    best = Some(value);
                }
                best.map(f64::from)
            })
            .collect()
    }

    /// Levels as people read them: values of graded knobs, levels of others, bits for switches;
    /// with the knobs' names, if the chip sent them.
    pub(crate) fn text(&self, levels: &[Level]) -> String {
        let knob = |place: usize| match self.knobs.get(place) {
            Some(Heard::Whole(knob)) => Some(*knob),
            _ => None,
        };
        if levels.len() > 4 && (0..levels.len()).all(|place| knob(place).is_some_and(|knob| knob.levels() == 2)) {
            return levels.iter().map(|level| if *level == 0 { '0' } else { '1' }).collect();
        }
        let words = levels.iter().enumerate().map(|(place, level)| {
            let text = match knob(place) {
                Some(knob) => knob.value(*level).map_or_else(|| level.to_string(), |value| short(value.into())),
                None => level.to_string(),
            };
            self.knob_name(place).map_or_else(|| text.clone(), |name| format!("{name}={text}"))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn take_knob(&mut self, part: &KnobPart) {
        let Some(heard) = self.knobs.get_mut(usize::from(part.place)) else { return };
        *heard = match (&part.shape, std::mem::take(heard)) {
            (Shape::Nominal { levels }, _) => Heard::Whole(Knob::nominal(*levels)),
            (Shape::Ranked { levels }, _) => Heard::Whole(Knob::ranked(*levels)),
            (Shape::Range { is_log, top, ends: [first, last] }, _) => {
                let scale = if *is_log { Scale::Log } else { Scale::Linear };
                Heard::Whole(Knob::Range { first: *first, last: *last, top: *top, scale })
            }
            (Shape::Graded { is_log, levels, first, values }, before) => {
                let scale = if *is_log { Scale::Log } else { Scale::Linear };
                let mut all = match before {
                    Heard::Part(_, _, all) if all.len() == usize::from(*first) => all,
                    _ if *first == 0 => Vec::new(),
                    // A part in between is missing.
                    _ => return,
                };
                all.extend(values.iter());
                let total = usize::from(*levels);
                match all.len() == total {
                    true => Heard::Whole(Knob::graded(interned(all), scale)),
                    false => Heard::Part(scale, total, all),
                }
            }
        };
    }
}

/// Whether one value is better than another.
pub(crate) fn is_better(goal: Goal, value: f32, other: f32) -> bool {
    match goal {
        Goal::Minimise => value < other,
        Goal::Maximise => value > other,
    }
}

/// All runs of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs {
    pub(crate) all: Vec<Run>,
    /// Number of frames.
    pub(crate) frames: usize,
}

impl Runs {
    /// Reads a whole stream; also returns how often there was garbage between frames.
    pub(crate) fn read(stream: &[u8]) -> (Self, u32) {
        let (mut decoder, mut runs) = (Decoder::new(), Self::default());
        for byte in stream {
            if let Some(Ok(received)) = decoder.push(*byte) {
                runs.take(&received);
            }
        }
        (runs, decoder.garbled())
    }

    /// The current run.
    pub(crate) fn last(&self) -> Option<&Run> {
        self.all.last()
    }

    /// Adds a frame.
    pub(crate) fn take(&mut self, received: &Received<'_>) {
        self.frames += 1;
        if let Frame::Hello(hello) = &received.frame {
            self.all.push(Run::new(hello));
            return;
        }
        // A small number without a hello belongs to a run whose beginning is missing.
        let is_foreign = received.lost > 0 && received.lost == received.number;
        if self.all.is_empty() || is_foreign {
            self.all.push(Run::default());
        }
        let Some(run) = self.all.last_mut() else { return };
        run.lost = run.lost.saturating_add(received.lost);
        let is_known = run.lost == 0 && run.about.is_some();
        match &received.frame {
            Frame::Hello(_) => {}
            Frame::Knob(part) => run.take_knob(part),
            Frame::Name { place, name } => {
                if let Some(own) = run.names.get_mut(usize::from(*place)) {
                    *own = (*name).into();
                }
            }
            Frame::End => run.is_over = true,
            Frame::Measured { .. } | Frame::Asked(_) | Frame::Happened { .. } => {
                run.steps.extend(Step::of(&received.frame, received.number, is_known));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab_embedded::telemetry;
    use trimtab_embedded::telemetry::Reporter;
    use trimtab_firmware::relays;

    fn stream() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut tuner = Box::new(relays::RelayTuner::new());
        tuner.init(relays::space().unwrap(), Config::default(), 4).unwrap();
        let mut reporter = Reporter::new(&mut bytes);
        reporter.hello(&tuner, &telemetry::About { name: "relays", cause: Cause::New, budget: 3 }).unwrap();
        for event in [Event::Told(5.0), Event::Failed, Event::Told(-2.0), Event::Told(0.0)] {
            let proposal = tuner.ask().unwrap();
            tuner.replay(&trimtab::Record::new(&proposal.combination, event)).unwrap();
            reporter.measured(&proposal, event).unwrap();
        }
        reporter.end().unwrap();
        bytes
    }

    #[test]
    fn a_run_is_put_together() {
        let (runs, garbled) = Runs::read(&stream());
        assert_eq!((runs.all.len(), runs.frames, garbled), (1, 1 + 24 + 4 + 1, 0));
        let run = &runs.all[0];
        assert_eq!((run.name(), run.lost, run.is_over, run.failures()), ("relays", 0, true, 1));
        assert_eq!(run.knobs().unwrap(), relays::KNOBS);
        assert_eq!(run.best().map(|(number, _, value)| (number, value)), Some((3, -2.0)));
        assert_eq!(run.best_so_far(), [5.0, 5.0, -2.0, -2.0]);
        let text = run.text(&run.steps[0].levels);
        assert!(text.len() == 24 && text.chars().all(|c| matches!(c, '0' | '1')), "{text}");
    }

    #[test]
    fn the_best_of_a_chip_keeps_its_limits() {
        const KNOBS: [Knob; 1] = [Knob::ranked(8)];
        type One = trimtab::tuner!(KNOBS, observations: 4, rows: 8, limits: 1);
        let mut tuner = One::new();
        tuner.init(trimtab::Space::new(&KNOBS).unwrap(), Config::default(), 1).unwrap();
        let mut bytes = Vec::new();
        let mut reporter = Reporter::new(&mut bytes);
        reporter.hello(&tuner, &telemetry::About { name: "one", cause: Cause::New, budget: 4 }).unwrap();
        for (value, margin) in [(1.0, -0.5), (5.0, 0.0), (4.0, 0.5), (2.0, -0.1)] {
            let proposal = tuner.ask().unwrap();
            tuner.tell_with(&proposal.combination, value, &[margin]).unwrap();
            let margins = trimtab::Margins::new(&[margin]).unwrap();
            reporter.measured(&proposal, Event::Measured(value, margins)).unwrap();
        }
        let run = Runs::read(&bytes).0.all.remove(0);
        assert_eq!(run.best().map(|(number, _, value)| (number, value)), Some((3, 4.0)));
        assert_eq!((run.best_so_far(), run.breaking()), (vec![5.0, 4.0, 4.0], 2));
    }

    #[test]
    fn names_are_shown_where_the_chip_sent_them() {
        const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::graded(&[1.0, 2.2, 4.7], Scale::Log)];
        type Two = trimtab::tuner!(KNOBS, observations: 4, rows: 12);
        let mut tuner = Two::new();
        tuner.init(trimtab::Space::new(&KNOBS).unwrap(), Config::default(), 1).unwrap();
        let text = |names: &[&str]| {
            let mut bytes = Vec::new();
            let mut reporter = Reporter::new(&mut bytes);
            reporter.hello(&tuner, &telemetry::About { name: "two", cause: Cause::New, budget: 3 }).unwrap();
            reporter.names(names).unwrap();
            let run = Runs::read(&bytes).0.all.remove(0);
            assert_eq!((run.lost, run.knobs().unwrap()), (0, KNOBS.to_vec()));
            (run.text(&[3, 1]), run.knob_name(0).map(String::from))
        };
        assert_eq!(text(&["mux", "gain"]), ("mux=3 gain=2.2".into(), Some("mux".into())));
        assert_eq!(text(&[]), ("3 2.2".into(), None));
        // More names than knobs, and names that are cut.
        assert_eq!(text(&["", "a name that is too long", "third"]).0, "3 a name that is t=2.2");
    }

    #[test]
    fn a_missed_hello_begins_a_run_of_its_own() {
        let whole = stream();
        let frames: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == 0).collect();
        // The first is the zero before the hello, the second the hello.
        let headless = frames[2..].concat();
        let (runs, _) = Runs::read(&[&whole[..], &headless].concat());
        assert_eq!(runs.all.iter().map(|run| run.lost).collect::<Vec<_>>(), [0, 1]);
        assert!(runs.all[1].about.is_none() && runs.all[1].steps.iter().all(|step| !step.is_known));
        assert_eq!(runs.all[0].steps.len(), runs.all[1].steps.len());
    }

    #[test]
    fn values_in_parts_are_joined_and_a_missing_part_leaves_the_knob_open() {
        let values: &'static [f32] = Box::leak((0..40).map(|i| i as f32 / 4.0).collect::<Vec<_>>().into_boxed_slice());
        let knob = Knob::graded(values, Scale::Log);
        let parts: Vec<_> = KnobPart::parts(0, knob).collect();
        assert_eq!(parts.len(), 3);
        let joined = |taken: &[usize]| {
            let mut run = Run { knobs: vec![Heard::Nothing], ..Run::default() };
            taken.iter().for_each(|part| run.take_knob(&parts[*part]));
            run.knobs()
        };
        assert_eq!(joined(&[0, 1, 2]), Some(vec![knob]));
        for some in [&[0, 2][..], &[0, 1], &[1, 2], &[]] {
            assert_eq!(joined(some), None, "{some:?}");
        }
    }
}
