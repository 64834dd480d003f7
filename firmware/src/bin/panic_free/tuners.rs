//! The tuner, with every choice of its configuration.

use core::hint::black_box;

use static_cell::ConstStaticCell;
use trimtab::sizes::{PRIOR, triangle};
use trimtab::{
    Acquisition, Beta, Cache, Config, Distribution, Encoding, Error, Event, Fitting, FleetPrior, Goal, Margins, Noise,
    Prior, Record, Region, Tuner, WhenFull, fleet_fingerprint,
};

use crate::opaque::{Opaque, keep, say};

/// Small ones, which are soon full, and one of a real size: the compiler treats long loops
/// differently.
static FLAT: ConstStaticCell<Pair<5, 0, 4, 7, 24, { triangle(7) }>> = ConstStaticCell::new(Pair::new());
static PROJECTED: ConstStaticCell<Pair<5, 20, 3, 7, 24, { triangle(7) }>> = ConstStaticCell::new(Pair::new());
/// Without a random map: the default, small and of a real size.
static PLAIN: ConstStaticCell<Pair<5, 20, 0, 7, 24, { triangle(7) }>> = ConstStaticCell::new(Pair::new());
static REAL_PLAIN: ConstStaticCell<Pair<24, 48, 0, 48, 128, { triangle(48) }>> = ConstStaticCell::new(Pair::new());
static REAL: ConstStaticCell<Pair<24, 48, 8, 48, 64, { triangle(48) }>> = ConstStaticCell::new(Pair::new());

/// With room for a prior.
static WITH_PRIOR: ConstStaticCell<Pair<5, 20, 0, 7, 24, { triangle(7) }, PRIOR>> = ConstStaticCell::new(Pair::new());

/// With two limits, and room for three pending combinations.
static LIMITED: ConstStaticCell<Pair<5, 20, 0, 7, 24, { triangle(7) }, 0, 2, 3>> = ConstStaticCell::new(Pair::new());

/// A tuner and its cache.
struct Pair<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize = 0,
    const G: usize = 0,
    const A: usize = { trimtab::MOST_PENDING },
> {
    tuner: Tuner<K, M, D, T, L, P, N, G, A>,
    cache: Cache<D, T, L>,
}

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
> Pair<K, M, D, T, L, P, N, G, A>
{
    const fn new() -> Self {
        Self { tuner: Tuner::new(), cache: Cache::new() }
    }

    /// Every call, in any order, on a tuner that is initialised or not.
    fn drive(&mut self, o: &Opaque) {
        for _ in 0..1000 {
            if let Err(error) = self.step(o) {
                say(error);
            }
        }
    }

    fn step(&mut self, o: &Opaque) -> Result<(), Error> {
        let Self { tuner, cache } = self;
        let Some(c) = o.combination(&tuner.space().clone()) else { return Ok(()) };
        match o.size() {
            // Seldom, so that the tuner fills up.
            0 if tuner.space().knobs().is_empty() || o.word().is_multiple_of(16) => {
                let config = o.one_of(Config::default(), &[Config::paper(), config(o)]);
                let Some(space) = o.space() else { return Ok(()) };
                tuner.init(space, config, o.long())?;
            }
            // Seldom, too.
            0 if o.word().is_multiple_of(16) => {
                tuner.restart();
                keep((tuner.prior(), tuner.prior_state()));
            }
            1 => match o.word() % 4 {
                0 => keep(tuner.ask()?),
                1 => keep(tuner.ask_with(cache)?),
                2 => keep(tuner.ask_lookup(o.one_of(Region::UnitBox, &[Region::BoundingBox, Region::Polytope]))?),
                _ => {
                    let region = o.one_of(Region::UnitBox, &[Region::BoundingBox, Region::Polytope]);
                    keep(tuner.ask_recon(region, o.float())?);
                    keep(tuner.ask_recon_or_draw(region, o.float())?);
                }
            },
            2 => tuner.ask_begin()?,
            3 if o.word().is_multiple_of(2) => keep(tuner.ask_step(o.size() as u16)?),
            3 => keep(tuner.ask_step_with(o.size() as u16, cache)?),
            4 if o.word().is_multiple_of(4) => {
                let margins = [o.float(), o.float(), o.float()];
                let margins = margins.get(..o.size() % 4).unwrap_or_default();
                tuner.tell_with_begin(&c, o.float(), margins)?;
                tuner.tell_with(&c, o.float(), margins)?;
                keep((tuner.limits(), tuner.margins(&c), tuner.keep_chance(&c)));
            }
            4 if o.word().is_multiple_of(2) => tuner.tell_begin(&c, o.float())?,
            4 => tuner.tell(&c, o.float())?,
            5 if o.word().is_multiple_of(2) => tuner.tell_failed_begin(&c)?,
            5 => tuner.tell_failed(&c)?,
            6 => tuner.enqueue(&c)?,
            7 => keep(tuner.cancel(&c)),
            8 => {
                let events = [Event::Failed, Event::Enqueued, Event::Asked, Event::Cancelled];
                let measured = Margins::new(&[o.float()]).map_or(Event::Failed, |own| Event::Measured(o.float(), own));
                let event = o.one_of(o.one_of(Event::Told(o.float()), &[measured]), &events);
                tuner.replay_begin(&Record::new(&c, event))?;
                keep(tuner.tell_step(o.size() as u16));
                tuner.replay(&Record::new(&c, event))?;
            }
            9 => {
                keep((tuner.best_posterior(), tuner.predict(&c)));
                keep((tuner.expected_gain(), tuner.is_settled(o.float()), tuner.score(&c)));
            }
            _ => {
                keep((tuner.space(), tuner.config(), tuner.seed()));
                keep((tuner.noise(), tuner.relevance(o.size()), tuner.rebuilds()));
                keep((tuner.pending(), tuner.queue(), tuner.inspect()));
                keep((tuner.len(), tuner.is_empty(), tuner.failures(), tuner.best_observed()));
                tuner.observations().for_each(|observation| keep((observation, observation.is_failure())));
            }
        }
        Ok(())
    }
}

pub(crate) fn call_all(o: &Opaque) {
    keep((Tuner::<1, 0, 0, 1, 1, 1>::default(), Cache::<0, 1, 1>::default()));
    if let Some(pair) = FLAT.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = PLAIN.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = REAL_PLAIN.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = PROJECTED.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = REAL.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = LIMITED.try_take() {
        pair.drive(o);
    }
    if let Some(pair) = WITH_PRIOR.try_take() {
        with_prior(pair, o);
        pair.drive(o);
    }
}

/// Bytes that the compiler knows nothing of.
fn with_prior(pair: &mut Pair<5, 20, 0, 7, 24, { triangle(7) }, PRIOR>, o: &Opaque) {
    static BYTES: [u8; 256] = [0; 256];
    match FleetPrior::read(black_box(&BYTES[..])) {
        Ok(prior) => {
            keep((prior.boards(), prior.checksum()));
            let Some(space) = o.space::<5>() else { return };
            keep((prior.is_for(space.knobs()), fleet_fingerprint(space.knobs())));
            if let Err(error) = pair.tuner.init_with_prior(space, config(o), &prior, o.long()) {
                say(error);
            }
        }
        Err(error) => say(error),
    }
}

fn config(o: &Opaque) -> Config {
    let goal = o.one_of(Goal::Minimise, &[Goal::Maximise]);
    let encoding = o.one_of(Encoding::Compact, &[Encoding::PerKnob]);
    let maps = [Distribution::Uniform01, Distribution::Centred, Distribution::Signs, Distribution::Identity];
    let theorem = Beta::Theorem { scale: o.float(), delta: o.float() };
    let beta = o.one_of(theorem, &[Beta::Constant(o.float()), Beta::Logarithmic(o.float())]);
    Config {
        goal,
        encoding,
        map: o.one_of(Distribution::Centred, &maps),
        prior: o.one_of(Prior::WEAK, &[Prior { mean_precision: o.float(), signal_weight: o.float() }]),
        fit: Fitting { linear: o.word() & 1 == 0, priors: o.word() & 1 == 0, sweeps: o.size() as u8 },
        refit: o.size() as u16,
        standardise: o.word() & 1 == 0,
        acquisition: o.one_of(Acquisition::ExpectedImprovement, &[Acquisition::Ucb(beta)]),
        initial: o.size() as u16,
        noise: o.one_of(Noise::Auto, &[Noise::None, Noise::Given(o.float())]),
        remeasure: o.size() as u16,
        when_full: o.one_of(WhenFull::Refuse, &[WhenFull::ForgetOldest, WhenFull::ForgetWorst]),
        rows: o.size() as u16,
        observations: o.size() as u16,
    }
}
