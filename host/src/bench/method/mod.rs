//! Search methods behind the tuner's ask and tell, so that one loop runs them all. One file per
//! method, with its source and a table of its settings.
//!
//! **Choices**
//! - A method is told every cost, including those of initial points that it did not ask for.
//! - It knows the knobs, its own seed and the budget, but never the problem.
//! - Under noise trimtab and the methods with a Gaussian process recommend the measured combination
//!   with the lowest posterior mean, all others the one with the lowest mean of measurements.

mod annealing;
mod bin_aa;
mod bin_round;
mod bocs;
mod bodi;
mod bounce;
mod casmopolitan;
mod cbo;
mod combo;
mod dec_round;
mod descent;
mod embedded;
mod graph;
mod heat;
pub(crate) mod linalg;
mod optuna;
mod random;
mod relaxed;
mod rembo;
mod search;
mod smac;
pub(crate) mod surrogate;
mod thompson;
mod tpe;
#[cfg(test)]
mod trial;
mod trimtab;

use std::str::FromStr;

use ::trimtab::{Knob, Level};

use crate::error::Error;

/// Proposes combinations and learns from their costs.
pub(crate) trait Method {
    /// Returns the next combination to measure, or `None` when the space is exhausted.
    fn ask(&mut self) -> Result<Option<Vec<Level>>, Error>;
    /// Reports a cost, also for a combination that the method did not ask for.
    fn tell(&mut self, levels: &[Level], cost: f64) -> Result<(), Error>;

    /// Reports that a measurement failed. Returns whether the method learned from it; one that
    /// knows only costs is told one instead.
    fn tell_failed(&mut self, _levels: &[Level]) -> Result<bool, Error> {
        Ok(false)
    }

    /// Whether the method, having asked, would rather stop: at this tolerance going on is not worth
    /// it.
    fn is_settled(&self, _tolerance: f64) -> bool {
        false
    }

    /// Number of asks that were answered by what it [falls back](Entry::fallback) to.
    fn fallbacks(&self) -> usize {
        0
    }

    /// The combination that it would choose now. `None` leaves the choice to the means of
    /// measurements. What it asks next must not depend on it.
    fn recommend(&mut self) -> Option<Recommendation> {
        None
    }
}

/// A combination that a method would choose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recommendation {
    pub(crate) levels: Vec<Level>,
    /// What its model believes of the true cost: mean and standard deviation.
    pub(crate) belief: Option<(f64, f64)>,
}

/// The inputs of a method's constructor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) knobs: &'a [Knob],
    pub(crate) seed: u64,
    /// Upper bound on the number of costs it will be told.
    pub(crate) budget: usize,
}

/// One method of the registry.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// One line for `trimtab list`.
    pub(crate) about: &'static str,
    /// The publication, or the code that it follows.
    pub(crate) source: &'static str,
    /// What it asks for when its model proposes nothing new, and at its start.
    pub(crate) fallback: &'static str,
    pub(crate) start: fn(&Task<'_>) -> Result<Box<dyn Method>, Error>,
}

/// Refuses knobs of so many levels that a table of all pairs would not fit.
fn refuse_ranges(task: &Task<'_>, name: &str) -> Result<(), Error> {
    match task.knobs.iter().find(|knob| knob.levels() > ::trimtab::MOST_LISTED) {
        Some(knob) => Err(Error::Usage(format!(
            "{name} keeps a number per pair of levels, and a knob here has {} levels; leave {name} out",
            knob.levels()
        ))),
        None => Ok(()),
    }
}

/// The usual fallback.
const DRAW: &str = "a random combination that was not measured";

/// All methods, in the order in which tables list them.
pub(crate) const METHODS: &[Entry] = &[
    trimtab::TRIMTAB,
    cbo::LOOKUP,
    cbo::LOOKUP_10,
    cbo::LOOKUP_POLYTOPE,
    cbo::LOOKUP_BOUNDING_BOX,
    cbo::RECON,
    smac::SMAC,
    tpe::TPE,
    bocs::SA,
    bocs::SDP,
    combo::COMBO,
    casmopolitan::CASMOPOLITAN,
    bodi::BODI,
    bounce::BOUNCE,
    heat::HEAT,
    bin_aa::BIN_AA,
    bin_round::BIN_ROUND,
    dec_round::DEC_ROUND,
    rembo::REMBO,
    annealing::ANNEALING,
    descent::DESCENT,
    random::RANDOM,
];

/// Methods that `all` leaves out: trimtab, CBO-Lookup and COMBO with one change each, to find out
/// what matters, Thompson sampling with our kernel, and Optuna, which needs more than this program.
pub(crate) const EXTRA: &[Entry] = &[
    trimtab::ROWS_128,
    trimtab::ROWS_1024,
    trimtab::REFIT_8,
    trimtab::REFIT_ALWAYS,
    trimtab::EI,
    cbo::ONE,
    cbo::PER_DIMENSION,
    cbo::CENTRED,
    cbo::BETA,
    cbo::NOISE,
    cbo::MEAN,
    cbo::STANDARD,
    cbo::THEOREM,
    combo::COMBO_20K,
    thompson::THOMPSON,
    optuna::OPTUNA,
];

/// Mean seconds per suggestion of other people's implementations on problems of 10 to 25 bits, up
/// to 100 evaluations, on one core of another desktop: the paper authors' code with bayeso, the
/// BOCS authors' Python code, SMAC3, Optuna's TPE, and MCBO's COMBO, CASMOPOLITAN and BODi.
pub(crate) const ORIGINALS: &[(&str, f64)] = &[
    ("cbo-lookup", 10.1),
    ("cbo-lookup-d10", 2.1),
    ("smac", 0.39),
    ("tpe", 0.0072),
    ("bocs-sa", 0.39),
    ("bocs-sdp", 0.30),
    ("combo", 4.5),
    ("casmopolitan", 2.1),
    ("bodi", 2.4),
];

/// A method parsed from its name.
#[derive(Clone, Copy)]
pub(crate) struct Choice(pub(crate) &'static Entry);

impl FromStr for Choice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        METHODS.iter().chain(EXTRA).find(|entry| entry.name == name).map(Self).ok_or_else(|| {
            let names: Vec<_> = METHODS.iter().map(|entry| entry.name).collect();
            format!("there is no method `{name}`; there are {}, and `all`", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A convex cost with its minimum at level 0 of every knob, and another weight for each knob.
    fn cost(levels: &[Level]) -> f64 {
        levels.iter().enumerate().map(|(i, l)| (f64::from(*l) - 0.3) * (f64::from(*l) - 0.3) * (1.0 + i as f64)).sum()
    }

    fn trace(entry: &Entry, knobs: &[Knob], seed: u64, budget: usize) -> Vec<Vec<Level>> {
        let mut method = (entry.start)(&Task { knobs, seed, budget }).unwrap();
        let first: Vec<Level> = vec![1; knobs.len()];
        method.tell(&first, cost(&first)).unwrap();
        let mut trace = vec![first];
        while trace.len() < budget {
            let Some(levels) = method.ask().unwrap() else { break };
            assert!(levels.len() == knobs.len(), "{}", entry.name);
            assert!(levels.iter().zip(knobs).all(|(l, k)| usize::from(*l) < k.levels()), "{}: {levels:?}", entry.name);
            method.tell(&levels, cost(&levels)).unwrap();
            trace.push(levels);
        }
        trace
    }

    #[test]
    fn every_method_follows_its_seed_on_every_kind_of_knob() {
        let values: &'static [f32] = &[1.0, 2.0, 5.0, 10.0];
        let mixed = [
            Knob::nominal(2),
            Knob::nominal(5),
            Knob::ranked(7),
            Knob::graded(values, ::trimtab::Scale::Log),
            Knob::nominal(2),
        ];
        for knobs in [&[Knob::nominal(2); 12][..], &mixed] {
            for entry in METHODS {
                let first = trace(entry, knobs, 1, 14);
                assert_eq!(first.len(), 14, "{}", entry.name);
                assert_eq!(first, trace(entry, knobs, 1, 14), "{}", entry.name);
                assert_ne!(first, trace(entry, knobs, 2, 14), "{}", entry.name);
            }
        }
    }

    /// A recommendation is among the measured, and what is asked next does not depend on it.
    #[test]
    fn recommending_changes_nothing() {
        let knobs = [Knob::nominal(3), Knob::ranked(7), Knob::nominal(2), Knob::nominal(2)];
        for entry in METHODS {
            let expected = trace(entry, &knobs, 1, 12);
            let mut method = (entry.start)(&Task { knobs: &knobs, seed: 1, budget: 12 }).unwrap();
            for (i, levels) in expected.iter().enumerate() {
                assert!(i == 0 || method.ask().unwrap().as_ref() == Some(levels), "{}, ask {i}", entry.name);
                method.tell(levels, cost(levels)).unwrap();
                if let Some(own) = method.recommend() {
                    assert!(expected[..=i].contains(&own.levels), "{}", entry.name);
                    assert!(own.belief.is_some_and(|(mean, sd)| mean.is_finite() && sd >= 0.0), "{}", entry.name);
                }
            }
        }
    }

    /// Most methods take ranges of thousands of levels; two say why they do not.
    #[test]
    fn ranges_are_raced_or_refused() {
        let knobs = [Knob::range(0.0, 4095.0, 1.0), Knob::nominal(3), Knob::log_range(1.0, 100.0, 300)];
        let task = Task { knobs: &knobs, seed: 1, budget: 10 };
        for entry in METHODS.iter().filter(|entry| entry.name != "casmopolitan") {
            match (entry.start)(&task) {
                Ok(_) => assert_eq!(trace(entry, &knobs, 1, 10).len(), 10, "{}", entry.name),
                Err(error) => {
                    assert!(["combo", "heat"].contains(&entry.name), "{}: {error}", entry.name);
                    assert!(error.to_string().contains("4096 levels; leave"), "{error}");
                }
            }
        }
    }

    #[test]
    fn extra_methods_are_found_by_name_alone() {
        assert!(EXTRA.iter().all(|entry| entry.name.parse::<Choice>().is_ok()));
        assert!(EXTRA.iter().all(|entry| METHODS.iter().all(|own| own.name != entry.name)));
    }

    #[test]
    fn methods_without_repeats_never_ask_twice() {
        for name in ["trimtab", "cbo-lookup", "smac", "casmopolitan", "heat", "local-search", "random"] {
            let Choice(entry) = name.parse().unwrap();
            let trace = trace(entry, &[Knob::nominal(2); 6], 3, 64);
            assert_eq!(trace.iter().collect::<HashSet<_>>().len(), trace.len(), "{name}");
        }
    }
}
