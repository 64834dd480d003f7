//! Under noise: how good is what a method recommends, and does it know how good?
//!
//! regret = (true cost of the recommendation − best known)/spread of random costs
//!
//! **Choices**
//! - A run that ended early keeps its last recommendation.
//! - Honest beliefs are those whose truth lies within two standard deviations of the believed mean,
//!   at the end of a run; about 95 % should.
//! - The masked and the unmasked run of an instance are averaged before means and errors are taken.

use std::collections::BTreeMap;

use super::{Field, Trace};
use crate::bench::stats::Estimate;
use crate::bench::table::{Cell, Table};

/// A recommendation, measured without noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recommended {
    pub(crate) value: f64,
    /// What the method believes of it: mean and standard deviation.
    pub(crate) belief: Option<(f64, f64)>,
}

impl Recommended {
    fn is_honest(&self) -> Option<bool> {
        self.belief.map(|(mean, sd)| (self.value - mean).abs() <= 2.0 * sd)
    }
}

/// One row per method, the best at the end first. Empty without noise.
pub(crate) fn recommendations(field: &Field<'_>, methods: &[String]) -> Table {
    let note = "Regret: true cost of the recommended combination minus the best known, in standard deviations of \
        random costs, after 30, 60 and 100 % of the measurements; mean ± standard error over instances. Truth within \
                2 sd: runs whose true cost lies within two believed standard deviations of the believed mean; – for \
                methods that believe nothing. Repeats: measurements of a combination measured before, per run.";
    let head = ["method", "regret at 30 %", "at 60 %", "at 100 %", "truth within 2 sd", "repeats", "runs"];
    let mut table = Table::new("recommendations", "Recommendations under noise", note, &head);
    for (method, name) in methods.iter().enumerate() {
        let runs: Vec<&Trace> = field.noisy().filter(|trace| trace.method == method).collect();
        if runs.is_empty() {
            continue;
        }
        let regret = |part: usize| {
            Cell::estimate(by_instance(&runs, |run| {
                let all = &run.outcome.recommended;
                let best = field.best_known(run.problem, run.seed);
                Some((all.get(part).or(all.last())?.value - best) / run.outcome.spread?)
            }))
        };
        let honest: Vec<bool> = runs.iter().filter_map(|run| run.outcome.recommended.last()?.is_honest()).collect();
        let honest = match honest.len() {
            0 => Cell::none(),
            n => {
                let share = 100.0 * honest.iter().filter(|own| **own).count() as f64 / n as f64;
                Cell::number(share, format!("{share:.0} %"))
            }
        };
        let repeats = Cell::estimate(by_instance(&runs, |run| Some(run.outcome.repeats as f64)));
        let runs = Cell::count(runs.len());
        table.rows.push(vec![Cell::words(name), regret(0), regret(1), regret(2), honest, repeats, runs]);
    }
    table.rows.sort_by(|a, b| a[3].key.unwrap_or(f64::INFINITY).total_cmp(&b[3].key.unwrap_or(f64::INFINITY)));
    table.embolden(1..4)
}

/// The mean over instances of a number of each run, where an instance counts once.
pub(super) fn by_instance(runs: &[&Trace], number: impl Fn(&Trace) -> Option<f64>) -> Option<Estimate> {
    let mut instances: BTreeMap<(usize, u64), (f64, f64)> = BTreeMap::new();
    for (run, own) in runs.iter().filter_map(|run| Some((run, number(run)?))) {
        let (sum, count) = instances.entry((run.problem, run.seed)).or_default();
        (*sum, *count) = (*sum + own, *count + 1.0);
    }
    Estimate::of(&instances.into_values().map(|(sum, count)| sum / count).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::Group;
    use crate::bench::yardstick::Outcome;

    #[test]
    fn regrets_beliefs_and_repeats_by_hand() {
        let run = |method, seed, mask, values: &[f64], belief, repeats| {
            let recommended = values.iter().map(|value| Recommended { value: *value, belief }).collect();
            let outcome = Outcome { recommended, spread: Some(2.0), repeats, ..Outcome::default() };
            let bests = vec![9.0, 1.0];
            Trace { method, problem: 0, group: Group::Binary, seed, mask, bests, optimum: Some(1.0), outcome }
        };
        let traces = [
            // Regrets 4, 2, 0 and 2, 1, 1 in one instance: 3, 1.5, 0.5.
            run(0, 0, false, &[9.0, 5.0, 1.0], Some((2.0, 0.5)), 4),
            run(0, 0, true, &[5.0, 3.0, 3.0], Some((2.0, 0.4)), 6),
            // Ended early: 1, 1, 1.
            run(0, 1, false, &[3.0], None, 3),
            run(1, 0, false, &[3.0, 3.0, 1.0], None, 0),
        ];
        let table = recommendations(&Field::new(&traces), &["a", "b", "c"].map(String::from));
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0], ["b", "1.000", "1.000", "0", "–", "0", "1"]);
        // Means of 3 and 1, 1.5 and 1, 0.5 and 1; beliefs 1 = 2·0.5 off and 1 > 2·0.4 off; 5 and 3 repeats.
        assert_eq!(texts[1], ["a", "2.0 ± 1.0", "1.25 ± 0.25", "0.75 ± 0.25", "50 %", "4.0 ± 1.0", "3"]);
        let quiet: Vec<Trace> =
            traces.into_iter().map(|trace| Trace { outcome: Outcome::default(), ..trace }).collect();
        assert!(recommendations(&Field::new(&quiet), &["a".into()]).rows.is_empty());
    }
}
