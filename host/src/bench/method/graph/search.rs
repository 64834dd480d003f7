//! Ascents of the acquisition: repeatedly take the best step until none improves.
//!
//! **Choices**
//! - Ascents skip measured combinations, so the result is always unmeasured.
//! - An ascent ends where an earlier one stood, since both would continue alike. Each neighbour is
//!   scored once, however many ascents meet it.
//! - A step changes one knob: a nominal one to any other level, a graded one to a neighbouring
//!   level or by one bit of its level (see [`Domain`](crate::bench::domain::Domain)), so that long
//!   scales take few steps.

use std::collections::{HashMap, HashSet};

use trimtab::{Knob, Level};

use super::History;

/// An acquisition over combinations; the smallest score wins.
pub(in crate::bench::method) trait Score {
    fn score(&mut self, levels: &[Level]) -> f64;

    /// A rough score for screening many combinations.
    fn sketch(&mut self, levels: &[Level]) -> f64 {
        self.score(levels)
    }

    /// Prepares scoring the neighbours of a combination.
    fn stand(&mut self, levels: &[Level]);

    /// The score of a neighbour of the combination last given to [`Self::stand`].
    fn step(&mut self, knob: usize, level: Level) -> f64;
}

/// The levels one step away from a level.
fn steps(knob: &Knob, level: Level) -> impl Iterator<Item = Level> + use<> {
    let (levels, is_graded) = (knob.levels() as u32, knob.is_graded());
    let near = move |other: u32| {
        let own = u32::from(level);
        own != other && (!is_graded || own.abs_diff(other) == 1 || (own ^ other).is_power_of_two())
    };
    (0..levels).filter(move |other| near(*other)).map(|other| other as Level)
}

/// Combinations scored in full per combination kept; the rest only get a sketch.
const SCORED: usize = 10;

/// The search of one ask.
pub(in crate::bench::method) struct Ascent<'a, S> {
    history: &'a History,
    acquisition: S,
    stood: HashSet<Vec<Level>>,
    scores: HashMap<Vec<Level>, f64>,
    best: Option<(f64, Vec<Level>)>,
}

impl<'a, S: Score> Ascent<'a, S> {
    pub(in crate::bench::method) fn new(history: &'a History, acquisition: S) -> Self {
        Self { history, acquisition, stood: HashSet::new(), scores: HashMap::new(), best: None }
    }

    /// The best unmeasured combinations with their scores, best first.
    pub(in crate::bench::method) fn screen(&mut self, from: Vec<Vec<Level>>, most: usize) -> Vec<(f64, Vec<Level>)> {
        let mut seen = HashSet::new();
        let fresh = from.into_iter().filter(|levels| !self.history.is_told(levels) && seen.insert(levels.clone()));
        let mut scored: Vec<_> = fresh.map(|levels| (self.acquisition.sketch(&levels), levels)).collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        scored.truncate(SCORED * most);
        scored.iter_mut().for_each(|(score, levels)| *score = self.acquisition.score(levels));
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        scored.truncate(most);
        scored
    }

    /// Ascends over allowed combinations from a start with its score. The score is infinite if the
    /// start itself must not be asked for.
    pub(in crate::bench::method) fn climb(&mut self, start: (f64, Vec<Level>), allowed: impl Fn(&[Level]) -> bool) {
        let (mut score, mut here) = start;
        while self.stood.insert(here.clone()) {
            self.acquisition.stand(&here);
            let mut best = None;
            let mut least = score;
            let mut there = here.clone();
            for (place, knob) in self.history.domain.knobs().iter().enumerate() {
                for level in steps(knob, here[place]) {
                    there[place] = level;
                    if !allowed(&there) || self.history.is_told(&there) {
                        continue;
                    }
                    let own = match self.scores.get(&there) {
                        Some(own) => *own,
                        None => {
                            let own = self.acquisition.step(place, level);
                            self.scores.insert(there.clone(), own);
                            own
                        }
                    };
                    if own < least {
                        least = own;
                        best = Some((place, level));
                    }
                }
                there[place] = here[place];
            }
            let Some((place, level)) = best else { break };
            here[place] = level;
            score = least;
        }
        if score < self.best.as_ref().map_or(f64::INFINITY, |best| best.0) {
            self.best = Some((score, here));
        }
    }

    /// Where the best ascent ended.
    pub(in crate::bench::method) fn best(self) -> Option<Vec<Level>> {
        self.best.map(|best| best.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_by_hand() {
        let of = |knob: Knob, level| steps(&knob, level).collect::<Vec<_>>();
        assert_eq!(of(Knob::nominal(4), 2), [0, 1, 3]);
        // From 3 of 6 graded levels: 2 and 4 are neighbours; 3^1 = 2, 3^2 = 1, 3^4 = 7 is past the
        // end.
        assert_eq!(of(Knob::ranked(6), 3), [1, 2, 4]);
    }
}
