//! Problems to minimise: one file per problem, with its formula, its domain and its optimum.
//!
//! A problem is written `name` or `name:parameter=value,…`, as in `ising:lambda=1e-4`; together
//! with a seed it is one instance. A JSON file can also hold an instance, see [`instance`].

pub(crate) mod antenna;
mod board;
mod bqp;
mod command;
mod contamination;
mod dimacs;
mod fence;
mod gray;
mod group;
mod instance;
mod ising;
mod labs;
mod masked;
mod max_sat;
mod mixed;
#[cfg(test)]
mod oracle;
mod pest_control;
mod phones;
mod seesaw;
mod sparse_classification;
mod sparse_regression;
mod svm;
mod thumbs_up;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use crate::error::Error;

/// Any file of clauses: its variables and weights are in range.
#[cfg(any(test, fuzzing))]
pub fn fuzz_dimacs(bytes: &[u8]) {
    let Ok(formula) = dimacs::parse(&String::from_utf8_lossy(bytes)) else { return };
    assert!(formula.variables <= dimacs::MOST);
    for clause in &formula.clauses {
        assert!(clause.weight >= 0.0 && clause.weight.is_finite(), "{clause:?}");
        assert!(clause.literals.iter().all(|(variable, _)| *variable < formula.variables), "{clause:?}");
    }
}

/// Any table: what is read has all classes and finite features.
#[cfg(any(test, fuzzing))]
pub fn fuzz_csv(bytes: &[u8]) {
    let Ok(rows) = phones::parse(&String::from_utf8_lossy(bytes)) else { return };
    assert!(rows.iter().all(|row| row.class < phones::CLASSES && row.features.iter().all(|f| f.is_finite())));
}

pub(crate) use fence::Fence;
pub(crate) use group::Group;
pub(crate) use instance::Instance;
pub(crate) use masked::Mask;

/// A cost to minimise over the combinations of some knobs.
pub(crate) trait Problem: Send + Sync {
    /// The knobs; a combination has one level per knob.
    fn knobs(&self) -> &[Knob];

    /// The cost of a combination; smaller is better.
    fn cost(&self, levels: &[Level]) -> f64;

    /// Whether a measurement may fail by itself: its cost is then infinite.
    fn may_fail(&self) -> bool {
        false
    }

    /// The smallest cost, where it is known or can be computed in seconds.
    fn optimum(&self) -> Option<Optimum> {
        None
    }

    /// The cost on held-out data.
    fn test_cost(&self, _levels: &[Level]) -> Option<f64> {
        None
    }

    /// The combination at which every method starts, or `None` for a random one.
    fn start(&self) -> Option<Vec<Level>> {
        None
    }
}

/// The smallest cost, and a combination that has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Optimum {
    pub(crate) value: f64,
    pub(crate) levels: Vec<Level>,
}

/// Inputs of an instance other than its seed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// The Mobile Price table; `None` for generated data of the same shape.
    pub(crate) data: Option<PathBuf>,
}

/// Builds an instance from parameters, a seed and further sources.
type Build = fn(&Parameters<'_>, u64, &Sources) -> Result<Box<dyn Problem>, Error>;
/// Builds an instance from a file.
type Load = fn(&Instance) -> Result<Box<dyn Problem>, Error>;

/// A named problem, before its parameters and seed are chosen.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// One line for `trimtab list`.
    pub(crate) about: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) build: Build,
    /// Reads a JSON instance, if the problem supports that.
    pub(crate) load: Option<Load>,
}

/// A parameter of a problem.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) default: &'static str,
    pub(crate) about: &'static str,
}

/// All problems, those of the paper first.
pub(crate) const FAMILIES: &[Family] = &[
    thumbs_up::FAMILY,
    seesaw::FAMILY,
    bqp::FAMILY,
    ising::FAMILY,
    sparse_regression::FAMILY,
    sparse_classification::FAMILY,
    contamination::FAMILY,
    pest_control::FAMILY,
    labs::FAMILY,
    max_sat::FAMILY,
    antenna::FAMILY,
    board::FAMILY,
    mixed::FAMILY,
];

/// The problems of `--problem paper`: section 7 of the paper.
pub(crate) const PAPER: &[&str] = &[
    "thumbs-up",
    "seesaw",
    "bqp",
    "ising",
    "ising:lambda=1e-4",
    "sparse-regression",
    "sparse-regression:l1=0.01",
    "sparse-classification",
    "sparse-classification:l1=0.002",
];
/// The problems that `--problem all` adds to those of the paper.
pub(crate) const BEYOND: &[&str] = &[
    "contamination",
    "pest-control",
    "labs",
    "max-sat",
    "antenna",
    "board:knobs=3",
    "board:knobs=4",
    "board",
    "board:knobs=7",
];

/// Separates the instance's random numbers from those of a method with the same seed.
const STREAM: u64 = 0x494e_5354_4143;

/// The random generator of an instance.
fn random_of(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ STREAM)
}

/// A problem with its parameters, as the user wrote them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spec {
    name: &'static str,
    /// Parameters that differ from their defaults, and those whose default is a word, because they
    /// name the data source.
    given: BTreeMap<&'static str, String>,
}

impl Spec {
    pub(crate) fn family(&self) -> &'static Family {
        FAMILIES.iter().find(|family| family.name == self.name).unwrap_or(&FAMILIES[0])
    }

    /// The problem's name in records, which includes its data source.
    pub(crate) fn id(&self, sources: &Sources) -> String {
        self.on(sources).to_string()
    }

    /// Builds the instance of a seed.
    pub(crate) fn build(&self, seed: u64, sources: &Sources) -> Result<Box<dyn Problem>, Error> {
        (self.family().build)(&Parameters(&self.on(sources)), seed, sources)
    }

    /// The same problem on the user's data instead of generated data.
    fn on(&self, sources: &Sources) -> Self {
        let mut spec = self.clone();
        if let (Some(_), Some(data)) = (&sources.data, spec.given.get_mut("data")) {
            *data = "file".into();
        }
        spec
    }
}

/// The form that the command line accepts.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (i, (name, value)) in self.given.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let family = FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| {
            let names: Vec<_> = FAMILIES.iter().map(|family| family.name).collect();
            format!("there is no problem `{name}`; choose one of {}, or `paper` or `all`", names.join(", "))
        })?;
        let is_word = |text: &str| !text.is_empty() && text.parse::<f64>().is_err();
        let words = family.parameters.iter().filter(|parameter| is_word(parameter.default));
        let mut given: BTreeMap<_, _> = words.map(|word| (word.name, word.default.to_string())).collect();
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| format!("`{pair}` is not a parameter; write {name}:name=value"))?;
            let parameter = family.parameters.iter().find(|parameter| parameter.name == key).ok_or_else(|| {
                let names: Vec<_> = family.parameters.iter().map(|parameter| parameter.name).collect();
                match names.is_empty() {
                    true => format!("{name} has no parameter `{key}`; it takes none"),
                    false => format!("{name} has no parameter `{key}`; it has {}", names.join(", ")),
                }
            })?;
            let is_default = match (value.parse::<f64>(), parameter.default.parse::<f64>()) {
                (Ok(value), Ok(default)) => value == default,
                _ => value == parameter.default,
            };
            if is_default && !is_word(parameter.default) {
                given.remove(parameter.name);
            } else {
                given.insert(parameter.name, value.to_string());
            }
        }
        Ok(Self { name: family.name, given })
    }
}

/// The parameters of a problem, with defaults for those not given.
pub(crate) struct Parameters<'a>(&'a Spec);

impl Parameters<'_> {
    pub(crate) fn text(&self, name: &str) -> &str {
        let default = || self.0.family().parameters.iter().find(|parameter| parameter.name == name);
        self.0.given.get(name).map_or_else(|| default().map_or("", |parameter| parameter.default), String::as_str)
    }

    pub(crate) fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<f64, Error> {
        let number = self.text(name).parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.fault(name, &format!("a number from {} to {}", range.start(), range.end())))
    }

    pub(crate) fn count(&self, name: &str, range: RangeInclusive<usize>) -> Result<usize, Error> {
        let number = self.text(name).parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.fault(name, &format!("a whole number from {} to {}", range.start(), range.end())))
    }

    fn fault(&self, name: &str, wanted: &str) -> Error {
        Error::Usage(format!("`{name}={}` of {} is not valid; write {wanted}", self.text(name), self.0.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_can_be_built_and_has_costs() {
        for name in PAPER.iter().chain(BEYOND) {
            let spec: Spec = name.parse().unwrap();
            assert_eq!(spec.to_string().parse::<Spec>(), Ok(spec.clone()));
            let problem = spec.build(1, &Sources::default()).unwrap();
            let domain = crate::bench::domain::Domain::new(problem.knobs());
            let levels = domain.random(&mut random_of(1));
            assert!(problem.cost(&levels).is_finite(), "{name}");
            let again = spec.build(1, &Sources::default()).unwrap();
            assert_eq!(problem.cost(&levels), again.cost(&levels), "{name}");
        }
        let raced = |family: &Family| PAPER.iter().chain(BEYOND).any(|name| name.starts_with(family.name));
        let left_out: Vec<_> = FAMILIES.iter().filter(|family| !raced(family)).map(|family| family.name).collect();
        // Some methods cannot take its ranges.
        assert_eq!(left_out, ["mixed"]);
    }

    #[test]
    fn parameters_are_shown_if_they_differ() {
        for (text, shown) in [
            ("bqp", "bqp"),
            ("bqp:m=10,lambda=1.0", "bqp"),
            ("bqp:lambda=0.5,m=12,m=10", "bqp:lambda=0.5"),
            ("sparse-classification", "sparse-classification:data=generated"),
            ("max-sat:file=a:b.cnf", "max-sat:file=a:b.cnf"),
        ] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), shown);
        }
        for (text, expected) in
            [("qbp", "there is no problem"), ("bqp:n=3", "it has m, lambda, alpha"), ("bqp:3", "name=value")]
        {
            let error = text.parse::<Spec>().unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let Err(Error::Usage(error)) = "bqp:m=0".parse::<Spec>().unwrap().build(0, &Sources::default()) else {
            panic!()
        };
        assert!(error.contains("from 1 to 256"), "{error}");
    }
}
