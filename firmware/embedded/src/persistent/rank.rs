//! What a record is worth when its page is dropped.

use trimtab::settings::Settings;
use trimtab::{Combination, Event, Goal, Record, Tuner};

use super::{KEPT, Queue};

/// The rank of a record, the best smallest, or `None` if the tuner has forgotten it. `restarts` is
/// the number of restarts in later pages.
pub(super) fn rank<
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
    tuner: &Tuner<K, M, D, T, L, P, N, G, A, S>,
    queued: &Queue<K>,
    record: &Record<K>,
    restarts: u32,
) -> Option<f32> {
    let c = record.combination(tuner.space()).ok()?;
    match (record.event, restarts) {
        (Event::Told(_) | Event::Measured(..) | Event::Failed, 0) => {
            let held = tuner.observations().find(|o| o.combination == c)?;
            Some(match (held.is_failure(), tuner.config().goal) {
                (true, _) => f32::INFINITY,
                // After all that keep the limits, and before what is queued.
                _ if !keeps(tuner, &c) => f32::MAX / 64.0,
                (false, Goal::Minimise) => held.value,
                (false, Goal::Maximise) => -held.value,
            })
        }
        (Event::Enqueued, 0) => tuner.queue().contains(&c).then_some(f32::MAX),
        // The restart asks for the best before it. Whatever was measured since then matters more.
        (Event::Told(_) | Event::Measured(..) | Event::Failed, 1) => {
            let place = queued.iter().position(|own| *own == c)?;
            Some(f32::MAX / (2 * KEPT - place.min(KEPT)) as f32)
        }
        _ => None,
    }
}

/// Whether a measured combination keeps all limits.
pub(super) fn keeps<
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
    tuner: &Tuner<K, M, D, T, L, P, N, G, A, S>,
    c: &Combination<K>,
) -> bool {
    G == 0 || tuner.margins(c).is_some_and(|margins| margins.iter().all(|margin| *margin >= 0.0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::boxed::Box;

    use trimtab::{Config, Knob, Space};

    use super::*;

    const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    type Limited = trimtab::tuner!(KNOBS, observations: 16, rows: 32, limits: 1);

    /// Those that keep the limits by their values, those that break one, the queue, failures.
    #[test]
    fn records_rank_by_value_then_limits_then_queue_then_failures() {
        let (mut tuner, space) = (Box::new(Limited::new()), Space::new(&KNOBS).unwrap());
        let [good, fair, broken, queued, failed, unknown] =
            [0, 1, 2, 3, 4, 5].map(|level| space.combination(&[0, level]).unwrap());
        for goal in [Goal::Minimise, Goal::Maximise] {
            tuner.init(space.clone(), Config { goal, ..Config::default() }, 1).unwrap();
            let sign = if goal == Goal::Minimise { 1.0 } else { -1.0 };
            tuner.tell_with(&good, sign, &[0.0]).unwrap();
            tuner.tell_with(&fair, 3.0 * sign, &[1.0]).unwrap();
            tuner.tell_with(&broken, -9.0 * sign, &[-0.5]).unwrap();
            tuner.tell_failed(&failed).unwrap();
            tuner.enqueue(&queued).unwrap();
            let before: Queue<2> = [unknown, good].into_iter().collect();
            let of = |c, event, restarts| rank(&tuner, &before, &Record::new(c, event), restarts);
            let told = |c| of(c, Event::Told(7.0), 0);
            assert_eq!((told(&good), told(&fair)), (Some(1.0), Some(3.0)), "{goal:?}");
            assert_eq!((told(&failed), of(&queued, Event::Enqueued, 0)), (Some(f32::INFINITY), Some(f32::MAX)));
            assert_eq!((told(&unknown), of(&good, Event::Enqueued, 0)), (None, None));
            // Before a restart only what it asks for first counts, in that order.
            let [first, second] = [&unknown, &good].map(|c| of(c, Event::Told(7.0), 1).unwrap());
            assert!(told(&fair) < told(&broken) && told(&broken).unwrap() < first && first < second);
            assert!(second < f32::MAX / 2.0, "{second}");
            assert_eq!((of(&fair, Event::Told(7.0), 1), of(&good, Event::Told(7.0), 2)), (None, None));
        }
    }
}
