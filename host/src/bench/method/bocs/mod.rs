//! BOCS: a sparse quadratic model of the cost. Each ask draws its coefficients and minimises the
//! draw.
//!
//! Baptista and Poloczek, *Bayesian Optimization of Combinatorial Structures*, ICML 2018,
//! arXiv:1806.08838; settings as in the authors' Python code (BOCSpy).
//!
//! f(x) ≈ α₀ + Σᵢ αᵢ xᵢ + Σᵢ<ⱼ αᵢⱼ xᵢ xⱼ, x ∈ {0, 1}^m, with the horseshoe prior on α.
//! Each ask draws α from its posterior (Thompson sampling) and minimises the quadratic by simulated annealing
//! (BOCS-SA) or a semidefinite relaxation (BOCS-SDP).
//!
//! | setting | value |
//! |---|---|
//! | order of the model | 2: p = m + m(m − 1)/2 coefficients; those of features that no measured point has are 0 |
//! | Gibbs steps per draw | 1000 from a fresh start, no burn-in, the last state is the draw |
//! | penalty λ‖x‖₁ inside the method | none, λ = 0: a problem's penalty is part of its cost |
//! | costs | centred; a point with a cost beyond ±10⁶ is left out of the model and not proposed again |
//! | a point measured twice | the mean of its costs counts; the authors keep the first, which noise would mislead |
//! | BOCS-SA | 5 random restarts, each with as many flips as the budget has evaluations, T = 0.8ᵗ in units of the cost |
//! | BOCS-SDP | the exact relaxation, 100 random roundings |
//! | repeated points | allowed, as in the authors' code |
//!
//! **Choices**
//! - The authors' code is for bits. Other knobs become bits as described in [`code`].
//! - A search that meets only points beyond ±10⁶ proposes the best unmeasured step from its
//!   minimum, else a random combination.
//! - The authors' Python relaxation counts linear terms one and a half times and rounds by the
//!   transposed factor. Ours follows their paper and their MATLAB code, and rounds relative to the
//!   constant's own vector, so that a global change of sign wastes no rounding.
//!
//! **Cost.** 1000 Gibbs steps of O(n²·m²/32 + n³/6) for n < p points; the searches are small in
//! comparison. With one bit per level, as for nominal knobs, two points share few features, see
//! [`lists`]; then drawing the p coefficients dominates.

mod annealing;
mod code;
mod design;
mod gaussian;
mod horseshoe;
mod lists;
mod quadratic;
mod sdp;
mod tables;

use std::collections::{HashMap, HashSet};

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use self::code::Code;
use self::design::Design;
use self::quadratic::{Best, Quadratic};
use super::random::Random;
use super::{Entry, Method, Task};
use crate::bench::domain::Domain;
use crate::error::Error;

const SOURCE: &str = "Baptista and Poloczek, ICML 2018, settings of BOCSpy";

pub(crate) const SA: Entry = Entry {
    name: "bocs-sa",
    about: "sparse quadratic model, Thompson sample, simulated annealing; repeats points",
    source: SOURCE,
    fallback: super::DRAW,
    start: |task| start(task, Minimiser::Annealing),
};

pub(crate) const SDP: Entry = Entry {
    name: "bocs-sdp",
    about: "sparse quadratic model, Thompson sample, semidefinite relaxation; repeats points",
    source: SOURCE,
    fallback: super::DRAW,
    start: |task| start(task, Minimiser::Relaxation),
};

/// Gibbs steps per draw.
const GIBBS: usize = 1000;
/// Larger costs are excluded from the model.
const LARGEST: f64 = 1e6;
/// The most bits: 32 896 coefficients, some seconds per ask.
const MOST_BITS: usize = 256;

/// How to minimise the drawn model.
#[derive(Clone, Copy, Debug)]
enum Minimiser {
    Annealing,
    Relaxation,
}

fn start(task: &Task<'_>, minimiser: Minimiser) -> Result<Box<dyn Method>, Error> {
    Ok(Box::new(Bocs::new(task, minimiser)?))
}

struct Bocs {
    domain: Domain,
    code: Code,
    /// The points of the model, and their costs.
    design: Design,
    costs: Vec<f64>,
    /// Of every measured combination: its row of the model, if it has one, and how often it was
    /// measured.
    rows: HashMap<Vec<Level>, (Option<usize>, f64)>,
    /// Points whose cost is too large, or not a number.
    excluded: HashSet<Vec<bool>>,
    /// Knows the measured combinations.
    fresh: Random,
    random: Xoshiro256PlusPlus,
    /// Flips per annealing run.
    flips: usize,
    /// Gibbs steps per draw.
    gibbs: usize,
    minimiser: Minimiser,
}

impl Bocs {
    fn new(task: &Task<'_>, minimiser: Minimiser) -> Result<Self, Error> {
        let code = Code::new(task.knobs);
        if code.bits() > MOST_BITS {
            return Err(Error::Usage(format!(
                "BOCS takes at most {MOST_BITS} bits, but this problem needs {}: its model has one coefficient per \
                 pair of bits; choose another --method",
                code.bits()
            )));
        }
        Ok(Self {
            design: if code.is_sparse() { Design::sparse(code.bits()) } else { Design::new(code.bits()) },
            costs: Vec::new(),
            rows: HashMap::new(),
            excluded: HashSet::new(),
            fresh: Random::new(Domain::new(task.knobs), !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            domain: Domain::new(task.knobs),
            flips: task.budget,
            gibbs: GIBBS,
            code,
            minimiser,
        })
    }

    /// The best unmeasured step from the smallest value that the search found.
    fn step_from(&self, model: &Quadratic, best: &Best) -> Option<Vec<Level>> {
        let (_, x) = best.any.as_ref()?;
        let steps = self.domain.neighbours(&self.code.decode(x)).into_iter();
        let valued =
            steps.filter(|step| !self.fresh.is_told(step)).map(|step| (model.value(&self.code.encode(&step)), step));
        valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, step)| step)
    }
}

impl Method for Bocs {
    fn fallbacks(&self) -> usize {
        self.fresh.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if self.costs.is_empty() {
            return Ok(self.fresh.fresh());
        }
        let model = horseshoe::draw(&self.design, &self.costs, self.gibbs, &mut self.random);
        let (code, excluded) = (&self.code, &self.excluded);
        let may_propose = |x: &[bool]| !excluded.contains(x);
        let best = match self.minimiser {
            Minimiser::Annealing => annealing::minimise(&model, code, self.flips, &may_propose, &mut self.random),
            Minimiser::Relaxation => sdp::minimise(&model, code, &may_propose, &mut self.random),
        };
        if let Some((_, x)) = &best.allowed {
            return Ok(Some(self.code.decode(x)));
        }
        Ok(self.step_from(&model, &best).or_else(|| self.fresh.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        // NaN fails this comparison too.
        let is_usable = cost.abs() <= LARGEST;
        if let Some((row, count)) = self.rows.get_mut(levels) {
            if let Some(mean) = row.filter(|_| is_usable).and_then(|row| self.costs.get_mut(row)) {
                *count += 1.0;
                *mean += (cost - *mean) / *count;
            }
            return Ok(());
        }
        self.fresh.tell(levels, cost)?;
        let x = self.code.encode(levels);
        self.rows.insert(levels.to_vec(), (is_usable.then_some(self.costs.len()), 1.0));
        if is_usable {
            self.design.push(&x);
            self.costs.push(cost);
        } else {
            self.excluded.insert(x);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab::Knob;

    /// Few Gibbs steps: these tests do not depend on a good model.
    fn quick(knobs: &[Knob], minimiser: Minimiser) -> Bocs {
        let bocs = Bocs::new(&Task { knobs, seed: 1, budget: 30 }, minimiser).unwrap();
        Bocs { gibbs: 20, ..bocs }
    }

    #[test]
    fn a_huge_cost_is_not_fitted_nor_proposed_again() {
        for minimiser in [Minimiser::Annealing, Minimiser::Relaxation] {
            let mut bocs = quick(&[Knob::nominal(2); 3], minimiser);
            for (levels, cost) in
                [([1, 1, 1], f64::NAN), ([0, 1, 1], 1e7), ([1, 1, 0], -3.0), ([1, 0, 0], -1.0), ([0, 0, 0], 0.0)]
            {
                bocs.tell(&levels, cost).unwrap();
            }
            assert_eq!(bocs.costs, [-3.0, -1.0, 0.0]);
            for _ in 0..20 {
                let levels = bocs.ask().unwrap().unwrap();
                assert!(levels != [1, 1, 1] && levels != [0, 1, 1], "{minimiser:?}");
            }
        }
    }

    #[test]
    fn the_mean_cost_of_a_point_counts() {
        let mut bocs = quick(&[Knob::nominal(2); 3], Minimiser::Annealing);
        bocs.tell(&[1, 0, 1], 2.0).unwrap();
        bocs.tell(&[1, 0, 1], 5.0).unwrap();
        assert_eq!((bocs.design.rows(), &bocs.costs[..]), (1, &[3.5][..]));
    }

    #[test]
    fn too_many_bits_are_refused_with_their_number() {
        let refused = Bocs::new(&Task { knobs: &[Knob::nominal(2); 300], seed: 0, budget: 1 }, Minimiser::Annealing);
        assert!(matches!(refused.err(), Some(Error::Usage(message)) if message.contains("300")));
    }
}
