//! The tables of a report.

use super::figure::suggestion_seconds;
use super::runs::{Problem, Race, Run, Runs};
use super::verdict::Finding;
use crate::bench::method::ORIGINALS;
use crate::bench::stats::{Estimate, Score, mean_rank, quantile};
use crate::bench::table::{Cell, Table};
use crate::bench::text;

/// Wins, ties and losses between two methods in the races that `keep` selects.
fn score(runs: &Runs, own: usize, other: usize, keep: impl Fn(bool) -> bool) -> Score {
    let races = runs.races().filter(|(_, mask, _)| keep(*mask));
    Score::of(&races.flat_map(|(_, _, race)| race.pairs(own, other)).collect::<Vec<_>>())
}

/// The overall ranking.
pub(super) fn ranking(runs: &Runs) -> Table {
    let mut table = Table::new(
        "ranking",
        "Ranking over all problems and seeds",
        "By the best value at the end of every run. Mean rank: 1 is best; it comes from pairs of runs on the same \
         problem, mask and seed, where ties count half. Wins, ties and losses are against all other methods.",
        &["method", "mean rank", "not masked", "masked", "wins", "ties", "losses", "problems", "seeds", "runs"],
    );
    let methods = runs.methods.len();
    for (own, (name, _)) in runs.methods.iter().enumerate() {
        let scores = |keep: fn(bool) -> bool| -> Vec<Score> {
            (0..methods).filter(|other| *other != own).map(|other| score(runs, own, other, keep)).collect()
        };
        let rank =
            |keep| mean_rank(&scores(keep)).map_or_else(Cell::none, |rank| Cell::number(rank, format!("{rank:.2}")));
        let all = scores(|_| true);
        let sum = |f: fn(&Score) -> usize| Cell::count(all.iter().map(f).sum());
        let problems = runs.problems.iter().filter(|p| p.races.iter().any(|race| !race.runs[own].is_empty())).count();
        let of_races = || runs.races().map(|(_, _, race)| race.runs[own].len());
        table.rows.push(vec![
            Cell::words(name),
            rank(|_| true),
            rank(|mask| !mask),
            rank(|mask| mask),
            sum(|score| score.wins),
            sum(|score| score.ties),
            sum(|score| score.losses),
            Cell::count(problems),
            Cell::count(of_races().max().unwrap_or(0)),
            Cell::count(of_races().sum()),
        ]);
    }
    let rank = |row: &[Cell]| row[1].key.unwrap_or(f64::INFINITY);
    table.rows.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    table.embolden(1..4)
}

/// Every method against every other.
pub(super) fn pairwise(runs: &Runs) -> Table {
    let mut head = vec!["method"];
    head.extend(runs.methods.iter().map(|(name, _)| name.as_str()));
    let mut table = Table::new(
        "pairwise",
        "Pairwise wins, ties and losses",
        "The row's method against the column's: runs on the same problem, mask and seed that ended better, level and \
         worse. Bold where the row wins more often than it loses. Columns sort by the share of losses.",
        &head,
    );
    for (own, (name, _)) in runs.methods.iter().enumerate() {
        let cell = |other: usize| {
            let score = score(runs, own, other, |_| true);
            match score.loss_share() {
                Some(share) if own != other => Cell {
                    text: format!("{}–{}–{}", score.wins, score.ties, score.losses),
                    key: Some(share),
                    is_strong: score.wins > score.losses,
                },
                _ => Cell::none(),
            }
        };
        table.rows.push(std::iter::once(Cell::words(name)).chain((0..runs.methods.len()).map(cell)).collect());
    }
    table
}

/// The cell of a column for a method.
type Column<'a> = Box<dyn Fn(usize) -> Cell + 'a>;

/// One problem: final values, optima and test errors, as far as its runs have them.
pub(super) fn of_problem(runs: &Runs, problem: &Problem, slug: &str) -> Table {
    let races: Vec<(bool, &Race)> = problem.there().collect();
    let mut columns: Vec<(String, Column<'_>)> = Vec::new();
    let name = |what: &str, mask: bool| if mask { format!("{what}, masked") } else { what.to_string() };
    for &(mask, race) in &races {
        columns.push((name("final value", mask), Box::new(move |method| Cell::estimate(race.final_value(method)))));
    }
    if problem.has_optimum() {
        for &(mask, race) in &races {
            columns.push((name("optimum at", mask), Box::new(move |method| solved_at(race, method))));
        }
    }
    if problem.has_test() {
        for &(mask, race) in &races {
            columns.push((name("test error", mask), Box::new(move |method| test_error(race, method))));
        }
    }
    let bold = columns.len();
    for &(mask, race) in &races {
        columns.push((name("seeds", mask), Box::new(move |method| Cell::count(race.runs[method].len()))));
    }
    let mut head = vec!["method"];
    head.extend(columns.iter().map(|(name, _)| name.as_str()));
    let mut note = format!("After {} evaluations, mean ± standard error over seeds.", problem.horizon());
    if problem.has_optimum() {
        note += " Optimum at: the median run's evaluation that found it, and how many runs did.";
    }
    if problem.has_test() {
        note += " Test error: of the best combination, on held-out data.";
    }
    let mut table = Table::new(&format!("{slug}-table"), &problem.name, &note, &head);
    for (method, (name, _)) in runs.methods.iter().enumerate() {
        if races.iter().any(|(_, race)| !race.runs[method].is_empty()) {
            table.rows.push(std::iter::once(Cell::words(name)).chain(columns.iter().map(|(_, f)| f(method))).collect());
        }
    }
    table.embolden(1..bold + 1)
}

/// The median evaluation that found the optimum, and how many runs did.
fn solved_at(race: &Race, method: usize) -> Cell {
    let at = race.numbers(method, |run| run.solved_at());
    let horizon = race.runs[method].iter().map(|run| run.bests.len()).max().unwrap_or(0);
    text::optimum_at(&at, horizon).map_or_else(Cell::none, |(median, text)| Cell::number(median, text))
}

fn test_error(race: &Race, method: usize) -> Cell {
    Cell::estimate(Estimate::of(&race.numbers(method, |run| run.test)))
}

/// A table of methods against races.
fn overview(runs: &Runs, mut table: Table, keep: fn(&Problem) -> bool, cell: fn(&Race, usize) -> Cell) -> Table {
    let races: Vec<_> = runs.races().filter(|(problem, _, _)| keep(problem)).collect();
    if races.is_empty() {
        return table;
    }
    let name = |problem: &Problem, mask| if mask { format!("{}, masked", problem.name) } else { problem.name.clone() };
    table.head.extend(races.iter().map(|(problem, mask, _)| name(problem, *mask)));
    for (method, (name, _)) in runs.methods.iter().enumerate() {
        if races.iter().any(|(_, _, race)| !race.runs[method].is_empty()) {
            let cells = races.iter().map(|(_, _, race)| cell(race, method));
            table.rows.push(std::iter::once(Cell::words(name)).chain(cells).collect());
        }
    }
    let columns = 1..table.head.len();
    table.embolden(columns)
}

/// Final values of all problems.
pub(super) fn finals(runs: &Runs) -> Table {
    let note = "Mean ± standard error over seeds; lower is better, the best mean of a column is bold.";
    let table = Table::new("finals", "Best value at the end", note, &["method"]);
    overview(runs, table, |_| true, |race, method| Cell::estimate(race.final_value(method)))
}

/// Median evaluations to the optimum.
pub(super) fn evaluations(runs: &Runs) -> Table {
    let note = "The median run's evaluation that found the optimum, and how many runs did. A median beyond the \
        budget means that fewer than half of the runs did.";
    let table = Table::new("evaluations", "Evaluations to the optimum", note, &["method"]);
    overview(runs, table, Problem::has_optimum, solved_at)
}

/// Shares of asks that the methods' fallbacks answered.
pub(super) fn fallbacks(runs: &Runs) -> Table {
    let note = "The share of asks that were answered by what a method falls back to, which `trimtab list` names; \
        random starts and restarts are counted too. A method whose model is seldom heard is a random search.";
    let table = Table::new("fallbacks", "Asks answered by the fallback", note, &["method"]);
    let share = |race: &Race, method: usize| match Estimate::of(&race.numbers(method, Run::fallback_share)) {
        Some(share) => Cell::number(share.mean, format!("{:.0} %", 100.0 * share.mean)),
        None => Cell::none(),
    };
    let mut table = overview(runs, table, |_| true, share);
    // Fewer are not better.
    table.rows.iter_mut().flatten().for_each(|cell| cell.is_strong = false);
    table
}

/// Errors on test data.
pub(super) fn test_errors(runs: &Runs) -> Table {
    let note = "The error of every run's best combination on held-out data: mean ± standard error over seeds. The \
                methods minimise the validation error, so the smallest test error need not belong to the best search.";
    let table = Table::new("test-errors", "Test error of the best combination", note, &["method"]);
    overview(runs, table, Problem::has_test, test_error)
}

/// The time per suggestion.
pub(super) fn seconds(runs: &Runs) -> Table {
    let mut table = Table::new(
        "seconds-table",
        "Seconds per suggestion, in numbers",
        "Processor time to suggest a combination and to learn from its value, one core per run. Original: the mean of \
         other people's implementation, measured on one core of another machine.",
        &["method", "median", "90 % below", "longest", "mean", "original, elsewhere", "suggestions"],
    );
    for (method, (name, _)) in runs.methods.iter().enumerate() {
        let asked = suggestion_seconds(runs, method);
        let at = |share| quantile(&asked, share).map_or_else(Cell::none, |x| Cell::number(x, text::seconds(x)));
        let shown = |x: f64| Cell::number(x, text::seconds(x));
        let mean = Estimate::of(&asked).map_or_else(Cell::none, |estimate| shown(estimate.mean));
        let original = ORIGINALS.iter().find(|(method, _)| method == name).map_or_else(Cell::none, |(_, x)| shown(*x));
        table.rows.push(vec![Cell::words(name), at(0.5), at(0.9), at(1.0), mean, original, Cell::count(asked.len())]);
    }
    table
}

/// The comparisons that the reference loses, or in which it is behind.
pub(super) fn findings(id: &str, title: &str, note: &str, own: &str, findings: &[Finding]) -> Table {
    let head = ["problem", "method", own, "that method", "wins–ties–losses", "p"];
    let mut table = Table::new(id, title, note, &head);
    for finding in findings {
        let Score { wins, ties, losses } = finding.score;
        let share = finding.score.loss_share().unwrap_or(0.0);
        table.rows.push(vec![
            Cell::words(&finding.problem),
            Cell::words(&finding.rival),
            Cell::number(finding.own.mean, text::with_error(&finding.own)),
            Cell::number(finding.other.mean, text::with_error(&finding.other)),
            Cell::number(share, format!("{wins}–{ties}–{losses}")),
            Cell::number(finding.chance, text::chance(finding.chance)),
        ]);
    }
    table
}
