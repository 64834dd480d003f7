//! A restart: forgets all outcomes and asks for the best combinations first.

use heapless::Vec;
use trimtab::settings::Settings;
use trimtab::{Combination, Goal, MOST_PENDING, Tuner};

use super::rank::keeps;

/// Best combinations that are measured first after a restart.
pub const KEPT: usize = 8;

/// The best combinations before the restart, best first.
pub(super) type Queue<const K: usize> = Vec<Combination<K>, KEPT>;

/// Forgets all outcomes.
pub(super) fn initialise<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, D, T, L, P, N, G, A, S>,
) {
    tuner.restart();
}

/// Forgets all outcomes and enqueues the combinations with the best of them. Returns these.
pub(super) fn begin_anew<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, D, T, L, P, N, G, A, S>,
) -> Queue<K> {
    const { assert!(KEPT <= MOST_PENDING, "the queue must hold the best combinations") };
    let goal = tuner.config().goal;
    let is_better = |a: f32, b: f32| if goal == Goal::Minimise { a < b } else { a > b };
    let mut best: Vec<(Combination<K>, f32), { KEPT + 1 }> = Vec::new();
    // Those that keep the limits; without limits all do.
    for o in tuner.observations().filter(|o| !o.is_failure() && keeps(tuner, &o.combination)) {
        let rank = best.iter().take_while(|(_, value)| !is_better(o.value, *value)).count();
        // There is room for one more than KEPT.
        let _ = best.insert(rank, (o.combination, o.value));
        best.truncate(KEPT);
    }
    initialise(tuner);
    // The queue is empty and has room, and the tuner knows none of them.
    best.iter().for_each(|(c, _)| tuner.enqueue(c).unwrap_or_default());
    best.iter().map(|(c, _)| *c).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use trimtab::{Config, Knob, Space};

    const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    type Pair = trimtab::tuner!(KNOBS, observations: 16, rows: 32);

    /// Costs fall, rise and fall again over fourteen measurements: the eight best are kept, whenever they
    /// came, and asked for in their order.
    #[test]
    fn the_best_are_kept_whenever_they_came() {
        let mut tuner = std::boxed::Box::new(Pair::new());
        let space = Space::new(&KNOBS).unwrap();
        for goal in [Goal::Minimise, Goal::Maximise] {
            tuner.init(space.clone(), Config { goal, ..Config::default() }, 1).unwrap();
            for i in 0..14u16 {
                let c = space.combination(&[i % 4, i / 4]).unwrap();
                let cost = f32::from(i * 5 % 14);
                tuner.tell(&c, if goal == Goal::Minimise { cost } else { -cost }).unwrap();
            }
            let queue = begin_anew(&mut *tuner);
            let cost = |c: &Combination<2>| (c.level(1) * 4 + c.level(0)) * 5 % 14;
            assert!(queue.iter().map(cost).eq(0..8), "{goal:?}: {queue:?}");
            assert_eq!((tuner.len(), tuner.queue()), (0, &queue[..]));
        }
    }

    /// Of equal ones the first measured comes first; what failed or breaks a limit is not asked for again.
    #[test]
    fn neither_failures_nor_what_breaks_a_limit_is_kept() {
        type Limited = trimtab::tuner!(KNOBS, observations: 16, rows: 32, limits: 1);
        let (mut tuner, space) = (std::boxed::Box::new(Limited::new()), Space::new(&KNOBS).unwrap());
        for goal in [Goal::Minimise, Goal::Maximise] {
            tuner.init(space.clone(), Config { goal, ..Config::default() }, 1).unwrap();
            let c = |i: u16| space.combination(&[i % 4, i / 4]).unwrap();
            for i in 0..14 {
                match i % 7 {
                    0 => tuner.tell_failed(&c(i)).unwrap(),
                    3 => tuner.tell_with(&c(i), 2.0, &[-1.0]).unwrap(),
                    _ => tuner.tell_with(&c(i), 2.0, &[1.0]).unwrap(),
                }
            }
            let queue = begin_anew(&mut *tuner);
            assert_eq!(queue[..], [1, 2, 4, 5, 6, 8, 9, 11].map(c), "{goal:?}");
        }
    }
}
