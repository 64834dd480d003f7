//! The information gain of the combinations that a run asked for, which bounds like Theorem 1's
//! rest on: I_T = ½·ln|1 + K/ν| (Srinivas et al. 2010).
//!
//! | name | meaning |
//! |---|---|
//! | K | covariances of the first T combinations: Matérn 5/2, r² = 2·(knobs that differ)/(all knobs) |
//! | ν | noise variance relative to the signal: 1e-4, the paper's 0.01² |
//!
//! **Choices**
//! - A centred map keeps Hamming distances (Lemma 1), so the distance itself stands for it: the
//!   result does not depend on one draw of R. Two random combinations of bits have r = 1.
//! - Measured for the method of Theorem 1 and for random search, and drawn only beside the former.
//!
//! **Cost.** T³/6 multiplications per run.

use trimtab::Level;

use super::figure::Figure;
use super::panel::{Line, Lines, Panel, Plot, Point, Scale};
use super::runs::{Problem, Race, Runs};
use crate::bench::method::linalg::{Cholesky, Triangle};
use crate::bench::method::surrogate::matern52;
use crate::bench::stats::Estimate;
use crate::bench::text;

/// The method of Theorem 1.
pub(super) const THEOREM: &str = "cbo-lookup-theorem";
const MEASURED: [&str; 2] = [THEOREM, "random"];
const NOISE: f64 = 1e-4;

/// I_T for every T, if the method is one of those that are measured.
pub(super) fn gains(method: &str, combinations: &[&[Level]]) -> Vec<f64> {
    if !MEASURED.contains(&method) {
        return Vec::new();
    }
    let covariance = |i: usize, j: usize| {
        let (a, b) = (combinations[i], combinations[j]);
        let apart = a.iter().zip(b).filter(|(a, b)| a != b).count();
        let own = if i == j { NOISE } else { 0.0 };
        (matern52(2.0 * apart as f64 / a.len().max(1) as f64) + own) / NOISE
    };
    let Some(factor) = Cholesky::new(Triangle::from_fn(combinations.len(), covariance)) else { return Vec::new() };
    let mut gain = 0.0;
    let logs = factor.diagonal().map(|entry| {
        gain += libm::log(entry);
        gain
    });
    logs.collect()
}

/// Information gain against T.
pub(super) fn figure(runs: &Runs, problem: &Problem, slug: &str) -> Option<Figure> {
    runs.method(THEOREM)?;
    let horizon = problem.horizon();
    let panels: Vec<Panel> = problem.there().filter_map(|(mask, race)| panel(runs, mask, race, horizon)).collect();
    (!panels.is_empty()).then(|| Figure {
        id: format!("{slug}-information"),
        title: format!("{}: information gain", problem.name),
        caption: format!(
            "½·ln|1 + K/ν| of the combinations asked so far, Matérn 5/2 of the Hamming distance, ν = {NOISE}; \
             bands are one standard error. A straight line means that every measurement tells as much as the first: \
             nothing about the rest of the space is known yet."
        ),
        panels,
    })
}

fn panel(runs: &Runs, mask: bool, race: &Race, horizon: usize) -> Option<Panel> {
    let mut lines = Vec::new();
    for (method, (name, style)) in runs.methods.iter().enumerate() {
        let point = |t: usize| {
            let estimate = Estimate::of(&race.numbers(method, |run| run.information.get(t - 1).copied()))?;
            Some(Point { x: t as f64, y: estimate.mean, band: estimate.band() })
        };
        let points: Vec<Point> = (1..=horizon).filter_map(point).collect();
        if !points.is_empty() {
            lines.push(Line { name: name.clone(), style: *style, is_method: true, points });
        }
    }
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.band.1).reduce(f64::max)?;
    let ends = lines.iter().filter_map(|line| Some(format!("{} {}", line.name, text::short(line.points.last()?.y))));
    Some(Panel {
        title: if mask { "masked".into() } else { "not masked".into() },
        description: format!("Information gain at the end: {}.", text::list(&ends.collect::<Vec<_>>())),
        plot: Plot::Lines(Lines {
            x: (Scale::Count(horizon), "evaluations T".into()),
            y: (Scale::Linear(0.0, most * 1.05), "information gain".into()),
            lines,
            level: None,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_by_hand() {
        let (a, b): (&[Level], &[Level]) = (&[0, 0], &[1, 1]);
        // One combination: ½·ln(1 + 1e4) = 4.605220. The same again adds ½·ln(2e4 + 1) − ½·ln(1e4 + 1).
        let same = gains(THEOREM, &[a, a]);
        assert!((same[0] - 0.5 * 10_001f64.ln()).abs() < 1e-9, "{same:?}");
        assert!((same[1] - 0.5 * 20_001f64.ln()).abs() < 1e-9, "{same:?}");
        // Two that differ in everything: r² = 2, ½·ln((1 + 1e4)² − (1e4·k)²).
        let k = matern52(2.0) * 1e4;
        let apart = gains("random", &[a, b]);
        assert!((apart[1] - 0.5 * (10_001f64 * 10_001.0 - k * k).ln()).abs() < 1e-9, "{apart:?}");
        assert!(gains("trimtab", &[a, b]).is_empty());
    }
}
