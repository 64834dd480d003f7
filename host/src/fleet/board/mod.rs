//! Simulated fleets: boards of one design that differ as real ones do.
//!
//! | fleet | knobs | boards differ by |
//! |---|---|---|
//! | [`antenna`] | 128 inductors, 128 capacitors, topology | parts within ±5 %, the antenna within 15 % of one |
//! | [`equaliser`] | 4 pulse shapes, 6 taps of 16 levels | the channel, each path within 20 % |
//! | [`relays`] | 24 relays of a delay line | the delay of each relay, crosstalk, the wanted delay |
//!
//! **Choices**
//! - A board is drawn from the fleet's number and its own, so more boards extend the same list.
//! - A strange board is one of another fleet with the same knobs: another antenna, channel or line.
//! - A target is within 5 % of the board's own best: of the SWR for the antenna; else of the distance
//!   from the median of random combinations to the best.

mod antenna;
mod equaliser;
mod relays;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

/// One board: its cost at every combination.
pub(crate) trait Board: Send + Sync {
    fn cost(&self, levels: &[Level]) -> f64;
    /// The cost at or below which a combination is within 5 % of the board's best.
    fn target(&self) -> f64;
    /// The distance from the best to the median of random combinations.
    fn spread(&self) -> f64;
}

/// Whether a combination is in a region.
pub(crate) type Region = fn(&[Level]) -> bool;

/// A design of which boards are made.
pub(crate) struct Design {
    pub(crate) name: &'static str,
    pub(crate) knobs: fn() -> Vec<Knob>,
    /// Draws a board; `strange` draws it from another fleet.
    draw: fn(&mut Random, bool) -> Box<dyn Board>,
    /// Regions that fail on all boards, each with its name.
    pub(crate) fails: &'static [(&'static str, Region)],
}

/// The three fleets.
pub(crate) const DESIGNS: [Design; 3] = [
    Design {
        name: "antenna",
        knobs: antenna::knobs,
        draw: antenna::draw,
        fails: &[("beside the best", antenna::beside), ("around the best", antenna::around)],
    },
    Design { name: "equaliser", knobs: equaliser::knobs, draw: equaliser::draw, fails: &[] },
    Design {
        name: "relays",
        knobs: relays::knobs,
        draw: relays::draw,
        fails: &[("two relays together", relays::fails)],
    },
];

pub(crate) type Random = Xoshiro256PlusPlus;

impl Design {
    /// Board `number` of a fleet.
    pub(crate) fn board(&self, fleet: u64, number: u64, is_strange: bool) -> Box<dyn Board> {
        let seed = fleet << 32 | number << 1 | u64::from(is_strange);
        (self.draw)(&mut Random::seed_from_u64(seed), is_strange)
    }

    /// The same where some combinations fail: their cost is infinite. The target is within 5 % of the
    /// way from the best of the others to the median.
    pub(crate) fn failing(&self, fails: Region, fleet: u64, number: u64) -> Box<dyn Board> {
        let mut random = Random::seed_from_u64(fleet << 32 | number);
        let mut board = Failing { inner: self.board(fleet, number, false), fails, target: 0.0, spread: 0.0 };
        (board.target, board.spread) = searched(&(self.knobs)(), &mut random, 12, |levels| board.cost(levels));
        Box::new(board)
    }
}

/// A board on which some combinations fail.
struct Failing {
    inner: Box<dyn Board>,
    fails: Region,
    target: f64,
    spread: f64,
}

impl Board for Failing {
    fn cost(&self, levels: &[Level]) -> f64 {
        if (self.fails)(levels) { f64::INFINITY } else { self.inner.cost(levels) }
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn spread(&self) -> f64 {
        self.spread
    }
}

/// A standard normal number: the sum of twelve uniform ones, which has no long tails.
pub(crate) fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// Uniform within ±share of 1.
fn within(random: &mut Random, share: f64) -> f64 {
    1.0 + share * random.random_range(-1.0..1.0)
}

/// A random combination.
fn drawn(knobs: &[Knob], random: &mut Random) -> Vec<Level> {
    knobs.iter().map(|knob| random.random_range(0..knob.levels()) as Level).collect()
}

/// The target and the spread, from the median of random costs and the best of a long search: descents over single
/// levels and pairs of knobs from random starts.
fn searched(knobs: &[Knob], random: &mut Random, starts: usize, cost: impl Fn(&[Level]) -> f64) -> (f64, f64) {
    let median = median(knobs, random, &cost);
    let best = (0..starts).map(|_| descend(knobs, drawn(knobs, random), &cost)).fold(f64::INFINITY, f64::min);
    (best + 0.05 * (median - best), median - best)
}

/// The median cost of random combinations.
fn median(knobs: &[Knob], random: &mut Random, cost: &impl Fn(&[Level]) -> f64) -> f64 {
    let mut costs: Vec<f64> = (0..301).map(|_| cost(&drawn(knobs, random))).collect();
    costs.sort_by(f64::total_cmp);
    costs[150]
}

/// The cost at the end of a descent.
fn descend(knobs: &[Knob], mut at: Vec<Level>, cost: &impl Fn(&[Level]) -> f64) -> f64 {
    let mut best = cost(&at);
    loop {
        let before = best;
        for (i, knob) in knobs.iter().enumerate() {
            for level in 0..knob.levels() {
                improve(&mut at, &mut best, cost, &[(i, level)]);
            }
        }
        if best < before {
            continue;
        }
        for i in 0..knobs.len() {
            for j in 0..i {
                // Pairs of large knobs only to the neighbouring levels.
                for a in near(&knobs[i], at[i]) {
                    for b in near(&knobs[j], at[j]) {
                        improve(&mut at, &mut best, cost, &[(i, a), (j, b)]);
                    }
                }
            }
        }
        if best >= before {
            return best;
        }
    }
}

fn near(knob: &Knob, at: Level) -> Vec<usize> {
    let at = usize::from(at);
    if knob.levels() <= 4 {
        (0..knob.levels()).collect()
    } else {
        (at.saturating_sub(1)..(at + 2).min(knob.levels())).collect()
    }
}

fn improve(at: &mut [Level], best: &mut f64, cost: &impl Fn(&[Level]) -> f64, changes: &[(usize, usize)]) {
    let before: Vec<Level> = changes.iter().map(|(i, _)| at[*i]).collect();
    changes.iter().for_each(|(i, level)| at[*i] = *level as Level);
    let changed = cost(at);
    if changed < *best {
        *best = changed;
    } else {
        changes.iter().zip(before).for_each(|((i, _), level)| at[*i] = level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target is reachable, and random combinations do not reach it by chance.
    #[test]
    fn targets_are_hard_and_boards_differ() {
        for design in &DESIGNS {
            let (knobs, mut random) = ((design.knobs)(), Random::seed_from_u64(1));
            let boards: Vec<_> = (0..3).map(|number| design.board(9, number, number == 2)).collect();
            let probe = drawn(&knobs, &mut random);
            assert_ne!(boards[0].cost(&probe), boards[1].cost(&probe), "{}", design.name);
            assert_eq!(boards[0].cost(&probe), design.board(9, 0, false).cost(&probe));
            for board in &boards {
                let lucky = (0..400).filter(|_| board.cost(&drawn(&knobs, &mut random)) <= board.target()).count();
                assert!(lucky < 20, "{}: {lucky} of 400", design.name);
                let best = descend(&knobs, drawn(&knobs, &mut random), &|c: &[Level]| board.cost(c));
                assert!(best < f64::INFINITY);
            }
        }
    }
}
