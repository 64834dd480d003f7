//! Made-up runs for tests of the report: ten methods on nine problems, masked and not, as `trimtab
//! bench` would write them.
//!
//! **Choices**
//! - Lines are written by hand, not by the type that reads them, so the format itself is tested.
//! - Every value is a hash of its place, so that all machines make the same files.

#![allow(dead_code, unreachable_pub)] // Each test takes what it needs.

use std::fs;
use std::path::Path;

use serde_json::json;

/// Names, and how quickly each gets to the optimum; a mask slows some.
pub const METHODS: [(&str, f64, f64); 10] = [
    ("trimtab", 0.06, 0.06),
    ("cbo-lookup", 0.09, 0.02),
    ("cbo-recon", 0.025, 0.02),
    ("bin-aa", 0.035, 0.035),
    ("bin-round", 0.03, 0.025),
    ("dec-round", 0.012, 0.01),
    ("rembo", 0.016, 0.012),
    ("annealing", 0.026, 0.027),
    ("local-search", 0.03, 0.03),
    ("random", 0.006, 0.006),
];

/// Names, size, optimum if known, scale of the costs, whether there is test data.
pub const PROBLEMS: [(&str, usize, Option<f64>, f64, bool); 9] = [
    ("thumbs-up", 20, Some(-1.0), 0.6, false),
    ("seesaw", 24, Some(0.0), 40.0, false),
    ("bqp", 10, Some(-12.5), 15.0, false),
    ("ising", 24, Some(3.25), 4.0, false),
    ("ising:lambda=1e-4", 24, Some(0.02), 3.0, false),
    ("sparse-regression", 24, None, 0.4, true),
    ("sparse-regression:l1=0.01", 24, None, 0.4, true),
    ("sparse-classification:data=generated", 20, None, 0.5, true),
    ("sparse-classification:data=generated,l1=0.01", 20, None, 0.5, true),
];

/// How many of everything.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub methods: usize,
    pub problems: usize,
    pub seeds: u64,
    pub budget: usize,
    pub masked: bool,
}

/// The defaults of `trimtab bench`.
pub const FULL: Size = Size { methods: 10, problems: 9, seeds: 10, budget: 100, masked: true };

/// Hashes three numbers to one from 0 to 1 (SplitMix64).
fn hash(a: u64, b: u64, c: u64) -> f64 {
    let mut z =
        a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ c.wrapping_add(77) << 17;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Writes runs below a folder.
pub fn write(folder: &Path, size: Size) {
    for (p, problem) in PROBLEMS.iter().enumerate().take(size.problems) {
        for (m, (method, _, _)) in METHODS.iter().enumerate().take(size.methods) {
            for seed in 0..size.seeds {
                for mask in [false, true].into_iter().take(1 + usize::from(size.masked)) {
                    let path = folder.join(problem.0.replace([':', ',', '='], "-"));
                    fs::create_dir_all(&path).unwrap();
                    let masked = if mask { "-masked" } else { "" };
                    let text = run((p, m), seed, mask, size.budget).join("\n") + "\n";
                    fs::write(path.join(format!("{method}-{seed}{masked}.jsonl")), text).unwrap();
                }
            }
        }
    }
}

/// The lines of one run.
pub fn run((p, m): (usize, usize), seed: u64, mask: bool, budget: usize) -> Vec<String> {
    let (problem, bits, known, scale, has_test) = PROBLEMS[p];
    let (method, plain, masked) = METHODS[m];
    let rate = if mask { masked } else { plain };
    // Every instance has its own optimum, but for the first two problems.
    let optimum = known.map(|optimum| if p < 2 { optimum } else { optimum - hash(p as u64, seed, 3) });
    let floor = optimum.unwrap_or(0.1);
    let place = (p * 100 + m * 2 + usize::from(mask)) as u64;
    let mut best = f64::INFINITY;
    let mut lines = Vec::new();
    for index in 1..=budget {
        let noise = if index == 1 { hash(p as u64, seed, 1) } else { hash(place, seed, index as u64) };
        let decay = (-rate * (index - 1) as f64).exp();
        // Where there is an optimum, steps of a tenth, so that it is met exactly.
        let regret = decay * (0.3 + noise) * scale;
        let regret = if known.is_some() { (regret / scale * 10.0).round() / 10.0 * scale } else { regret };
        let value = floor + regret;
        best = value.min(best);
        let combination: Vec<u8> =
            (0..bits).map(|bit| u8::from(hash(place, seed * 1000 + index as u64, bit as u64) < 0.5)).collect();
        // Each method a few times slower than the one before, and slower as a run goes on.
        let seconds = 2e-6 * 3f64.powi((m * 7 % 10) as i32) * (1.0 + index as f64 / 20.0) * (0.8 + 0.4 * noise);
        lines.push(
            json!({"problem": problem, "method": method, "seed": seed, "mask": mask, "index": index, "initial": index == 1,
                "combination": combination, "value": value, "best": best, "optimizer_seconds": seconds,
                "objective_seconds": 1e-5, "optimum": optimum, "test": has_test.then_some(value * 1.1 + 0.05 * noise)})
            .to_string(),
        );
    }
    lines
}
