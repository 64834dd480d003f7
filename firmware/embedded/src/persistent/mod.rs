//! A tuner with its log in flash: a power cut costs at most the measurement under way.
//!
//! ```text
//! boot      log → replay → tuner                      the same bits as without the cut
//! a step    ask → measure → tell → record to flash    a cut before the write: measured again; after it: known
//! ```
//!
//! | the flash holds | what a boot does |
//! |---|---|
//! | nothing | starts fresh |
//! | a log of this tuner | replays it |
//! | such a log with damaged or unreadable records | replays the others and counts the damaged; their combinations may be asked again |
//! | a log of another tuner, layout or version | starts fresh and uses nothing of it |
//! | anything else | starts fresh |
//! | pages that cannot be written or erased, or nothing that can be read | tunes in RAM only; the log stays as it was |
//!
//! **Choices**
//! - The state is `init` plus the log, nothing else. Asks depend on the log alone, so a boot
//!   repeats the last ask and the log needs no entry for it.
//! - The tuner takes a record before the flash does, so the tuner alone decides what it refuses,
//!   and a refused record costs no slot. A call returns after both.
//! - When the flash is full, the oldest page goes and the tuner is rebuilt from the rest: between the
//!   same two records with and without cuts, so both reach the same bits. Records that the tuner still
//!   holds are carried over, best first, so the best is never lost.
//! - A tell never waits for an erase: it says that its page is full, and the erase follows before the
//!   next ask, or when the caller chooses, by [`Persistent::prepare`].
//! - A measurement that takes the power down would be asked forever. So a boot that found a log
//!   marks its first measurement, [`Boot::begun`] counts these boots, and after [`ENOUGH`] of them
//!   [`Boot::is_hopeless`] says to give that combination up. No more than that are marked.
//!
//! **Cost.** The tuner, the journal and [`KEPT`] combinations; one flash write per record and one
//! more per boot. A boot replays at most P pages.

use core::mem;

use embedded_storage::nor_flash::NorFlash;
use trimtab::settings::{AtInit, Settings};
use trimtab::{
    AskError, Cache, Combination, Error, Event, FleetPrior, InitError, Margins, Observation, Proposal, Record,
    TellError, Tuner,
};

pub use boot::{Boot, ENOUGH, Stored, Task};
pub use restart::KEPT;
use restart::{Queue, begin_anew, initialise};

use crate::journal::{Entry, Found, Journal, Layout, Trouble, fingerprint};
use crate::objective::AskTell;

mod boot;
mod log;
mod rank;
mod restart;

/// A tuner with its log in flash.
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// use trimtab_embedded::flash::RamFlash;
/// use trimtab_embedded::journal::{Found, Layout};
/// use trimtab_embedded::persistent::{Persistent, Stored, Task};
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
    const N: usize = 0,
    const G: usize = 0,
    const A: usize = { trimtab::MOST_PENDING },
    S: Settings = AtInit,
> {
    tuner: &'t mut Tuner<K, M, D, T, L, P, N, G, A, S>,
    journal: Result<Journal<F, K>, Trouble>,
    /// The combinations that the last restart enqueued.
    queued: Queue<K>,
    /// This boot found a log and has not marked its first measurement yet.
    unmarked: bool,
    rebuilds: u32,
}

impl<
    't,
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
> Persistent<'t, F, K, M, D, T, L, P, N, G, A, S>
{
    /// Rebuilds the tuner from the log in flash, or starts fresh if there is none.
    pub fn open(
        tuner: &'t mut Tuner<K, M, D, T, L, P, N, G, A, S>,
        task: &Task<K>,
        flash: F,
        layout: Layout,
    ) -> Result<(Self, Boot), InitError> {
        Self::open_with(tuner, task, flash, layout, &mut || ())
    }

    /// [`open`](Self::open) that calls `feed` before each replayed record and around an erase, for a
    /// watchdog that already runs.
    pub fn open_with(
        tuner: &'t mut Tuner<K, M, D, T, L, P, N, G, A, S>,
        task: &Task<K>,
        flash: F,
        layout: Layout,
        feed: &mut dyn FnMut(),
    ) -> Result<(Self, Boot), InitError> {
        tuner.init(task.space.clone(), task.config, task.seed)?;
        Ok(Self::open_begun(tuner, task, flash, layout, feed))
    }

    /// [`open_with`](Self::open_with) for a tuner that begins with what earlier boards taught; see
    /// [`Tuner::init_with_prior`]. A log that another prior began counts as that of another tuner.
    pub fn open_with_prior(
        tuner: &'t mut Tuner<K, M, D, T, L, P, N, G, A, S>,
        task: &Task<K>,
        prior: &FleetPrior,
        flash: F,
        layout: Layout,
        feed: &mut dyn FnMut(),
    ) -> Result<(Self, Boot), InitError> {
        tuner.init_with_prior(task.space.clone(), task.config, prior, task.seed)?;
        Ok(Self::open_begun(tuner, task, flash, layout, feed))
    }

    /// Replays the log of a tuner that is initialised.
    fn open_begun(
        tuner: &'t mut Tuner<K, M, D, T, L, P, N, G, A, S>,
        task: &Task<K>,
        flash: F,
        layout: Layout,
        feed: &mut dyn FnMut(),
    ) -> (Self, Boot) {
        // With another layout pages and slots are elsewhere: only an old part of the log would be found.
        let (start, end) = (layout.range.start as usize, layout.range.end as usize);
        let sizes = [K, M, D, T, L, start, end, layout.records.into(), G];
        // Without limits a log is that of a tuner that knows of none.
        let sizes = if G > 0 { &sizes[..] } else { &sizes[..8] };
        let fingerprint = fingerprint(&task.space, &task.config, task.seed, sizes, task.meaning)
            ^ tuner.prior().map_or(0, |prior| prior.checksum());
        let (journal, found) = match Journal::open_for(flash, layout, fingerprint, (task.space.knobs(), G)) {
            Ok((journal, found)) => (Ok(journal), Some(found)),
            Err(trouble) => (Err(trouble), None),
        };
        let mut kept = Self { tuner, journal, queued: Queue::new(), unmarked: found == Some(Found::Log), rebuilds: 0 };
        let (mut records, mut damaged) = kept.read(feed);
        // The last boot may have ended before the page was turned.
        if kept.turn(feed) {
            initialise(kept.tuner);
            // What was damaged in the dropped page is lost all the same.
            let before = damaged;
            (records, damaged) = kept.read(feed);
            damaged = damaged.max(before);
        }
        let begun = kept.journal.as_ref().map_or(0, Journal::begun);
        let boot = Boot { found, records, damaged, begun, trouble: kept.trouble() };
        (kept, boot)
    }

    /// The tuner, to look at.
    pub fn tuner(&self) -> &Tuner<K, M, D, T, L, P, N, G, A, S> {
        self.tuner
    }

    /// Why the log is not kept, or `None` if it is.
    pub fn trouble(&self) -> Option<Trouble> {
        self.journal.as_ref().err().copied()
    }

    /// Rebuilds of the tuner since the boot, because old entries were dropped.
    pub fn rebuilds(&self) -> u32 {
        self.rebuilds
    }

    /// Records that fit before a page must be erased. At 0 [`prepare`](Self::prepare) does that, or
    /// else the next ask or tell.
    pub fn room(&self) -> usize {
        self.journal.as_ref().map_or(usize::MAX, Journal::room)
    }

    /// Begins the next page if the last one is full: erases one, carries over what still matters of
    /// it, and rebuilds the tuner if it held records. Call it where a second does not hurt: after a
    /// tell that returned [`Stored::PageFull`], with the hardware at rest. A chip may stand still
    /// while it erases.
    ///
    /// `feed` is called around the erase and before each replayed record, for a watchdog.
    pub fn prepare(&mut self, feed: &mut dyn FnMut()) -> Stored {
        let dropped = self.turn(feed);
        if dropped {
            self.rebuild(feed);
        }
        self.stored(dropped)
    }

    /// Outcomes and restarts since the log began, including dropped ones. Without a log, those of
    /// this boot.
    pub fn total(&self) -> u32 {
        self.journal.as_ref().map_or(self.tuner.len() as u32, Journal::total)
    }

    /// Returns the next combination to measure.
    pub fn ask(&mut self) -> Result<Proposal<K>, AskError> {
        self.ask_whole()
    }

    /// Begins an ask in slices, see [`Tuner::ask_begin`].
    pub fn ask_begin(&mut self) -> Result<(), AskError> {
        self.prepare(&mut || ());
        if mem::take(&mut self.unmarked)
            && let Ok(journal) = &mut self.journal
            && journal.begun() < ENOUGH
        {
            let marked = journal.begin();
            self.lost(marked);
        }
        self.tuner.ask_begin()
    }

    /// Continues an ask by this many steps, see [`Tuner::ask_step`].
    pub fn ask_step(&mut self, steps: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.tuner.ask_step(steps)
    }

    /// The same with a cache, see [`Tuner::ask_step_with`].
    pub fn ask_step_with<const C: usize>(
        &mut self,
        steps: u16,
        cache: &mut Cache<D, T, C>,
    ) -> Result<Option<Proposal<K>>, AskError> {
        self.tuner.ask_step_with(steps, cache)
    }

    /// [`ask`](Self::ask) with a cache, see [`Tuner::ask_with`].
    pub fn ask_with<const C: usize>(&mut self, cache: &mut Cache<D, T, C>) -> Result<Proposal<K>, AskError> {
        self.ask_begin()?;
        loop {
            if let Some(proposal) = self.ask_step_with(u16::MAX, cache)? {
                return Ok(proposal);
            }
        }
    }

    /// Tells a measured value to the tuner and writes it to flash.
    pub fn tell(&mut self, c: &Combination<K>, value: f32) -> Result<Stored, Error> {
        self.replay(&Record::new(c, Event::Told(value)))
    }

    /// Tells a measured value and its margins to limits, and writes them to flash; see
    /// [`Tuner::tell_with`].
    pub fn tell_with(&mut self, c: &Combination<K>, value: f32, margins: &[f32]) -> Result<Stored, Error> {
        let refused = TellError::Margins { given: margins.len(), expected: self.tuner.limits() };
        let margins = Margins::new(margins).ok_or(refused)?;
        self.replay(&Record::new(c, Event::Measured(value, margins)))
    }

    /// Tells the tuner that a measurement failed and writes that to flash.
    pub fn tell_failed(&mut self, c: &Combination<K>) -> Result<Stored, Error> {
        self.replay(&Record::new(c, Event::Failed))
    }

    /// Replays a record and writes it to flash. A record that the tuner refuses changes neither. If
    /// the flash refuses, the tuner has the record in RAM only: [`Stored::No`].
    pub fn replay(&mut self, record: &Record<K>) -> Result<Stored, Error> {
        let stored = self.replay_begin(record)?;
        while self.tell_step(u16::MAX) {}
        Ok(stored)
    }

    /// [`replay`](Self::replay) in slices, so that a control loop keeps its deadline: the record is in
    /// flash when this returns, and [`tell_step`](Self::tell_step) does the tuner's work. It still
    /// erases a page if none is [prepared](Self::prepare).
    pub fn replay_begin(&mut self, record: &Record<K>) -> Result<Stored, Error> {
        // Before the record: a boot in between would do the same.
        self.prepare(&mut || ());
        let is_anew = self.is_anew(record);
        self.tuner.replay_begin(record)?;
        Ok(self.keep(&Entry::Record(record.clone()), is_anew))
    }

    /// Continues a tell by this many steps and returns whether there are more, see
    /// [`Tuner::tell_step`].
    pub fn tell_step(&mut self, steps: u16) -> bool {
        self.tuner.tell_step(steps)
    }

    /// Tells the next proposal as failed if `is_it` recognises it, after a reset that ended its
    /// measurement. Returns the combination that was given up.
    pub fn give_up(&mut self, is_it: impl FnOnce(&Combination<K>) -> bool) -> Result<Option<Combination<K>>, Error> {
        self.prepare(&mut || ());
        let had_queue = !self.tuner.queue().is_empty();
        let c = self.tuner.ask()?.combination;
        if !is_it(&c) {
            self.tuner.cancel(&c);
            // The ask took it from the queue; the log still knows the queue.
            if had_queue && self.journal.is_ok() {
                self.rebuild(&mut || ());
            }
            return Ok(None);
        }
        self.tell_failed(&c)?;
        Ok(Some(c))
    }

    /// Starts over because the hardware has changed: forgets all outcomes and asks for the [`KEPT`]
    /// best combinations first.
    pub fn restart(&mut self) -> Stored {
        self.prepare(&mut || ());
        self.queued = begin_anew(self.tuner);
        self.keep(&Entry::Restarted, false)
    }

    /// Hands out the records that turn a tuner after `init` into this one, for a listener who
    /// missed the beginning.
    pub fn history(&mut self, mut record: impl FnMut(&Record<K>)) -> Result<(), Trouble> {
        // What is about to be dropped is no news.
        self.prepare(&mut || ());
        self.queued.iter().for_each(|c| record(&Record::new(c, Event::Enqueued)));
        let Ok(journal) = &mut self.journal else { return Ok(()) };
        let mut restarts = 0;
        journal.read(|entry| restarts += u32::from(entry == Entry::Restarted))?;
        journal.read(|entry| match entry {
            Entry::Restarted => restarts -= 1,
            Entry::Record(found) if restarts == 0 => record(&found),
            Entry::Record(_) => {}
        })?;
        Ok(())
    }
}

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
> AskTell<K> for Persistent<'_, F, K, M, D, T, L, P, N, G, A, S>
{
    fn ask_begin(&mut self) -> Result<(), AskError> {
        self.ask_begin()
    }

    fn ask_step(&mut self, steps: u16) -> Result<Option<Proposal<K>>, AskError> {
        self.ask_step(steps)
    }

    /// After trouble with the flash the run goes on; [`trouble`](Persistent::trouble) tells it.
    fn tell_begin(&mut self, c: &Combination<K>, event: Event) -> Result<(), Error> {
        self.replay_begin(&Record::new(c, event)).map(|_| ())
    }

    fn tell_step(&mut self, steps: u16) -> bool {
        self.tell_step(steps)
    }

    fn is_settled(&self, tolerance: f32) -> bool {
        self.tuner.is_settled(tolerance)
    }

    fn best(&self) -> Option<Observation<K>> {
        self.tuner.best_observed()
    }
}
