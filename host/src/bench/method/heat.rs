//! Bayesian optimisation with the heat kernel of the Hamming graph, one scale for all knobs. Our
//! re-implementation.
//!
//! k(c, c′) = s²·∏ᵢ Fᵢ(cᵢ, c′ᵢ), Fᵢ = (1 − e)/(1 + (n − 1)·e) where the levels differ and 1
//! where they do not, e = exp(−nβ)
//!
//! Doumont, Picheny, Borovitskiy and Moss, *Omnipresent Yet Overlooked: Heat Kernels in
//! Combinatorial Bayesian Optimization*, NeurIPS 2025: most kernels for combinations are heat
//! kernels in disguise, and a plain loop around one does as well as the elaborate methods.
//!
//! | setting | value |
//! |---|---|
//! | kernel | isotropic heat kernel |
//! | graded knobs, which the paper leaves open | a thermometer of n − 1 bits, see [`Graph`] |
//! | β, noise | by marginal likelihood, at most 12 evaluations per ask, starting from the last fit; ln β ~ N(0.3, 0.7²) |
//! | mean, s² | in closed form |
//! | acquisition | expected improvement, in logarithms |
//! | search | ascents from the best 10 of 500 random combinations and the incumbent's neighbours, and from the incumbent |
//! | costs | winsorised and standardised |
//! | repeats | none |

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::graph::{Ascent, Diffusion, Ensemble, History, Member, Product, Tables};
use super::{Entry, Method, Recommendation, Task};
use crate::bench::method::linalg::Triangle;
use crate::bench::method::surrogate::{Kernel, Prior, Range, Standard, fit};
use crate::error::Error;

pub(crate) const HEAT: Entry = Entry {
    name: "heat",
    about: "heat kernel of the Hamming graph with one scale, EI, 1-step ascents; our re-implementation",
    source: "Doumont, Picheny, Borovitskiy and Moss, NeurIPS 2025",
    fallback: super::DRAW,
    start: |task| {
        super::refuse_ranges(task, "heat")?;
        Ok(Box::new(Heat::new(task)))
    },
};

/// The prior of ln β: two levels have the correlation tanh β, from 0.05 to 0.9999.
pub(super) const SCALE: Range = Range { low: -3.0, high: 1.6, typical: 0.3, spread: 0.7 };
/// Evaluations of the likelihood per ask.
const FIT: usize = 12;
/// Random combinations screened as starts.
const RANDOM: usize = 500;
/// Ascents in addition to the one from the incumbent.
const ASCENTS: usize = 10;

struct Heat {
    history: History,
    random: Xoshiro256PlusPlus,
    graphs: Vec<Graph>,
    theta: Option<Vec<f64>>,
}

impl Heat {
    fn new(task: &Task<'_>) -> Self {
        Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            graphs: task.knobs.iter().map(Graph::new).collect(),
            theta: None,
        }
    }
}

impl Heat {
    /// The process on all observations, and its hyper-parameters.
    fn model(&self, standard: &Standard) -> Result<(Ensemble, Vec<f64>), Error> {
        let Self { history, graphs, theta, .. } = self;
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let columns = history.columns(&all);
        let kernel = Isotropic { graphs, columns: &columns };
        let fitted = fit(&kernel, &standard.y, &Prior::WEAK, Range::NOISE, theta.as_deref(), FIT)?;
        let product = Product::new(&tables(graphs, libm::exp(fitted.theta[0])), 1.0, &columns);
        let member = Member { gp: fitted.gp, product, shift: 0.0 };
        Ok((Ensemble::new(vec![member], standard.best), fitted.theta))
    }
}

impl Method for Heat {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if !self.history.varies() {
            return Ok(self.history.fresh());
        }
        let (ensemble, fitted) = self.model(&Standard::of(&self.history.costs))?;
        let Self { history, random, theta, .. } = self;
        *theta = Some(fitted);
        let all: Vec<usize> = (0..history.costs.len()).collect();
        let mut search = Ascent::new(history, ensemble);
        let incumbent = history.best_of(&all).map(|place| history.levels[place].clone()).unwrap_or_default();
        let mut starts = history.domain.neighbours(&incumbent);
        starts.extend((0..RANDOM).map(|_| history.any(random)));
        for start in search.screen(starts, ASCENTS) {
            search.climb(start, |_| true);
        }
        search.climb((f64::INFINITY, incumbent), |_| true);
        let found = search.best();
        Ok(found.or_else(|| self.history.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.history.tell(levels, cost)
    }

    fn recommend(&mut self) -> Option<Recommendation> {
        let standard = Standard::of(&self.history.costs);
        let (mut ensemble, _) = self.history.varies().then(|| self.model(&standard).ok())??;
        standard.recommend(self.history.levels.iter().map(|levels| (levels, ensemble.predict(levels))))
    }
}

/// The graph of a knob's levels.
pub(super) enum Graph {
    /// Every level beside every other.
    Complete(Diffusion),
    /// A graded knob as bits \[level > 0\], \[level > 1\], …, so that |a − b| of them differ. All n − 1
    /// together weigh as much as [`SPAN`] bits, or a long scale would drown the rest.
    ///
    /// A path whose slowest mode decays like that of two levels was worse than random search on the
    /// antenna: with one β for all knobs it is nearly flat.
    Thermometer(usize),
}

/// Bits that the whole scale of a graded knob weighs.
const SPAN: f64 = 4.0;

impl Graph {
    pub(super) fn new(knob: &Knob) -> Self {
        if knob.is_graded() && knob.levels() > 2 {
            Self::Thermometer(knob.levels())
        } else {
            Self::Complete(Diffusion::new(knob))
        }
    }

    fn levels(&self) -> usize {
        match self {
            Self::Complete(graph) => graph.levels(),
            Self::Thermometer(levels) => *levels,
        }
    }

    /// Writes the kernel, n × n.
    fn write(&self, beta: f64, table: &mut [f64]) {
        match self {
            Self::Complete(graph) => graph.write(beta, table),
            Self::Thermometer(n) => {
                // A bit's factor is (1 − e)/(1 + e) = tanh β.
                let step = SPAN / (*n as f64 - 1.0) * libm::log(libm::tanh(beta));
                for (a, row) in table.chunks_exact_mut(*n).enumerate() {
                    for (b, entry) in row.iter_mut().enumerate() {
                        *entry = libm::exp(step * a.abs_diff(b) as f64);
                    }
                }
            }
        }
    }
}

/// The factors of all knobs at scale β.
pub(super) fn tables(graphs: &[Graph], beta: f64) -> Tables {
    let mut tables = Tables::zeros(graphs.iter().map(Graph::levels));
    tables.0.iter_mut().zip(graphs).for_each(|(table, graph)| graph.write(beta, table));
    tables
}

/// The kernel over the observations; θ = ln β.
struct Isotropic<'a> {
    graphs: &'a [Graph],
    columns: &'a [Vec<Level>],
}

impl Kernel for Isotropic<'_> {
    fn ranges(&self) -> Vec<Range> {
        vec![SCALE]
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        tables(self.graphs, libm::exp(theta[0])).gram(self.columns)
    }

    /// By a central difference, because not every graph has a formula.
    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        const STEP: f64 = 1e-5;
        let [above, below] = [STEP, -STEP].map(|step| {
            let gram = tables(self.graphs, libm::exp(theta[0] + step)).gram(self.columns);
            crate::bench::method::linalg::dot(slopes.entries(), gram.entries())
        });
        gradient[0] += (above - below) / (2.0 * STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thermometer_is_a_product_over_its_bits() {
        // Five levels: four bits that weigh one each, so two steps are two flips of a bit.
        let (mut scale, mut bit) = ([0.0; 25], [0.0; 4]);
        Graph::new(&Knob::ranked(5)).write(0.7, &mut scale);
        Graph::new(&Knob::nominal(2)).write(0.7, &mut bit);
        assert!((scale[5 + 3] - bit[1] * bit[1]).abs() < 1e-12 && scale[6] == 1.0, "{scale:?} {bit:?}");
        // Nine levels: eight bits of half the weight.
        let mut long = [0.0; 81];
        Graph::new(&Knob::ranked(9)).write(0.7, &mut long);
        assert!((long[8] - scale[4]).abs() < 1e-12);
    }
}
