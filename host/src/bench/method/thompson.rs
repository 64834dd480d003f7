//! Thompson sampling on the pairwise part of a product kernel: the idea of BOCS with our kernel.
//!
//! f(c) = μ + Σᵢ uᵢ\[cᵢ\] + Σᵢ<ⱼ Vᵢⱼ\[cᵢ, cⱼ\], a coefficient per level and per pair of levels
//!
//! The prior of u and V is normal, with the covariances aFᵢ and bFᵢ ⊗ Fⱼ, so that the kernel is
//! a·Σᵢ Fᵢ + b·Σᵢ<ⱼ FᵢFⱼ: singles and pairs of a product over knobs. Fᵢ is the factor of the
//! [heat kernel](super::heat). Each ask draws u and V from their posterior and minimises the draw.
//!
//! Baptista and Poloczek, *Bayesian Optimization of Combinatorial Structures*, ICML 2018, draw the
//! coefficients of pairs of bits under a horseshoe prior. The draw is by Matheron's rule: Wilson,
//! Borovitskiy, Terenin, Mostowsky and Deisenroth, *Efficiently Sampling Functions from Gaussian
//! Process Posteriors*, ICML 2020.
//!
//! | setting | value |
//! |---|---|
//! | β, the pairs' share of the variance, noise | by marginal likelihood, at most 12 evaluations per ask, starting from the last fit |
//! | ln β | N(0.3, 0.7²), as the heat kernel's |
//! | log-odds of the pairs' share | N(0, 1.5²), between −4 and 4 |
//! | mean, s² | the mean is drawn too; s² in closed form |
//! | search | 1-step descents of the draw from the 5 best measured and 20 random combinations |
//! | costs | winsorised and standardised |
//! | repeats | none |
//!
//! **Cost.** One factorisation per evaluation of the fit; n² numbers per pair of knobs of n levels.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::Level;

use super::graph::{History, Tables};
use super::heat::{Graph, SCALE, tables};
use super::{Entry, Method, Task};
use crate::bench::method::linalg::{Triangle, add_scaled, dot};
use crate::bench::method::surrogate::{Fitted, Kernel, Prior, Range, Standard, fit};
use crate::error::Error;

pub(crate) const THOMPSON: Entry = Entry {
    name: "thompson",
    about: "Thompson sampling of the heat kernel's singles and pairs, 1-step descents",
    source: "after Baptista and Poloczek, ICML 2018",
    fallback: super::DRAW,
    start: |task| {
        super::refuse_ranges(task, "thompson")?;
        Ok(Box::new(Thompson::new(task)))
    },
};

/// The log-odds of the pairs' share of the variance.
const SHARE: Range = Range { low: -4.0, high: 4.0, typical: 0.0, spread: 1.5 };
/// Evaluations of the likelihood per ask.
const FIT: usize = 12;
/// Descents from measured and from random combinations.
const MEASURED: usize = 5;
const RANDOM: usize = 20;

struct Thompson {
    history: History,
    random: Xoshiro256PlusPlus,
    graphs: Vec<Graph>,
    theta: Option<Vec<f64>>,
}

impl Thompson {
    fn new(task: &Task<'_>) -> Self {
        Self {
            history: History::new(task.knobs, !task.seed),
            random: Xoshiro256PlusPlus::seed_from_u64(task.seed),
            graphs: task.knobs.iter().map(Graph::new).collect(),
            theta: None,
        }
    }

    /// The unmeasured combination where descents saw the smallest value of a draw.
    fn minimise(&mut self, model: &Draw) -> Option<Vec<Level>> {
        let Self { history, random, .. } = self;
        let mut places: Vec<usize> = (0..history.costs.len()).collect();
        places.sort_by(|a, b| history.costs[*a].total_cmp(&history.costs[*b]));
        let mut starts: Vec<_> = places.iter().take(MEASURED).map(|place| history.levels[*place].clone()).collect();
        starts.extend((0..RANDOM).map(|_| history.any(random)));
        let mut best = (f64::INFINITY, None);
        let mut offer = |value: f64, c: &[Level]| {
            if value < best.0 && !history.is_told(c) {
                best = (value, Some(c.to_vec()));
            }
        };
        for mut c in starts {
            let mut value = model.value(&c);
            offer(value, &c);
            loop {
                let before = value;
                for knob in 0..c.len() {
                    let (own, here) = (c[knob], model.around(&c, knob));
                    let mut lowest = (value, own);
                    for (level, there) in here.iter().enumerate() {
                        c[knob] = level as Level;
                        // In this order the own level is no step at all, whatever is rounded.
                        let there = value + (there - here[usize::from(own)]);
                        offer(there, &c);
                        lowest = if there < lowest.0 { (there, level as Level) } else { lowest };
                    }
                    (value, c[knob]) = lowest;
                }
                if value >= before {
                    break;
                }
            }
        }
        best.1
    }
}

impl Method for Thompson {
    fn fallbacks(&self) -> usize {
        self.history.draws()
    }

    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error> {
        if !self.history.varies() {
            return Ok(self.history.fresh());
        }
        let y = Standard::of(&self.history.costs).y;
        let all: Vec<usize> = (0..y.len()).collect();
        let columns = self.history.columns(&all);
        let kernel = Pairwise { graphs: &self.graphs, columns: &columns };
        let fitted = fit(&kernel, &y, &Prior::WEAK, Range::NOISE, self.theta.as_deref(), FIT)?;
        let model = Draw::new(&kernel, &fitted, &y, &mut self.random);
        self.theta = Some(fitted.theta);
        Ok(self.minimise(&model).or_else(|| self.history.fresh()))
    }

    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error> {
        self.history.tell(levels, cost)
    }
}

/// The kernel over the observations; θ = ln β, log-odds of the pairs' share.
struct Pairwise<'a> {
    graphs: &'a [Graph],
    columns: &'a [Vec<Level>],
}

impl Pairwise<'_> {
    /// a and b: the variances of all singles and of all pairs sum to 1.
    fn variances(&self, theta: &[f64]) -> (f64, f64) {
        let knobs = self.graphs.len() as f64;
        let share = if knobs > 1.0 { 1.0 / (1.0 + libm::exp(-theta[1])) } else { 0.0 };
        ((1.0 - share) / knobs, share / (0.5 * knobs * (knobs - 1.0)).max(1.0))
    }
}

impl Kernel for Pairwise<'_> {
    fn ranges(&self) -> Vec<Range> {
        vec![SCALE, SHARE]
    }

    fn gram(&self, theta: &[f64]) -> Triangle {
        let (factors, (a, b)) = (tables(self.graphs, libm::exp(theta[0])), self.variances(theta));
        let n = self.columns.first().map_or(0, Vec::len);
        let (mut sum, mut squares) = (Triangle::zeros(n), Triangle::zeros(n));
        for (factor, column) in factors.0.iter().zip(self.columns) {
            let size = factor.len().isqrt();
            for (i, own) in column.iter().enumerate() {
                let row = &factor[usize::from(*own) * size..][..size];
                let entries = sum.row_mut(i).iter_mut().zip(squares.row_mut(i));
                for ((sum, square), other) in entries.zip(column) {
                    *sum += row[usize::from(*other)];
                    *square += row[usize::from(*other)] * row[usize::from(*other)];
                }
            }
        }
        let entries = sum.entries_mut().iter_mut().zip(squares.entries());
        entries.for_each(|(sum, squares)| *sum = a * *sum + 0.5 * b * (*sum * *sum - squares));
        sum
    }

    /// By central differences.
    fn add_gradient(&self, theta: &[f64], slopes: &Triangle, gradient: &mut [f64]) {
        const STEP: f64 = 1e-5;
        for (i, gradient) in gradient.iter_mut().enumerate().take(2) {
            let [above, below] = [STEP, -STEP].map(|step| {
                let mut theta = theta.to_vec();
                theta[i] += step;
                dot(slopes.entries(), self.gram(&theta).entries())
            });
            *gradient += (above - below) / (2.0 * STEP);
        }
    }
}

/// Coefficients: uᵢ at (i, i) and Vᵢⱼ at (j, i), i < j, each table row by row of the lower knob's levels.
struct Draw {
    levels: Vec<usize>,
    coefficients: Vec<Vec<f64>>,
}

impl Draw {
    /// A draw from the posterior: one from the prior, corrected by what it misses of the costs.
    fn new(kernel: &Pairwise<'_>, fitted: &Fitted, y: &[f64], random: &mut Xoshiro256PlusPlus) -> Self {
        let Tables(factors) = tables(kernel.graphs, libm::exp(fitted.theta[0]));
        let ((a, b), scale) = (kernel.variances(&fitted.theta), fitted.gp.signal().sqrt());
        let roots: Vec<Vec<f64>> = factors.iter().map(|factor| root(factor)).collect();
        let normals = |count: usize, scale: f64, random: &mut Xoshiro256PlusPlus| -> Vec<f64> {
            (0..count).map(|_| scale * random.sample::<f64, _>(StandardNormal)).collect()
        };
        let levels: Vec<usize> = factors.iter().map(|factor| factor.len().isqrt()).collect();
        let mut draw = Self { coefficients: Vec::new(), levels };
        for (j, i) in pairs(draw.levels.len()) {
            let (n, m) = (draw.levels[i], if i == j { 1 } else { draw.levels[j] });
            let (right, variance) = if i == j { (&[1.0][..], a) } else { (&roots[j][..], b) };
            let middle = normals(n * m, scale * variance.sqrt(), random);
            draw.coefficients.push(sandwich(&roots[i], &middle, right));
        }
        let mean = normals(1, scale * Prior::WEAK.mean_variance.sqrt(), random)[0];
        let noise = normals(y.len(), scale * libm::exp(0.5 * fitted.theta[2]), random);
        let at = |place: usize| kernel.columns.iter().map(|column| column[place]).collect::<Vec<_>>();
        let mut weights: Vec<f64> =
            y.iter().zip(noise).enumerate().map(|(n, (y, noise))| y - noise - mean - draw.value(&at(n))).collect();
        fitted.gp.weigh(&mut weights);
        for ((j, i), table) in pairs(draw.levels.len()).zip(&mut draw.coefficients) {
            let (n, m) = (draw.levels[i], if i == j { 1 } else { draw.levels[j] });
            let (right, variance) = if i == j { (&[1.0][..], a) } else { (&factors[j][..], b) };
            // The weights of the observations that have these levels.
            let mut sums = vec![0.0; n * m];
            for ((own, other), weight) in kernel.columns[i].iter().zip(&kernel.columns[j]).zip(&weights) {
                sums[usize::from(*own) * m + if i == j { 0 } else { usize::from(*other) }] += weight;
            }
            add_scaled(table, variance, &sandwich(&factors[i], &sums, right));
        }
        draw
    }

    /// The sum of a combination's coefficients.
    fn value(&self, c: &[Level]) -> f64 {
        let entry = |((j, i), table): ((usize, usize), &Vec<f64>)| {
            let (own, other) = (usize::from(c[i]), usize::from(c[j]));
            if i == j { table[own] } else { table[own * self.levels[j] + other] }
        };
        pairs(c.len()).zip(&self.coefficients).map(entry).sum()
    }

    /// The sum of those of a knob, per level, with the others as in `c`.
    fn around(&self, c: &[Level], knob: usize) -> Vec<f64> {
        let table = |j: usize, i: usize| &self.coefficients[j * (j + 1) / 2 + i];
        let mut sums = table(knob, knob).clone();
        for (other, level) in c.iter().enumerate().filter(|(other, _)| *other != knob) {
            let (level, width) = (usize::from(*level), self.levels[knob.max(other)]);
            for (own, sum) in sums.iter_mut().enumerate() {
                *sum += match other < knob {
                    true => table(knob, other)[level * width + own],
                    false => table(other, knob)[own * width + level],
                };
            }
        }
        sums
    }
}

/// (j, i) with i ≤ j, in the order of the coefficients.
fn pairs(knobs: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..knobs).flat_map(|j| (0..=j).map(move |i| (j, i)))
}

/// left · middle · rightᵀ for squares left and right.
fn sandwich(left: &[f64], middle: &[f64], right: &[f64]) -> Vec<f64> {
    let (n, m) = (left.len().isqrt(), right.len().isqrt());
    let mut half = vec![0.0; n * m];
    for (half, left) in half.chunks_exact_mut(m).zip(left.chunks_exact(n)) {
        left.iter().zip(middle.chunks_exact(m)).for_each(|(l, row)| add_scaled(half, *l, row));
    }
    half.chunks_exact(m).flat_map(|row| right.chunks_exact(m).map(move |right| dot(row, right))).collect()
}

/// L with L·Lᵀ = square, zeros above the diagonal; what rounding pushes below zero counts as zero.
fn root(square: &[f64]) -> Vec<f64> {
    let n = square.len().isqrt();
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = square[i * n + j] - dot(&l[i * n..][..j], &l[j * n..][..j]);
            let pivot = l[j * n + j];
            l[i * n + j] = match i == j {
                true => rest.max(0.0).sqrt(),
                false if pivot > 1e-6 => rest / pivot,
                false => 0.0,
            };
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::method::trial::{judge, pattern};
    use trimtab::Knob;

    #[test]
    fn finds_a_pattern_and_beats_random_search() {
        judge(&THOMPSON, 8, 60, pattern);
    }

    /// 20 000 draws have the mean and the variance of the process, at measured and other combinations.
    #[test]
    fn draws_are_of_the_posterior() {
        let knobs = [Knob::nominal(2), Knob::nominal(3), Knob::ranked(4)];
        let graphs: Vec<Graph> = knobs.iter().map(Graph::new).collect();
        let all: [[Level; 3]; 6] = [[0, 0, 0], [1, 2, 3], [0, 1, 2], [1, 1, 0], [0, 2, 1], [1, 0, 3]];
        let columns =
            |n: usize| -> Vec<Vec<Level>> { (0..3).map(|k| all[..n].iter().map(|c| c[k]).collect()).collect() };
        let (observed, whole) = (columns(4), columns(6));
        let kernel = Pairwise { graphs: &graphs, columns: &observed };
        let y = [-1.0, 0.5, 1.2, -0.7];
        let fitted = fit(&kernel, &y, &Prior::WEAK, Range::NOISE, None, 1).unwrap();
        let gram = Pairwise { graphs: &graphs, columns: &whole }.gram(&fitted.theta);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        // Differences from the first combination, because a draw has no constant.
        let draws: Vec<Vec<f64>> = (0..20_000)
            .map(|_| {
                let draw = Draw::new(&kernel, &fitted, &y, &mut random);
                all.iter().map(|c| draw.value(c) - draw.value(&all[0])).collect()
            })
            .collect();
        let entry = |i: usize, j: usize| gram.row(i.max(j))[i.min(j)];
        for i in 1..6 {
            let k: Vec<f64> = (0..4).map(|n| entry(i, n) - entry(0, n)).collect();
            let mut weights = y.to_vec();
            fitted.gp.weigh(&mut weights);
            let mut solved = k.clone();
            fitted.gp.weigh(&mut solved);
            let mean = dot(&k, &weights);
            let own = entry(i, i) + entry(0, 0) - 2.0 * entry(i, 0);
            let variance = fitted.gp.signal() * (own - dot(&k, &solved));
            let n = draws.len() as f64;
            let found = draws.iter().map(|d| d[i]).sum::<f64>() / n;
            let spread = draws.iter().map(|d| (d[i] - mean) * (d[i] - mean)).sum::<f64>() / n;
            assert!((found - mean).abs() < 5.0 * (variance / n).sqrt(), "{i}: {found}, not {mean}");
            assert!((spread / variance - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "{i}: {spread}, not {variance}");
        }
    }

    #[test]
    fn what_a_knob_adds_is_the_difference_of_values() {
        let knobs = [Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)];
        let graphs: Vec<Graph> = knobs.iter().map(Graph::new).collect();
        let columns = [vec![0, 2], vec![3, 1], vec![1, 0]];
        let kernel = Pairwise { graphs: &graphs, columns: &columns };
        let fitted = fit(&kernel, &[1.0, -1.0], &Prior::WEAK, Range::NOISE, None, 1).unwrap();
        let draw = Draw::new(&kernel, &fitted, &[1.0, -1.0], &mut Xoshiro256PlusPlus::seed_from_u64(1));
        let c = [1, 2, 1];
        for (knob, levels) in [3, 4, 2].into_iter().enumerate() {
            let around = draw.around(&c, knob);
            assert_eq!(around.len(), levels);
            for level in 0..levels {
                let mut other = c;
                other[knob] = level as Level;
                let step = around[level] - around[usize::from(c[knob])];
                assert!((draw.value(&other) - draw.value(&c) - step).abs() < 1e-12, "{knob} {level}");
            }
        }
    }
}
