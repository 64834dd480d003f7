//! Maximizes the acquisition: many random draws, then climbs from the best of them and from the
//! best observations.
//!
//! **Choices**, as in SMAC3's local and sorted random search unless noted
//! - A climb visits the neighbours in random order and takes the first better one. If there is
//!   none, it moves to an equal one, since a forest is flat in many places, at most
//!   [`PLATEAU_STEPS`] times. It may pass through measured combinations.
//! - The proposal is the best unmeasured combination seen anywhere. SMAC3 takes the best unmeasured
//!   *end* and ignores the path to it.
//! - The first of equals wins, which is a random one at the start, where a forest is flat.
//! - A space no larger than the number of draws is searched completely, in random order.
//!
//! **Cost.** One prediction for each draw and for each of some thousand steps.

use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use crate::bench::domain::Domain;

/// Steps to an equal combination per climb.
const PLATEAU_STEPS: usize = 10;

/// The size of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Random combinations; a smaller space is searched completely.
    pub(super) draws: usize,
    /// Climbs from the best of these, and as many from the best observations.
    pub(super) searches: usize,
}

/// Climbs, and remembers the best unmeasured combination seen.
pub(super) struct Climber<'a, W, T> {
    domain: &'a Domain,
    /// The function to maximize.
    worth: W,
    is_told: T,
    best: Option<(f64, Vec<Level>)>,
}

impl<'a, W: Fn(&[Level]) -> f64, T: Fn(&[Level]) -> bool> Climber<'a, W, T> {
    pub(super) fn new(domain: &'a Domain, worth: W, is_told: T) -> Self {
        Self { domain, worth, is_told, best: None }
    }

    /// Returns the best unmeasured combination, or `None` if all combinations seen are measured.
    pub(super) fn run(
        mut self,
        effort: Effort,
        observed: &[&Vec<Level>],
        random: &mut Xoshiro256PlusPlus,
    ) -> Option<Vec<Level>> {
        if self.domain.cardinality() <= effort.draws as u128 {
            let mut all: Vec<_> = (0..).map_while(|index| self.domain.at(index)).collect();
            all.shuffle(random);
            for levels in all {
                self.look(&levels);
            }
            return self.best.map(|(_, levels)| levels);
        }
        let mut drawn: Vec<(f64, Vec<Level>)> = Vec::with_capacity(effort.draws);
        for _ in 0..effort.draws {
            let levels = self.domain.random(random);
            drawn.push((self.look(&levels), levels));
        }
        drawn.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut starts: Vec<Vec<Level>> = observed.iter().take(effort.searches).map(|levels| levels.to_vec()).collect();
        let most = starts.len() + effort.searches;
        for (_, levels) in drawn {
            if starts.len() == most {
                break;
            }
            if !starts.contains(&levels) {
                starts.push(levels);
            }
        }
        for start in starts {
            self.climb(start, random);
        }
        self.best.map(|(_, levels)| levels)
    }

    /// Returns the worth of a combination, and remembers the combination if it is the best.
    fn look(&mut self, levels: &[Level]) -> f64 {
        let worth = (self.worth)(levels);
        if self.best.as_ref().is_none_or(|(most, _)| worth > *most) && !(self.is_told)(levels) {
            self.best = Some((worth, levels.to_vec()));
        }
        worth
    }

    /// Climbs, also along plateaus, and returns the end.
    fn climb(&mut self, mut here: Vec<Level>, random: &mut Xoshiro256PlusPlus) -> Vec<Level> {
        let mut height = self.look(&here);
        let mut plateau_steps = 0;
        loop {
            let mut neighbours = self.domain.neighbours(&here);
            neighbours.shuffle(random);
            let mut equal = None;
            let mut higher = None;
            for step in neighbours {
                let worth = self.look(&step);
                if worth > height {
                    higher = Some((worth, step));
                    break;
                }
                if worth == height && equal.is_none() {
                    equal = Some(step);
                }
            }
            match (higher, equal) {
                (Some((worth, step)), _) => (height, here) = (worth, step),
                (None, Some(step)) if plateau_steps < PLATEAU_STEPS => {
                    plateau_steps += 1;
                    here = step;
                }
                _ => return here,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use trimtab::Knob;

    const BITS: [Knob; 10] = [Knob::nominal(2); 10];

    fn ones(levels: &[Level]) -> f64 {
        levels.iter().map(|level| f64::from(*level)).sum()
    }

    #[test]
    fn climbs_to_the_top_and_takes_the_best_unmeasured_beside_it() {
        let domain = Domain::new(&BITS);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let effort = Effort { draws: 5, searches: 2 };
        assert_eq!(Climber::new(&domain, ones, |_| false).run(effort, &[], &mut random), Some(vec![1; 10]));
        let second = Climber::new(&domain, ones, |c| ones(c) == 10.0).run(effort, &[], &mut random);
        assert_eq!(ones(&second.unwrap()), 9.0);
        assert_eq!(Climber::new(&domain, ones, |_| true).run(effort, &[], &mut random), None);
    }

    #[test]
    fn sees_the_whole_of_a_small_space_and_draws_among_equals() {
        // A needle without a slope towards it. Then no needle, where different seeds propose
        // different combinations.
        let domain = Domain::new(&BITS);
        let effort = Effort { draws: 1024, searches: 0 };
        let needle = domain.at(777).unwrap();
        let propose = |worth: &dyn Fn(&[Level]) -> f64, seed| {
            Climber::new(&domain, worth, |_| false).run(effort, &[], &mut Xoshiro256PlusPlus::seed_from_u64(seed))
        };
        assert_eq!(propose(&|c| f64::from(c == needle), 1), Some(needle.clone()));
        assert_ne!(propose(&|_| 0.0, 1), propose(&|_| 0.0, 2));
    }

    #[test]
    fn starts_from_observations() {
        // A narrow hill of two steps around an observation, which random draws miss.
        let domain = Domain::new(&[Knob::nominal(2); 60]);
        let hill = |c: &[Level]| (3.0 - ones(c)).max(0.0);
        let start = [vec![1, 1], vec![0; 58]].concat();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let effort = Effort { draws: 100, searches: 1 };
        assert_eq!(Climber::new(&domain, hill, |_| false).run(effort, &[&start], &mut random), Some(vec![0; 60]));
    }

    #[test]
    fn walks_on_plateaus() {
        // The worth counts pairs of ones, so a single step gains nothing.
        let domain = Domain::new(&[Knob::nominal(2); 4]);
        let pairs = |c: &[Level]| f64::from(c[0] & c[1]) + f64::from(c[2] & c[3]);
        let reached = (0..20).filter(|seed| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
            Climber::new(&domain, pairs, |_| false).climb(vec![0; 4], &mut random) == [1; 4]
        });
        assert!(reached.count() >= 15);
    }
}
