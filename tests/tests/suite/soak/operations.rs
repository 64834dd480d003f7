//! Random calls of tuners of several shapes: ask (whole, with a cache, in slices), tell, fail,
//! enqueue, cancel, forget, replay. [`checks`](super::checks) has what must hold.

use trimtab::sizes::triangle;
use trimtab::{
    AskError, Cache, Combination, EnqueueError, Event, InitError, Proposal, Record, TellError, Tuner, WhenFull,
};

use super::checks::{Before, Worst, bits, predictions};
use super::draw::{Costs, Draw};
use super::{Progress, Repeat, setting};

/// Calls of the short run in `cargo test`.
const SHORT: u64 = 4000;

/// One tuner with its log.
struct Run<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize> {
    tuner: Box<Tuner<K, M, D, T, L, P>>,
    cache: Box<Cache<D, T, L>>,
    draw: Draw,
    costs: Costs,
    log: Vec<Record<K>>,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>
    Run<K, M, D, T, L, P>
{
    /// A tuner of a random space.
    fn new(seed: u64) -> Self {
        let (mut tuner, mut draw) = (Box::new(Tuner::new()), Draw::new(seed));
        loop {
            let (space, config) = (draw.space::<K>(M, D > 0), draw.config());
            match tuner.init(space, config, seed) {
                Ok(()) => break,
                // The count of features under a map is of all knobs; another draw fits.
                Err(InitError::TooManyFeatures { .. }) => continue,
                Err(error) => panic!("{error}"),
            }
        }
        let costs = draw.costs();
        Self { tuner, cache: Box::new(Cache::new()), draw, costs, log: Vec::new() }
    }

    /// Makes calls, then checks the model and the log. Returns the number of calls.
    fn go(&mut self, worst: &mut Worst) -> u64 {
        let calls = 20 + self.draw.below(3 * T);
        for _ in 0..calls {
            self.call();
        }
        let near = self.tuner.observations().next().map(|o| o.combination);
        let candidates: Vec<_> = (0..8).map(|_| self.draw.combination(self.tuner.space(), near)).collect();
        // An ask in slices beside pending combinations allows no predictions: cancelling ends it.
        let mut settled = self.tuner.clone();
        for c in settled.pending().to_vec() {
            settled.cancel(&c);
        }
        predictions(&settled, candidates.into_iter(), worst);
        self.replay();
        calls as u64
    }

    fn call(&mut self) {
        let held: Vec<_> = self.tuner.observations().map(|o| o.combination).collect();
        let near = (!held.is_empty()).then(|| self.draw.one_of(&held));
        let any = self.draw.combination(self.tuner.space(), near);
        let pending = self.tuner.pending().to_vec();
        let own = if pending.is_empty() { any } else { self.draw.one_of(&pending) };
        match self.draw.below(100) {
            0..40 => self.ask(),
            40..75 => self.tell(&own),
            // The same again, or one that nobody asked for.
            75..79 => self.tell(&near.unwrap_or(any)),
            79..82 => self.tell(&any),
            82..86 => self.outcome(&own, Event::Failed),
            86..91 => self.enqueue(&any),
            91..94 => {
                let was = self.tuner.cancel(&own);
                assert_eq!(was, pending.contains(&own));
                if was {
                    self.log.push(Record::new(&own, Event::Cancelled));
                }
            }
            94..97 => self.refused(&own),
            // A begun ask that something else ends.
            _ => {
                let before = Before::new(&self.tuner);
                match self.tuner.ask_begin() {
                    Ok(()) => {
                        let _ = self.tuner.ask_step(1).map(|ended| ended.map(|p| self.asked(&before, Ok(p))));
                    }
                    Err(error) => before.check_refusal(self.tuner.space(), error),
                }
            }
        }
    }

    fn ask(&mut self) {
        let before = Before::new(&self.tuner);
        let other = self.draw.once_in(8).then(|| self.tuner.clone());
        let asked = match self.draw.below(3) {
            0 => self.tuner.ask(),
            1 => self.tuner.ask_with(&mut self.cache),
            _ => self.in_slices(),
        };
        if let Some(mut other) = other {
            assert_eq!(bits(&asked), bits(&other.ask()), "however it is asked, the bits are the same");
        }
        self.asked(&before, asked);
    }

    fn in_slices(&mut self) -> Result<Proposal<K>, AskError> {
        self.tuner.ask_begin()?;
        loop {
            if let Some(proposal) = self.tuner.ask_step(1 + self.draw.below(9) as u16)? {
                return Ok(proposal);
            }
        }
    }

    fn asked(&mut self, before: &Before<K>, asked: Result<Proposal<K>, AskError>) {
        match asked {
            Ok(proposal) => {
                before.check(self.tuner.space(), self.tuner.config(), &proposal);
                self.log.push(Record::new(&proposal.combination, Event::Asked));
            }
            Err(error) => before.check_refusal(self.tuner.space(), error),
        }
    }

    fn tell(&mut self, c: &Combination<K>) {
        let value = self.draw.measure(self.costs, c);
        // A sum of large costs may leave f32; then there is nothing to tell.
        if value.is_finite() {
            self.outcome(c, Event::Told(value));
        }
    }

    fn outcome(&mut self, c: &Combination<K>, event: Event) {
        let known = self.tuner.observations().any(|o| o.combination == *c);
        let told = match event {
            Event::Told(value) => self.tuner.tell(c, value),
            _ => self.tuner.tell_failed(c),
        };
        match told {
            Ok(()) => self.log.push(Record::new(c, event)),
            Err(TellError::Infeasible) => assert!(!self.tuner.space().is_feasible(c)),
            Err(TellError::Full) => assert!(!known && self.tuner.config().when_full == WhenFull::Refuse),
            Err(error) => panic!("{error}"),
        }
        let best = self.tuner.best_observed();
        assert!(best.is_none_or(|best| best.value.is_finite()), "{best:?}");
        assert!(self.tuner.noise() >= 0.0, "the noise is {}", self.tuner.noise());
    }

    fn enqueue(&mut self, c: &Combination<K>) {
        match self.tuner.enqueue(c) {
            Ok(()) => self.log.push(Record::new(c, Event::Enqueued)),
            Err(EnqueueError::Infeasible) => assert!(!self.tuner.space().is_feasible(c)),
            Err(EnqueueError::Known | EnqueueError::Full { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// A cost that is no number changes nothing.
    fn refused(&mut self, c: &Combination<K>) {
        let before = bits(&self.tuner);
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(self.tuner.tell(c, value), Err(TellError::NonFinite));
        }
        assert_eq!(bits(&self.tuner), before, "refused, and something changed");
    }

    /// The log rebuilds a tuner that asks the same.
    fn replay(&mut self) {
        let mut second = Box::new(Tuner::<K, M, D, T, L, P>::new());
        let (space, config) = (self.tuner.space().clone(), *self.tuner.config());
        second.init(space, config, self.tuner.seed()).expect("accepted before");
        for record in &self.log {
            second.replay(record).expect("accepted before");
        }
        let held = |tuner: &Tuner<K, M, D, T, L, P>| bits(&tuner.observations().collect::<Vec<_>>());
        assert_eq!(held(&self.tuner), held(&second));
        for _ in 0..2 {
            assert_eq!(bits(&self.tuner.ask()), bits(&second.ask()), "the tuner, and the one from its log");
        }
    }
}

/// A run in a tuner of one of three shapes.
fn run(seed: u64, worst: &mut Worst) -> u64 {
    match seed % 4 {
        // 1 to 4 knobs: soon full, exhausted, forgotten.
        0 | 1 => Run::<4, 64, 0, 12, 24, { triangle(12) }>::new(seed).go(worst),
        // Up to 128 features.
        2 => Run::<128, 128, 0, 40, 32, { triangle(40) }>::new(seed).go(worst),
        // The same under a random map.
        _ => Run::<128, 128, 6, 24, 32, { triangle(24) }>::new(seed).go(worst),
    }
}

#[test]
fn any_sequence_of_calls_holds_every_promise() {
    let (of, mut seed) = (setting("TRIMTAB_OPERATIONS", SHORT), setting("TRIMTAB_SEED", 1));
    let (mut done, mut worst, mut progress) = (0, Worst::default(), Progress::new(of, "operations"));
    while done < of {
        let _repeat = Repeat { seed, command: "--operations 1" };
        done += run(seed, &mut worst);
        seed += 1;
        progress.at(done);
    }
    println!("{done} operations: {worst:?}");
    assert!(of < SHORT || worst.compared > 100, "hardly anything was compared: {worst:?}");
}
