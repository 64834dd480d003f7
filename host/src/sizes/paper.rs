//! The core's tuner as the paper has it: `Config::paper()` or a change of it, asked the paper's ways.
//!
//! There is one size: 64 bits (and knobs) and 512 evaluations. A smaller one would not be faster.

use trimtab::sizes::triangle;
use trimtab::{AskError, Config, Knob, Level, Proposal, Region, Space, THRESHOLD, Tuner};

use super::{StartError, on_large_stack};

/// Most bits (and knobs) and evaluations.
const MOST: (usize, usize) = (64, 512);

/// How a point of the embedding becomes a combination.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Lookup(Region),
    Recon(Region, f32),
}

/// Dimensions d of the random map.
#[derive(Clone, Copy, Debug)]
pub enum Dimensions {
    Ten,
    Twenty,
}

/// A [`Tuner`] of any size with a random map.
pub trait PaperTuner: Send {
    /// Returns the next combination to measure, or `None` when the space is exhausted.
    fn ask(&mut self, way: Way) -> Result<Option<Vec<Level>>, AskError>;
    /// Number of asks that another way or a random draw had to answer.
    fn fallbacks(&self) -> usize;
    fn tell(&mut self, levels: &[Level], cost: f32) -> Result<(), trimtab::Error>;
}

/// A tuner for knobs whose indices take this many bits.
pub fn start_paper(
    knobs: &[Knob],
    bits: usize,
    config: Config,
    dimensions: Dimensions,
    budget: usize,
    seed: u64,
) -> Result<Box<dyn PaperTuner>, StartError> {
    if bits.max(knobs.len()) > MOST.0 || budget > MOST.1 {
        return Err(StartError::TooLarge(format!(
            "the paper's methods take at most {} bits and {} evaluations; \
             this problem has {bits} bits and {budget} evaluations",
            MOST.0, MOST.1
        )));
    }
    on_large_stack(|| match dimensions {
        Dimensions::Ten => PaperOf::<{ MOST.0 }, 10, { MOST.1 }, { triangle(MOST.1) }>::start(knobs, config, seed),
        Dimensions::Twenty => PaperOf::<{ MOST.0 }, 20, { MOST.1 }, { triangle(MOST.1) }>::start(knobs, config, seed),
    })
}

struct PaperOf<const M: usize, const D: usize, const T: usize, const P: usize> {
    tuner: Box<Tuner<M, M, D, T, 1, P>>,
    fallbacks: usize,
}

impl<const M: usize, const D: usize, const T: usize, const P: usize> PaperOf<M, D, T, P> {
    fn start(knobs: &[Knob], config: Config, seed: u64) -> Result<Box<dyn PaperTuner>, StartError> {
        let mut tuner = Box::new(Tuner::new());
        tuner.init(Space::new(knobs)?, config, seed)?;
        Ok(Box::new(Self { tuner, fallbacks: 0 }))
    }

    fn propose(&mut self, way: Way) -> Result<Proposal<M>, AskError> {
        let (proposal, fell_back) = match way {
            Way::Lookup(region) => match self.tuner.ask_lookup(region) {
                Err(AskError::NodeLimit { .. }) => (self.tuner.ask_recon(region, THRESHOLD)?, true),
                other => (other?, false),
            },
            Way::Recon(region, threshold) => self.tuner.ask_recon_or_draw(region, threshold)?,
        };
        self.fallbacks += usize::from(fell_back);
        Ok(proposal)
    }
}

impl<const M: usize, const D: usize, const T: usize, const P: usize> PaperTuner for PaperOf<M, D, T, P> {
    fn ask(&mut self, way: Way) -> Result<Option<Vec<Level>>, AskError> {
        match self.propose(way) {
            Ok(proposal) => Ok(Some(proposal.combination.levels().to_vec())),
            Err(AskError::Exhausted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn fallbacks(&self) -> usize {
        self.fallbacks
    }

    fn tell(&mut self, levels: &[Level], cost: f32) -> Result<(), trimtab::Error> {
        let c = self.tuner.space().combination(levels)?;
        Ok(self.tuner.tell(&c, cost)?)
    }
}
