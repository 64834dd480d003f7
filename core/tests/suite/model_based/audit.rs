//! Compares the visible state of a tuner with the reference, and the tuner with one rebuilt from
//! its log.

use trimtab::Goal;

use super::allocations;
use super::draw::{Draw, K};
use super::reference::{Key, Outcome};
use super::run::{Run, bits, key};

impl<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Run<M, D, T, L, P> {
    /// Compares everything visible with the reference.
    pub(crate) fn audit(&self, draw: &mut Draw) {
        let Self { tuner, reference, .. } = self;
        let observations: Vec<_> = tuner.observations().collect();
        reference.check(&observations);
        assert_eq!((tuner.len(), tuner.is_empty()), (reference.len(), reference.len() == 0));
        assert_eq!(tuner.failures(), reference.failures());
        assert_eq!(tuner.pending().iter().map(key).collect::<Vec<_>>(), reference.pending);
        assert!(!reference.is_initialised() || *tuner.config() == reference.config);

        let cost = |value: f32| if reference.config.goal == Goal::Minimise { value } else { -value };
        let measured = || observations.iter().filter(|o| !o.is_failure());
        let best = measured().reduce(|best, other| if cost(other.value) < cost(best.value) { other } else { best });
        assert_eq!(tuner.best_observed(), best.copied(), "the best, of equals the first");

        // The rest is expensive.
        if draw.below(4) > 0 {
            return;
        }
        // An ask in slices beside pending combinations allows no predictions.
        if reference.asking && !reference.pending.is_empty() {
            return;
        }
        let foreign = draw.space().at(0).expect("the first");
        for c in reference.all().map(|c| tuner.space().combination(c).expect("its own")).chain([foreign]) {
            let predicted = allocations::none(|| tuner.predict(&c));
            assert_eq!(predicted.is_some(), reference.len() > 0 && reference.is_own(&key(&c)));
            let is_sane = |mean: f32, std_dev: f32| !mean.is_nan() && std_dev >= 0.0;
            assert!(predicted.is_none_or(|p| p.combination == c && is_sane(p.mean, p.std_dev)), "{predicted:?}");
        }
        let best = allocations::none(|| tuner.best_posterior());
        assert_eq!(best.is_some(), reference.failures() < reference.len());
        if let Some(best) = best {
            assert!(matches!(reference.outcome(&key(&best.combination)), Some(Outcome::Measured(_))));
            assert_eq!(bits(&tuner.predict(&best.combination)), bits(&Some(best)));
            let is_better = |c| tuner.predict(c).is_some_and(|p| cost(p.mean) < cost(best.mean));
            assert!(!measured().any(|o| is_better(&o.combination)), "{best:?} is not the best");
        }
    }

    /// Noise and predictions of the model, to the bit.
    pub(crate) fn model_bits(&self) -> String {
        bits(&(self.tuner.noise(), self.tuner.best_posterior(), self.predictions()))
    }

    /// The predictions for all combinations, to the bit.
    pub(crate) fn predictions(&self) -> Vec<(Key, String)> {
        let space = self.tuner.space();
        let all = (0..=space.last_index()).filter_map(|index| space.at(index));
        let predicted = all.filter_map(|c| self.tuner.predict(&c));
        predicted.map(|p| (key(&p.combination), bits(&(p.mean, p.std_dev)))).collect()
    }

    /// Checks that the log rebuilds a tuner that predicts and asks the same.
    pub(crate) fn rebuild(&mut self) {
        let (Some((space, config, seed)), Some(log)) = (self.initialised.clone(), self.log.take()) else { return };
        let mut second = Self::new(self.seed);
        second.tuner.init(space, config, seed).expect("accepted once, accepted again");
        for record in &log {
            second.tuner.replay(record).expect("taken once, taken again");
        }
        let outcomes = |run: &Self| run.tuner.observations().collect::<Vec<trimtab::Observation<K>>>();
        assert_eq!(bits(&outcomes(self)), bits(&outcomes(&second)));
        assert_eq!(self.tuner.pending(), second.tuner.pending());
        self.assert_untaught(&second.model_bits(), "another model from the log");
        for _ in 0..3 {
            assert_eq!(bits(&self.tuner.ask()), bits(&second.tuner.ask()), "the tuner, and the one from its log");
        }
        self.saw("rebuilt");
    }
}
