//! A tuner and its reference, side by side.

use std::collections::BTreeMap;
use std::fmt::Debug;

use trimtab::{AskError, Cache, Combination, Config, Error, Event, Proposal, Record, Space, TellError, Tuner};

use super::allocations;
use super::draw::{Call, Draw, K, Way};
use super::reference::{Key, Outcome, Reference};

/// Number of calls that a failure prints.
const SHOWN: usize = 12;

pub(crate) struct Run<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> {
    pub(crate) seed: u64,
    pub(crate) tuner: Box<Tuner<K, M, D, T, L, P>>,
    cache: Box<Cache<D, T, L>>,
    pub(crate) reference: Reference,
    /// The arguments of the last successful `init`.
    pub(crate) initialised: Option<(Space<K>, Config, u64)>,
    /// The records since then.
    pub(crate) log: Option<Vec<Record<K>>>,
    calls: Vec<Call>,
    /// Number of occurrences per event.
    pub(crate) seen: BTreeMap<String, usize>,
}

pub(crate) fn key(c: &Combination<K>) -> Key {
    c.levels().to_vec()
}

/// Every bit of a value, as text; NaN equals itself here.
pub(crate) fn bits(value: &impl Debug) -> String {
    format!("{value:?}")
}

impl<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Run<M, D, T, L, P> {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            tuner: Box::new(Tuner::new()),
            cache: Box::new(Cache::new()),
            reference: Reference::new(T),
            initialised: None,
            log: None,
            calls: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    pub(crate) fn saw(&mut self, what: &str) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    /// Makes one call and checks its result.
    pub(crate) fn apply(&mut self, call: Call, draw: &mut Draw) {
        self.calls.push(call.clone());
        match call {
            Call::Init(space, config, seed) => self.init(space, config, seed),
            Call::Ask(way) => self.ask(way, draw),
            Call::AskBegin => self.ask_begin(),
            Call::AskStep(candidates) => self.ask_step(candidates),
            Call::Tell(c, value) => {
                let refusals = self.reference.tell_errors(&key(&c), Some(value));
                let mut sliced = self.tuner.clone();
                if self.attempt(&refusals, |tuner| tuner.tell(&c, value)) {
                    sliced.tell_begin(&c, value).unwrap();
                    while sliced.tell_step(1) {}
                    assert_eq!(bits(&self.tuner), bits(&sliced), "told at once, and in slices");
                    self.happened(&c, Event::Told(value));
                }
            }
            Call::TellFailed(c) => {
                let refusals = self.reference.tell_errors(&key(&c), None);
                if self.attempt(&refusals, |tuner| tuner.tell_failed(&c)) {
                    self.happened(&c, Event::Failed);
                }
            }
            Call::Enqueue(c) => {
                let refusals = self.reference.enqueue_errors(&key(&c));
                if self.attempt(&refusals, |tuner| tuner.enqueue(&c)) {
                    self.happened(&c, Event::Enqueued);
                }
            }
            Call::Cancel(c) => self.cancel(&c),
            Call::Replay(c, event) => {
                let record = Record::new(&c, event);
                let refusals = self.replay_errors(&record, &c);
                if self.attempt(&refusals, |tuner| tuner.replay(&record)) {
                    self.happened(&c, event);
                }
            }
        }
    }

    /// Makes a call that must return one of these errors, or succeed if there are none. An error
    /// must leave every bit unchanged.
    fn attempt<R, E: Copy + PartialEq + Debug + Into<Error>>(
        &mut self,
        refusals: &[E],
        call: impl FnOnce(&mut Tuner<K, M, D, T, L, P>) -> Result<R, E>,
    ) -> bool {
        let before = (!refusals.is_empty()).then(|| bits(&self.tuner));
        match (allocations::none(|| call(&mut self.tuner)), before) {
            (Ok(_), None) => true,
            (Err(error), Some(before)) => {
                assert!(refusals.contains(&error), "{error:?} is not among {refusals:?}");
                assert_eq!(bits(&self.tuner), before, "refused, and something changed");
                let error: Error = error.into();
                self.saw(bits(&error).split(' ').next().unwrap_or_default());
                if self.reference.asking {
                    self.saw("refused while asking");
                }
                false
            }
            (Ok(_), Some(_)) => panic!("accepted in spite of {refusals:?}"),
            (Err(error), None) => panic!("{error:?} for no reason"),
        }
    }

    fn init(&mut self, space: Space<K>, config: Config, seed: u64) {
        let refusals = Reference::init_errors(&space, &config, M, D);
        if self.attempt(&refusals, |tuner| tuner.init(space.clone(), config, seed)) {
            self.reference.init(&space, config);
            (self.initialised, self.log) = (Some((space, config, seed)), Some(Vec::new()));
        }
    }

    fn replay_errors(&self, record: &Record<K>, c: &Combination<K>) -> Vec<Error> {
        // Levels outside the space are found before anything else.
        if let Err(error) = record.combination(self.tuner.space()) {
            return vec![error.into()];
        }
        let (reference, c) = (&self.reference, key(c));
        let of_telling = |reasons: Vec<TellError>| reasons.into_iter().map(Error::from).collect();
        match record.event {
            Event::Told(value) | Event::Measured(value, _) => of_telling(reference.tell_errors(&c, Some(value))),
            Event::Failed => of_telling(reference.tell_errors(&c, None)),
            Event::Enqueued => reference.enqueue_errors(&c).into_iter().map(Error::from).collect(),
            Event::Asked => {
                let awaiting = reference.replayed_ask_errors(&c).into_iter().map(Error::from);
                reference.ask_errors().into_iter().map(Error::from).chain(awaiting).collect()
            }
            Event::Cancelled => Vec::new(),
        }
    }

    /// Records an accepted event.
    fn happened(&mut self, c: &Combination<K>, event: Event) {
        let kept: Vec<Key> = self.tuner.observations().map(|o| key(&o.combination)).collect();
        let was_known = self.reference.outcome(&key(c)).is_some();
        let was_full = self.reference.len() == T;
        match event {
            Event::Told(value) | Event::Measured(value, _) => self.reference.told(&key(c), Some(value), &kept),
            Event::Failed => self.reference.told(&key(c), None, &kept),
            Event::Enqueued => self.reference.enqueued(&key(c)),
            Event::Asked => self.reference.mark_pending(&key(c)),
            Event::Cancelled => {
                self.reference.cancelled(&key(c));
            }
        }
        match event {
            Event::Told(_) | Event::Failed if was_known => self.saw("told again"),
            Event::Told(_) | Event::Failed if was_full => self.saw("forgotten"),
            Event::Cancelled => self.saw("cancelled"),
            _ => {}
        }
        self.record(c, event);
    }

    fn record(&mut self, c: &Combination<K>, event: Event) {
        if let Some(log) = &mut self.log {
            log.push(Record::new(c, event));
        }
    }

    fn cancel(&mut self, c: &Combination<K>) {
        let before = bits(&self.tuner);
        let was = allocations::none(|| self.tuner.cancel(c));
        assert_eq!(was, self.reference.pending.contains(&key(c)));
        if was {
            self.happened(c, Event::Cancelled);
        } else {
            assert_eq!(bits(&self.tuner), before, "nothing was cancelled, and something changed");
        }
    }

    fn ask(&mut self, way: Way, draw: &mut Draw) {
        let mut refusals = self.reference.ask_errors();
        let needs_map = matches!(way, Way::Lookup(_) | Way::Recon(..));
        if needs_map && self.reference.is_initialised() && D == 0 {
            refusals.push(AskError::NoMap);
        }
        if !refusals.is_empty() {
            self.attempt(&refusals, |tuner| ask(tuner, way, None));
            return;
        }
        let mut other = self.tuner.clone();
        let (before, predicted) = (self.model_bits(), self.predictions());
        let asked = allocations::none(|| ask(&mut self.tuner, way, Some(&mut self.cache)));
        match way {
            Way::Plain => {
                assert_eq!(bits(&asked), bits(&in_slices(&mut other, draw)), "whole, and in slices");
                assert_eq!(bits(&self.tuner), bits(&other));
            }
            Way::Cached => assert_eq!(bits(&asked), bits(&other.ask()), "with a cache, and without"),
            _ => {}
        }
        self.assert_untaught(&before, "asking taught the model something");
        // Pending combinations change a prediction; without any, it must be the one from before the
        // ask.
        if let (Ok(proposal), true) = (asked, self.reference.pending.is_empty()) {
            let mut own = predicted.iter().filter(|(c, _)| *c == key(&proposal.combination));
            assert!(own.all(|(_, p)| *p == bits(&(proposal.mean, proposal.std_dev))), "predicted otherwise");
        }
        self.end_of_ask(asked);
    }

    /// The model is as before. Between slices beside pending combinations it tells nothing.
    pub(crate) fn assert_untaught(&self, before: &str, what: &str) {
        let now = self.model_bits();
        let is_silent = |bits: &str| bits.ends_with("None, [])");
        assert!(now == before || is_silent(&now) || is_silent(before), "{what}: {before}, now {now}");
    }

    fn ask_begin(&mut self) {
        let refusals = self.reference.ask_errors();
        if !refusals.is_empty() {
            self.attempt(&refusals, |tuner| tuner.ask_begin());
            return;
        }
        let before = self.model_bits();
        let begun = allocations::none(|| self.tuner.ask_begin());
        self.assert_untaught(&before, "beginning to ask taught the model something");
        if begun.is_err() {
            assert_eq!(begun, Err(AskError::Exhausted));
            assert!(self.reference.open().is_empty(), "not exhausted");
        }
        self.reference.asking = begun.is_ok();
    }

    fn ask_step(&mut self, candidates: u16) {
        if !self.reference.asking {
            self.attempt(&[AskError::NotBegun], |tuner| tuner.ask_step(candidates));
            return;
        }
        let before = self.model_bits();
        let asked = allocations::none(|| self.tuner.ask_step(candidates)).transpose();
        self.assert_untaught(&before, "a slice taught the model something");
        match asked {
            None => self.saw("not yet"),
            Some(asked) => self.end_of_ask(asked),
        }
    }

    fn end_of_ask(&mut self, asked: Result<Proposal<K>, AskError>) {
        self.reference.asking = false;
        match asked {
            Ok(proposal) => {
                if matches!(self.reference.outcome(&key(&proposal.combination)), Some(Outcome::Measured(_))) {
                    self.saw("asked again");
                }
                if proposal.score != 0.0 && !self.reference.pending.is_empty() {
                    self.saw("chosen while others are pending");
                }
                self.reference.proposed(&proposal);
                self.record(&proposal.combination, Event::Asked);
            }
            Err(error) => {
                assert_eq!(error, AskError::Exhausted);
                assert!(self.reference.open().is_empty(), "exhausted, and these are left: {:?}", self.reference.open());
                self.saw("Ask(Exhausted)");
            }
        }
    }
}

/// One ask of any kind.
fn ask<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
    tuner: &mut Tuner<K, M, D, T, L, P>,
    way: Way,
    cache: Option<&mut Cache<D, T, L>>,
) -> Result<Proposal<K>, AskError> {
    match (way, cache) {
        (Way::Plain, _) | (Way::Cached, None) => tuner.ask(),
        (Way::Cached, Some(cache)) => tuner.ask_with(cache),
        (Way::Lookup(region), _) => tuner.ask_lookup(region),
        (Way::Recon(region, threshold), _) => tuner.ask_recon(region, threshold),
    }
}

/// One ask, a few candidates at a time.
fn in_slices<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
    tuner: &mut Tuner<K, M, D, T, L, P>,
    draw: &mut Draw,
) -> Result<Proposal<K>, AskError> {
    tuner.ask_begin()?;
    loop {
        if let Some(proposal) = tuner.ask_step(draw.below(6) as u16)? {
            return Ok(proposal);
        }
    }
}

impl<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Drop for Run<M, D, T, L, P> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.calls.is_empty() {
            eprintln!("\nseed {}, {T} observations, {L} rows, {:?}; the last calls:", self.seed, self.initialised);
            for call in &self.calls[self.calls.len().saturating_sub(SHOWN)..] {
                eprintln!("  {call:?}");
            }
        }
    }
}
