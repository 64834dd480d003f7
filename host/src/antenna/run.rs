//! One tuning run: ask, measure, tell, until the budget is spent.
//!
//! | name | meaning |
//! |---|---|
//! | step | one measurement and its prediction |
//! | cost | what the tuner is told, including the bridge's error |
//! | SWR | the true value of the state |
//!
//! **Choices**
//! - The tuner is the type that runs on the chip, in a box.
//! - The bridge's error is added to |Γ|, which a bridge measures.
//! - The bridge has its own random generator, so that noise does not change the tuner's draws.

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Combination, Config};
use trimtab_firmware::antenna::{self, AntennaTuner, Network};

use crate::error::Error;

/// The parameters of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) network: Network,
    pub(crate) noise: f32,
    pub(crate) seed: u64,
    pub(crate) budget: usize,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) combination: Combination<3>,
    /// The cost that the tuner was told.
    pub(crate) cost: f32,
    /// The true SWR of the state.
    pub(crate) swr: f32,
    /// What the tuner predicted.
    pub(crate) mean: f32,
    pub(crate) std_dev: f32,
    /// Number of the best step so far, by measured cost.
    pub(crate) best: usize,
}

/// A finished run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) settings: Settings,
    pub(crate) steps: Vec<Step>,
    /// The best state by brute force.
    pub(crate) optimum: Combination<3>,
    pub(crate) asking: Duration,
    pub(crate) telling: Duration,
}

impl Run {
    /// Total bytes of the tuner.
    pub(crate) const TUNER_BYTES: usize = size_of::<AntennaTuner>();

    /// The step with the lowest measured cost.
    pub(crate) fn best(&self) -> Option<&Step> {
        self.steps.get(self.steps.last()?.best - 1)
    }

    /// The lowest SWR that any state gives.
    pub(crate) fn optimum_swr(&self) -> f32 {
        self.settings.network.swr(&self.optimum)
    }
}

/// Measures states of a network, exactly or with noise.
pub(crate) struct Bridge {
    network: Network,
    noise: f32,
    random: Xoshiro256PlusPlus,
}

impl Bridge {
    pub(crate) fn new(network: Network, noise: f32, seed: u64) -> Self {
        Self { network, noise, random: Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5352_4944_4745) }
    }

    /// Measures the cost of a state.
    pub(crate) fn measure(&mut self, c: &Combination<3>) -> f32 {
        if self.noise == 0.0 {
            return self.network.cost(c);
        }
        let error: f32 = self.random.sample(StandardNormal);
        antenna::cost_of_reading(self.network.reflection(c).sqrt() + self.noise * error)
    }
}

/// Tunes; passes every step and the best so far to `watch`.
pub(crate) fn tune(settings: &Settings, mut watch: impl FnMut(&Step, &Step)) -> Result<Run, Error> {
    let Settings { network, noise, seed, budget } = *settings;
    let space = antenna::space();
    let optimum = network.optimum(&space).ok_or_else(|| Error::Failed("no state is feasible".into()))?;
    let mut tuner = Box::new(AntennaTuner::new());
    tuner
        .init(space, Config::default(), seed)
        .map_err(|error| Error::Failed(format!("the tuner cannot start: {error}")))?;
    let mut bridge = Bridge::new(network, noise, seed);
    let mut run = Run {
        settings: *settings,
        steps: Vec::with_capacity(budget),
        optimum,
        asking: Duration::ZERO,
        telling: Duration::ZERO,
    };
    for number in 1..=budget {
        let start = Instant::now();
        let proposal =
            tuner.ask().map_err(|error| Error::Failed(format!("the tuner proposes nothing more: {error}")))?;
        run.asking += start.elapsed();
        let c = proposal.combination;
        let cost = bridge.measure(&c);
        let start = Instant::now();
        tuner.tell(&c, cost).map_err(|error| Error::Failed(format!("the tuner refuses a measurement: {error}")))?;
        run.telling += start.elapsed();
        let best = match run.best() {
            Some(best) if best.cost <= cost => best.number,
            _ => number,
        };
        let (mean, std_dev) = (proposal.mean, proposal.std_dev);
        run.steps.push(Step { number, combination: c, cost, swr: network.swr(&c), mean, std_dev, best });
        watch(&run.steps[number - 1], &run.steps[best - 1]);
    }
    Ok(run)
}
