//! Random spaces, configurations and calls.

use trimtab::internals::Random;
use trimtab::{
    Acquisition, Beta, Combination, Config, Distribution, Encoding, Event, Fitting, Goal, Knob, Noise, Prior, Region,
    Scale, Space, WhenFull,
};

use super::run::Run;

/// Most knobs.
pub(crate) const K: usize = 3;
/// Most combinations.
const MOST: u128 = 40;

/// One call of a tuner.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Init(Space<K>, Config, u64),
    Ask(Way),
    AskBegin,
    AskStep(u16),
    Tell(Combination<K>, f32),
    TellFailed(Combination<K>),
    Enqueue(Combination<K>),
    Cancel(Combination<K>),
    Replay(Combination<K>, Event),
}

/// How to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Plain,
    Cached,
    Lookup(Region),
    Recon(Region, f32),
}

/// The kind of values that a sequence tells.
#[derive(Clone, Copy)]
enum Values {
    Few,
    Many,
    Equal,
    Extreme,
}

/// The calls that a sequence prefers.
#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Even,
    /// Queues much, asks little, and mostly in slices.
    Queueing,
    /// Asks much before it tells.
    Asking,
}

pub(crate) struct Draw {
    random: Random,
    values: Values,
    mood: Mood,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 1 << 60);
        let values = [Values::Few, Values::Many, Values::Many, Values::Equal, Values::Extreme];
        let values = values[random.below(5) as usize];
        let mood = [Mood::Even, Mood::Even, Mood::Queueing, Mood::Asking][random.below(4) as usize];
        Self { random, values, mood }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u32) as usize
    }

    fn one_of<E: Copy>(&mut self, these: &[E]) -> E {
        these[self.below(these.len())]
    }

    pub(crate) fn space(&mut self) -> Space<K> {
        static VALUES: [f32; 9] = [1.0, 3.0, 2.0, 10.0, 47.0, 100.0, 220.0, 470.0, 1000.0];
        let knobs: Vec<Knob> = (0..1 + self.below(K))
            .map(|_| match self.below(5) {
                0 => Knob::nominal(1 + self.below(12) as u16),
                1 => Knob::ranked(1 + self.below(12) as u16),
                2 => Knob::nominal(2),
                3 if self.below(2) == 0 => Knob::range(10.0, 0.5, -0.5 * (1.0 + self.below(9) as f32)),
                3 => Knob::log_range(1.0, 9.0, 1 + self.below(12) as u32),
                _ => {
                    let scale = self.one_of(&[Scale::Linear, Scale::Log]);
                    Knob::graded(&VALUES[..1 + self.below(9)], scale)
                }
            })
            .collect();
        let space = Space::new(&knobs).expect("the knobs are sound");
        if space.cardinality() > MOST {
            return self.space();
        }
        match self.below(8) {
            0 => space.with_feasible(&|c| !c.levels().iter().map(|l| u32::from(*l)).sum::<u32>().is_multiple_of(3)),
            1 | 2 => space.with_feasible(&|c| c.level(0) == 0),
            3 if self.below(4) == 0 => space.with_feasible(&|_| false),
            _ => space,
        }
    }

    pub(crate) fn config(&mut self) -> Config {
        let beta = self.one_of(&[Beta::Constant(2.0), Beta::Constant(0.0), Beta::Theorem { scale: 0.5, delta: 0.1 }]);
        let maps = [Distribution::Centred, Distribution::Signs, Distribution::Uniform01, Distribution::Identity];
        let map = self.one_of(&maps);
        Config {
            goal: self.one_of(&[Goal::Minimise, Goal::Maximise]),
            encoding: self.one_of(&[Encoding::Compact, Encoding::PerKnob]),
            map,
            prior: self.one_of(&[Prior::WEAK, Prior::FIXED, Prior::MAXIMUM_LIKELIHOOD]),
            fit: Fitting { linear: self.below(2) == 0, priors: self.below(2) == 0, sweeps: self.below(3) as u8 },
            refit: self.one_of(&[8, 1, 0]),
            standardise: self.below(4) > 0,
            acquisition: self.one_of(&[Acquisition::Ucb(beta), Acquisition::ExpectedImprovement]),
            initial: self.below(6) as u16,
            noise: self.one_of(&[
                Noise::Auto,
                Noise::Auto,
                Noise::None,
                Noise::Given(0.0),
                Noise::Given(1.0),
                Noise::Given(9.0),
            ]),
            remeasure: self.one_of(&[1, 0, 2, 5, 5]),
            when_full: self.one_of(&[WhenFull::Refuse, WhenFull::ForgetOldest, WhenFull::ForgetWorst]),
            rows: self.one_of(&[0, 0, 5, u16::MAX]),
            observations: self.one_of(&[0, 0, 3, u16::MAX]),
        }
    }

    /// A finite value.
    fn value(&mut self) -> f32 {
        let extreme = [f32::MAX, f32::MIN, 1e30, -1e30, 0.0, -0.0, 1.0, f32::MIN_POSITIVE, 1e-45];
        match self.values {
            Values::Few => self.below(4) as f32,
            Values::Many => self.random.uniform() * 100.0 - 50.0,
            Values::Equal => 7.25,
            Values::Extreme => self.one_of(&extreme),
        }
    }

    /// A combination: usually one of the space, now and then one of another.
    fn combination<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
        &mut self,
        run: &Run<M, D, T, L, P>,
    ) -> Combination<K> {
        let own = run.tuner.space();
        let space = if own.knobs().is_empty() || self.below(8) == 0 { self.space() } else { own.clone() };
        let index = self.below(space.cardinality() as usize) as u64;
        space.at(index).expect("an index of the space")
    }

    /// The next call.
    pub(crate) fn call<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
        &mut self,
        run: &Run<M, D, T, L, P>,
    ) -> Call {
        let any = self.combination(run);
        let pending = run.tuner.pending();
        let pending = if pending.is_empty() { any } else { pending[self.below(pending.len())] };
        let value = self.value();
        let region = self.one_of(&[Region::UnitBox, Region::BoundingBox, Region::Polytope]);
        let seldom = self.below(4) == 0;
        // An uninitialised tuner is soon initialised, but some calls come before.
        let first = if run.reference.is_initialised() { 1 } else { 40 };
        match self.below(100 + first) {
            0..60 if seldom && self.mood == Mood::Queueing => Call::AskBegin,
            0..60 if self.mood == Mood::Queueing && self.below(4) > 0 => Call::Enqueue(any),
            25..74 if !seldom && self.mood == Mood::Asking => Call::Ask(Way::Plain),
            0..14 => Call::Ask(Way::Plain),
            14..20 => Call::Ask(Way::Cached),
            20..23 => Call::Ask(Way::Lookup(region)),
            23..25 => Call::Ask(Way::Recon(region, 0.02)),
            25..29 => Call::AskBegin,
            29..37 => Call::AskStep(self.below(5) as u16),
            37..57 => Call::Tell(pending, value),
            57..64 => Call::Tell(any, value),
            64 => Call::Tell(any, self.one_of(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY])),
            65..70 => Call::TellFailed(pending),
            70..74 => Call::TellFailed(any),
            74..84 => Call::Enqueue(any),
            84..87 => Call::Cancel(pending),
            87 => Call::Cancel(any),
            88..99 => {
                let told = Event::Told(value);
                let event = self.one_of(&[told, Event::Failed, Event::Enqueued, Event::Asked, Event::Cancelled]);
                Call::Replay(self.one_of(&[any, pending]), event)
            }
            // Often the same init again, or nearly: a cache of the tuner before must not be
            // mistaken for this one's.
            _ => match &run.initialised {
                Some((space, config, seed)) if self.below(2) == 0 => Call::Init(space.clone(), *config, *seed),
                _ => Call::Init(self.space(), self.config(), self.below(2) as u64),
            },
        }
    }
}
