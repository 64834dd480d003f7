//! What a stop by itself saves, and what it loses.
//!
//! saved = measurements after the stop/all measurements
//!
//! lost = (value at the stop − value at the end)/(best after 4 measurements − value at the end)
//!
//! **Choices**
//! - A run that never stops saves and loses nothing; it counts.
//! - Under noise a value is the true cost of what the method recommends.
//! - Beside the method's own rule stands the plain one that knows no model: stop after so many
//!   measurements in a row without an improvement.

use super::noisy::by_instance;
use super::{Field, Trace};
use crate::bench::stats::Estimate;
use crate::bench::table::{Cell, Table};

/// The tolerances whose stops are recorded.
pub(crate) const TOLERANCES: [f64; 3] = [0.001, 0.01, 0.1];
/// Lengths of the pauses of the plain rule.
const PAUSES: [usize; 3] = [20, 30, 40];
/// Measurements after which the gain of a run begins.
const START: usize = 4;
/// A loss that users would notice.
const NOTICED: f64 = 0.05;

/// Where a method would have stopped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    pub(crate) tolerance: f64,
    /// Number of measurements.
    pub(crate) after: usize,
    /// The value that it would have ended with.
    pub(crate) value: f64,
}

/// One row per method and rule. Empty if no run would have stopped.
pub(crate) fn stops(field: &Field<'_>, methods: &[String]) -> Table {
    let note = "Saved: measurements after the stop, of all. Lost: of what the whole run gained over its best after 4 \
                measurements, the share that came after the stop; mean ± standard error over instances. A pause is \
                the plain rule beside it: so many measurements in a row without an improvement.";
    let head = ["method", "stops", "saved", "lost", "runs that lose over 5 %", "runs that stop", "runs"];
    let mut table = Table::new("stops", "Stopping by itself", note, &head);
    for (method, name) in methods.iter().enumerate() {
        let runs: Vec<&Trace> = field.all().filter(|trace| trace.method == method).collect();
        if runs.iter().all(|run| run.outcome.stops.is_empty()) {
            continue;
        }
        for tolerance in TOLERANCES {
            let stop = |run: &Trace| run.outcome.stops.iter().find(|stop| stop.tolerance == tolerance).copied();
            table.rows.push(row(name, &format!("settled at {} %", 100.0 * tolerance), &runs, stop));
        }
        // Under noise the best so far is not what the method would recommend.
        if runs.iter().all(|run| run.outcome.spread.is_none()) {
            for pause in PAUSES {
                table.rows.push(row(name, &format!("pause of {pause}"), &runs, |run| paused(run, pause)));
            }
        }
    }
    table
}

/// The stop after so many measurements without an improvement.
fn paused(run: &Trace, pause: usize) -> Option<Stop> {
    let after = (pause + 1..run.bests.len()).find(|n| run.bests[n - 1] >= run.bests[n - 1 - pause])?;
    Some(Stop { tolerance: 0.0, after, value: run.bests[after - 1] })
}

fn row(name: &str, rule: &str, runs: &[&Trace], stop: impl Fn(&Trace) -> Option<Stop>) -> Vec<Cell> {
    let saved = |run: &Trace| {
        let after = stop(run).map_or(run.bests.len(), |stop| stop.after);
        Some(1.0 - after as f64 / run.bests.len().max(1) as f64)
    };
    let lost = |run: &Trace| Some(stop(run).map_or(0.0, |stop| lost(run, stop.value)));
    let noticed = runs.iter().filter_map(|run| lost(run)).filter(|lost| *lost > NOTICED).count();
    let stopped = runs.iter().filter(|run| stop(run).is_some()).count();
    let share = |count: usize| {
        let share = 100.0 * count as f64 / runs.len().max(1) as f64;
        Cell::number(share, format!("{share:.0} %"))
    };
    vec![
        Cell::words(name),
        Cell::words(rule),
        percent(by_instance(runs, saved)),
        percent(by_instance(runs, lost)),
        share(noticed),
        share(stopped),
        Cell::count(runs.len()),
    ]
}

/// The share of a run's gain that comes after it had this value.
fn lost(run: &Trace, value: f64) -> f64 {
    let last = run.outcome.recommended.last().map_or(run.last(), |last| last.value);
    let start = run.bests.get(START.min(run.bests.len()).saturating_sub(1)).copied().unwrap_or(last);
    let gain = start - last;
    if gain > 0.0 && gain.is_finite() { (value - last) / gain } else { 0.0 }
}

fn percent(estimate: Option<Estimate>) -> Cell {
    estimate.map_or_else(Cell::none, |Estimate { mean, error, .. }| {
        let error = error.map_or_else(String::new, |error| format!(" ± {:.1}", 100.0 * error));
        Cell::number(mean, format!("{:.1}{error} %", 100.0 * mean))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::Group;
    use crate::bench::yardstick::Outcome;

    fn run(bests: Vec<f64>, stops: Vec<Stop>) -> Trace {
        let (group, outcome) = (Group::Binary, Outcome { stops, ..Outcome::default() });
        Trace { method: 0, problem: 0, group, seed: bests.len() as u64, mask: false, bests, optimum: None, outcome }
    }

    #[test]
    fn saved_and_lost_by_hand() {
        // 10 after 4 measurements, 2 at the end: a stop at 3 loses an eighth, at 2 nothing.
        let mut bests = vec![20.0, 10.0, 10.0, 10.0, 3.0];
        bests.resize(49, 3.0);
        bests.push(2.0);
        let stop = |tolerance, after, value| Stop { tolerance, after, value };
        let stopped = run(bests, vec![stop(0.1, 30, 3.0), stop(0.01, 40, 3.0)]);
        let never = run(vec![5.0; 4], Vec::new());
        let table = stops(&Field::new(&[stopped.clone(), never]), &["a", "b"].map(String::from));
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(texts[0][1..], ["settled at 0.1 %", "0.0 ± 0.0 %", "0.0 ± 0.0 %", "0 %", "0 %", "2"]);
        assert_eq!(texts[1][1..], ["settled at 1 %", "10.0 ± 10.0 %", "6.2 ± 6.2 %", "50 %", "50 %", "2"]);
        assert_eq!(texts[2][1..], ["settled at 10 %", "20.0 ± 20.0 %", "6.2 ± 6.2 %", "50 %", "50 %", "2"]);
        // The last improvement before the end is the fifth measurement.
        assert_eq!(texts[3][1..], ["pause of 20", "25.0 ± 25.0 %", "6.2 ± 6.2 %", "50 %", "50 %", "2"]);
        assert_eq!(texts.len(), 6);
        let without = run(stopped.bests, Vec::new());
        assert!(stops(&Field::new(&[without]), &["a".into()]).is_empty());
    }
}
