//! Thumbs-up: as many ones as possible (section 7.2 of the paper).
//!
//! f(b) = −(b₁ + … + b_m)/m, b ∈ {0, 1}^m. The optimum is −1, at all ones.

use trimtab::{Knob, Level};

use super::{Family, Optimum, Parameter, Problem};

pub(super) const FAMILY: Family = Family {
    name: "thumbs-up",
    about: "as many ones as possible: −(number of ones)/m",
    parameters: &[Parameter { name: "m", default: "20", about: "number of thumbs" }],
    build: |given, _, _| Ok(Box::new(ThumbsUp::new(given.count("m", 1..=256)?))),
    load: Some(|instance| Ok(Box::new(ThumbsUp::new(instance.bits()?)))),
};

struct ThumbsUp {
    knobs: Vec<Knob>,
}

impl ThumbsUp {
    fn new(m: usize) -> Self {
        Self { knobs: vec![Knob::nominal(2); m] }
    }
}

impl Problem for ThumbsUp {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let ones = levels.iter().filter(|level| **level == 1).count();
        -(ones as f64) / self.knobs.len() as f64
    }

    fn optimum(&self) -> Option<Optimum> {
        Some(Optimum { value: -1.0, levels: vec![1; self.knobs.len()] })
    }
}
