//! A tuner without a model: only what its documentation promises, written as plainly as possible.
//!
//! It does not know which combination an ask returns, only which ones it may return; it knows
//! everything else.

use std::collections::BTreeSet;

use trimtab::{
    AskError, Config, Distribution, Encoding, EnqueueError, Goal, InitError, Knob, Level, MOST_PENDING, Noise,
    Observation, Proposal, Space, TellError, WhenFull,
};

/// A combination by its levels.
pub(crate) type Key = Vec<Level>;

/// The outcome of a combination.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Failed,
    /// Its values since it last failed.
    Measured(Vec<f32>),
}

/// The visible state of a tuner. Before `init` it has no combinations.
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
    /// Whether an ask is under way.
    pub(crate) asking: bool,
}

impl Reference {
    /// The state before `init`, with room for `capacity` observations.
    pub(crate) fn new(capacity: usize) -> Self {
        let (all, feasible) = (BTreeSet::new(), BTreeSet::new());
        let (outcomes, pending, queue) = (Vec::new(), Vec::new(), Vec::new());
        let config = Config::DEFAULT;
        Self { config, capacity, all, feasible, outcomes, pending, queue, asking: false }
    }

    /// The state after `init`.
    pub(crate) fn init<const K: usize>(&mut self, space: &Space<K>, config: Config) {
        let all: Vec<_> = (0..=space.last_index()).map(|index| space.at(index).expect("an index")).collect();
        let keys = |c: &trimtab::Combination<K>| c.levels().to_vec();
        let feasible = all.iter().filter(|c| space.is_feasible(c)).map(keys).collect();
        *self = Self { config, feasible, all: all.iter().map(keys).collect(), ..Self::new(self.capacity) };
        assert_eq!(self.all.len() as u128, space.cardinality(), "every index is another combination");
    }

    /// Number of observations that are kept.
    fn most(&self) -> usize {
        match usize::from(self.config.observations) {
            0 => self.capacity,
            limit => self.capacity.min(limit),
        }
    }

    pub(crate) fn is_initialised(&self) -> bool {
        !self.all.is_empty()
    }

    /// The errors that `init` may return for a tuner with room for `m` numbers and `d` dimensions; it
    /// must succeed if there are none.
    pub(crate) fn init_errors<const K: usize>(space: &Space<K>, config: &Config, m: usize, d: usize) -> Vec<InitError> {
        let is_graded = |knob: &&Knob| !matches!(knob, Knob::Nominal { .. }) && knob.levels() > 2;
        let of_knob = |knob: &Knob| match (knob, knob.levels()) {
            (_, levels @ 1..=2) => levels - 1,
            (Knob::Nominal { .. }, levels) => levels,
            _ => 2,
        };
        let needed = match config.encoding {
            _ if d == 0 => {
                space.knobs().iter().filter(is_graded).map(|knob| if knob.is_range() { 1 } else { knob.levels() }).sum()
            }
            Encoding::Compact => (0..).find(|bits| 1u128 << bits >= space.cardinality()).expect("some"),
            Encoding::PerKnob => space.knobs().iter().map(of_knob).sum(),
        };
        let most = if d > 0 && config.map == Distribution::Identity { m.min(d) } else { m };
        if needed > most { vec![InitError::TooManyFeatures { needed, most }] } else { Vec::new() }
    }

    /// The errors that beginning an ask may return.
    pub(crate) fn ask_errors(&self) -> Vec<AskError> {
        match self.pending.len() {
            _ if !self.is_initialised() => vec![AskError::Uninitialised],
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

    /// The combinations that may be asked for the first time.
    pub(crate) fn open(&self) -> Vec<&Key> {
        let is_open = |c: &&Key| self.outcome(c).is_none() && !self.pending.contains(c);
        self.feasible.iter().filter(is_open).collect()
    }

    /// The errors that telling an outcome may return.
    pub(crate) fn tell_errors(&self, c: &Key, value: Option<f32>) -> Vec<TellError> {
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

    /// The errors that queueing a combination may return.
    pub(crate) fn enqueue_errors(&self, c: &Key) -> Vec<EnqueueError> {
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

    /// The errors that replaying the ask of this combination may return, besides those of asking.
    pub(crate) fn replayed_ask_errors(&self, c: &Key) -> Vec<EnqueueError> {
        let mut reasons = Vec::new();
        if !self.feasible.contains(c) {
            reasons.push(EnqueueError::Infeasible);
        }
        if self.pending.contains(c) {
            reasons.push(EnqueueError::Known);
        }
        reasons
    }

    /// Records an outcome; `kept` are the combinations that have one now.
    pub(crate) fn told(&mut self, c: &Key, value: Option<f32>, kept: &[Key]) {
        self.asking = false;
        self.leave(c);
        if let Some((_, outcome)) = self.outcomes.iter_mut().find(|(own, _)| own == c) {
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

    /// Removes the outcome that is no longer kept, after checking it refusals the policy.
    fn forget(&mut self, kept: &[Key]) {
        let gone: Vec<_> = (0..self.len()).filter(|i| !kept.contains(&self.outcomes[*i].0)).collect();
        let [gone] = gone[..] else { panic!("one outcome must be evicted, not {gone:?}") };
        match self.config.when_full {
            WhenFull::Refuse => panic!("nothing may be evicted"),
            WhenFull::ForgetOldest => assert_eq!(gone, 0, "the evicted outcome is not the oldest"),
            WhenFull::ForgetWorst => {
                // Failures are worse than anything; values within the reference's precision are
                // equal.
                let sign = if self.config.goal == Goal::Minimise { 1.0 } else { -1.0 };
                let badness = |(_, outcome): &(Key, Outcome)| match outcome {
                    Outcome::Failed => (f64::INFINITY, 0.0),
                    Outcome::Measured(values) => (mean(values) * sign, tolerance(values)),
                };
                let (own, own_tolerance) = badness(&self.outcomes[gone]);
                let is_worse = |(other, tolerance): (f64, f64)| other > own && other - tolerance > own + own_tolerance;
                assert!(!self.outcomes.iter().map(badness).any(is_worse), "the evicted outcome is not the worst");
            }
        }
        self.outcomes.remove(gone);
    }

    pub(crate) fn enqueued(&mut self, c: &Key) {
        self.asking = false;
        self.queue.push(c.clone());
    }

    /// Returns whether the combination was pending.
    pub(crate) fn cancelled(&mut self, c: &Key) -> bool {
        let was = self.pending.contains(c);
        if was {
            self.asking = false;
            self.pending.retain(|own| own != c);
        }
        was
    }

    pub(crate) fn mark_pending(&mut self, c: &Key) {
        self.asking = false;
        self.leave(c);
        self.pending.push(c.clone());
    }

    /// Removes it from the queue and the pending ones.
    fn leave(&mut self, c: &Key) {
        self.queue.retain(|own| own != c);
        self.pending.retain(|own| own != c);
    }

    /// Checks that a proposal was allowed, and makes it pending.
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
                assert_ne!(self.config.noise, Noise::None, "{c:?} is asked again without noise");
            }
        }
        assert!(!mean.is_nan() && *std_dev >= 0.0 && !score.is_nan(), "{proposal:?}");
        if self.len() == 0 {
            assert_eq!((*mean, *std_dev), (0.0, f32::INFINITY), "nothing is known yet");
        }
        self.mark_pending(&c);
    }

    /// Checks that the observations are those told, in their order.
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

/// A running mean of some tens of floats, each step rounded to 6e-8 of the largest, or to the
/// smallest float.
fn tolerance(values: &[f32]) -> f64 {
    let largest = values.iter().fold(0.0, |most: f32, value| most.max(value.abs()));
    1e-5 * f64::from(largest) + 1e-43
}
