//! Outcomes and other events: a combination is queued, told, failed, cancelled, or any of these
//! replayed from a log.
//!
//! **Choices**
//! - Input is checked before anything changes, so a refused call changes nothing.
//! - An accepted event ends an ask under way: its candidates were scored without it.
//!
//! **Cost.** See [`tuner`](super).

use super::record::{Event, Record};
use super::{MOST_PENDING, Tuner};
use crate::acquire::cache::Cache;
use crate::config::{Settings, WhenFull};
use crate::error::{AskError, EnqueueError, Error, TellError};
use crate::math::list;
use crate::space::Combination;

impl<
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
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// Queues a combination to be asked before all others, such as a default from a data sheet.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let default = tuner.space().combination(&[2, 7])?;
    /// tuner.enqueue(&default)?;
    /// assert_eq!(tuner.ask()?.combination, default);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn enqueue(&mut self, c: &Combination<K>) -> Result<(), EnqueueError> {
        self.finish_tell();
        if !self.space.contains(c) || self.space.knobs().is_empty() {
            return Err(EnqueueError::Foreign);
        }
        if !self.space.is_feasible(c) {
            return Err(EnqueueError::Infeasible);
        }
        if !self.is_open(c) || self.queue.contains(c) {
            return Err(EnqueueError::Known);
        }
        self.queue.push(*c).map_err(|_| EnqueueError::Full { most: MOST_PENDING })?;
        self.cancel_ask();
        Ok(())
    }

    /// Reports a measured value, for a combination that was asked or for any other. Values of the
    /// same combination are averaged.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell(&c, 1.0)?;
    /// tuner.tell(&c, 3.0)?;
    /// assert_eq!(tuner.best_observed().map(|best| (best.value, best.repeats)), Some((2.0, 2)));
    /// assert!(tuner.tell(&c, f32::NAN).is_err());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn tell(&mut self, c: &Combination<K>, value: f32) -> Result<(), TellError> {
        self.tell_begin(c, value)?;
        self.finish_tell();
        Ok(())
    }

    /// Reports that measuring a combination failed: it crashed, hung or was unsafe. It is never
    /// asked again, and the model learns where measurements fail.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// tuner.tell_failed(&c)?;
    /// assert_eq!(tuner.best_observed(), None);
    /// assert_ne!(tuner.ask()?.combination, c);
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn tell_failed(&mut self, c: &Combination<K>) -> Result<(), TellError> {
        self.tell_failed_begin(c)?;
        self.finish_tell();
        Ok(())
    }

    /// [`tell`](Self::tell) in slices, so that a control loop keeps its deadline: the value is taken,
    /// and [`tell_step`](Self::tell_step) does the work. Every other call that changes the tuner
    /// finishes it first.
    ///
    /// ```
    /// # use trimtab::{Config, Knob, Space};
    /// # const KNOBS: [Knob; 12] = [Knob::nominal(2); 12];
    /// # type Relays = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
    /// # let mut tuner = Relays::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// for value in 0..16 {
    ///     let mut whole = tuner.clone();
    ///     let c = tuner.ask()?.combination;
    ///     tuner.tell_begin(&c, value as f32)?;
    ///     while tuner.tell_step(2) {
    ///         // Two steps, then back to the control loop.
    ///     }
    ///     let same = whole.ask()?.combination;
    ///     whole.tell(&same, value as f32)?;
    ///     assert_eq!(whole.best_posterior(), tuner.best_posterior());
    /// }
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn tell_begin(&mut self, c: &Combination<K>, value: f32) -> Result<(), TellError> {
        self.tell_with_begin(c, value, &[])
    }

    /// [`tell_failed`](Self::tell_failed) in slices, as [`tell_begin`](Self::tell_begin).
    pub fn tell_failed_begin(&mut self, c: &Combination<K>) -> Result<(), TellError> {
        self.begin_outcome(c, None, &[])?;
        self.model.success.expect_failures();
        Ok(())
    }

    /// Takes at most `steps` more steps of a tell begun with [`tell_begin`](Self::tell_begin), and
    /// returns whether there are more. A step is a row of a factor or as much of something else.
    pub fn tell_step(&mut self, steps: u16) -> bool {
        for _ in 0..steps {
            if self.is_waiting {
                if self.is_filled() || !self.search_step(1, true, None::<&mut Cache<D, T, 0>>) {
                    let ((c, cost), (margins, count)) = (self.waiting, self.waiting_margins);
                    self.is_waiting = false;
                    self.record_outcome(&c, cost, margins.get(..usize::from(count)).unwrap_or_default());
                }
            } else if self.model.is_learning() {
                self.model.learn(&self.space, &self.config);
            } else {
                break;
            }
        }
        self.is_waiting || self.model.is_learning()
    }

    /// Finishes a tell that is under way.
    #[inline(never)]
    pub(super) fn finish_tell(&mut self) {
        while self.tell_step(u16::MAX) {}
    }

    pub(super) fn begin_outcome(
        &mut self,
        c: &Combination<K>,
        cost: Option<f32>,
        margins: &[f32],
    ) -> Result<(), TellError> {
        if self.space.knobs().is_empty() || !self.space.contains(c) {
            return Err(TellError::Foreign);
        }
        if !self.space.is_feasible(c) {
            return Err(TellError::Infeasible);
        }
        self.finish_tell();
        let known = self.model.observations.find(c).is_some();
        if !known && self.is_full() && self.config.when_full == WhenFull::Refuse {
            return Err(TellError::Full);
        }
        self.cancel_ask();
        // A table that this outcome leaves as it is must be the one that an ask would have made.
        let best = self.model.best().and_then(|i| self.model.observations.cost(i));
        let keeps = G == 0 || margins.iter().all(|margin| *margin >= 0.0);
        let is_best = cost.is_some_and(|cost| keeps && best.is_none_or(|best| cost < best));
        let stays = !known && !is_best && !self.is_full() && !self.model.is_anew_next(&self.config);
        if stays && self.chooses() && !self.is_filled() {
            self.begin_search();
            (self.is_waiting, self.waiting) = (true, (*c, cost));
            self.waiting_margins.0.iter_mut().zip(margins).for_each(|(own, margin)| *own = *margin);
            self.waiting_margins.1 = margins.len() as u8;
        } else {
            self.record_outcome(c, cost, margins);
        }
        Ok(())
    }

    /// Takes an outcome in and begins to learn from it.
    fn record_outcome(&mut self, c: &Combination<K>, cost: Option<f32>, margins: &[f32]) {
        let best = self.best_combination();
        let observations = &mut self.model.observations;
        let known = observations.find(c);
        let unchanged = match (known, cost) {
            (Some(i), Some(cost)) => {
                observations.repeat(i, cost);
                i
            }
            (Some(i), None) => {
                observations.fail(i);
                i
            }
            (None, cost) => {
                let kept = self.make_room();
                let x = self.model.geometry.locate(&self.space, c);
                self.model.observations.push(c, cost, &x);
                kept
            }
        };
        if cost.is_some() {
            let i = known.unwrap_or(self.len().saturating_sub(1));
            self.model.limits.record(i, self.model.observations.repeats(i), margins);
        }
        self.leave_queue(c);
        self.leave_pending(c);
        self.tells = self.tells.wrapping_add(1);
        self.repeats = self.repeats.wrapping_add(u32::from(known.is_some()));
        if self.best_combination() != best {
            self.table.clear();
        }
        self.model.begin_learning(&self.space, &self.config, unchanged);
    }

    /// The best that keeps all limits.
    fn best_combination(&self) -> Option<Combination<K>> {
        self.model.best().and_then(|i| self.model.observations.combinations().get(i)).copied()
    }

    /// Makes room for one more observation by the user's policy; returns how many of the first ones
    /// are as they were.
    fn make_room(&mut self) -> usize {
        if !self.is_full() {
            return self.len();
        }
        let worst = self.model.worst();
        let observations = &mut self.model.observations;
        let evicted = if self.config.when_full == WhenFull::ForgetOldest { 0 } else { worst };
        observations.remove(evicted);
        self.model.observation_removed(evicted);
        evicted
    }

    /// Cancels a pending combination: it will not be told and may be asked again. Returns whether
    /// it was pending.
    ///
    /// ```
    /// # use trimtab::{Config, Goal, Knob, Space};
    /// # const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// # type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// # let mut tuner = Two::new();
    /// # tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// let c = tuner.ask()?.combination;
    /// assert!(tuner.cancel(&c) && tuner.pending().is_empty());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn cancel(&mut self, c: &Combination<K>) -> bool {
        self.finish_tell();
        let is_pending = self.pending.contains(c);
        if is_pending {
            self.cancel_ask();
            self.leave_pending(c);
        }
        is_pending
    }

    /// Removes a combination from the pending ones.
    fn leave_pending(&mut self, c: &Combination<K>) {
        if let Some(i) = self.pending.iter().position(|own| own == c) {
            list::remove(&mut self.pending, i);
        }
    }

    /// Removes a combination from the queue.
    pub(super) fn leave_queue(&mut self, c: &Combination<K>) {
        if let Some(i) = self.queue.iter().position(|own| own == c) {
            list::remove(&mut self.queue, i);
        }
    }

    /// Replays one record of a log. All records in order rebuild the tuner that wrote them, bit for
    /// bit.
    ///
    /// ```
    /// use trimtab::{Config, Event, Knob, Record, Space};
    /// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
    /// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
    /// let (mut first, mut second) = (Two::new(), Two::new());
    /// for tuner in [&mut first, &mut second] {
    ///     tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
    /// }
    /// for i in 0..6 {
    ///     let c = first.ask()?.combination;
    ///     let event = if i == 2 { Event::Failed } else { Event::Told(i as f32) };
    ///     let record = Record::new(&c, event);       // written to flash here
    ///     first.replay(&record)?;                    // does what tell or tell_failed does
    ///     second.replay(&record)?;                   // after a power cut
    /// }
    /// assert_eq!(first.ask(), second.ask());
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn replay(&mut self, record: &Record<K>) -> Result<(), Error> {
        self.replay_begin(record)?;
        self.finish_tell();
        Ok(())
    }

    /// [`replay`](Self::replay) in slices: the work that a told value or a failure brings is left to
    /// [`tell_step`](Self::tell_step).
    pub fn replay_begin(&mut self, record: &Record<K>) -> Result<(), Error> {
        let c = record.combination(&self.space)?;
        self.finish_tell();
        match record.event {
            Event::Told(value) => self.tell_begin(&c, value)?,
            Event::Measured(value, margins) => self.tell_with_begin(&c, value, &margins)?,
            Event::Failed => self.tell_failed_begin(&c)?,
            Event::Enqueued => self.enqueue(&c)?,
            Event::Asked => {
                if self.space.knobs().is_empty() {
                    return Err(AskError::Uninitialised.into());
                }
                if self.pending.is_full() {
                    return Err(AskError::TooManyPending { most: A }.into());
                }
                if !self.space.is_feasible(&c) {
                    return Err(EnqueueError::Infeasible.into());
                }
                if self.pending.contains(&c) {
                    return Err(EnqueueError::Known.into());
                }
                self.cancel_ask();
                self.mark_pending(&c);
            }
            // An ask without a record may have been cancelled with one: then nothing is pending.
            Event::Cancelled => {
                self.cancel(&c);
            }
        }
        Ok(())
    }
}
