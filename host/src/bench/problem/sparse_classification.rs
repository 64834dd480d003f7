//! Sparse classification: choose features that predict the price class of a phone (section 7.6 of
//! the paper).
//!
//! f(b) = fraction of the validation rows that a support vector machine misclassifies + l₁‖b‖₁, b ∈
//! {0, 1}²⁰; the machine ([`svm`]) is trained on the training rows with the features whose bit is
//! 1. [`Problem::test_cost`] is its error on the test rows, without l₁.
//!
//! | data | meaning |
//! |---|---|
//! | `data=generated` | a generated table of the same shape, see [`phones`]; the default |
//! | `data=file` | the real table, from the file given by `--data` |
//!
//! **Choices**
//! - The seed draws the split: half of the rows for training, a quarter each for validation and
//!   test. Features are standardised by the training rows.
//! - The kind of data is always part of the problem's name, so that nobody mistakes results on
//!   generated data for results on the real table.
//! - The paper's L₁ weight is not known; ours is 0.002: with 500 validation rows a feature must
//!   gain more than one right answer.
//! - Without features the machine predicts a single class, which is wrong three times in four.
//!
//! **Optimum.** Not known: all 2²⁰ choices would take about twenty minutes.

use std::path::Path;

use rand::seq::SliceRandom;
use trimtab::{Knob, Level};

use super::phones::{self, CLASSES, FEATURES, Phone};
use super::svm::{Machine, Pair, Rows, pairs};
use super::{Family, Parameter, Problem, random_of};
use crate::error::Error;

pub(super) const FAMILY: Family = Family {
    name: "sparse-classification",
    about: "choose features for a support vector machine on phone prices: validation error; test error on the side",
    parameters: &[
        Parameter { name: "data", default: "generated", about: "`generated`, or `file` for the real table of --data" },
        Parameter { name: "l1", default: "0", about: "penalty per feature; 0.002 in the L₁ variant" },
    ],
    build: |given, seed, sources| {
        let price = given.number("l1", 0.0..=1e6)?;
        let phones = match (given.text("data"), &sources.data) {
            ("generated", _) => phones::generate(),
            ("file", Some(path)) => phones::read(Path::new(path))?,
            ("file", None) => return Err(Error::Usage("data=file needs a file; add --data FILE".into())),
            (other, _) => {
                return Err(Error::Usage(format!("data={other} must be data=generated or data=file")));
            }
        };
        Ok(Box::new(SparseClassification::new(phones, price, seed)))
    },
    load: None,
};

struct SparseClassification {
    knobs: Vec<Knob>,
    training: Vec<Pair>,
    validation: Rows,
    test: Rows,
    price: f64,
}

impl SparseClassification {
    fn new(mut phones: Vec<Phone>, price: f64, seed: u64) -> Self {
        phones.shuffle(&mut random_of(seed));
        let (training, rest) = phones.split_at(phones.len() / 2);
        let (validation, test) = rest.split_at(rest.len() / 2);
        let scales: Vec<(f64, f64)> = (0..FEATURES.len()).map(|j| scale(training, j)).collect();
        let rows = |phones: &[Phone]| Rows {
            width: FEATURES.len() + 1,
            values: phones.iter().flat_map(|phone| standardised(phone, &scales)).collect(),
            classes: phones.iter().map(|phone| phone.class).collect(),
        };
        let (training, validation, test) = (pairs(&rows(training), CLASSES), rows(validation), rows(test));
        Self { knobs: vec![Knob::nominal(2); FEATURES.len()], training, validation, test, price }
    }

    fn machine(&self, levels: &[Level]) -> Machine {
        let columns: Vec<usize> = (0..levels.len()).filter(|j| levels[*j] == 1).collect();
        Machine::train(&self.training, &columns)
    }
}

/// Mean and standard deviation of a feature; the deviation is 1 if the feature is constant.
fn scale(phones: &[Phone], feature: usize) -> (f64, f64) {
    let n = phones.len() as f64;
    let values = || phones.iter().map(|phone| phone.features[feature]);
    let mean = values().sum::<f64>() / n;
    let deviation = (values().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n).sqrt();
    (mean, if deviation > 0.0 { deviation } else { 1.0 })
}

/// The standardised features, and 1 for the intercept.
fn standardised(phone: &Phone, scales: &[(f64, f64)]) -> Vec<f64> {
    let values = phone.features.iter().zip(scales).map(|(value, (mean, deviation))| (value - mean) / deviation);
    values.chain([1.0]).collect()
}

impl Problem for SparseClassification {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let taken = levels.iter().filter(|level| **level == 1).count();
        self.machine(levels).error(&self.validation) + self.price * taken as f64
    }

    fn test_cost(&self, levels: &[Level]) -> Option<f64> {
        Some(self.machine(levels).error(&self.test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::{Sources, Spec, oracle};

    fn levels(names: &[&str]) -> Vec<Level> {
        FEATURES.iter().map(|feature| names.contains(feature) as Level).collect()
    }

    #[test]
    fn the_choice_matters() {
        let problem = oracle::build("sparse-classification", 0);
        let cost = |names: &[&str]| problem.cost(&levels(names));
        let good = ["ram", "battery_power", "px_width", "px_height"];
        let (none, useless, one, best) = (cost(&[]), cost(&["wifi", "blue"]), cost(&["ram"]), cost(&good));
        assert!(
            none > 0.7 && useless > 0.6 && (0.1..0.4).contains(&one) && best < 0.15,
            "{none} {useless} {one} {best}"
        );
        let test = problem.test_cost(&levels(&good)).unwrap();
        assert!(test < 0.15 && test != best, "{test} {best}");
    }

    #[test]
    fn the_penalty_counts_features_and_the_seed_splits() {
        let [plain, penalised] = ["", ":l1=0.002"]
            .map(|l1| oracle::build(&format!("sparse-classification{l1}"), 1).cost(&levels(&["ram", "fc"])));
        assert!((penalised - plain - 0.004).abs() < 1e-12);
        assert_ne!(plain, oracle::build("sparse-classification", 2).cost(&levels(&["ram", "fc"])));
    }

    #[test]
    fn the_kind_of_data_is_in_the_name() {
        let spec: Spec = "sparse-classification:l1=0.002".parse().unwrap();
        assert_eq!(spec.to_string(), "sparse-classification:data=generated,l1=0.002");
        let sources = Sources { data: Some("/no/such.csv".into()) };
        assert_eq!(spec.id(&sources), "sparse-classification:data=file,l1=0.002");
        assert_eq!(spec.id(&Sources::default()), spec.to_string());
        let Err(Error::Failed(message)) = spec.build(0, &sources) else { panic!("the file is not there") };
        assert!(message.contains("/no/such.csv") && message.contains("leave --data out"), "{message}");
        assert!(oracle::refusal("sparse-classification:data=file").contains("--data FILE"));
        assert!(oracle::refusal("sparse-classification:data=real").contains("data=file"));
    }
}
