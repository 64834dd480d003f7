//! A tuner whose log is in flash: power cuts cost at most the measurement under way.
//!
//! ```text
//! boot      log → replay → tuner                      the same bits as without the cut
//! a step    ask → measure → record to flash → tell    a cut before the write: measured again; after it: known
//! ```
//!
//! **Choices.** The state is `init` and the log, nothing else. What is asked depends on the log alone, so a boot asks
//! again for what was under way, and no "asked" has to be written. When the flash is full the oldest page is dropped and the tuner is
//! built again from what is left: at the same record with and without cuts, so both come to the same bits.
//!
//! | what is in the flash | what happens |
//! |---|---|
//! | nothing | a fresh start |
//! | a log of this tuner | it is replayed |
//! | some of its records damaged | the others are replayed, the damaged are counted; those combinations may be asked again |
//! | another tuner's log, or another version's | a fresh start; nothing of it is used |
//! | anything else | a fresh start |
//! | it cannot be read, written or erased | tuning goes on in RAM alone for this boot; the log stays what it was |
//!
//! A measurement that takes the power down with it would be asked for ever. So a boot that found a log leaves a mark before its first
//! measurement, and [`Boot::begun`] counts the boots that came so far and no further: after [`ENOUGH`] of them
//! [`is_hopeless`](Boot::is_hopeless) says to tell that combination as failed.
//!
//! **Cost.** The tuner, the journal and KEPT combinations; one flash write a record, one more a boot. A boot replays at most P pages.

use core::mem;

use embedded_storage::nor_flash::NorFlash;
use trimtab::{AskError, Combination, Error, Event, InitError, Proposal, Record, TellError, Tuner};

pub use boot::{Boot, ENOUGH, Stored, Task};
pub use restart::KEPT;
use restart::{Queue, begin_anew, initialise};

use crate::journal::{Entry, Found, Journal, Layout, Trouble, fingerprint};

mod boot;
mod restart;

/// A tuner with its log in flash.
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// use trimtab_firmware::flash::RamFlash;
/// use trimtab_firmware::journal::{Found, Layout};
/// use trimtab_firmware::persistent::{Persistent, Stored, Task};
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// let mut flash = RamFlash::<2, 256, 4>::new();
/// let task = Task { space: Space::new(&KNOBS)?, config: Config::default(), seed: 1, meaning: 0 };
/// let layout = Layout { range: 0..512, records: 4 };
///
/// let mut tuner = Two::new();
/// let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, layout.clone())?;
/// for value in [3.0, 1.0, 2.0] {
///     let c = kept.ask()?.combination;
///     assert_eq!(kept.tell(&c, value)?, Stored::Yes);
/// }
/// let next = kept.ask()?;
///
/// let mut tuner = Two::new(); // after a power cut
/// let (mut kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, layout)?;
/// assert_eq!((boot.found, boot.records), (Some(Found::Log), 3));
/// assert_eq!(kept.ask()?, next);
/// # Ok::<(), trimtab::Error>(())
/// ```
pub struct Persistent<
    't,
    F,
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
> {
    tuner: &'t mut Tuner<K, M, D, T, L, P>,
    journal: Result<Journal<F, K>, Trouble>,
    /// What the last restart put in the queue.
    queued: Queue<K>,
    /// This boot found a log and has not marked its first measurement yet.
    unmarked: bool,
    rebuilds: u32,
}

impl<'t, F: NorFlash, const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>
    Persistent<'t, F, K, M, D, T, L, P>
{
    /// Makes the tuner what the log in flash says, or fresh if there is none.
    pub fn open(
        tuner: &'t mut Tuner<K, M, D, T, L, P>,
        task: &Task<K>,
        flash: F,
        layout: Layout,
    ) -> Result<(Self, Boot), InitError> {
        tuner.init(task.space.clone(), task.config, task.seed)?;
        let fingerprint = fingerprint(&task.space, &task.config, task.seed, &[K, M, D, T, L], task.meaning);
        let (journal, found) = match Journal::open(flash, layout, fingerprint) {
            Ok((journal, found)) => (Ok(journal), Some(found)),
            Err(trouble) => (Err(trouble), None),
        };
        let mut kept = Self { tuner, journal, queued: Queue::new(), unmarked: found == Some(Found::Log), rebuilds: 0 };
        let (records, damaged) = kept.read();
        let begun = kept.journal.as_ref().map_or(0, Journal::begun);
        let boot = Boot { found, records, damaged, begun, trouble: kept.trouble() };
        Ok((kept, boot))
    }

    /// The tuner.
    pub fn tuner(&self) -> &Tuner<K, M, D, T, L, P> {
        self.tuner
    }

    /// Why the log is not kept; none if it is.
    pub fn trouble(&self) -> Option<Trouble> {
        self.journal.as_ref().err().copied()
    }

    /// How often the tuner was built again since the boot, because old entries were dropped: by an outcome, or by the mark before the first ask.
    pub fn rebuilds(&self) -> u32 {
        self.rebuilds
    }

    /// Outcomes and restarts since the log began, dropped ones too; those of this boot alone without a log.
    pub fn total(&self) -> u32 {
        self.journal.as_ref().map_or(self.tuner.len() as u32, Journal::total)
    }

    /// What to measure next.
    pub fn ask(&mut self) -> Result<Proposal<K>, AskError> {
        if mem::take(&mut self.unmarked) && self.keep(&Entry::Begun) {
            self.rebuild();
        }
        self.tuner.ask()
    }

    /// Writes a measured value to flash, then takes it in.
    pub fn tell(&mut self, c: &Combination<K>, value: f32) -> Result<Stored, Error> {
        self.replay(&Record::new(c, Event::Told(value)))
    }

    /// Writes to flash that a measurement failed, then takes it in.
    pub fn tell_failed(&mut self, c: &Combination<K>) -> Result<Stored, Error> {
        self.replay(&Record::new(c, Event::Failed))
    }

    /// Writes a record to flash, then takes it in. What is no number is refused before it is written.
    pub fn replay(&mut self, record: &Record<K>) -> Result<Stored, Error> {
        if matches!(record.event, Event::Told(value) if !value.is_finite()) {
            return Err(TellError::NonFinite.into());
        }
        let dropped = self.keep(&Entry::Record(record.clone()));
        if dropped {
            self.rebuild();
        } else {
            self.tuner.replay(record)?;
        }
        Ok(self.stored(dropped))
    }

    /// Tells what would be asked next as failed, if it is the one: after a reset that ended its measurement.
    pub fn give_up(&mut self, is_it: impl FnOnce(&Combination<K>) -> bool) -> Result<Option<Combination<K>>, Error> {
        let had_queue = !self.tuner.queue().is_empty();
        let c = self.tuner.ask()?.combination;
        if !is_it(&c) {
            self.tuner.cancel(&c);
            // What was asked has left the queue; the log knows what was in it.
            if had_queue && self.journal.is_ok() {
                self.rebuild();
            }
            return Ok(None);
        }
        self.tell_failed(&c)?;
        Ok(Some(c))
    }

    /// Begins anew, because the hardware is not what it was: all outcomes are forgotten, and the [`KEPT`] best of them are asked first.
    pub fn restart(&mut self) -> Stored {
        let dropped = self.keep(&Entry::Restarted);
        if dropped {
            self.rebuild();
        } else {
            self.queued = begin_anew(self.tuner);
        }
        self.stored(dropped)
    }

    /// Hands out the records that make a tuner after `init` what this one is: for whoever watches and missed the beginning.
    pub fn history(&mut self, mut record: impl FnMut(&Record<K>)) -> Result<(), Trouble> {
        self.queued.iter().for_each(|c| record(&Record::new(c, Event::Enqueued)));
        let Ok(journal) = &mut self.journal else { return Ok(()) };
        let mut restarts = 0;
        journal.read(|entry| restarts += u32::from(entry == Entry::Restarted))?;
        journal.read(|entry| match entry {
            Entry::Restarted => restarts -= 1,
            Entry::Record(found) if restarts == 0 => record(&found),
            Entry::Record(_) | Entry::Begun => {}
        })?;
        Ok(())
    }

    fn stored(&self, dropped: bool) -> Stored {
        match (self.trouble(), dropped) {
            (Some(trouble), _) => Stored::No(trouble),
            (None, true) => Stored::OldestDropped,
            (None, false) => Stored::Yes,
        }
    }

    /// Writes an entry, and begins the next page if this one is full now; whether old entries were dropped. After the first
    /// trouble nothing is written any more: a log with a gap would be another tuner's.
    fn keep(&mut self, entry: &Entry<K>) -> bool {
        let Ok(journal) = &mut self.journal else { return false };
        let kept = journal.append(entry).and_then(|dropped| match journal.is_full() {
            true => journal.turn().map(|also| dropped || also),
            false => Ok(dropped),
        });
        self.lost(kept).unwrap_or(false)
    }

    /// Begins from nothing, and takes the log in.
    fn rebuild(&mut self) {
        self.rebuilds = self.rebuilds.wrapping_add(1);
        initialise(self.tuner);
        self.read();
    }

    /// Takes the log in; how many records it had, and how many could not be used.
    fn read(&mut self) -> (u32, u32) {
        let Ok(journal) = &mut self.journal else { return (0, 0) };
        let (mut records, mut refused) = (0, 0);
        let (tuner, queued) = (&mut *self.tuner, &mut self.queued);
        queued.clear();
        let damaged = journal.read(|entry| match entry {
            Entry::Record(record) => match tuner.replay(&record) {
                Ok(()) => records += 1,
                Err(_) => refused += 1,
            },
            Entry::Restarted => *queued = begin_anew(tuner),
            Entry::Begun => {}
        });
        (records, refused + self.lost(damaged).unwrap_or(0))
    }

    /// Notes trouble with the flash.
    fn lost<R>(&mut self, outcome: Result<R, Trouble>) -> Option<R> {
        outcome.map_err(|trouble| self.journal = Err(trouble)).ok()
    }
}
