//! An instance in a JSON file, with its exact numbers.
//!
//! One object. Every instance has
//!
//! | field | meaning |
//! |---|---|
//! | `problem` | the problem's name; digits and anything after them are for people: `bqp10`, `ising24_l0` |
//! | `m` | number of bits |
//! | `x0`, `f_x0` | optional: the combination to start from, m numbers 0 or 1, and its cost |
//! | `x_opt`, `f_opt` | optional: the optimum, if it is known |
//! | `check` | optional: combinations and their costs, `{"x": […], "f": …}` |
//!
//! and the numbers of its problem:
//!
//! | problem | fields |
//! |---|---|
//! | `thumbs-up`, `labs` | none |
//! | `seesaw` | `weights`: m numbers |
//! | `bqp` | `Q`: m × m numbers; `lam`: λ |
//! | `ising` | `J`: 24 couplings; `lam`: λ; `edges`: pairs of spins, if their order differs from ours |
//! | `sparse-regression` | `X_train`, `X_val`, `X_test`: rows of m numbers; `y_train` and so on; `l1` if not 0 |
//! | `contamination` | `init_Z`: one number per simulation; `lambdas`, `gammas`: m such rows; `lam`: λ |
//!
//! A [command](super::command) is a problem too, with fields of its own.
//!
//! Contamination may also set `U`, `epsilon` and `rho`. Other fields are ignored.
//!
//! **Choices**
//! - Reading a file checks every combination that has a cost. A wrong cost is an error, because the
//!   file then describes another problem than ours.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use trimtab::{Knob, Level};

use super::{FAMILIES, Family, Optimum, Problem, command};
use crate::error::Error;

/// Largest relative deviation of a cost from the file's.
const TOLERANCE: f64 = 1e-9;

/// Most bits of an instance.
const MOST: usize = 256;
/// Other people's names for our problems, without the dashes.
const ALIASES: &[(&str, &str)] = &[("sparsereg", "sparseregression")];

/// A combination and its cost.
#[derive(Deserialize)]
struct Check {
    x: Vec<Level>,
    f: f64,
}

/// The fields of a file.
pub(crate) struct Instance {
    path: PathBuf,
    fields: Map<String, Value>,
}

impl Instance {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Failed(format!("cannot read the instance {}: {error}", path.display())))?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let fields = serde_json::from_str(text)
            .map_err(|error| Error::Failed(format!("{} must be a JSON object: {error}", path.display())))?;
        Ok(Self { path: path.to_path_buf(), fields })
    }

    /// A required field.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let field = self.fields.get(name).ok_or_else(|| self.fault(&format!("the field `{name}` is missing")))?;
        serde_json::from_value(field.clone()).map_err(|error| self.fault(&format!("field `{name}`: {error}")))
    }

    /// An optional field, which may also be null.
    pub(crate) fn find<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Error> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.get(name).map(Some),
        }
    }

    /// Number of bits.
    pub(crate) fn bits(&self) -> Result<usize, Error> {
        let m = self.get("m")?;
        if (1..=MOST).contains(&m) { Ok(m) } else { Err(self.fault(&format!("`m` is {m}, but must be 1 to {MOST}"))) }
    }

    /// A required number.
    pub(crate) fn number(&self, name: &str) -> Result<f64, Error> {
        self.get(name)
    }

    /// A list of `count` numbers.
    pub(crate) fn numbers(&self, name: &str, count: usize) -> Result<Vec<f64>, Error> {
        let numbers: Vec<f64> = self.get(name)?;
        if numbers.len() == count {
            return Ok(numbers);
        }
        Err(self.fault(&format!("`{name}` has {} numbers; it needs {count}", numbers.len())))
    }

    /// A matrix of this shape.
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Vec<Vec<f64>>, Error> {
        let matrix: Vec<Vec<f64>> = self.get(name)?;
        if matrix.len() == rows && matrix.iter().all(|row| row.len() == columns) {
            return Ok(matrix);
        }
        Err(self.fault(&format!("`{name}` must have {rows} rows of {columns} numbers")))
    }

    /// An error that names the file.
    pub(crate) fn fault(&self, what: &str) -> Error {
        Error::Failed(format!("the instance {}: {what}", self.path.display()))
    }

    /// The instance's name in outputs: that of the file.
    pub(crate) fn name(&self) -> String {
        self.path.file_stem().map_or_else(|| "instance".into(), |name| name.to_string_lossy().into_owned())
    }

    fn family(&self) -> Result<&'static Family, Error> {
        let name: String = self.get("problem")?;
        // Others write names without dashes and with sizes: thumbsup20, sparsereg24.
        let letters: String = name.chars().filter(|c| *c != '-').take_while(|c| c.is_ascii_alphabetic()).collect();
        let alias = ALIASES.iter().find(|(theirs, _)| *theirs == letters);
        let letters = alias.map_or(letters, |(_, ours)| ours.to_string());
        let is_it = |family: &&Family| family.load.is_some() && family.name.replace('-', "") == letters;
        FAMILIES.iter().find(is_it).ok_or_else(|| {
            let names: Vec<_> = FAMILIES.iter().filter(|f| f.load.is_some()).map(|f| f.name).collect();
            self.fault(&format!("problem `{name}` must be one of {}, command", names.join(", ")))
        })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Builds the problem and checks the costs in the file.
    pub(crate) fn problem(&self) -> Result<Box<dyn Problem>, Error> {
        if self.get::<String>("problem")? == command::NAME {
            return command::load(self);
        }
        let family = self.family()?;
        let Some(load) = family.load else { return Err(self.fault("this problem cannot be loaded from a file")) };
        let inner = load(self)?;
        let is_valid = |levels: &[Level]| {
            let knobs = inner.knobs();
            levels.len() == knobs.len() && levels.iter().zip(knobs).all(|(l, knob)| usize::from(*l) < knob.levels())
        };
        let check = |name: &str, x: &[Level], value: f64| {
            if !is_valid(x) {
                return Err(self.fault(&format!("`{name}` is not a combination of the problem")));
            }
            let own = inner.cost(x);
            // Written so that a NaN fails.
            if (own - value).abs() <= TOLERANCE * value.abs().max(1.0) {
                return Ok(());
            }
            Err(self.fault(&format!("`{name}` costs {own} here, not {value}: the file describes another problem")))
        };
        for (i, Check { x, f }) in self.find::<Vec<Check>>("check")?.unwrap_or_default().iter().enumerate() {
            check(&format!("check[{i}]"), x, *f)?;
        }
        let start: Option<Vec<Level>> = self.find("x0")?;
        match (&start, self.find("f_x0")?) {
            (Some(start), Some(value)) => check("x0", start, value)?,
            (Some(start), None) if !is_valid(start) => {
                return Err(self.fault("`x0` is not a combination of the problem"));
            }
            _ => {}
        }
        let optimum = match (self.find("x_opt")?, self.find("f_opt")?) {
            (Some(levels), Some(value)) => Some(Optimum { value, levels }),
            _ => None,
        };
        if let Some(Optimum { value, levels }) = &optimum {
            check("x_opt", levels, *value)?;
        }
        Ok(Box::new(Loaded { inner, start, optimum }))
    }
}

/// A problem with the start and the optimum from its file.
struct Loaded {
    inner: Box<dyn Problem>,
    start: Option<Vec<Level>>,
    optimum: Option<Optimum>,
}

impl Problem for Loaded {
    fn knobs(&self) -> &[Knob] {
        self.inner.knobs()
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        self.inner.cost(levels)
    }

    /// Prefers our own optimum: the file's has the right cost but need not be the best.
    fn optimum(&self) -> Option<Optimum> {
        self.inner.optimum().or_else(|| self.optimum.clone())
    }

    fn test_cost(&self, levels: &[Level]) -> Option<f64> {
        self.inner.test_cost(levels)
    }

    fn start(&self) -> Option<Vec<Level>> {
        self.start.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("instances")
    }

    /// Reads every file of a folder and compares the file's optima with those we can compute.
    fn check_all(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> usize {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        for path in &paths {
            let instance = Instance::read(path).unwrap();
            // Reading checks every cost in the file.
            let problem = instance.problem().unwrap_or_else(|error| panic!("{error:?}"));
            assert!(problem.start().is_some());
            if !is_wanted(&instance.name()) {
                continue;
            }
            let known: Option<f64> = instance.find("f_opt").unwrap();
            let own = problem.optimum().unwrap();
            assert!((problem.cost(&own.levels) - own.value).abs() < 1e-12);
            if let Some(known) = known {
                assert!((own.value - known).abs() < 1e-9, "{}: {own:?}, not {known}", path.display());
            }
        }
        paths.len()
    }

    #[test]
    fn costs_and_optima_of_the_reference_instances() {
        // Slow optima for one instance each, fast ones for all; `cargo xtask bench peers` checks all.
        let is_wanted = |name: &str| {
            name.ends_with("_0") || ["thumbs", "seesaw", "bqp"].iter().any(|short| name.starts_with(short))
        };
        assert_eq!(check_all(&folder(), is_wanted), 36);
    }

    fn refusal(text: &str) -> String {
        let instance = Instance::parse(Path::new("some.json"), text);
        match instance.and_then(|instance| instance.problem()) {
            Err(Error::Failed(message)) => message,
            _ => panic!("{text} should be refused"),
        }
    }

    #[test]
    fn errors_name_the_field() {
        for (text, expected) in [
            ("[1]", "must be a JSON object"),
            ("{}", "field `problem` is missing"),
            (r#"{"problem": "nonsense3", "m": 3}"#, "must be one of thumbs-up"),
            (r#"{"problem": "seesaw4"}"#, "field `m` is missing"),
            (r#"{"problem": "seesaw4", "m": 4, "weights": [1, 2]}"#, "`weights` has 2 numbers; it needs 4"),
            (r#"{"problem": "seesaw3", "m": 3, "weights": [1, 2, 3]}"#, "must be even"),
            (r#"{"problem": "bqp2", "m": 2, "lam": 1, "Q": [[1, 2], [3]]}"#, "2 rows of 2 numbers"),
            (r#"{"problem": "bqp2", "m": 2, "lam": "a", "Q": [[1, 2], [3, 4]]}"#, "field `lam`"),
            (r#"{"problem": "thumbsup3", "m": 3, "x0": [0, 1, 2]}"#, "`x0` is not a combination"),
            (r#"{"problem": "thumbsup3", "m": 3, "check": [{"x": [1, 1, 0], "f": -0.5}]}"#, "`check[0]` costs -0.66"),
            (r#"{"problem": "thumbsup2", "m": 2, "x_opt": [1, 0], "f_opt": -1}"#, "`x_opt` costs -0.5 here, not -1"),
            (r#"{"problem": "thumbsup999", "m": 999}"#, "must be 1 to 256"),
            (r#"{"problem": "labs2", "m": 2, "x0": [0, 1], "f_x0": -2.5}"#, "`x0` costs -2 here"),
        ] {
            let error = refusal(text);
            assert!(error.contains("some.json") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_file_has_the_optimum_that_we_cannot_find() {
        let ones = vec!["1"; 60].join(",");
        let zeros = vec!["0"; 60].join(",");
        // Sixty equal weights, too many to enumerate: any symmetric pair balances.
        let mut pair = vec!["0"; 60];
        (pair[29], pair[30]) = ("1", "1");
        let text = format!(
            r#"{{"problem": "seesaw", "m": 60, "weights": [{ones}], "x0": [{zeros}], "x_opt": [{}], "f_opt": 0}}"#,
            pair.join(",")
        );
        let problem = Instance::parse(Path::new("some.json"), &text).unwrap().problem().unwrap();
        assert_eq!(problem.optimum().unwrap().value, 0.0);
        assert_eq!(problem.start(), Some(vec![0; 60]));
    }
}
