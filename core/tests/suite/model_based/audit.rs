//! What can be seen of a tuner, compared with the reference; and the tuner that its log makes, compared with it.

use trimtab::Goal;

use super::allocations;
use super::draw::{Draw, K};
use super::reference::{Key, Outcome};
use super::run::{Run, bits, key};

impl<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Run<M, D, T, L, P> {
    /// Compares all that can be seen with the reference.
    pub(crate) fn audit(&self, draw: &mut Draw) {
        let Self { tuner, known, .. } = self;
        let observations: Vec<_> = tuner.observations().collect();
        known.check(&observations);
        assert_eq!((tuner.len(), tuner.is_empty()), (known.len(), known.len() == 0));
        assert_eq!(tuner.failures(), known.failures());
        assert_eq!(tuner.pending().iter().map(key).collect::<Vec<_>>(), known.pending);
        assert!(!known.is_ready() || *tuner.config() == known.config);

        let cost = |value: f32| if known.config.goal == Goal::Minimise { value } else { -value };
        let measured = || observations.iter().filter(|o| !o.is_failure());
        let best = measured().reduce(|best, other| if cost(other.value) < cost(best.value) { other } else { best });
        assert_eq!(tuner.best_observed(), best.copied(), "the best, of equals the first");

        // The rest is dear.
        if draw.below(4) > 0 {
            return;
        }
        let foreign = draw.space().at(0).expect("the first");
        for c in known.all().map(|c| tuner.space().combination(c).expect("its own")).chain([foreign]) {
            let predicted = allocations::none(|| tuner.predict(&c));
            assert_eq!(predicted.is_some(), known.len() > 0 && known.is_own(&key(&c)));
            let is_sane = |mean: f32, std_dev: f32| !mean.is_nan() && std_dev >= 0.0;
            assert!(predicted.is_none_or(|p| p.combination == c && is_sane(p.mean, p.std_dev)), "{predicted:?}");
        }
        let best = allocations::none(|| tuner.best_posterior());
        assert_eq!(best.is_some(), known.failures() < known.len());
        if let Some(best) = best {
            assert!(matches!(known.outcome(&key(&best.combination)), Some(Outcome::Measured(_))));
            assert_eq!(bits(&tuner.predict(&best.combination)), bits(&Some(best)));
            let is_better = |c| tuner.predict(c).is_some_and(|p| cost(p.mean) < cost(best.mean));
            assert!(!measured().any(|o| is_better(&o.combination)), "{best:?} is not the best");
        }
    }

    /// What the model thinks, to the bit.
    pub(crate) fn opinion(&self) -> String {
        bits(&(self.tuner.hyper(), self.tuner.best_posterior(), self.predictions()))
    }

    /// What it predicts for every combination, to the bit.
    pub(crate) fn predictions(&self) -> Vec<(Key, String)> {
        let space = self.tuner.space();
        let all = (0..=space.last_index()).filter_map(|index| space.at(index));
        let predicted = all.filter_map(|c| self.tuner.predict(&c));
        predicted.map(|p| (key(&p.combination), bits(&(p.mean, p.std_dev)))).collect()
    }

    /// The log makes a tuner that thinks and asks the same.
    pub(crate) fn rebuild(&mut self) {
        let (Some((space, config, seed)), Some(log)) = (self.ready.clone(), self.log.take()) else { return };
        let mut second = Self::new(self.seed);
        second.tuner.init(space, config, seed).expect("ready once, ready again");
        for record in &log {
            second.tuner.replay(record).expect("taken once, taken again");
        }
        let outcomes = |run: &Self| run.tuner.observations().collect::<Vec<trimtab::Observation<K>>>();
        assert_eq!(bits(&outcomes(self)), bits(&outcomes(&second)));
        assert_eq!(self.tuner.pending(), second.tuner.pending());
        assert_eq!(self.opinion(), second.opinion());
        for _ in 0..3 {
            assert_eq!(bits(&self.tuner.ask()), bits(&second.tuner.ask()), "the tuner, and the one from its log");
        }
        self.saw("rebuilt");
    }
}
