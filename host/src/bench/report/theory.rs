//! The paper's theory beside the measurements: Theorem 1's bound on the cumulative regret, Lemma
//! 1's distortion.
//!
//! Theorem 1: R_T = Σ_{t ≤ T} (f(c_t) − f(c*)) is in O(√((σ² + ε²)·N·T·log(N·T/δ))) with probability
//! 1 − δ, so R_T/T falls like √(log(N·T/δ)/T). Lemma 1: (1 − ε)‖b − b′‖₁ ≤ ‖R·b −
//! R·b′‖² ≤ (1 + ε)‖b − b′‖₁.
//!
//! | name | meaning |
//! |---|---|
//! | T | number of evaluations, including initial ones |
//! | N | number of combinations: the product of the levels that the runs tried |
//! | δ | 0.1 |
//! | d, m | number of dimensions of the embedding, and of bits: 24 |
//!
//! **Choices**
//! - The theorem holds for every bounded kernel, and its constant is not known. The figure shows
//!   only the bound's shape, scaled to touch from above the line of the method that the theorem is
//!   about, or trimtab's where that did not run.
//! - On two log axes a power of T is a straight line.
//! - The maps are core's own.

use trimtab::Distribution;
use trimtab::internals::{Random, RandomMap, squared_distance};

use super::figure::Figure;
use super::information::THEOREM;
use super::panel::{Line, Lines, Panel, Plot, Point, Scale};
use super::runs::{Problem, Race, Run, Runs};
use super::style::Style;
use crate::bench::stats::{Estimate, quantile};
use crate::bench::text;

/// The bound holds with probability 1 − δ.
const DELTA: f64 = 0.1;
const M: usize = 24;
const MAPS: u64 = 40;
const PAIRS: u64 = 50;

/// R_T/T against T, where the optimum is known.
pub(super) fn cumulative_regret(runs: &Runs, problem: &Problem, slug: &str) -> Option<Figure> {
    // A failure has no regret.
    let fails = |race: &Race| race.all().any(|run| run.outcome.failures.is_some());
    if !problem.has_optimum() || problem.races.iter().any(fails) {
        return None;
    }
    let horizon = problem.horizon();
    let panels: Vec<Panel> =
        problem.there().map(|(mask, race)| regret_panel(runs, problem, mask, race, horizon)).collect();
    let touched = touched(runs);
    Some(Figure {
        id: format!("{slug}-cumulative"),
        title: format!("{}: cumulative regret", problem.name),
        caption: format!(
            "Mean regret of all evaluations so far, R_T/T, on two log axes; bands are one standard error. The dots \
             show the shape of Theorem 1's bound, √(log(N·T/δ)/T) with δ = {DELTA}, scaled to touch the line of \
             {} from above: only its slope is meaningful.",
            runs.methods.get(touched).map_or("the first method", |(name, _)| name)
        ),
        panels,
    })
}

/// The method whose line the bound's shape touches: that of the theorem, else the first.
fn touched(runs: &Runs) -> usize {
    runs.method(THEOREM).unwrap_or(0)
}

fn regret_panel(runs: &Runs, problem: &Problem, mask: bool, race: &Race, horizon: usize) -> Panel {
    let mut lines = Vec::new();
    for (method, (name, style)) in runs.methods.iter().enumerate() {
        let means: Vec<Vec<f64>> = race.runs[method].iter().map(mean_regrets).collect();
        let point = |t: usize| {
            let at = |means: &Vec<f64>| means.get(t.min(means.len()).checked_sub(1)?).copied();
            let estimate = Estimate::of(&means.iter().filter_map(at).collect::<Vec<_>>())?;
            Some(Point { x: t as f64, y: estimate.mean, band: estimate.band() })
        };
        let points: Vec<Point> = (1..=horizon).filter_map(point).collect();
        if !points.is_empty() {
            lines.push(Line { name: name.clone(), style: *style, is_method: true, points });
        }
    }
    let measured = || lines.iter().flat_map(|line| &line.points);
    let least = measured().map(|point| point.y).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
    let most = measured().map(|point| point.band.1).fold(0.0, f64::max);
    let (low, high) = if most > 0.0 { (least / 1.3, most * 1.3) } else { (1e-9, 1.0) };
    let ends: Vec<String> =
        lines.iter().filter_map(|line| Some(format!("{} {}", line.name, text::short(line.points.last()?.y)))).collect();
    let name = runs.methods.get(touched(runs)).map(|(name, _)| name);
    if let Some(first) = lines.iter().find(|line| Some(&line.name) == name) {
        let shape = |t: f64| ((problem.log_cardinality() + (t / DELTA).ln()) / t).sqrt();
        // The factor that makes the curve touch the line.
        let factor = first.points.iter().map(|point| point.y / shape(point.x)).fold(0.0, f64::max);
        let point = |t: usize| {
            let y = factor * shape(t as f64);
            Point { x: t as f64, y, band: (y, y) }
        };
        // Above the plot it would run along the edge.
        let points: Vec<Point> = (1..=horizon).map(point).filter(|point| (low..=high).contains(&point.y)).collect();
        if !points.is_empty() {
            let name = "shape of Theorem 1's bound".into();
            lines.push(Line { name, style: Style::guide(), is_method: false, points });
        }
    }
    Panel {
        title: if mask { "masked".into() } else { "not masked".into() },
        description: format!("R_T/T after {horizon} evaluations: {}.", text::list(&ends)),
        plot: Plot::Lines(Lines {
            x: (Scale::Log(1.0, horizon.max(2) as f64), "evaluations T (log)".into()),
            y: (Scale::Log(low, high), "R_T / T (log)".into()),
            lines,
            level: None,
        }),
    }
}

/// R_T/T of a run for every T.
fn mean_regrets(run: &Run) -> Vec<f64> {
    let optimum = run.optimum.unwrap_or(f64::NAN);
    let mut sum = 0.0;
    let mean = |(i, value): (usize, &f64)| {
        sum += (value - optimum).max(0.0);
        sum / (i + 1) as f64
    };
    run.values.iter().enumerate().map(mean).collect()
}

/// The factor by which maps of d dimensions stretch squared distances.
pub(super) fn distortion() -> Figure {
    let kinds = [
        ("Centred, as Lemma 1 asks", Distribution::Centred, Style::rival(0)),
        ("Uniform01, the authors' code", Distribution::Uniform01, Style::rival(1)),
    ];
    let all = kinds.map(|(name, distribution, style)| {
        let ratios = [
            (4.0, ratios::<4>(distribution)),
            (8.0, ratios::<8>(distribution)),
            (20.0, ratios::<20>(distribution)),
            (40.0, ratios::<40>(distribution)),
            (100.0, ratios::<100>(distribution)),
            (200.0, ratios::<200>(distribution)),
        ];
        (name, style, ratios)
    });
    let lines = |is_scaled: bool| -> Vec<Line> {
        let line = |(name, style, ratios): &(&str, Style, [(f64, Vec<f64>); 6])| {
            let point = |(d, ratios): &(f64, Vec<f64>)| {
                let scale = if is_scaled { Estimate::of(ratios)?.mean } else { 1.0 };
                let at = |share| quantile(ratios, share).map(|ratio| ratio / scale);
                Some(Point { x: *d, y: at(0.5)?, band: (at(0.05)?, at(0.95)?) })
            };
            let points = ratios.iter().filter_map(point).collect();
            Line { name: (*name).into(), style: *style, is_method: false, points }
        };
        all.iter().map(line).collect()
    };
    let panel = |title: &str, is_scaled: bool, y: Scale, name: &str| {
        let lines = lines(is_scaled);
        let ends = lines.iter().filter_map(|line| {
            let Point { x, y, band } = line.points.last()?;
            Some(format!("{} has median {y:.3}, 90 % within {:.3} to {:.3}, at d = {x}", line.name, band.0, band.1))
        });
        Panel {
            title: title.into(),
            description: format!("{}.", text::list(&ends.collect::<Vec<_>>())),
            plot: Plot::Lines(Lines {
                x: (Scale::Log(3.5, 230.0), "dimensions d (log)".into()),
                y: (y, name.into()),
                lines,
                level: Some(1.0),
            }),
        }
    };
    Figure {
        id: "lemma".into(),
        title: "Lemma 1: distortion of a random map".into(),
        caption: format!(
            "Squared distance after the map over squared distance before, ‖x − x′‖² / ‖z − z′‖², \
             for random pairs of \
             {M} bits: median, and the band of the middle 90 %. Left: unscaled. Right: each divided by its own mean. \
             Lemma 1 promises a band around 1 that narrows as d grows. It does for a centred map. For the map of the \
             authors' code the band stays wide at any scale: that map preserves the difference in the number of ones, \
             not the distance."
        ),
        panels: vec![
            panel("unscaled", false, Scale::Log(1e-4, 5.0), "ratio (log)"),
            panel("over its own mean", true, Scale::Linear(0.0, 4.0), "ratio over its mean"),
        ],
    }
}

/// The ratios of random pairs under random maps.
fn ratios<const D: usize>(distribution: Distribution) -> Vec<f64> {
    let mut all = Vec::new();
    for seed in 0..MAPS {
        let mut map = RandomMap::<D, M>::new();
        map.draw(distribution, M, seed);
        let mut random = Random::new(seed, 77);
        for _ in 0..PAIRS {
            let [a, b]: [[f32; M]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| random.below(2) as f32));
            let [mut x, mut y] = [[0.0; D]; 2];
            map.embed(&a, &mut x);
            map.embed(&b, &mut y);
            let before = squared_distance(&a, &b);
            if before > 0.0 {
                all.push(f64::from(squared_distance(&x, &y) / before));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_centred_band_narrows_and_the_other_does_not() {
        let spread = |ratios: Vec<f64>| {
            let mean = Estimate::of(&ratios).unwrap().mean;
            (quantile(&ratios, 0.95).unwrap() - quantile(&ratios, 0.05).unwrap()) / mean
        };
        let centred = [spread(ratios::<8>(Distribution::Centred)), spread(ratios::<200>(Distribution::Centred))];
        assert!(centred[1] < 0.5 * centred[0], "{centred:?}");
        let uniform = [spread(ratios::<8>(Distribution::Uniform01)), spread(ratios::<200>(Distribution::Uniform01))];
        assert!(uniform[1] > 0.8 * uniform[0] && uniform[1] > 1.5, "{uniform:?}");
        let mean = Estimate::of(&ratios::<200>(Distribution::Centred)).unwrap().mean;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn mean_regrets_by_hand() {
        // Regrets 3, 1, 0, 2: sums 3, 4, 4, 6.
        let lines = [4.0, 2.0, 1.0, 3.0].iter().zip([4.0, 2.0, 1.0, 1.0]).enumerate().map(|(i, (value, best))| {
            format!(
                r#"{{"problem":"p","method":"m","seed":0,"mask":false,"index":{},"initial":false,
                "combination":[0],"value":{value},"best":{best},
                "optimizer_seconds":0,"objective_seconds":0,"optimum":1,"test":null}}"#,
                i + 1
            )
        });
        let records: Vec<crate::bench::runs::evaluation::Evaluation> =
            lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
        let run = Run::of(&records);
        assert_eq!(mean_regrets(&run), [3.0, 2.0, 4.0 / 3.0, 1.5]);
        assert_eq!((run.solved_at(), run.best(2), run.best(9)), (Some(3.0), 2.0, 1.0));
    }
}
