//! Heat kernels of small graphs in closed form: the correlation of a knob's levels.
//!
//! exp(−βΛ), Λ = degree − adjacency (Kondor and Lafferty 2002), divided by its mean diagonal entry.
//!
//! | knob | graph | exp(−βΛ) |
//! |---|---|---|
//! | nominal, or two levels | complete: Λ has the eigenvalues 0 and n | (1 + (n − 1)·e)/n on the diagonal, (1 − e)/n off it, e = exp(−nβ) |
//! | graded | path: Λ has the eigenvalues λₖ = 2 − 2·cos(πk/n) | f(a − b) + f(a + b + 1), f(d) = (½ + Σₖ exp(−βλₖ)·cos(πkd/n))/n, 0 < k < n |
//!
//! **Choices**
//! - The path's eigenvectors are cos(πk(a + ½)/n). A product of two cosines is half the sum of two,
//!   so f, a heat kernel on a circle of 2n, and its mirror image replace the sum over eigenvectors
//!   for every entry.
//! - Dividing by the mean diagonal follows COMBO's authors: otherwise a product over many knobs
//!   vanishes.
//!
//! **Cost.** n² operations and n exponentials per kernel.

use trimtab::Knob;

/// The graph of a knob's levels.
#[derive(Clone, Debug)]
pub(in crate::bench::method) struct Diffusion {
    levels: usize,
    /// cos(πj/n) for j < 2n; empty for a complete graph.
    cosines: Vec<f64>,
}

impl Diffusion {
    /// All edges have weight 1, as in COMBO.
    pub(in crate::bench::method) fn new(knob: &Knob) -> Self {
        let levels = knob.levels();
        let is_path = knob.is_graded() && levels > 2;
        let cosine = |j| libm::cos(std::f64::consts::PI * f64::from(j) / levels as f64);
        Self { levels, cosines: (0..2 * levels as u32).filter(|_| is_path).map(cosine).collect() }
    }

    pub(in crate::bench::method) fn levels(&self) -> usize {
        self.levels
    }

    /// The largest eigenvalue of Λ.
    pub(in crate::bench::method) fn largest_eigenvalue(&self) -> f64 {
        match self.cosines.get(self.levels - 1) {
            Some(cosine) => 2.0 - 2.0 * cosine,
            None if self.levels > 1 => self.levels as f64,
            None => 0.0,
        }
    }

    /// The mean of exp(−βλ) over the eigenvalues: the mean diagonal entry of exp(−βΛ).
    pub(in crate::bench::method) fn mean_heat(&self, beta: f64) -> f64 {
        let n = self.levels as f64;
        if self.cosines.is_empty() {
            (1.0 + (n - 1.0) * libm::exp(-n * beta)) / n
        } else {
            self.cosines[..self.levels].iter().map(|cosine| libm::exp(-2.0 * beta * (1.0 - cosine))).sum::<f64>() / n
        }
    }

    /// Writes the kernel, n × n.
    pub(in crate::bench::method) fn write(&self, beta: f64, table: &mut [f64]) {
        let n = self.levels;
        if self.cosines.is_empty() {
            let e = libm::exp(-(n as f64) * beta);
            table.fill((1.0 - e) / (1.0 + (n as f64 - 1.0) * e));
            table.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
            return;
        }
        let heats: Vec<f64> = self.cosines[..n].iter().map(|cosine| libm::exp(-2.0 * beta * (1.0 - cosine))).collect();
        let whole: f64 = heats.iter().sum();
        let around = |d: usize| -> f64 {
            let modes = heats.iter().enumerate().skip(1);
            (0.5 + modes.map(|(k, heat)| heat * self.cosines[k * d % (2 * n)]).sum::<f64>()) / whole
        };
        // f(2n − d) = f(d). Far apart, rounding of the sum may exceed the true value.
        let f: Vec<f64> = (0..=n).map(around).collect();
        for (a, row) in table.chunks_exact_mut(n).enumerate() {
            for (b, entry) in row.iter_mut().enumerate() {
                let mirrored = a + b + 1;
                *entry = (f[a.abs_diff(b)] + f[mirrored.min(2 * n - mirrored)]).max(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    /// exp(−βΛ) by scaling and squaring a Taylor series: the definition, independent of the closed
    /// forms.
    fn exponential(beta: f64, n: usize, is_path: bool) -> Vec<f64> {
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            (0..n * n).map(|at| (0..n).map(|k| a[at / n * n + k] * b[k * n + at % n]).sum()).collect()
        };
        let is_edge = |a: usize, b: usize| if is_path { a.abs_diff(b) == 1 } else { a != b };
        let degree = |a: usize| (0..n).filter(|b| is_edge(a, *b)).count() as f64;
        // Scaled by 2⁻¹², squared twelve times below.
        let small = |a: usize, b: usize| {
            let entry = if a == b { -degree(a) } else { f64::from(u8::from(is_edge(a, b))) };
            beta * entry / 4096.0
        };
        let small: Vec<f64> = (0..n * n).map(|at| small(at / n, at % n)).collect();
        let identity: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();
        let mut sum = identity.clone();
        for term in (1..=12).rev() {
            sum = product(&small, &sum).iter().zip(&identity).map(|(x, one)| one + x / f64::from(term)).collect();
        }
        (0..12).for_each(|_| sum = product(&sum, &sum));
        sum
    }

    fn normalised(mut kernel: Vec<f64>, n: usize) -> Vec<f64> {
        let mean = kernel.iter().step_by(n + 1).sum::<f64>() / n as f64;
        kernel.iter_mut().for_each(|entry| *entry /= mean);
        kernel
    }

    fn of(knob: &Knob, beta: f64) -> Vec<f64> {
        let mut table = vec![0.0; knob.levels() * knob.levels()];
        Diffusion::new(knob).write(beta, &mut table);
        table
    }

    fn worst(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn closed_forms_are_matrix_exponentials() {
        for n in [2, 3, 5, 8, 16] {
            for beta in [1e-3, 0.05, 0.3, 1.0, 10.0] {
                for (knob, is_path) in [(Knob::nominal(n), false), (Knob::ranked(n), true)] {
                    let n = usize::from(n);
                    let exact = exponential(beta, n, is_path);
                    let mean = exact.iter().step_by(n + 1).sum::<f64>() / n as f64;
                    assert!((Diffusion::new(&knob).mean_heat(beta) - mean).abs() < 1e-11);
                    assert!(worst(&of(&knob, beta), &normalised(exact, n)) < 1e-10, "{n} {beta} {is_path}");
                }
            }
        }
    }

    #[test]
    fn closed_forms_agree_with_scipy() {
        #[derive(Deserialize)]
        struct Case {
            graph: String,
            n: u16,
            beta: f64,
            kernel: Vec<Vec<f64>>,
        }
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../../../../tests/golden/diffusion_kernels.json")).unwrap();
        let cases: Vec<Case> = serde_json::from_value(golden["cases"].clone()).unwrap();
        assert_eq!(cases.len(), 15);
        for case in cases {
            let knob = if case.graph == "path" { Knob::ranked(case.n) } else { Knob::nominal(case.n) };
            let exact = normalised(case.kernel.concat(), usize::from(case.n));
            assert!(worst(&of(&knob, case.beta), &exact) < 1e-12, "{} {}", case.graph, case.n);
        }
    }

    #[test]
    fn largest_eigenvalues() {
        // Path of 3: 2 − 2·cos(2π/3) = 3; complete of 5: 5.
        assert!((Diffusion::new(&Knob::ranked(3)).largest_eigenvalue() - 3.0).abs() < 1e-12);
        assert_eq!(Diffusion::new(&Knob::nominal(5)).largest_eigenvalue(), 5.0);
    }
}
