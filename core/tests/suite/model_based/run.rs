//! A tuner and its reference, side by side.

use std::collections::BTreeMap;
use std::fmt::Debug;

use trimtab::{AskError, Cache, Combination, Config, Error, Event, Proposal, Record, Space, TellError, Tuner};

use super::allocations;
use super::draw::{Call, Draw, K, Way};
use super::reference::{Key, Outcome, Reference};

/// How many calls a failure shows.
const SHOWN: usize = 12;

pub(crate) struct Run<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> {
    pub(crate) seed: u64,
    pub(crate) tuner: Box<Tuner<K, M, D, T, L, P>>,
    cache: Box<Cache<K, D, T, L>>,
    pub(crate) known: Reference,
    /// How the tuner was made ready.
    pub(crate) ready: Option<(Space<K>, Config, u64)>,
    /// What happened since.
    pub(crate) log: Option<Vec<Record<K>>>,
    calls: Vec<Call>,
    /// How often what was seen.
    pub(crate) seen: BTreeMap<String, usize>,
}

pub(crate) fn key(c: &Combination<K>) -> Key {
    c.levels().to_vec()
}

/// All that there is of a value; what is not a number is equal to itself here.
pub(crate) fn bits(value: &impl Debug) -> String {
    format!("{value:?}")
}

impl<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> Run<M, D, T, L, P> {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            tuner: Box::new(Tuner::new()),
            cache: Box::new(Cache::new()),
            known: Reference::new(T),
            ready: None,
            log: None,
            calls: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    pub(crate) fn saw(&mut self, what: &str) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    /// Makes one call, and checks its result.
    pub(crate) fn apply(&mut self, call: Call, draw: &mut Draw) {
        self.calls.push(call.clone());
        match call {
            Call::Init(space, config, seed) => self.init(space, config, seed),
            Call::Ask(way) => self.ask(way, draw),
            Call::AskBegin => self.ask_begin(),
            Call::AskStep(candidates) => self.ask_step(candidates),
            Call::Tell(c, value) => {
                let against = self.known.against_telling(&key(&c), Some(value));
                if self.attempt(&against, |tuner| tuner.tell(&c, value)) {
                    self.happened(&c, Event::Told(value));
                }
            }
            Call::TellFailed(c) => {
                let against = self.known.against_telling(&key(&c), None);
                if self.attempt(&against, |tuner| tuner.tell_failed(&c)) {
                    self.happened(&c, Event::Failed);
                }
            }
            Call::Enqueue(c) => {
                let against = self.known.against_queueing(&key(&c));
                if self.attempt(&against, |tuner| tuner.enqueue(&c)) {
                    self.happened(&c, Event::Enqueued);
                }
            }
            Call::Cancel(c) => self.cancel(&c),
            Call::Replay(c, event) => {
                let record = Record::new(&c, event);
                let against = self.against_replaying(&record, &c);
                if self.attempt(&against, |tuner| tuner.replay(&record)) {
                    self.happened(&c, event);
                }
            }
        }
    }

    /// Makes a call that must be refused for one of the reasons, or accepted if there is none. A refusal leaves every bit as it was.
    fn attempt<R, E: Copy + PartialEq + Debug + Into<Error>>(
        &mut self,
        against: &[E],
        call: impl FnOnce(&mut Tuner<K, M, D, T, L, P>) -> Result<R, E>,
    ) -> bool {
        let before = (!against.is_empty()).then(|| bits(&self.tuner));
        match (allocations::none(|| call(&mut self.tuner)), before) {
            (Ok(_), None) => true,
            (Err(error), Some(before)) => {
                assert!(against.contains(&error), "{error:?} is not among {against:?}");
                assert_eq!(bits(&self.tuner), before, "refused, and something changed");
                let error: Error = error.into();
                self.saw(bits(&error).split(' ').next().unwrap_or_default());
                if self.known.asking {
                    self.saw("refused while asking");
                }
                false
            }
            (Ok(_), Some(_)) => panic!("accepted in spite of {against:?}"),
            (Err(error), None) => panic!("{error:?} for no reason"),
        }
    }

    fn init(&mut self, space: Space<K>, config: Config, seed: u64) {
        let against = Reference::against_init(&space, &config, M, D);
        if self.attempt(&against, |tuner| tuner.init(space.clone(), config, seed)) {
            self.known.init(&space, config);
            (self.ready, self.log) = (Some((space, config, seed)), Some(Vec::new()));
        }
    }

    fn against_replaying(&self, record: &Record<K>, c: &Combination<K>) -> Vec<Error> {
        // Levels that are none of the space's are found before anything else.
        if let Err(error) = record.combination(self.tuner.space()) {
            return vec![error.into()];
        }
        let (known, c) = (&self.known, key(c));
        let of_telling = |reasons: Vec<TellError>| reasons.into_iter().map(Error::from).collect();
        match record.event {
            Event::Told(value) => of_telling(known.against_telling(&c, Some(value))),
            Event::Failed => of_telling(known.against_telling(&c, None)),
            Event::Enqueued => known.against_queueing(&c).into_iter().map(Error::from).collect(),
            Event::Asked => {
                let awaiting = known.against_awaiting(&c).into_iter().map(Error::from);
                known.against_asking().into_iter().map(Error::from).chain(awaiting).collect()
            }
            Event::Cancelled => Vec::new(),
        }
    }

    /// Something was taken in.
    fn happened(&mut self, c: &Combination<K>, event: Event) {
        let kept: Vec<Key> = self.tuner.observations().map(|o| key(&o.combination)).collect();
        let was_known = self.known.outcome(&key(c)).is_some();
        let was_full = self.known.len() == T;
        match event {
            Event::Told(value) => self.known.told(&key(c), Some(value), &kept),
            Event::Failed => self.known.told(&key(c), None, &kept),
            Event::Enqueued => self.known.enqueued(&key(c)),
            Event::Asked => self.known.awaited(&key(c)),
            Event::Cancelled => {
                self.known.cancelled(&key(c));
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
        assert_eq!(was, self.known.pending.contains(&key(c)));
        if was {
            self.happened(c, Event::Cancelled);
        } else {
            assert_eq!(bits(&self.tuner), before, "nothing was cancelled, and something changed");
        }
    }

    fn ask(&mut self, way: Way, draw: &mut Draw) {
        let mut against = self.known.against_asking();
        let needs_map = matches!(way, Way::Lookup(_) | Way::Recon(..));
        if needs_map && self.known.is_ready() && !Reference::is_projected(&self.known.config, M) {
            against.push(AskError::NoMap);
        }
        if !against.is_empty() {
            self.attempt(&against, |tuner| ask(tuner, way, None));
            return;
        }
        let mut other = self.tuner.clone();
        let (before, predicted) = (self.opinion(), self.predictions());
        let asked = allocations::none(|| ask(&mut self.tuner, way, Some(&mut self.cache)));
        match way {
            Way::Plain => {
                assert_eq!(bits(&asked), bits(&in_slices(&mut other, draw)), "in one go, and in slices");
                assert_eq!(bits(&self.tuner), bits(&other));
            }
            Way::Cached => assert_eq!(bits(&asked), bits(&other.ask()), "with a cache, and without"),
            _ => {}
        }
        assert_eq!(self.opinion(), before, "asking taught the model something");
        // What is awaited changes the opinion, but not while nothing is.
        if let (Ok(proposal), true) = (asked, self.known.pending.is_empty()) {
            let mut own = predicted.iter().filter(|(c, _)| *c == key(&proposal.combination));
            assert!(own.all(|(_, p)| *p == bits(&(proposal.mean, proposal.std_dev))), "predicted otherwise");
        }
        self.end_of_ask(asked);
    }

    fn ask_begin(&mut self) {
        let against = self.known.against_asking();
        if !against.is_empty() {
            self.attempt(&against, |tuner| tuner.ask_begin());
            return;
        }
        let before = self.opinion();
        let begun = allocations::none(|| self.tuner.ask_begin());
        assert_eq!(self.opinion(), before, "beginning to ask taught the model something");
        if begun.is_err() {
            assert_eq!(begun, Err(AskError::Exhausted));
            assert!(self.known.open().is_empty(), "not exhausted");
        }
        self.known.asking = begun.is_ok();
    }

    fn ask_step(&mut self, candidates: u16) {
        if !self.known.asking {
            self.attempt(&[AskError::NotBegun], |tuner| tuner.ask_step(candidates));
            return;
        }
        let before = self.opinion();
        let asked = allocations::none(|| self.tuner.ask_step(candidates)).transpose();
        assert_eq!(self.opinion(), before, "a slice taught the model something");
        match asked {
            None => self.saw("not yet"),
            Some(asked) => self.end_of_ask(asked),
        }
    }

    fn end_of_ask(&mut self, asked: Result<Proposal<K>, AskError>) {
        self.known.asking = false;
        match asked {
            Ok(proposal) => {
                if matches!(self.known.outcome(&key(&proposal.combination)), Some(Outcome::Measured(_))) {
                    self.saw("asked again");
                }
                if proposal.score != 0.0 && !self.known.pending.is_empty() {
                    self.saw("chosen while others are awaited");
                }
                self.known.proposed(&proposal);
                self.record(&proposal.combination, Event::Asked);
            }
            Err(error) => {
                assert_eq!(error, AskError::Exhausted);
                assert!(self.known.open().is_empty(), "exhausted, and these are left: {:?}", self.known.open());
                self.saw("Ask(Exhausted)");
            }
        }
    }
}

/// An ask of any way.
fn ask<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
    tuner: &mut Tuner<K, M, D, T, L, P>,
    way: Way,
    cache: Option<&mut Cache<K, D, T, L>>,
) -> Result<Proposal<K>, AskError> {
    match (way, cache) {
        (Way::Plain, _) | (Way::Cached, None) => tuner.ask(),
        (Way::Cached, Some(cache)) => tuner.ask_with(cache),
        (Way::Lookup(region), _) => tuner.ask_lookup(region),
        (Way::Recon(region, threshold), _) => tuner.ask_recon(region, threshold),
    }
}

/// An ask, a few candidates at a time.
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
            eprintln!("\nseed {}, a store of {T}, a table of {L}, {:?}; the last calls:", self.seed, self.ready);
            for call in &self.calls[self.calls.len().saturating_sub(SHOWN)..] {
                eprintln!("  {call:?}");
            }
        }
    }
}
