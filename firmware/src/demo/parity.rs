//! Fixed runs of the tuner, printed bit by bit: every machine must print the same.
//!
//! One line per step, words separated by a space, each f32 as the hexadecimal digits of its bits:
//!
//! ```text
//! run t levels mean deviation score cost
//! ```
//!
//! A run ends with `run best levels cost`, after `run exhausted` if nothing was left to ask.
//!
//! | run | covers |
//! |---|---|
//! | whole | a table that is the whole space, down to the last combination |
//! | refreshed | a table refreshed at each ask, the default random map, 24 relays |
//! | graded | graded and ranked knobs, no projection, a combination measured twice |
//! | feasible | a predicate, expected improvement, random signs |
//! | compact | the paper's bits, its random map and its schedule of β |
//! | mixed | knobs of two levels, ranked and graded ones together, no projection |
//! | relays | 24 relays, no projection, one at a time: the tuner whose costs are stated |
//! | wide | ranges of 4096 and 1001 levels beside a nominal knob |
//! | failing | graded knobs of which every combination above a cost fails; a failed one has cost `failed` |
//! | limited | the same knobs with a limit on a second number, which the best by cost alone breaks |
//!
//! **Choices**
//! - The costs use only sums and products, which every machine rounds alike.
//! - Runs are short: an image without optimization must finish them in seconds.

use core::fmt::{self, Arguments, Display};

use trimtab::{
    Acquisition, AskError, Beta, Combination, Config, Distribution, Encoding, Error, Knob, Level, Scale, Space, Tuner,
};

use super::relays;

const WHOLE: [Knob; 3] = [Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)];
const GRADED: [Knob; 4] = [
    Knob::graded(&[10.0, 22.0, 47.0, 100.0, 220.0, 470.0, 1000.0], Scale::Log),
    Knob::graded(&[0.0, 0.5, 1.5, 2.0, 4.0], Scale::Linear),
    Knob::ranked(9),
    Knob::nominal(5),
];
/// In the sizes of [`GRADED`], so that it takes no tuner of its own.
const MIXED: [Knob; 4] =
    [Knob::nominal(2), Knob::ranked(16), Knob::nominal(2), Knob::graded(&[1.0, 2.2, 4.7, 10.0, 22.0], Scale::Log)];
const WIDE: [Knob; 3] = [Knob::range(0.0, 4095.0, 1.0), Knob::nominal(4), Knob::log_range(1.0, 1000.0, 1001)];
const FEASIBLE: [Knob; 7] = [
    Knob::nominal(2),
    Knob::ranked(6),
    Knob::nominal(3),
    Knob::nominal(4),
    Knob::ranked(5),
    Knob::nominal(2),
    Knob::nominal(7),
];

/// The tuners of all runs: one value, all zero, which the caller places, on the chip in a static.
pub struct Tuners {
    whole: trimtab::tuner!(WHOLE, observations: 24, rows: 32),
    refreshed: trimtab::tuner!(relays::KNOBS, observations: 32, rows: 64, dimensions: 8),
    graded: trimtab::tuner!(GRADED, observations: 32, rows: 64),
    limited: trimtab::tuner!(GRADED, observations: 32, rows: 64, limits: 1),
    feasible: trimtab::tuner!(FEASIBLE, observations: 32, rows: 64, dimensions: 6),
    wide: trimtab::tuner!(WIDE, observations: 16, rows: 64),
    relays: trimtab::tuner!(relays::KNOBS, observations: 16, rows: 64, pending: 1),
}

impl Tuners {
    /// All zero.
    pub const fn new() -> Self {
        Self {
            whole: Tuner::new(),
            refreshed: Tuner::new(),
            graded: Tuner::new(),
            limited: Tuner::new(),
            feasible: Tuner::new(),
            wide: Tuner::new(),
            relays: Tuner::new(),
        }
    }
}

impl Default for Tuners {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes all runs and hands out their lines.
// Compiled where it is called: its seven tuners would burden every build of this library.
#[inline]
pub fn run(tuners: &mut Tuners, emit: &mut dyn FnMut(Arguments<'_>)) -> Result<(), Error> {
    let default = Config::default();
    trace("whole", &mut tuners.whole, Space::new(&WHOLE)?, default, NONE_FAIL, &[], emit)?;
    trace("refreshed", &mut tuners.refreshed, relays::space()?, default, NONE_FAIL, &[], emit)?;
    // Told before anything is asked, and one of them twice.
    let known: &[[Level; 4]] = &[[0, 0, 0, 0], [6, 4, 8, 4], [0, 0, 0, 0]];
    trace("graded", &mut tuners.graded, Space::new(&GRADED)?, default, NONE_FAIL, known, emit)?;
    let improvement = Config { acquisition: Acquisition::ExpectedImprovement, map: Distribution::Signs, ..default };
    let space = Space::new(&FEASIBLE)?.with_feasible(&is_feasible);
    trace("feasible", &mut tuners.feasible, space, improvement, NONE_FAIL, &[], emit)?;
    let compact = Config {
        encoding: Encoding::Compact,
        map: Distribution::Uniform01,
        acquisition: Acquisition::Ucb(Beta::Theorem { delta: 0.1, scale: 0.5 }),
        ..default
    };
    trace("compact", &mut tuners.feasible, Space::new(&FEASIBLE)?, compact, NONE_FAIL, &[], emit)?;
    trace("failing", &mut tuners.graded, Space::new(&GRADED)?, default, 2.0, &[], emit)?;
    trace("limited", &mut tuners.limited, Space::new(&GRADED)?, default, NONE_FAIL, &[], emit)?;
    trace("wide", &mut tuners.wide, Space::new(&WIDE)?, default, NONE_FAIL, &[], emit)?;
    let short = Config { observations: 16, ..default };
    trace("mixed", &mut tuners.graded, Space::new(&MIXED)?, short, NONE_FAIL, &[], emit)?;
    trace("relays", &mut tuners.relays, relays::space()?, default, NONE_FAIL, &[], emit)
}

/// About a third of all combinations: the first knob and the last exclude each other, and the ranks
/// have a limit.
fn is_feasible(c: &Combination<7>) -> bool {
    !(c.level(0) == 1 && c.level(6) > 2) && c.level(1) + c.level(4) < 6
}

/// No cost is above this.
const NONE_FAIL: f32 = f32::INFINITY;

/// One run: tells `known`, then asks until the tuner is full. A cost above `most` is a failure.
fn trace<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const G: usize,
    const A: usize,
>(
    run: &str,
    tuner: &mut Tuner<K, M, D, T, L, P, 0, G, A>,
    space: Space<K>,
    config: Config,
    most: f32,
    known: &[[Level; K]],
    emit: &mut dyn FnMut(Arguments<'_>),
) -> Result<(), Error> {
    tuner.init(space, config, 0x7472_696D)?;
    for levels in known {
        let c = tuner.space().combination(levels)?;
        tuner.tell(&c, cost(&c))?;
    }
    let most_observations = if config.observations > 0 { usize::from(config.observations) } else { T };
    while tuner.len() < most_observations {
        let t = tuner.len() + 1;
        let proposal = match tuner.ask() {
            Err(AskError::Exhausted) => break,
            proposal => proposal?,
        };
        let y = cost(&proposal.combination);
        let failed = y > most;
        if failed {
            tuner.tell_failed(&proposal.combination)?;
        } else {
            tuner.tell_with(&proposal.combination, y, &[margin(&proposal.combination); G])?;
        }
        let [mean, deviation, score] = [proposal.mean, proposal.std_dev, proposal.score].map(Bits);
        let levels = Levels(&proposal.combination);
        if failed {
            emit(format_args!("{run} {t} {levels} {mean} {deviation} {score} failed"));
        } else {
            emit(format_args!("{run} {t} {levels} {mean} {deviation} {score} {}", Bits(y)));
        }
    }
    if tuner.ask() == Err(AskError::Exhausted) {
        emit(format_args!("{run} exhausted"));
    }
    if let Some(best) = tuner.best_observed() {
        emit(format_args!("{run} best {} {}", Levels(&best.combination), Bits(best.value)));
    }
    Ok(())
}

/// The margin to a limit that about half of all combinations keep: a level costs power.
fn margin<const K: usize>(c: &Combination<K>) -> f32 {
    let power = c.levels().iter().enumerate().map(|(i, level)| f32::from(*level) * (1.0 + 0.21 * i as f32));
    power.fold(14.0, |left, power| left - power)
}

/// A bumpy cost of any combination: a different weight per knob and per pair of neighbours.
fn cost<const K: usize>(c: &Combination<K>) -> f32 {
    let mut sum = 0.25;
    let mut before = 0.0;
    for (i, level) in c.levels().iter().enumerate() {
        let here = (f32::from(*level) - 1.3) * (1.0 + 0.37 * i as f32);
        sum += 0.11 * here * here - 0.07 * here * before;
        before = here;
    }
    sum
}

/// The bits of a number.
struct Bits(f32);

impl Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0.to_bits())
    }
}

/// The levels of a combination, two hexadecimal digits each, or four if one is above 255.
struct Levels<'c, const K: usize>(&'c Combination<K>);

impl<const K: usize> Display for Levels<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if self.0.levels().iter().any(|level| *level > 255) { 4 } else { 2 };
        self.0.levels().iter().try_for_each(|level| write!(f, "{level:0width$x}"))
    }
}
