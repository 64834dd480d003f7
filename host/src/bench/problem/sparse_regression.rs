//! Sparse regression: choose the columns that predict (section 7.6 of the paper; Hastie, Tibshirani
//! and Tibshirani, arXiv:1707.08692, section 3.1).
//!
//! f(b) = ‖y_val − X_val β̂_b‖² / ‖y_val‖² + l₁‖b‖₁, b ∈ {0, 1}^p, where β̂_b is the
//! least-squares fit of y_train on the columns of X_train whose bit is 1, without intercept. Without columns the
//! prediction is 0, so f(0) = 1.
//!
//! | name | meaning |
//! |---|---|
//! | X | n × p, rows normal with covariance Σᵢⱼ = ρ^\|i − j\| |
//! | β | "beta-type 2": s ones, then zeros |
//! | y | Xβ + noise of variance βᵀΣβ/ν, so ν is the signal-to-noise ratio |
//!
//! Training, validation and test data have n rows each. [`Problem::test_cost`] is the same error on
//! the test data, without l₁.
//!
//! **Choices**
//! - The paper does not give its L₁ weight. Ours is 0.01, between the values of a useless and of a
//!   useful column (n = 100, s = 5, ν = 1): a useless one costs about 1/(n(1 + ν)) = 0.005 by
//!   overfitting, a useful one saves about ν/(s(1 + ν)) = 0.1.
//! - A column in the span of those before it (to 10⁻¹⁰) is not used: it could not improve the fit.
//!
//! **Cost.** Gram-Schmidt on the training rows, applied to the others as well: 4nk² operations for
//! k columns, 0.02 ms for 12 of 24.
//!
//! **Optimum.** Exact for p ≤ 25. The scalar products of all columns, over the training and over
//! the validation rows, determine the error; taking a column sweeps it out of those still
//! undecided. All 2^p choices share prefixes: about 50 operations each, about a second for p = 24.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::{Family, Instance, Optimum, Parameter, Problem, gray, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "sparse-regression",
    about: "choose columns for least squares: validation error; test error on the side",
    parameters: &[
        Parameter { name: "n", default: "100", about: "rows each of training, validation and test data" },
        Parameter { name: "p", default: "24", about: "columns" },
        Parameter { name: "s", default: "5", about: "columns that matter" },
        Parameter { name: "rho", default: "0.01", about: "correlation of neighbouring columns" },
        Parameter { name: "nu", default: "1", about: "signal-to-noise ratio" },
        Parameter { name: "l1", default: "0", about: "penalty per column; 0.01 in the L₁ variant" },
    ],
    build: |given, seed, _| {
        let (n, p) = (given.count("n", 2..=10_000)?, given.count("p", 1..=256)?);
        let (s, rho) = (given.count("s", 1..=p)?, given.number("rho", -0.99..=0.99)?);
        let (nu, price) = (given.number("nu", 1e-6..=1e6)?, given.number("l1", 0.0..=1e6)?);
        let mut random = random_of(seed);
        let signal: f64 = (0..s).flat_map(|i| (0..s).map(move |j| power(rho, i.abs_diff(j)))).sum();
        let noise = (signal / nu).sqrt();
        let parts = [(); 3].map(|()| Part::draw(n, p, s, rho, noise, &mut random));
        Ok(Box::new(SparseRegression::new(parts, price)))
    },
    load: Some(load),
};

/// A column is not used if its component outside the span of the others is smaller than this,
/// relative and squared.
const DEPENDENT: f64 = 1e-20;

/// Rows of data, stored column by column.
struct Part {
    columns: Vec<Vec<f64>>,
    target: Vec<f64>,
}

struct SparseRegression {
    knobs: Vec<Knob>,
    /// Every column and last the target, each with training, validation and test rows one after the
    /// other.
    stacked: Vec<Vec<f64>>,
    /// The first validation row and the first test row.
    ends: [usize; 2],
    price: f64,
}

fn power(base: f64, exponent: usize) -> f64 {
    std::iter::repeat_n(base, exponent).product()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let p = instance.bits()?;
    let part = |name: &str| {
        let target: Vec<f64> = instance.get(&format!("y_{name}"))?;
        if target.iter().all(|y| *y == 0.0) {
            return Err(instance.fault(&format!("`y_{name}` must not be zero everywhere: there is nothing to predict")));
        }
        let rows = instance.matrix(&format!("X_{name}"), target.len(), p)?;
        let columns = (0..p).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
        Ok(Part { columns, target })
    };
    let parts = [part("train")?, part("val")?, part("test")?];
    Ok(Box::new(SparseRegression::new(parts, instance.find("l1")?.unwrap_or(0.0))))
}

impl Part {
    fn draw(n: usize, p: usize, s: usize, rho: f64, noise: f64, random: &mut Xoshiro256PlusPlus) -> Self {
        let (mut columns, mut target) = (vec![Vec::with_capacity(n); p], Vec::with_capacity(n));
        for _ in 0..n {
            // An autoregressive process: its covariance is ρ^|i−j|.
            let (mut before, mut y) = (0.0, 0.0);
            for (j, column) in columns.iter_mut().enumerate() {
                let new: f64 = random.sample(StandardNormal);
                before = if j == 0 { new } else { rho * before + (1.0 - rho * rho).sqrt() * new };
                y += if j < s { before } else { 0.0 };
                column.push(before);
            }
            let error: f64 = random.sample(StandardNormal);
            target.push(y + noise * error);
        }
        Self { columns, target }
    }
}

impl SparseRegression {
    fn new(parts: [Part; 3], price: f64) -> Self {
        let [train, validation, test] = parts;
        let ends = [train.target.len(), train.target.len() + validation.target.len()];
        let p = train.columns.len();
        let mut stacked = train.columns;
        stacked.push(train.target);
        for part in [validation, test] {
            stacked.iter_mut().zip(part.columns.iter().chain([&part.target])).for_each(|(all, own)| all.extend(own));
        }
        Self { knobs: vec![Knob::nominal(2); p], stacked, ends, price }
    }

    /// ‖y − Xβ̂‖²/‖y‖² on the validation rows (0) or the test rows (1).
    fn error(&self, levels: &[Level], part: usize) -> f64 {
        let train = self.ends[0];
        let rows = self.ends[part]..if part == 0 { self.ends[1] } else { self.stacked[0].len() };
        // Skip the rows that the error does not need.
        let own =
            |column: &[f64]| -> Vec<f64> { column[..train].iter().chain(&column[rows.clone()]).copied().collect() };
        let target = &self.stacked[self.knobs.len()];
        let mut residual = own(target);
        let mut basis: Vec<(Vec<f64>, f64)> = Vec::new();
        let remove = |from: &mut [f64], (vector, norm): &(Vec<f64>, f64)| {
            let share = dot(&vector[..train], &from[..train]) / norm;
            from.iter_mut().zip(vector).for_each(|(from, along)| *from -= share * along);
        };
        for (column, _) in self.stacked.iter().zip(levels).filter(|(_, level)| **level == 1) {
            let mut new = own(column);
            basis.iter().for_each(|known| remove(&mut new, known));
            let norm = dot(&new[..train], &new[..train]);
            if norm > DEPENDENT * dot(&column[..train], &column[..train]) {
                let new = (new, norm);
                remove(&mut residual, &new);
                basis.push(new);
            }
        }
        let (rest, target) = (&residual[train..], &target[rows]);
        dot(rest, rest) / dot(target, target)
    }
}

/// The scalar products of all columns and, last, the target, after sweeping out the chosen columns.
struct Products {
    train: Vec<f64>,
    validation: Vec<f64>,
}

/// Enumerates every choice of columns.
struct ColumnSearch {
    p: usize,
    /// One for each number of columns taken.
    products: Vec<Products>,
    /// l₁ in units of ‖y_val‖².
    price: f64,
    levels: Vec<Level>,
    best: f64,
    found: Vec<Level>,
}

impl ColumnSearch {
    /// Decides a column, when `taken` columns are chosen.
    fn column(&mut self, column: usize, taken: usize) {
        let (p, width) = (self.p, self.p + 1);
        let own = &self.products[taken];
        if column == p {
            let value = own.validation[p * width + p] + self.price * taken as f64;
            if value < self.best {
                self.best = value;
                self.found.clone_from(&self.levels);
            }
            return;
        }
        self.column(column + 1, taken);
        self.sweep(column, taken);
        self.levels[column] = 1;
        self.column(column + 1, taken + 1);
        self.levels[column] = 0;
    }

    /// Takes a column: updates the products of the later ones and of the target, on and above the
    /// diagonal.
    fn sweep(&mut self, column: usize, taken: usize) {
        let width = self.p + 1;
        let (before, after) = self.products.split_at_mut(taken + 1);
        let (before, after) = (&before[taken], &mut after[0]);
        let row = column * width;
        let (a, b) = (&before.train[row..row + width], &before.validation[row..row + width]);
        // A column without a new component changes nothing.
        let is_new = a[column] > 0.0;
        let scale = if is_new { 1.0 / a[column] } else { 0.0 };
        for k in column + 1..width {
            let share = a[k] * scale;
            let place = k * width;
            // Combines the products with b into one per entry.
            let rest = b[k] - share * b[column];
            for l in k..width {
                after.train[place + l] = before.train[place + l] - share * a[l];
                after.validation[place + l] = before.validation[place + l] - share * b[l] - a[l] * scale * rest;
            }
        }
    }
}

impl Problem for SparseRegression {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let taken = levels.iter().filter(|level| **level == 1).count();
        self.error(levels, 0) + self.price * taken as f64
    }

    fn test_cost(&self, levels: &[Level]) -> Option<f64> {
        Some(self.error(levels, 1))
    }

    fn optimum(&self) -> Option<Optimum> {
        let (p, [first, second]) = (self.knobs.len(), self.ends);
        // With fewer rows than columns, sweeps would divide by rounding errors.
        if p > gray::MOST || first < p {
            return None;
        }
        let products = |rows: std::ops::Range<usize>| -> Vec<f64> {
            let all = self.stacked.iter().flat_map(|a| self.stacked.iter().map(move |b| (a, b)));
            all.map(|(a, b)| dot(&a[rows.clone()], &b[rows.clone()])).collect()
        };
        let start = Products { train: products(0..first), validation: products(first..second) };
        let empty = || Products { train: vec![0.0; (p + 1) * (p + 1)], validation: vec![0.0; (p + 1) * (p + 1)] };
        let norm = start.validation[(p + 1) * (p + 1) - 1];
        let mut search = ColumnSearch {
            p,
            products: std::iter::once(start).chain((0..p).map(|_| empty())).collect(),
            price: self.price * norm,
            levels: vec![0; p],
            best: f64::INFINITY,
            found: vec![0; p],
        };
        search.column(0, 0);
        Some(Optimum { value: self.cost(&search.found), levels: search.found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    fn part(columns: &[&[f64]], target: &[f64]) -> Part {
        Part { columns: columns.iter().map(|column| column.to_vec()).collect(), target: target.to_vec() }
    }

    #[test]
    fn by_hand() {
        // Column 0 fits y = (2, 2) on (1, 1) with β = 2; column 1 fits on (1, −1) with β = 0;
        // column 2 is a multiple of column 0.
        let train = || part(&[&[1.0, 1.0], &[1.0, -1.0], &[3.0, 3.0]], &[2.0, 2.0]);
        // Validation: 2·1 instead of 4 leaves 2² of 4². Test: 2·1 instead of 1 leaves 1.
        let validation = part(&[&[1.0], &[5.0], &[3.0]], &[4.0]);
        let test = part(&[&[1.0], &[5.0], &[3.0]], &[1.0]);
        let problem = SparseRegression::new([train(), validation, test], 0.5);
        assert_eq!(problem.cost(&[0, 0, 0]), 1.0);
        assert_eq!(problem.cost(&[1, 0, 0]), 0.25 + 0.5);
        assert_eq!(problem.test_cost(&[1, 0, 0]), Some(1.0));
        // y = 0·(1, −1) predicts 0.
        assert_eq!(problem.cost(&[0, 1, 0]), 1.5);
        // A dependent column does not change the prediction.
        assert!((problem.cost(&[1, 0, 1]) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for seed in 0..4 {
            oracle::check_optimum("sparse-regression:p=9,n=30,s=3", seed);
            oracle::check_optimum("sparse-regression:p=9,n=30,s=3,l1=0.03,rho=0.6", seed);
        }
    }

    #[test]
    fn data_are_as_the_protocol_says() {
        let mut random = random_of(1);
        let part = Part::draw(20_000, 3, 2, 0.5, 1.5, &mut random);
        let mean = |a: &[f64], b: &[f64]| dot(a, b) / a.len() as f64;
        let [first, second, third] = [0, 1, 2].map(|j| &part.columns[j][..]);
        // The means of 20 000 products of normals have standard errors from 0.007 to 0.017.
        for (found, expected) in [
            (mean(first, first), 1.0),
            (mean(third, third), 1.0),
            (mean(first, second), 0.5),
            (mean(first, third), 0.25),
            // yᵀX₂ = ρ² + ρ; the variance of y is 2 + 2ρ plus the noise.
            (mean(&part.target, third), 0.75),
        ] {
            assert!((found - expected).abs() < 0.05, "{found} {expected}");
        }
        assert!((mean(&part.target, &part.target) - 5.25).abs() < 0.3);
    }

    #[test]
    fn useful_columns_help_on_the_test_data() {
        let problem = oracle::build("sparse-regression", 0);
        let levels: Vec<Level> = (0..24).map(|j| (j < 5) as Level).collect();
        let (none, useful) = (problem.test_cost(&[0; 24]).unwrap(), problem.test_cost(&levels).unwrap());
        // Half of the variance is noise.
        assert!(none == 1.0 && (0.3..0.75).contains(&useful), "{useful}");
    }
}
