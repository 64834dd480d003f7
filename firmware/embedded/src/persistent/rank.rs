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
