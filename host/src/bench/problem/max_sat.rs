//! Weighted MAX-SAT: satisfy clauses, the heavy ones first.
//!
//! f(b) = the weights of all clauses that b does not satisfy, b ∈ {0, 1}^m; bit i is the truth of
//! variable i + 1.
//!
//! The formula comes from a file (`max-sat:file=NAME`, see [`dimacs`]) or is drawn from the seed:
//! three different variables per clause, each negated with probability 1/2, weights from 1 to 10.
//!
//! **Choices**
//! - 24 variables and 168 clauses: seven per variable, beyond the 4.27 where random formulas become
//!   unsatisfiable, so that some clauses must be broken.
//!
//! **Optimum.** Exact for m ≤ 25, by depth-first search over the variables in order: a clause
//! counts as soon as its last variable has a value, and a branch ends when it costs as much as the
//! best.

use std::path::Path;

use rand::RngExt;
use trimtab::{Knob, Level};

use super::dimacs::{self, Clause, Formula};
use super::{Family, Optimum, Parameter, Problem, gray, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "max-sat",
    about: "weighted MAX-SAT: the weight of the unsatisfied clauses",
    parameters: &[
        Parameter { name: "file", default: "", about: "a CNF or WCNF file; without one, the seed draws the clauses" },
        Parameter { name: "m", default: "24", about: "number of variables to draw" },
        Parameter { name: "clauses", default: "168", about: "number of clauses to draw" },
    ],
    build: |given, seed, _| {
        let file = given.text("file");
        let formula = if file.is_empty() {
            draw(given.count("m", 3..=dimacs::MOST)?, given.count("clauses", 1..=100_000)?, seed)
        } else {
            let text = std::fs::read_to_string(Path::new(file))
                .map_err(|error| Error::Failed(format!("cannot read the clauses of {file}: {error}")))?;
            dimacs::parse(&text).map_err(|what| Error::Failed(format!("{file}, {what}")))?
        };
        Ok(Box::new(MaxSat::new(formula)))
    },
    load: None,
};

struct MaxSat {
    knobs: Vec<Knob>,
    clauses: Vec<Clause>,
}

fn draw(variables: usize, clauses: usize, seed: u64) -> Formula {
    let mut random = random_of(seed);
    let clauses = (0..clauses).map(|_| {
        let mut literals: Vec<(usize, bool)> = Vec::new();
        while literals.len() < 3 {
            let variable = random.random_range(0..variables as u32) as usize;
            if literals.iter().all(|(other, _)| *other != variable) {
                literals.push((variable, random.random()));
            }
        }
        Clause { weight: f64::from(random.random_range(1..=10u32)), literals }
    });
    Formula { variables, clauses: clauses.collect() }
}

impl MaxSat {
    fn new(formula: Formula) -> Self {
        Self { knobs: vec![Knob::nominal(2); formula.variables], clauses: formula.clauses }
    }
}

/// A clause as bit masks: the variables that satisfy it when true and when false.
struct Masks {
    weight: f64,
    yes: u32,
    no: u32,
}

struct VariableSearch {
    /// Per variable, the clauses whose last variable it is.
    complete: Vec<Vec<Masks>>,
    best: f64,
    found: u32,
}

impl VariableSearch {
    fn variable(&mut self, variable: usize, chosen: u32, broken: f64) {
        if variable == self.complete.len() {
            (self.best, self.found) = (broken, chosen);
            return;
        }
        for chosen in [chosen, chosen | 1 << variable] {
            let is_broken = |clause: &&Masks| clause.yes & chosen | clause.no & !chosen == 0;
            let own: f64 = self.complete[variable].iter().filter(is_broken).map(|clause| clause.weight).sum();
            if broken + own < self.best {
                self.variable(variable + 1, chosen, broken + own);
            }
        }
    }
}

impl Problem for MaxSat {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let is_broken =
            |clause: &&Clause| !clause.literals.iter().any(|(variable, value)| (levels[*variable] == 1) == *value);
        // The empty sum of floats is −0, so start from 0.0.
        self.clauses.iter().filter(is_broken).fold(0.0, |sum, clause| sum + clause.weight)
    }

    fn optimum(&self) -> Option<Optimum> {
        let m = self.knobs.len();
        if m > gray::MOST {
            return None;
        }
        let mut search = VariableSearch { complete: Vec::new(), best: f64::INFINITY, found: 0 };
        search.complete.resize_with(m, Vec::new);
        for Clause { weight, literals } in &self.clauses {
            let mask = |value| {
                literals.iter().filter(|literal| literal.1 == value).fold(0, |mask, literal| mask | 1 << literal.0)
            };
            let masks = Masks { weight: *weight, yes: mask(true), no: mask(false) };
            // A clause without literals is always broken.
            let last = literals.iter().map(|literal| literal.0).max().unwrap_or(0);
            search.complete[last].push(masks);
        }
        search.variable(0, 0, 0.0);
        let levels: Vec<Level> = (0..m).map(|i| (search.found >> i & 1) as Level).collect();
        Some(Optimum { value: self.cost(&levels), levels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    #[test]
    fn by_hand() {
        // x₁ (5), ¬x₁ ∨ x₂ (3), ¬x₂ (2): one must be broken, and ¬x₂ is the lightest.
        let problem = MaxSat::new(dimacs::parse("p wcnf 2 3\n5 1 0\n3 -1 2 0\n2 -2 0\n").unwrap());
        let costs = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|levels| problem.cost(&levels));
        assert_eq!(costs, [5.0, 3.0, 7.0, 2.0]);
        assert_eq!(problem.optimum(), Some(Optimum { value: 2.0, levels: vec![1, 1] }));
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for seed in 0..4 {
            oracle::check_optimum("max-sat:m=10,clauses=60", seed);
        }
        // The default instance cannot be satisfied.
        assert!(oracle::build("max-sat", 0).optimum().unwrap().value > 0.0);
    }

    #[test]
    fn a_file_that_is_not_there() {
        let error = oracle::refusal("max-sat:file=/no/such.wcnf");
        assert!(error.contains("/no/such.wcnf"), "{error}");
    }
}
