//! One evaluation of a run, as a JSON line; one file per run.
//!
//! ```text
//! {"problem":"ising:lambda=1e-4","method":"trimtab","seed":0,"mask":false,"index":1,"initial":true,
//!  "combination":[0,1,…],"value":1.5,"best":1.5,"optimizer_seconds":0.001,"objective_seconds":0.0002,
//!  "optimum":0.1,"test":null}
//! ```
//!
//! **Choices**
//! - Every line repeats problem, method and seed, so that files can be moved, merged and searched.
//! - The combination is in the problem's own levels, also under a mask.
//! - Unknown fields are ignored, so that later versions can add some.
//! - A file is checked: numbers without a gap, `best` is the smallest value so far, all lines
//!   belong to one run.

use std::path::Path;

use serde::{Deserialize, Serialize};
use trimtab::Level;

use crate::error::Error;

/// One evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evaluation {
    pub(crate) problem: String,
    pub(crate) method: String,
    pub(crate) seed: u64,
    /// Whether the method saw the levels under other names.
    pub(crate) mask: bool,
    /// Counted from 1.
    pub(crate) index: usize,
    /// Whether the method was given this combination instead of asking for it.
    pub(crate) initial: bool,
    pub(crate) combination: Vec<Level>,
    /// The true cost, without noise; infinite if the measurement failed.
    #[serde(with = "or_null")]
    pub(crate) value: f64,
    /// The smallest value so far; infinite before the first success.
    #[serde(with = "or_null")]
    pub(crate) best: f64,
    /// CPU time of the method, for its ask and tell.
    pub(crate) optimizer_seconds: f64,
    pub(crate) objective_seconds: f64,
    /// The smallest value of all combinations, if known.
    pub(crate) optimum: Option<f64>,
    /// The combination's error on test data, if the problem has any.
    pub(crate) test: Option<f64>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) failed: bool,
    /// The noisy cost that the method was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) told: Option<f64>,
    /// The standard deviation of random costs, under noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spread: Option<f64>,
    /// The true cost of the combination that the method recommends now, and what it believes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) recommended: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) believed_mean: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) believed_sd: Option<f64>,
    /// The tolerances at which the method would have stopped here, and not before; what it would
    /// have recommended then, by its true cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settled: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled_value: Option<f64>,
    /// Whether the method fell back to something else than its model's proposal.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) fallback: bool,
    /// Whether the run ends here before its budget is spent, because the space is exhausted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) exhausted: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// JSON has no infinity: it is null.
mod or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}

impl Evaluation {
    /// Whether two evaluations belong to one run: same problem, mask, method and seed.
    pub(crate) fn is_of_run(&self, other: &Self) -> bool {
        let run = |record: &Self| (record.seed, record.mask);
        run(self) == run(other) && self.problem == other.problem && self.method == other.method
    }

    /// Whether two evaluations agree in everything but the times, and the end, which older files
    /// do not mark.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let untimed =
            |record: &Self| Self { optimizer_seconds: 0.0, objective_seconds: 0.0, exhausted: false, ..record.clone() };
        untimed(self) == untimed(other)
    }

    /// The reason why this evaluation cannot follow those before it, if there is one.
    fn fault(&self, before: &[Self]) -> Option<String> {
        let (index, best) = (before.len() + 1, before.last().map_or(self.value, |last| last.best.min(self.value)));
        let times = [("optimizer_seconds", self.optimizer_seconds), ("objective_seconds", self.objective_seconds)];
        match before.first() {
            _ if self.index != index => Some(format!("`index` is {}, but this is evaluation {index}", self.index)),
            _ if self.failed && self.value.is_finite() => {
                Some(format!("`value` is {}, but the measurement failed", self.value))
            }
            _ if !self.failed && !self.value.is_finite() => Some("`value` is null, but nothing failed".into()),
            _ if self.best != best => Some(format!("`best` is {}, but the smallest value so far is {best}", self.best)),
            Some(first) if !self.is_of_run(first) => Some("the line belongs to another run than the first".into()),
            Some(first) if self.optimum != first.optimum || self.combination.len() != first.combination.len() => {
                Some("the line belongs to another instance than the first".into())
            }
            _ => times.iter().find(|(_, time)| *time < 0.0).map(|(name, time)| format!("`{name}` is {time}, below 0")),
        }
    }
}

/// Reads a file; an error names the broken line.
pub(crate) fn read(path: &Path) -> Result<Vec<Evaluation>, Error> {
    let file = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| Error::Failed(format!("cannot read {file}: {error}")))?;
    let next = "delete the file and run the bench again, which makes only the missing runs";
    let broken = |number: usize, fault: String| Error::Failed(format!("{file}, line {number}: {fault}; {next}"));
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let record: Evaluation = serde_json::from_str(line).map_err(|error| broken(i + 1, plain(&error)))?;
        if let Some(fault) = record.fault(&records) {
            return Err(broken(i + 1, fault));
        }
        records.push(record);
    }
    if records.is_empty() {
        return Err(broken(1, "the file is empty".into()));
    }
    Ok(records)
}

/// A JSON error without its line number, which is always 1 here.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("{reason} (column {})", error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    const LINE: &str = r#"{"problem":"ising:lambda=1e-4","method":"trimtab","seed":0,"mask":true,"index":1,"initial":true,"combination":[0,1],"value":1.5,"best":1.5,"optimizer_seconds":0.001,"objective_seconds":0.0002,"optimum":0.1,"test":null}"#;

    /// A file of one test's own, gone when the test ends.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("trimtab-record-{name}-{}.jsonl", std::process::id()));
            fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let first: Evaluation = serde_json::from_str(LINE).unwrap();
        assert_eq!(serde_json::to_string(&first).unwrap(), LINE);
        let second = Evaluation { index: 2, initial: false, value: 1.0 / 3.0, best: 1.0 / 3.0, ..first.clone() };
        let third = Evaluation { index: 3, value: 0.7, test: Some(2.0), ..second.clone() };
        let fourth = Evaluation {
            index: 4,
            told: Some(0.6),
            spread: Some(2.0),
            recommended: Some(0.7),
            believed_mean: Some(0.65),
            believed_sd: Some(0.1),
            settled: vec![0.01, 0.1],
            settled_value: Some(0.7),
            ..third.clone()
        };
        let fifth = Evaluation { index: 5, value: f64::INFINITY, failed: true, test: None, ..second.clone() };
        let records = [first, second, third, fourth, fifth];
        let text: String = records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
        // A field of a later version.
        let file = Scratch::new("round-trip", &text.replace("\"seed\":0", "\"seed\":0,\"colour\":\"green\""));
        assert_eq!(read(&file.0).unwrap(), records);
    }

    #[test]
    fn broken_files_are_named_with_line_and_reason() {
        let second = LINE.replace("\"index\":1", "\"index\":2");
        let with = |from: &str, to: &str| format!("{LINE}\n{}\n", second.replace(from, to));
        for (text, fault) in [
            (String::new(), "line 1: the file is empty"),
            (format!("{LINE}\n{}", &second[..40]), "line 2: EOF while parsing a value (column 40)"),
            (with("\"seed\":0,", ""), "line 2: missing field `seed`"),
            (with("\"value\":1.5", "\"value\":null"), "line 2: `value` is null, but nothing failed"),
            (
                with("\"test\":null", "\"test\":null,\"failed\":true"),
                "line 2: `value` is 1.5, but the measurement failed",
            ),
            (with("\"index\":2", "\"index\":3"), "line 2: `index` is 3, but this is evaluation 2"),
            (with("\"best\":1.5", "\"best\":1.4"), "line 2: `best` is 1.4, but the smallest value so far is 1.5"),
            (with("trimtab", "random"), "line 2: the line belongs to another run than the first"),
            (with("[0,1]", "[0,1,1]"), "line 2: the line belongs to another instance than the first"),
            (with("0.0002", "-1.0"), "line 2: `objective_seconds` is -1, below 0"),
        ] {
            let file = Scratch::new("broken", &text);
            let message = read(&file.0).unwrap_err().to_string();
            let (name, rest) = message.split_once(", ").unwrap();
            assert!(name == file.0.display().to_string() && rest.starts_with(fault), "{message}");
            assert!(message.ends_with("run the bench again, which makes only the missing runs"), "{message}");
        }
    }

    #[test]
    fn times_are_no_disagreement() {
        let record: Evaluation = serde_json::from_str(LINE).unwrap();
        assert!(record.agrees(&Evaluation { optimizer_seconds: 9.0, ..record.clone() }));
        assert!(!record.agrees(&Evaluation { value: 1.6, ..record.clone() }));
    }
}
