//! Ising sparsification: which couplings of a magnet can be left out (section 7.5 of the paper;
//! Baptista and Poloczek, ICML 2018).
//!
//! f(b) = KL(p ‖ q_b) + λ‖b‖₁, b ∈ {0, 1}²⁴, for 4 × 4 spins without field. p has all couplings,
//! q_b those whose bit is 1:
//!
//! KL(p ‖ q_b) = Σₑ 2(1 − bₑ)Jₑ⟨xᵢxⱼ⟩ₚ − ln Z_p + ln Z_b
//!
//! | name | meaning |
//! |---|---|
//! | x | spins ±1, numbered row by row; the weight of a state is exp(xᵀJx) with J symmetric, so exp(2Jₑxᵢxⱼ) per edge |
//! | Jₑ | the coupling of an edge: random sign, size uniform in [0.05, 5] |
//! | Z | the sum of all weights |
//!
//! **Choices**
//! - Edges are ordered by their first spin, then by their second, unless a file has its own order.
//! - Weights are kept at or below 1 (exp(2Jxx′ − |2J|) per edge, the rest in the logarithm), so
//!   nothing overflows.
//!
//! **Cost.** Z row by row (a transfer matrix): 12 vertical edges of 16 states each, a microsecond.
//!
//! **Optimum.** Exact: all choices below a row share its vector, so each of the 2²⁴ choices takes a
//! scalar product of 8 numbers (x and −x have the same weight), and a logarithm only if it is the
//! best so far. This takes a fraction of a second.

use rand::RngExt;
use trimtab::{Knob, Level};

use super::{Family, Instance, Optimum, Parameter, Problem, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "ising",
    about: "drop couplings of a 4×4 Ising model: KL divergence + λ‖b‖₁",
    parameters: &[Parameter { name: "lambda", default: "1", about: "penalty per coupling" }],
    build: |given, seed, _| {
        let mut random = random_of(seed);
        let mut coupling = || {
            let size = random.random_range(0.05..5.0);
            if random.random() { size } else { -size }
        };
        let couplings = std::array::from_fn(|_| coupling());
        Ok(Box::new(Ising::new(&edges(), &couplings, given.number("lambda", 0.0..=1e6)?)))
    },
    load: Some(load),
};

/// Spins per row, and number of rows.
const SIDE: usize = 4;
/// Edges of the grid.
const EDGES: usize = 2 * SIDE * (SIDE - 1);
/// States per row.
const STATES: usize = 1 << SIDE;
/// Choices of a row's horizontal edges.
const CHOICES: usize = 1 << (SIDE - 1);
/// Sums of exponentials could overflow beyond this coupling. The paper's couplings are at most 5.
const LARGEST: f64 = 20.0;

/// One number per state of a row of spins; bit c of a state is spin c.
type Row = [f64; STATES];

struct Ising {
    knobs: Vec<Knob>,
    /// The bit of the edge between columns c and c + 1 of each row.
    across: [[usize; SIDE - 1]; SIDE],
    /// The bit of each column's edge between rows r and r + 1.
    down: [[usize; SIDE]; SIDE - 1],
    /// 2Jₑ.
    twice: [f64; EDGES],
    /// The contribution of an edge to f, apart from ln Z, if it is dropped and if it is kept.
    shares: [[f64; 2]; EDGES],
    /// ln Z_p.
    log_z: f64,
}

/// The edges of the grid as pairs of spins.
fn edges() -> [(usize, usize); EDGES] {
    let mut edges = [(0, 0); EDGES];
    let right = (0..SIDE * SIDE).filter(|i| i % SIDE + 1 < SIDE).map(|i| (i, i + 1));
    let below = (0..SIDE * (SIDE - 1)).map(|i| (i, i + SIDE));
    edges.iter_mut().zip(right.chain(below)).for_each(|(edge, found)| *edge = found);
    edges.sort();
    edges
}

fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let given: Vec<(usize, usize)> = instance.find("edges")?.unwrap_or_else(|| edges().to_vec());
    let mut sorted: Vec<_> = given.iter().map(|(i, j)| (*i.min(j), *i.max(j))).collect();
    let unsorted = sorted.clone();
    sorted.sort();
    if sorted != edges() || instance.bits()? != EDGES {
        return Err(
            instance.fault("`edges` must be the 24 edges of a 4×4 grid, each once, its spins numbered row by row")
        );
    }
    let couplings: Vec<f64> = instance.numbers("J", EDGES)?;
    if couplings.iter().any(|coupling| coupling.abs() > LARGEST) {
        return Err(instance.fault("`J` has a coupling beyond ±20; scale the couplings down"));
    }
    let edges = std::array::from_fn(|e| unsorted[e]);
    Ok(Box::new(Ising::new(&edges, &std::array::from_fn(|e| couplings[e]), instance.number("lam")?)))
}

impl Ising {
    fn new(edges: &[(usize, usize); EDGES], couplings: &[f64; EDGES], lambda: f64) -> Self {
        let (mut across, mut down) = ([[0; SIDE - 1]; SIDE], [[0; SIDE]; SIDE - 1]);
        for (e, (i, j)) in edges.iter().enumerate() {
            let (row, column) = (i / SIDE, i % SIDE);
            match j - i {
                1 => across[row][column] = e,
                _ => down[row][column] = e,
            }
        }
        let twice = couplings.map(|coupling| 2.0 * coupling);
        let moments = moments(edges, &twice);
        let shares = std::array::from_fn(|e| [twice[e] * moments[e], lambda + twice[e].abs()]);
        let mut ising = Self { knobs: vec![Knob::nominal(2); EDGES], across, down, twice, shares, log_z: 0.0 };
        // With all couplings the divergence is 0.
        ising.log_z = ising.cost(&[1; EDGES]) - lambda * EDGES as f64;
        ising
    }

    /// The weights of a row's edges in every state, and their contribution to f; bit c of the
    /// choice keeps edge c.
    fn across(&self, row: usize, choice: usize) -> (Row, f64) {
        let edges = self.across[row].iter().enumerate();
        let mut share = 0.0;
        let mut weights = [1.0; STATES];
        for (c, edge) in edges {
            let is_kept = choice >> c & 1;
            share += self.shares[*edge][is_kept];
            if is_kept == 1 {
                let [other, same] = self.weights(*edge);
                for (state, weight) in weights.iter_mut().enumerate() {
                    *weight *= if (state ^ state >> 1) >> c & 1 == 0 { same } else { other };
                }
            }
        }
        (weights, share)
    }

    /// The weights of an edge between unlike and between like spins.
    fn weights(&self, edge: usize) -> [f64; 2] {
        let (twice, size) = (self.twice[edge], self.twice[edge].abs());
        [libm::exp(-twice - size), libm::exp(twice - size)]
    }

    /// Sums over one spin of a row and replaces it by the spin below, across an edge with these
    /// weights.
    fn down(&self, sums: &Row, column: usize, weights: [f64; 2]) -> Row {
        let [other, same] = weights;
        std::array::from_fn(|state| same * sums[state] + other * sums[state ^ 1 << column])
    }

    /// Continues the search at a row; everything above is chosen.
    fn search_row(&self, tables: &Tables, row: usize, sums: &Row, share: f64, search: &mut EdgeSearch) {
        if row + 1 == SIDE {
            // f < best is Z·exp(share) < exp(best + ln Z_p), which needs no logarithm per leaf.
            let limit = libm::exp(search.best + self.log_z - share);
            for (choice, weights) in tables.leaves.iter().enumerate() {
                let half = weights.iter().zip(sums).take(STATES / 2);
                let z: f64 = 2.0 * half.map(|(weight, sum)| weight * sum).sum::<f64>();
                if z < limit {
                    let value = share + libm::log(z) - self.log_z;
                    if value < search.best {
                        search.keep_row(&self.across[row], choice);
                        search.best = value;
                        search.found = search.levels;
                    }
                }
            }
            return;
        }
        for (choice, (weights, own)) in tables.across[row].iter().enumerate() {
            search.keep_row(&self.across[row], choice);
            let sums = std::array::from_fn(|state| weights[state] * sums[state]);
            self.search_down(tables, row, 0, &sums, share + own, search);
        }
    }

    /// Continues the search at a vertical edge.
    fn search_down(&self, tables: &Tables, row: usize, column: usize, sums: &Row, share: f64, search: &mut EdgeSearch) {
        if column == SIDE {
            return self.search_row(tables, row + 1, sums, share, search);
        }
        let edge = self.down[row][column];
        for (is_kept, weights) in [[1.0, 1.0], tables.down[edge]].into_iter().enumerate() {
            search.levels[edge] = is_kept as Level;
            let share = share + self.shares[edge][is_kept];
            self.search_down(tables, row, column + 1, &self.down(sums, column, weights), share, search);
        }
    }
}

/// Weights that the search for the optimum reuses.
struct Tables {
    across: Vec<[(Row, f64); CHOICES]>,
    down: [[f64; 2]; EDGES],
    /// The last row's weights times exp(share).
    leaves: [Row; CHOICES],
}

struct EdgeSearch {
    levels: [Level; EDGES],
    best: f64,
    found: [Level; EDGES],
}

impl EdgeSearch {
    fn keep_row(&mut self, edges: &[usize; SIDE - 1], choice: usize) {
        edges.iter().enumerate().for_each(|(c, edge)| self.levels[*edge] = (choice >> c & 1) as Level);
    }
}

/// ⟨xᵢxⱼ⟩ₚ of every edge, by summing over all 2¹⁶ states.
fn moments(edges: &[(usize, usize); EDGES], twice: &[f64; EDGES]) -> [f64; EDGES] {
    let product = |state: usize, (i, j): (usize, usize)| if (state >> i ^ state >> j) & 1 == 0 { 1.0 } else { -1.0 };
    let energy = |state| -> f64 { edges.iter().zip(twice).map(|(edge, twice)| twice * product(state, *edge)).sum() };
    // A state and its negation have the same weight, so half of them are enough.
    let states = 0..1usize << (SIDE * SIDE - 1);
    let energies: Vec<f64> = states.clone().map(energy).collect();
    let largest = energies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sums, mut z) = ([0.0; EDGES], 0.0);
    for (state, energy) in states.zip(&energies) {
        let weight = libm::exp(energy - largest);
        z += weight;
        sums.iter_mut().zip(edges).for_each(|(sum, edge)| *sum += weight * product(state, *edge));
    }
    sums.map(|sum| sum / z)
}

impl Problem for Ising {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let mut sums = [1.0; STATES];
        let mut share = 0.0;
        for row in 0..SIDE {
            let choice = (0..SIDE - 1).map(|c| usize::from(levels[self.across[row][c]]) << c).sum();
            let (weights, own) = self.across(row, choice);
            share += own;
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum *= weight);
            for (column, edge) in self.down.get(row).into_iter().flatten().enumerate() {
                let is_kept = usize::from(levels[*edge]);
                share += self.shares[*edge][is_kept];
                sums = self.down(&sums, column, if is_kept == 1 { self.weights(*edge) } else { [1.0, 1.0] });
            }
        }
        share + libm::log(sums.iter().sum()) - self.log_z
    }

    fn optimum(&self) -> Option<Optimum> {
        let table = |row| std::array::from_fn(|choice| self.across(row, choice));
        let across: Vec<[(Row, f64); CHOICES]> = (0..SIDE).map(table).collect();
        let leaves = across[SIDE - 1].map(|(weights, share)| weights.map(|weight| weight * libm::exp(share)));
        let tables = Tables { across, down: std::array::from_fn(|edge| self.weights(edge)), leaves };
        let mut search = EdgeSearch { levels: [0; EDGES], best: f64::INFINITY, found: [0; EDGES] };
        // A finite first bound makes the limits finite.
        search.best = self.cost(&search.found).min(self.cost(&[1; EDGES])) + 1.0;
        self.search_row(&tables, 0, &[1.0; STATES], 0.0, &mut search);
        Some(Optimum { value: self.cost(&search.found), levels: search.found.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn ising(lambda: f64) -> Ising {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        Ising::new(&edges(), &std::array::from_fn(|_| random.random_range(-2.0..2.0)), lambda)
    }

    /// KL(p ‖ q) by its definition, Σ p ln(p/q) over all states.
    fn divergence(ising: &Ising, levels: &[Level]) -> f64 {
        let energy = |state: usize, levels: &[Level]| -> f64 {
            let kept = edges().into_iter().zip(ising.twice).zip(levels).filter(|(_, level)| **level == 1);
            kept.map(|(((i, j), twice), _)| if (state >> i ^ state >> j) & 1 == 0 { twice } else { -twice }).sum()
        };
        let log_p = |levels: &[Level]| -> Vec<f64> {
            let energies: Vec<f64> = (0..1 << 16).map(|state| energy(state, levels)).collect();
            let log_z = energies.iter().map(|energy| energy.exp()).sum::<f64>().ln();
            energies.iter().map(|energy| energy - log_z).collect()
        };
        let (p, q) = (log_p(&[1; EDGES]), log_p(levels));
        p.iter().zip(&q).map(|(p, q)| p.exp() * (p - q)).sum()
    }

    #[test]
    fn costs_are_the_divergence_by_definition() {
        let ising = ising(0.5);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        for _ in 0..3 {
            let levels: [Level; EDGES] = std::array::from_fn(|_| random.random_range(0..2));
            let ones = f64::from(levels.iter().sum::<Level>());
            let expected = divergence(&ising, &levels) + 0.5 * ones;
            // The sums have 65 536 terms.
            assert!((ising.cost(&levels) - expected).abs() < 1e-10);
        }
        // With all couplings the divergence is 0.
        assert!((ising.cost(&[1; EDGES]) - 12.0).abs() < 1e-12);
    }

    #[test]
    fn no_step_leads_below_the_optimum() {
        let ising = ising(0.1);
        let optimum = ising.optimum().unwrap();
        assert!(optimum.levels.contains(&0) && optimum.levels.contains(&1));
        assert_eq!(ising.cost(&optimum.levels), optimum.value);
        for (i, j) in (0..EDGES).flat_map(|i| (0..EDGES).map(move |j| (i, j))) {
            let mut levels = optimum.levels.clone();
            levels[i] ^= 1;
            levels[j] ^= 1;
            assert!(ising.cost(&levels) >= optimum.value);
        }
        let cheapest = (0..20).map(|seed| oracle::descend(&ising, seed)).fold(f64::INFINITY, f64::min);
        assert!((cheapest - optimum.value).abs() < 1e-9, "{cheapest} {optimum:?}");
    }
}
