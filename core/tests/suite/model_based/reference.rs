//! A tuner without a model: only what its documentation promises, as plainly as it can be written.
//!
//! It does not know what will be asked, but what may be asked; and it knows everything else.

use std::collections::BTreeSet;

use trimtab::{
    AskError, Config, Distribution, Encoding, EnqueueError, Goal, InitError, Knob, Level, MOST_PENDING, Observation,
    Proposal, Space, TellError, WhenFull,
};

/// A combination by its levels.
pub(crate) type Key = Vec<Level>;

/// What came of a combination.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Failed,
    /// Its values since it last failed.
    Measured(Vec<f32>),
}

/// What a tuner knows. Before it is ready, no combination is one of its own.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) config: Config,
    capacity: usize,
    all: BTreeSet<Key>,
    feasible: BTreeSet<Key>,
    /// In the order of the first outcome.
    outcomes: Vec<(Key, Outcome)>,
    pub(crate) pending: Vec<Key>,
    queue: Vec<Key>,
    tells: usize,
    repeats: usize,
    /// Whether an ask was begun and not ended.
    pub(crate) asking: bool,
}

impl Reference {
    /// What a tuner with room for so many observations knows before it is ready.
    pub(crate) fn new(capacity: usize) -> Self {
        let (all, feasible) = (BTreeSet::new(), BTreeSet::new());
        let (outcomes, pending, queue) = (Vec::new(), Vec::new(), Vec::new());
        let config = Config::DEFAULT;
        Self { config, capacity, all, feasible, outcomes, pending, queue, tells: 0, repeats: 0, asking: false }
    }

    /// What it knows once it is ready.
    pub(crate) fn init<const K: usize>(&mut self, space: &Space<K>, config: Config) {
        let all: Vec<_> = (0..=space.last_index()).map(|index| space.at(index).expect("an index")).collect();
        let keys = |c: &trimtab::Combination<K>| c.levels().to_vec();
        let feasible = all.iter().filter(|c| space.is_feasible(c)).map(keys).collect();
        *self = Self { config, feasible, all: all.iter().map(keys).collect(), ..Self::new(self.capacity) };
        assert_eq!(self.all.len() as u128, space.cardinality(), "every index is another combination");
    }

    /// How many observations are kept.
    fn most(&self) -> usize {
        match usize::from(self.config.observations) {
            0 => self.capacity,
            limit => self.capacity.min(limit),
        }
    }

    pub(crate) fn is_ready(&self) -> bool {
        !self.all.is_empty()
    }

    /// Whether there is a random map, in a tuner with room for so many features.
    pub(crate) fn is_projected(config: &Config, features: usize) -> bool {
        config.map.map_or(features > 0, |map| map != Distribution::Identity)
    }

    /// Why a tuner with room for `m` features and `d` dimensions cannot be made ready; one of these, or nothing.
    pub(crate) fn against_init<const K: usize>(
        space: &Space<K>,
        config: &Config,
        m: usize,
        d: usize,
    ) -> Vec<InitError> {
        let is_graded = |knob: &&Knob| !matches!(knob, Knob::Nominal { .. }) && knob.levels() > 2;
        let graded = space.knobs().iter().filter(is_graded).count();
        let of_knob = |knob: &Knob| match (knob, knob.levels()) {
            (_, levels @ 1..=2) => levels - 1,
            (Knob::Nominal { .. }, levels) => levels,
            _ => 2,
        };
        let (features, graded) = match config.encoding {
            Encoding::Compact => ((0..).find(|bits| 1u128 << bits >= space.cardinality()).expect("some"), 0),
            Encoding::PerKnob => (space.knobs().iter().map(of_knob).sum(), 2 * graded),
        };
        let is_projected = Self::is_projected(config, m);
        let (needed, most) = if is_projected { (features, m) } else { (graded, d) };
        let mut reasons = Vec::new();
        if needed > most {
            reasons.push(InitError::TooManyFeatures { needed, most });
        }
        if is_projected && d == 0 {
            reasons.push(InitError::NoDimensions);
        }
        reasons
    }

    /// Why no ask may begin.
    pub(crate) fn against_asking(&self) -> Vec<AskError> {
        match self.pending.len() {
            _ if !self.is_ready() => vec![AskError::Uninitialised],
            MOST_PENDING => vec![AskError::TooManyPending { most: MOST_PENDING }],
            _ => Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.outcomes.len()
    }

    pub(crate) fn is_own(&self, c: &Key) -> bool {
        self.all.contains(c)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Key> {
        self.all.iter()
    }

    pub(crate) fn outcome(&self, c: &Key) -> Option<&Outcome> {
        self.outcomes.iter().find(|(own, _)| own == c).map(|(_, outcome)| outcome)
    }

    /// What may be asked because nothing is known of it.
    pub(crate) fn open(&self) -> Vec<&Key> {
        let is_open = |c: &&Key| self.outcome(c).is_none() && !self.pending.contains(c);
        self.feasible.iter().filter(is_open).collect()
    }

    /// Why an outcome must be refused; one of these, or nothing.
    pub(crate) fn against_telling(&self, c: &Key, value: Option<f32>) -> Vec<TellError> {
        let mut reasons = Vec::new();
        if value.is_some_and(|value| !value.is_finite()) {
            reasons.push(TellError::NonFinite);
        }
        if !self.is_own(c) {
            reasons.push(TellError::Foreign);
        } else if !self.feasible.contains(c) {
            reasons.push(TellError::Infeasible);
        }
        let is_full = self.len() == self.most() && self.config.when_full == WhenFull::Refuse;
        if is_full && self.outcome(c).is_none() {
            reasons.push(TellError::Full);
        }
        reasons
    }

    /// Why a combination must not be put in the queue; one of these, or nothing.
    pub(crate) fn against_queueing(&self, c: &Key) -> Vec<EnqueueError> {
        let mut reasons = Vec::new();
        if !self.is_own(c) {
            reasons.push(EnqueueError::Foreign);
        } else if !self.feasible.contains(c) {
            reasons.push(EnqueueError::Infeasible);
        }
        if self.outcome(c).is_some() || self.pending.contains(c) || self.queue.contains(c) {
            reasons.push(EnqueueError::Known);
        }
        if self.queue.len() == MOST_PENDING {
            reasons.push(EnqueueError::Full { most: MOST_PENDING });
        }
        reasons
    }

    /// Why a combination must not become awaited, beside the reasons against asking; one of these, or nothing.
    pub(crate) fn against_awaiting(&self, c: &Key) -> Vec<EnqueueError> {
        let mut reasons = Vec::new();
        if !self.feasible.contains(c) {
            reasons.push(EnqueueError::Infeasible);
        }
        if self.pending.contains(c) {
            reasons.push(EnqueueError::Known);
        }
        reasons
    }

    /// An outcome is taken in; `kept` says which combinations have one now.
    pub(crate) fn told(&mut self, c: &Key, value: Option<f32>, kept: &[Key]) {
        self.asking = false;
        self.tells += 1;
        self.leave(c);
        if let Some((_, outcome)) = self.outcomes.iter_mut().find(|(own, _)| own == c) {
            self.repeats += 1;
            match (outcome, value) {
                (Outcome::Measured(values), Some(value)) => values.push(value),
                (outcome, Some(value)) => *outcome = Outcome::Measured(vec![value]),
                (outcome, None) => *outcome = Outcome::Failed,
            }
            return;
        }
        if self.len() == self.most() {
            self.forget(kept);
        }
        self.outcomes.push((c.clone(), value.map_or(Outcome::Failed, |value| Outcome::Measured(vec![value]))));
    }

    /// One outcome makes room; where the policy leaves a choice, what is no longer kept.
    fn forget(&mut self, kept: &[Key]) {
        let gone: Vec<_> = (0..self.len()).filter(|i| !kept.contains(&self.outcomes[*i].0)).collect();
        let [gone] = gone[..] else { panic!("one outcome must be forgotten, not those of {gone:?}") };
        match self.config.when_full {
            WhenFull::Refuse => panic!("nothing may be forgotten"),
            WhenFull::ForgetOldest => assert_eq!(gone, 0, "not the oldest is forgotten"),
            WhenFull::ForgetWorst => {
                // Failures are worse than anything; equal to the reference's precision is equal.
                let sign = if self.config.goal == Goal::Minimise { 1.0 } else { -1.0 };
                let badness = |(_, outcome): &(Key, Outcome)| match outcome {
                    Outcome::Failed => (f64::INFINITY, 0.0),
                    Outcome::Measured(values) => (mean(values) * sign, tolerance(values)),
                };
                let (own, own_tolerance) = badness(&self.outcomes[gone]);
                let is_worse = |(other, tolerance): (f64, f64)| other > own && other - tolerance > own + own_tolerance;
                assert!(!self.outcomes.iter().map(badness).any(is_worse), "not the worst is forgotten");
            }
        }
        self.outcomes.remove(gone);
    }

    pub(crate) fn enqueued(&mut self, c: &Key) {
        self.asking = false;
        self.queue.push(c.clone());
    }

    /// Whether it was awaited.
    pub(crate) fn cancelled(&mut self, c: &Key) -> bool {
        let was = self.pending.contains(c);
        if was {
            self.asking = false;
            self.pending.retain(|own| own != c);
        }
        was
    }

    pub(crate) fn awaited(&mut self, c: &Key) {
        self.asking = false;
        self.leave(c);
        self.pending.push(c.clone());
    }

    /// It is neither queued nor awaited any more.
    fn leave(&mut self, c: &Key) {
        self.queue.retain(|own| own != c);
        self.pending.retain(|own| own != c);
    }

    /// A proposal is one that may be made; it is awaited from now on.
    pub(crate) fn proposed<const K: usize>(&mut self, proposal: &Proposal<K>) {
        let Proposal { combination, mean, std_dev, score } = proposal;
        let c = combination.levels().to_vec();
        assert!(self.feasible.contains(&c), "{c:?} is infeasible");
        assert!(!self.pending.contains(&c), "{c:?} is being measured");
        let is_early = self.len() < usize::from(self.config.initial.max(1));
        match (self.queue.first(), self.outcome(&c)) {
            (Some(first), _) => assert_eq!((&c, *score), (first, 0.0), "the queue comes first"),
            (None, None) => assert!(!is_early || *score == 0.0, "too early for the model to choose {c:?}"),
            (None, Some(Outcome::Failed)) => panic!("{c:?} failed and is asked again"),
            (None, Some(Outcome::Measured(values))) => {
                assert!(!is_early && *score == 0.0 && self.config.remeasure > 1, "{c:?} is asked twice");
                assert!(values.len() < usize::from(self.config.remeasure), "{c:?} is asked again too often");
                assert!(2 * self.repeats < self.tells, "more than every second measurement is a repeat");
            }
        }
        assert!(!mean.is_nan() && *std_dev >= 0.0 && !score.is_nan(), "{proposal:?}");
        if self.len() == 0 {
            assert_eq!((*mean, *std_dev), (0.0, f32::INFINITY), "nothing is known yet");
        }
        self.awaited(&c);
    }

    /// The observations are those that were told, in their order.
    pub(crate) fn check<const K: usize>(&self, observations: &[Observation<K>]) {
        assert_eq!(observations.len(), self.len());
        for (shown, (c, outcome)) in observations.iter().zip(&self.outcomes) {
            assert_eq!(shown.combination.levels(), c);
            match outcome {
                Outcome::Failed => assert!(shown.is_failure() && shown.repeats == 0 && shown.value.is_nan()),
                Outcome::Measured(values) => {
                    assert!(!shown.is_failure() && usize::from(shown.repeats) == values.len(), "{shown:?}: {values:?}");
                    let off = (f64::from(shown.value) - mean(values)).abs();
                    assert!(off <= tolerance(values), "{shown:?} is not the mean of {values:?}");
                }
            }
        }
    }

    pub(crate) fn failures(&self) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed)).count()
    }
}

fn mean(values: &[f32]) -> f64 {
    values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64
}

/// A running mean of some tens of floats, each step rounded to 6e-8 of the largest, or to the smallest float there is.
fn tolerance(values: &[f32]) -> f64 {
    let largest = values.iter().fold(0.0, |most: f32, value| most.max(value.abs()));
    1e-5 * f64::from(largest) + 1e-43
}
