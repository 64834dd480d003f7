//! The paper's own asks: search the acquisition over a box, then recover a combination from the
//! best point.
//!
//! x† = argmin over 𝒳 of μ − βσ; c† is the nearest unvisited combination (CBO-Lookup), or R⁺x†
//! rounded (CBO-Recon): algorithm 1, lines 5 and 6, and section 4.1.
//!
//! | name | meaning |
//! |---|---|
//! | 𝒳 | where x is searched: the polytope of all embeddings in the text, a box in the authors' code |
//! | [`Region::UnitBox`] | [0, 1]^d in the paper's coordinates, as in the authors' code |
//! | [`Region::BoundingBox`] | the smallest box around all embeddings, closer to the text |
//! | [`Region::Polytope`] | { R·z : z ∈ [0, 1]^m }, as in the text |
//!
//! **Choices**
//! - These asks are in core, not in the host's benchmarks, so that a benchmark measures code a chip
//!   can run, with the same surrogate, acquisition and left inverse as everything else.
//! - They are methods, not a field of [`Config`](crate::Config): a firmware that does not call them
//!   does not link them.
//! - x is centred: the paper's x minus R·½. At d = 20 the authors' embeddings fill about a
//!   millionth of the unit box, so most of its points lie far outside the polytope and are nearest
//!   to nearly all ones.
//! - CBO-Recon may recover a measured or infeasible combination. As nothing is asked twice, a
//!   random one takes its place.
//!
//! **Cost.** Some 20 posteriors with gradients per start; a few KB of stack for
//! [`nearest`](crate::paper::nearest).

use super::ask::Stage;
use super::{Purpose, Tuner};
use crate::acquire::sweep::Scored;
use crate::config::Settings;
use crate::error::AskError;
use crate::paper::continuous::minimise;
use crate::paper::gradient::score_gradient;
use crate::paper::nearest::{Lookup, NearestError};
use crate::paper::reconstruction::Reconstruction;
use crate::space::Combination;
use crate::tuner::proposal::Proposal;

/// Starts of the search over the box.
const STARTS: u16 = 16;
/// Most nodes of the search for the nearest combination.
const NODES: u32 = 1 << 20;

/// The box over which [`ask_lookup`](Tuner::ask_lookup) and [`ask_recon`](Tuner::ask_recon) search
/// the acquisition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Region {
    /// [0, 1]^d in the paper's coordinates, as in the authors' code.
    UnitBox,
    /// The bounding box of all embeddings.
    BoundingBox,
    /// The polytope of all embeddings of bits, { R·z : z ∈ [0, 1]^m }, as in the paper's text: z is
    /// searched, x follows.
    Polytope,
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
    S: Settings,
> Tuner<K, M, D, T, L, P, N, G, A, S>
{
    /// CBO-Lookup: proposes the combination nearest to the best point of the region, of those not
    /// asked before.
    ///
    /// ```
    /// use trimtab::{Config, Knob, Region, Space};
    /// const THUMBS: [Knob; 20] = [Knob::nominal(2); 20];
    /// type Thumbs = trimtab::tuner!(THUMBS, observations: 16, rows: 1, dimensions: 10);
    /// let mut tuner = Thumbs::new();
    /// tuner.init(Space::new(&THUMBS)?, Config::paper(), 0)?;
    /// for _ in 0..16 {
    ///     let c = tuner.ask_lookup(Region::UnitBox)?.combination;
    ///     let up = c.levels().iter().filter(|level| **level == 1).count();
    ///     tuner.tell(&c, -(up as f32) / 20.0)?;
    /// }
    /// assert_eq!(tuner.best_observed().map(|best| best.value), Some(-1.0));
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn ask_lookup(&mut self, region: Region) -> Result<Proposal<K>, AskError> {
        self.ask_in(region, |tuner, x| {
            let geometry = &tuner.model.geometry;
            let lookup = Lookup { space: &tuner.space, encoder: geometry.encoder(), map: geometry.map() };
            match lookup.nearest(x, |c| !tuner.is_open(c), NODES) {
                Ok(nearest) => Ok(nearest.combination),
                Err(NearestError::NoneLeft) => Err(AskError::Exhausted),
                Err(NearestError::TooLarge) => Err(AskError::TooLarge),
                Err(_) => Err(AskError::NodeLimit { nodes: NODES }),
            }
        })
    }

    /// CBO-Recon: recovers a combination from the best point of the region by the pseudo-inverse,
    /// rounded at the threshold (0.02 in the paper, [`THRESHOLD`](crate::THRESHOLD)).
    ///
    /// ```
    /// use trimtab::{Config, Knob, Region, Space, THRESHOLD};
    /// const BITS: [Knob; 12] = [Knob::nominal(2); 12];
    /// type Bits = trimtab::tuner!(BITS, observations: 8, rows: 1, dimensions: 6);
    /// let mut tuner = Bits::new();
    /// tuner.init(Space::new(&BITS)?, Config::paper(), 1)?;
    /// for i in 0..8 {
    ///     let c = tuner.ask_recon(Region::UnitBox, THRESHOLD)?.combination;
    ///     tuner.tell(&c, i as f32)?;
    /// }
    /// assert_eq!(tuner.len(), 8); // nothing was asked twice
    /// # Ok::<(), trimtab::Error>(())
    /// ```
    pub fn ask_recon(&mut self, region: Region, threshold: f32) -> Result<Proposal<K>, AskError> {
        self.ask_recon_or_draw(region, threshold).map(|(proposal, _)| proposal)
    }

    /// [`ask_recon`](Self::ask_recon), and whether a random combination took the place of a measured
    /// one: for benchmarks.
    #[doc(hidden)]
    pub fn ask_recon_or_draw(&mut self, region: Region, threshold: f32) -> Result<(Proposal<K>, bool), AskError> {
        let mut is_drawn = false;
        let proposal = self.ask_in(region, |tuner, x| {
            let (geometry, space) = (&tuner.model.geometry, &tuner.space);
            let mut reconstruction = Reconstruction::<D, M>::new();
            reconstruction.init(geometry.map(), geometry.encoder());
            let found = reconstruction.reconstruct(space, geometry.encoder(), threshold, x);
            let found = found.filter(|c| tuner.is_open(c));
            is_drawn = found.is_none();
            found.map_or_else(|| tuner.draw(Purpose::Scan), Ok)
        })?;
        Ok((proposal, is_drawn))
    }

    /// An ask that searches the region and recovers a combination from the best point.
    fn ask_in(
        &mut self,
        region: Region,
        recover: impl FnOnce(&Self, &[f32; D]) -> Result<Combination<K>, AskError>,
    ) -> Result<Proposal<K>, AskError> {
        if !self.space.knobs().is_empty() && D == 0 {
            return Err(AskError::NoMap);
        }
        self.ask_begin()?;
        if !matches!(self.asking, Stage::Search { .. } | Stage::Fantasise(_)) {
            return self.ask_on();
        }
        self.add_fantasies();
        self.model.gp.weigh();
        let recovered = recover(self, &self.best_point(region)).map(|c| self.unscored(c));
        self.cancel_ask();
        let scored = recovered?;
        let score = self.search.rule.score(scored.posterior);
        let proposal = self.proposal(Scored { score, ..scored });
        self.mark_pending(&proposal.combination);
        Ok(proposal)
    }

    /// The point of the region with the smallest score.
    fn best_point(&self, region: Region) -> [f32; D] {
        let (geometry, search) = (&self.model.geometry, &self.search);
        let map = geometry.map();
        let points = self.model.observations.points().map(|point| point.x);
        let mut random = self.random(Purpose::Box);
        let score = |x: &[f32; D], gradient: &mut [f32; D]| {
            score_gradient(&self.model.gp, &self.model.hyper, &search.rule, points.clone(), x, gradient)
        };
        let bounds = match region {
            Region::UnitBox => map.offset(geometry.encoder()).map(|middle| (-middle, 1.0 - middle)),
            Region::BoundingBox => map.bounding_box(&self.space, geometry.encoder()),
            Region::Polytope => {
                // Features past the encoder's have columns of 0 in R.
                let bounds = [(-0.5, 0.5); M];
                let z = minimise(&bounds, STARTS, &mut random, |z, gradient| {
                    let (mut x, mut of_x) = ([0.0; D], [0.0; D]);
                    map.embed(z, &mut x);
                    let value = score(&x, &mut of_x);
                    gradient.fill(0.0);
                    for (row, of_x) in map.matrix().rows().zip(of_x) {
                        gradient.iter_mut().zip(row).for_each(|(own, r)| *own += r * of_x);
                    }
                    value
                })
                .x;
                let mut x = [0.0; D];
                map.embed(&z, &mut x);
                return x;
            }
        };
        minimise(&bounds, STARTS, &mut random, score).x
    }
}
