//! The log of a persistent tuner: writing an entry, turning a page, replaying.

use embedded_storage::nor_flash::NorFlash;
use trimtab::settings::Settings;
use trimtab::{Record, WhenFull};

use super::Persistent;
use super::boot::Stored;
use super::rank::rank;
use super::restart::{begin_anew, initialise};
use crate::journal::{Entry, Journal, Trouble};

impl<
    F: NorFlash,
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
> Persistent<'_, F, K, M, D, T, L, P, N, G, A, S>
{
    pub(super) fn stored(&self, dropped: bool) -> Stored {
        match (&self.journal, dropped) {
            (Err(trouble), _) => Stored::No(*trouble),
            (Ok(_), true) => Stored::OldestDropped,
            (Ok(journal), false) if journal.is_full() => Stored::PageFull,
            (Ok(_), false) => Stored::Yes,
        }
    }

    /// Writes an entry. After the first trouble it writes nothing: a log with a gap would be another
    /// tuner's.
    pub(super) fn keep(&mut self, entry: &Entry<K>, is_anew: bool) -> Stored {
        let mut dropped = false;
        // Twice, because spoiled slots may use up a page.
        for _ in 0..2 {
            let Ok(journal) = &mut self.journal else { break };
            let written = match entry {
                Entry::Record(record) if is_anew => journal.append_anew(record),
                entry => journal.append(entry),
            };
            match self.lost(written) {
                Some(true) if dropped => {
                    self.rebuild(&mut || ());
                    return self.stored(true);
                }
                Some(true) => return self.stored(false),
                Some(false) => dropped |= self.turn(&mut || ()),
                None => break,
            }
        }
        if self.journal.is_ok() {
            self.lost::<()>(Err(Trouble::Worn));
        }
        self.stored(false)
    }

    /// Whether this is an outcome of a combination that the tuner has forgotten and the log has not.
    pub(super) fn is_anew(&mut self, record: &Record<K>) -> bool {
        let (tuner, Ok(journal)) = (&*self.tuner, &mut self.journal) else { return false };
        // A failure replaces what was before in any case.
        let may_be = record.event.value().is_some() && tuner.config().when_full != WhenFull::Refuse;
        let most = match tuner.config().observations {
            0 => T,
            most => T.min(usize::from(most)),
        };
        if !may_be || tuner.len() < most || tuner.observations().any(|o| o.combination.levels() == record.levels()) {
            return false;
        }
        let found = journal.has_outcome(record);
        self.lost(found).unwrap_or(false)
    }

    /// Begins the next page if this one is full. Returns whether old entries were dropped.
    pub(super) fn turn(&mut self, feed: &mut dyn FnMut()) -> bool {
        if !self.journal.as_ref().is_ok_and(Journal::is_full) {
            return false;
        }
        // An outcome that is in the log is to be in the tuner, too.
        while self.tuner.tell_step(u16::MAX) {}
        let (tuner, queued) = (&*self.tuner, &self.queued);
        let Ok(journal) = &mut self.journal else { return false };
        feed();
        let turned = journal.turn(|record, restarts| rank(tuner, queued, record, restarts));
        feed();
        self.lost(turned).unwrap_or(false)
    }

    /// Starts fresh and replays the log.
    pub(super) fn rebuild(&mut self, feed: &mut dyn FnMut()) {
        self.rebuilds = self.rebuilds.wrapping_add(1);
        initialise(self.tuner);
        self.read(feed);
    }

    /// Replays the log. Returns the number of records, and of those that could not be used.
    pub(super) fn read(&mut self, feed: &mut dyn FnMut()) -> (u32, u32) {
        let Ok(journal) = &mut self.journal else { return (0, 0) };
        let (mut records, mut refused) = (0, 0);
        let (tuner, queued) = (&mut *self.tuner, &mut self.queued);
        queued.clear();
        let damaged = journal.read(|entry| match entry {
            Entry::Record(record) => {
                feed();
                match tuner.replay(&record) {
                    Ok(()) => records += 1,
                    Err(_) => refused += 1,
                }
            }
            Entry::Restarted => *queued = begin_anew(tuner),
        });
        (records, refused + self.lost(damaged).unwrap_or(0))
    }

    /// Stops keeping the log after trouble with the flash.
    pub(super) fn lost<R>(&mut self, outcome: Result<R, Trouble>) -> Option<R> {
        outcome.map_err(|trouble| self.journal = Err(trouble)).ok()
    }
}
