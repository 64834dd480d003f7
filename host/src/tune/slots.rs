//! Where measurements run: slots 1 to --jobs, each with one measurement at a time, such as the boards
//! of a rack; and what becomes of measurements that a slot lost.
//!
//! | a loss | then |
//! |---|---|
//! | of a combination | it is measured again, on another slot if there is one |
//! | the third of a combination, while others have outcomes | it failed: the combination does it |
//! | the third of a slot in a row | the slot is out: its board or machine does it |
//! | of the last slot | the run ends, and the same command goes on |
//!
//! **Choices**
//! - A loss is no outcome: the ask stays open in the log, so a stop in between loses nothing.
//! - Free slots wait in a line, so that boards take turns.
//! - Without any outcome since its first loss a combination is not blamed: then everything is away.

use std::collections::VecDeque;

/// Losses in a row that a slot or a combination is allowed, and one more.
const MOST: usize = 3;

/// The slots of a run, and the trials that wait for one.
pub(super) struct Slots {
    free: VecDeque<usize>,
    /// Losses in a row per slot, the first slot first.
    losses: Vec<usize>,
    waiting: Vec<Waiting>,
    running: Vec<(usize, Waiting)>,
}

/// A trial that was begun before.
#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    place: usize,
    /// The slots that lost it, and the outcomes of the run at the first loss.
    lost_on: Vec<usize>,
    outcomes: usize,
}

impl Waiting {
    fn new(place: usize) -> Self {
        Self { place, lost_on: Vec::new(), outcomes: 0 }
    }
}

/// What follows from a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The trial waits for a slot.
    Again,
    /// It does, and the slot is out.
    SlotOut,
    /// The combination has failed.
    Failed,
}

impl Slots {
    /// Slots from 1 to `count`; the trials in these places come first.
    pub(super) fn new(count: usize, open: Vec<usize>) -> Self {
        let waiting = open.into_iter().map(Waiting::new).collect();
        Self { free: (1..=count).collect(), losses: vec![0; count], waiting, running: Vec::new() }
    }

    /// Number of measurements under way.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Whether all slots are out.
    pub(super) fn are_all_out(&self) -> bool {
        self.losses.iter().all(|losses| *losses >= MOST)
    }

    pub(super) fn is_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// Begins a trial that waits, if a free slot may have it: its place and the slot.
    pub(super) fn begin_waiting(&mut self) -> Option<(usize, usize)> {
        let (turn, own) = (0..self.free.len())
            .flat_map(|turn| (0..self.waiting.len()).map(move |own| (turn, own)))
            .find(|(turn, own)| self.may_have(self.free[*turn], &self.waiting[*own]))?;
        let (slot, own) = (self.free.remove(turn)?, self.waiting.remove(own));
        let place = own.place;
        self.running.push((slot, own));
        Some((place, slot))
    }

    /// Begins a new trial on the slot that was free for longest.
    pub(super) fn begin(&mut self, place: usize) -> Option<usize> {
        let slot = self.free.pop_front()?;
        self.running.push((slot, Waiting::new(place)));
        Some(slot)
    }

    /// A slot that lost a trial gets it again only if every other one did too.
    fn may_have(&self, slot: usize, own: &Waiting) -> bool {
        let is_left = |other: &usize| self.losses[other - 1] < MOST && !own.lost_on.contains(other);
        !own.lost_on.contains(&slot) || !(1..=self.losses.len()).any(|other| is_left(&other))
    }

    /// A measurement ended, with an outcome or because the user stopped it.
    pub(super) fn ended(&mut self, slot: usize) {
        if self.take(slot).is_some() {
            self.losses[slot - 1] = 0;
            self.free.push_back(slot);
        }
    }

    /// A measurement was lost, when the run had so many outcomes.
    pub(super) fn lost(&mut self, slot: usize, outcomes: usize) -> Loss {
        let Some(mut own) = self.take(slot) else { return Loss::Again };
        if own.lost_on.is_empty() {
            own.outcomes = outcomes;
        }
        own.lost_on.push(slot);
        self.losses[slot - 1] += 1;
        if self.losses[slot - 1] >= MOST {
            self.waiting.push(own);
            return Loss::SlotOut;
        }
        self.free.push_back(slot);
        if own.lost_on.len() >= MOST && outcomes > own.outcomes {
            return Loss::Failed;
        }
        self.waiting.push(own);
        Loss::Again
    }

    fn take(&mut self, slot: usize) -> Option<Waiting> {
        let running = self.running.iter().position(|(own, _)| *own == slot)?;
        Some(self.running.remove(running).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_take_turns_and_have_one_measurement_each() {
        let mut slots = Slots::new(3, vec![7]);
        assert_eq!(slots.begin_waiting(), Some((7, 1)));
        assert_eq!((slots.begin_waiting(), slots.begin(8), slots.begin(9)), (None, Some(2), Some(3)));
        assert!(!slots.is_free() && slots.begin(10).is_none() && slots.running() == 3);
        slots.ended(3);
        slots.ended(1);
        assert_eq!((slots.begin(10), slots.begin(11)), (Some(3), Some(1)));
    }

    #[test]
    fn a_dead_slot_is_out_and_what_it_lost_runs_elsewhere() {
        let mut slots = Slots::new(2, Vec::new());
        slots.begin(0);
        slots.begin(1);
        assert_eq!(slots.lost(2, 0), Loss::Again);
        // Slot 2 lost trial 1, so it waits for slot 1 while slot 2 tries others.
        assert_eq!((slots.begin_waiting(), slots.begin(2)), (None, Some(2)));
        assert_eq!(slots.lost(2, 0), Loss::Again);
        assert_eq!((slots.begin_waiting(), slots.begin(3)), (None, Some(2)));
        assert_eq!(slots.lost(2, 0), Loss::SlotOut);
        assert!(!slots.is_free() && !slots.are_all_out());
        for place in 1..4 {
            slots.ended(1);
            assert_eq!(slots.begin_waiting(), Some((place, 1)));
        }
        slots.ended(1);
        assert_eq!(slots.begin_waiting(), None);
    }

    #[test]
    fn a_combination_that_is_lost_everywhere_has_failed() {
        let mut slots = Slots::new(3, vec![0]);
        for (turn, wanted) in [Loss::Again, Loss::Again, Loss::Failed].into_iter().enumerate() {
            assert_eq!(slots.begin_waiting(), Some((0, turn + 1)));
            // Others succeed meanwhile.
            assert_eq!(slots.lost(turn + 1, 5 + turn), wanted);
        }
        assert_eq!((slots.begin_waiting(), slots.running()), (None, 0));
    }

    #[test]
    fn when_everything_is_away_no_combination_is_blamed() {
        for count in 1..9 {
            let mut slots = Slots::new(count, (0..5).collect());
            let mut begun = 0;
            while !slots.are_all_out() {
                while let Some((_, slot)) = slots.begin_waiting() {
                    begun += 1;
                    assert_ne!(slots.lost(slot, 4), Loss::Failed);
                }
                if let Some(slot) = slots.begin(5 + begun) {
                    begun += 1;
                    assert_ne!(slots.lost(slot, 4), Loss::Failed);
                }
            }
            assert_eq!(begun, count * MOST, "it ends");
            assert!(slots.begin_waiting().is_none() && !slots.is_free());
        }
    }
}
