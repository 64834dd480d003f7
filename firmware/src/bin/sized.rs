//! The least program that uses one feature, for the table of sizes of `cargo xtask cost --sizes`.
//!
//! The environment variable `TRIMTAB_SIZED` chooses the feature when the image is built; without it
//! the program asks and tells, nothing else. Prints nothing.
#![no_std]
#![no_main]

use core::convert::Infallible;

use static_cell::ConstStaticCell;
use trimtab::settings::{Defaults, Settings};
use trimtab::{Cache, Combination, Config, Error, Event, Knob, Noise, Record, Space, Tuner};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::Layout;
use trimtab_embedded::persistent::{Persistent, Task};
use trimtab_embedded::telemetry::{About, Cause, Reporter};
use trimtab_firmware::device::{self, entry};
use trimtab_firmware::relays;

/// Whether the image is built to use this feature.
const fn uses(feature: &str) -> bool {
    let Some(chosen) = option_env!("TRIMTAB_SIZED") else { return false };
    let (a, b) = (chosen.as_bytes(), feature.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

const VALUES: [f32; 8] = [1.0, 2.2, 4.7, 10.0, 22.0, 47.0, 100.0, 220.0];
const STEPS: [Knob; 8] = [Knob::ranked(16); 8];
const VALUED: [Knob; 8] = [Knob::graded(&VALUES, trimtab::Scale::Log); 8];

/// Measurements without noise, so nothing is measured twice.
#[derive(Clone, Copy, Debug)]
struct Exact;

impl Settings for Exact {
    const FIXED: Option<Config> = Some(Config { noise: Noise::None, remeasure: 1, ..Config::DEFAULT });
}

static RELAYS: ConstStaticCell<(relays::Smallest, relays::RelayCache)> =
    ConstStaticCell::new((relays::Smallest::new(), relays::RelayCache::new()));
static BATCHED: ConstStaticCell<trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, config: Defaults)> =
    ConstStaticCell::new(Tuner::new());
static ANY: ConstStaticCell<trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, pending: 1)> =
    ConstStaticCell::new(Tuner::new());
static EXACT: ConstStaticCell<trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, pending: 1, config: Exact)> =
    ConstStaticCell::new(Tuner::new());
static RANKED: ConstStaticCell<trimtab::tuner!(STEPS, observations: 64, rows: 256, pending: 1, config: Defaults)> =
    ConstStaticCell::new(Tuner::new());
static GRADED: ConstStaticCell<trimtab::tuner!(VALUED, observations: 64, rows: 256, pending: 1, config: Defaults)> =
    ConstStaticCell::new(Tuner::new());
static LIMITED: ConstStaticCell<
    trimtab::tuner!(relays::KNOBS, observations: 64, rows: 256, limits: 1, pending: 1, config: Defaults),
> = ConstStaticCell::new(Tuner::new());
static FLASH: ConstStaticCell<RamFlash<2, 4096, 4>> = ConstStaticCell::new(RamFlash::new());

#[entry]
fn main() -> ! {
    device::exit(chosen() == Ok(true))
}

fn chosen() -> Result<bool, Error> {
    if uses("ranked knobs") {
        return RANKED.try_take().map_or(Ok(false), |tuner| run(tuner, Space::new(&STEPS)?, None, sum));
    }
    if uses("knobs with values") {
        return GRADED.try_take().map_or(Ok(false), |tuner| run(tuner, Space::new(&VALUED)?, None, sum));
    }
    if uses("batches") {
        return BATCHED.try_take().map_or(Ok(false), |tuner| run(tuner, relays::space()?, None, relays::cost));
    }
    if uses("a configuration given to `init`") {
        return ANY.try_take().map_or(Ok(false), |tuner| run(tuner, relays::space()?, None, relays::cost));
    }
    if uses("exact measurements alone") {
        return EXACT.try_take().map_or(Ok(false), |tuner| run(tuner, relays::space()?, None, relays::cost));
    }
    if uses("a limit") {
        return LIMITED.try_take().map_or(Ok(false), |tuner| run(tuner, relays::space()?, None, relays::cost));
    }
    let Some((tuner, cache)) = RELAYS.try_take() else { return Ok(false) };
    if uses("log in flash") {
        return persistent(tuner);
    }
    run(tuner, relays::space()?, Some(cache), relays::cost)
}

fn sum<const K: usize>(c: &Combination<K>) -> f32 {
    c.levels().iter().map(|level| f32::from(*level)).sum()
}

/// 32 measurements with the chosen feature.
fn run<
    const K: usize,
    const M: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &mut Tuner<K, M, 0, T, L, P, 0, G, A, S>,
    space: Space<K>,
    mut cache: Option<&mut Cache<0, T, 128>>,
    cost: fn(&Combination<K>) -> f32,
) -> Result<bool, Error> {
    tuner.init(space, S::FIXED.unwrap_or_default(), 1)?;
    let mut reporter = Reporter::new(Nowhere);
    if uses("stream") {
        let Ok(()) = reporter.hello(tuner, &About { name: "sized", cause: Cause::New, budget: 32 });
    }
    let mut first = None;
    for _ in 0..32 {
        let proposal = match &mut cache {
            Some(cache) if uses("cache") => tuner.ask_with(cache)?,
            _ if uses("slices") => {
                tuner.ask_begin()?;
                loop {
                    if let Some(proposal) = tuner.ask_step(1)? {
                        break proposal;
                    }
                }
            }
            _ => tuner.ask()?,
        };
        let c = proposal.combination;
        let value = cost(&c);
        first = first.or(Some(value));
        if uses("failures") && value > 20.0 {
            tuner.tell_failed(&c)?;
        } else if uses("replay") {
            tuner.replay(&Record::new(&c, Event::Told(value)))?;
        } else if uses("slices") {
            tuner.tell_begin(&c, value)?;
            while tuner.tell_step(1) {}
        } else if uses("a limit") {
            tuner.tell_with(&c, value, &[3.0 - sum(&c) / 4.0; G])?;
        } else {
            tuner.tell(&c, value)?;
        }
        if uses("stream") {
            let Ok(()) = reporter.measured(&proposal, Event::Told(value));
        }
        if uses("stopping rule") && tuner.is_settled(0.01) {
            break;
        }
    }
    if uses("predictions") {
        return Ok(tuner.best_posterior().is_some_and(|best| best.mean < first.unwrap_or(0.0)));
    }
    Ok(tuner.best_observed().is_some_and(|best| Some(best.value) < first))
}

fn persistent(tuner: &mut relays::Smallest) -> Result<bool, Error> {
    let Some(flash) = FLASH.try_take() else { return Ok(false) };
    let task = Task { space: relays::space()?, config: Config::default(), seed: 1, meaning: 0 };
    let (mut kept, _) = Persistent::open(tuner, &task, flash, Layout { range: 0..8192, records: 64 })?;
    for _ in 0..32 {
        let c = kept.ask()?.combination;
        kept.tell(&c, relays::cost(&c))?;
    }
    Ok(kept.tuner().best_observed().is_some_and(|best| best.value < 0.0))
}

/// A serial port that leads nowhere.
struct Nowhere;

impl embedded_io::ErrorType for Nowhere {
    type Error = Infallible;
}

impl embedded_io::Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        core::hint::black_box(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
