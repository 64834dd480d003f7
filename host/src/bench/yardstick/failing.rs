//! Under failures: how often is the optimum found, and how many measurements are lost?

use super::noisy::by_instance;
use super::{Field, Trace};
use crate::bench::stats::evaluations_to;
use crate::bench::table::{Cell, Table};

/// One row per method, the most solved first. Empty if nothing can fail.
pub(crate) fn failures(field: &Field<'_>, methods: &[String]) -> Table {
    let note = "Solved: runs that found the optimum, of those whose optimum is known. Failed: measurements per run \
        that failed; mean ± standard error over instances.";
    let head = ["method", "solved", "failed per run", "failed in the second half", "runs"];
    let mut table = Table::new("failures", "Failures", note, &head);
    for (method, name) in methods.iter().enumerate() {
        let runs: Vec<&Trace> = field.failing().filter(|trace| trace.method == method).collect();
        if runs.is_empty() {
            continue;
        }
        let known: Vec<bool> =
            runs.iter().filter_map(|run| Some(evaluations_to(run.optimum?, &run.bests).is_some())).collect();
        let solved = known.iter().filter(|own| **own).count();
        let share = solved as f64 / known.len().max(1) as f64;
        // Smaller is better in every column that is sorted.
        let solved = if known.is_empty() {
            Cell::none()
        } else {
            Cell::number(-share, format!("{:.0} % ({solved}/{})", 100.0 * share, known.len()))
        };
        let failed = |of: fn(&(usize, usize)) -> usize| {
            Cell::estimate(by_instance(&runs, |run| Some(run.outcome.failures.as_ref().map_or(0, of) as f64)))
        };
        let row = vec![Cell::words(name), solved, failed(|own| own.0 + own.1), failed(|own| own.1)];
        table.rows.push(row.into_iter().chain([Cell::count(runs.len())]).collect());
    }
    table.rows.sort_by(|a, b| a[1].key.unwrap_or(f64::INFINITY).total_cmp(&b[1].key.unwrap_or(f64::INFINITY)));
    table.embolden(1..4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::Group;
    use crate::bench::yardstick::Outcome;

    #[test]
    fn solved_runs_and_failures_by_hand() {
        let run = |method, seed, last: f64, failures| {
            let outcome = Outcome { failures: Some(failures), ..Outcome::default() };
            let bests = vec![f64::INFINITY, 3.0, last];
            let (problem, group, mask) = (0, Group::Graded, false);
            Trace { method, problem, group, seed, mask, bests, optimum: Some(1.0), outcome }
        };
        let traces = [run(0, 0, 2.0, (5, 2)), run(1, 0, 1.0, (3, 0)), run(1, 1, 2.0, (4, 1))];
        let table = failures(&Field::new(&traces), &["a", "b"].map(String::from));
        let texts: Vec<Vec<&str>> =
            table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
        assert_eq!(
            texts,
            [["b", "50 % (1/2)", "4.0 ± 1.0", "0.50 ± 0.50", "2"], ["a", "0 % (0/1)", "7.000", "2.000", "1"]]
        );
    }
}
