//! The tables that `cargo xtask cost` prints.

use std::fmt::{self, Display, Formatter};

use super::{Case, LEVELS, Mode, Report, Run, Step, WINDOW};

/// Which steps the tables show.
const SHOWN: [usize; 6] = [1, 8, 16, 32, 64, 128];

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Ok(budgets) = self.budgets() {
            writeln!(f, "### Targets: 24 relays, 64 observations, 256 candidates\n")?;
            writeln!(f, "| what | target | reached | |\n|---|---:|---:|---|")?;
            for budget in budgets {
                let (what, [target, reached]) = (budget.target.what, [budget.target.most, budget.reached].map(grouped));
                writeln!(f, "| {what} | {target} | {reached} | {} |", if budget.is_met() { "met" } else { "MISSED" })?;
            }
            writeln!(f)?;
            for budget in budgets.iter().filter(|budget| !budget.is_met()) {
                writeln!(f, "- {}: what would meet it: {}.", budget.target.what, budget.target.takes)?;
            }
            writeln!(f)?;
        }
        whole_runs(f, &self.cases)?;
        for case in &self.cases {
            by_observations(f, case)?;
        }
        writeln!(f, "### Slices: the most instructions of a call that cannot be cut\n")?;
        writeln!(f, "| tuner | run | call | instructions |\n|---|---|---|---:|")?;
        for ([name, run, call], count) in &self.slices {
            writeln!(f, "| {name} | {run} | `{call}` | {} |", grouped(*count))?;
        }
        writeln!(f, "\n### Bytes of the images\n")?;
        writeln!(f, "| `minimal` at | text + rodata |\n|---|---:|")?;
        for (level, bytes) in LEVELS.iter().zip(&self.flash) {
            writeln!(f, "| opt-level {} | {} |", level.replace('\'', "\""), grouped(*bytes))?;
        }
        writeln!(f, "\n| image | vectors | text | rodata | data | bss |\n|---|---:|---:|---:|---:|---:|")?;
        for (name, s) in &self.images {
            let columns = [s.vectors, s.text, s.rodata, s.data, s.bss].map(grouped).join(" | ");
            writeln!(f, "| {name} | {columns} |")?;
        }
        Ok(())
    }
}

/// Everything about whole runs, one line a tuner and mode.
fn whole_runs(f: &mut Formatter<'_>, cases: &[Case]) -> fmt::Result {
    writeln!(f, "### Whole runs of T observations, fits included\n")?;
    writeln!(
        f,
        "Bytes of state (with its cache) and stack; instructions of `tell`, of the `ask` after it and of both.\n"
    )?;
    writeln!(
        f,
        "| tuner | T, L, D | | state | stack | steady both | tell mean | worst | ask mean | worst | both mean | worst |"
    )?;
    writeln!(f, "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")?;
    for case in cases {
        let (name, [_, t, l, d]) = (&case.name, case.sizes);
        for mode in [Mode::Recomputing, Mode::Incremental] {
            let state = case.state + if mode == Mode::Incremental { case.cache } else { 0 };
            write!(f, "| {name} | {t}, {l}, {} | {} | {} ", dimensions(d), mode.name(), grouped(state))?;
            match case.run(mode) {
                Some(run) => writeln!(f, "| {} |", columns(run).map(grouped).join(" | "))?,
                None => writeln!(f, "| not measured |")?,
            }
        }
    }
    writeln!(
        f,
        "\nSteady is the median of the steps without a fit and without a new best. The stack is that of the calls,"
    )?;
    writeln!(f, "without printing.\n")
}

/// The numbers of a run.
fn columns(run: &Run) -> [u64; 8] {
    let (tell, ask) = (|step: &Step| step.tell, |step: &Step| step.ask);
    let [tells, asks, both] = [
        (run.mean(tell), run.worst(tell)),
        (run.mean(ask), run.worst(ask)),
        (run.mean(Step::both), run.worst(Step::both)),
    ];
    [run.stack, run.steady(), tells.0, tells.1, asks.0, asks.1, both.0, both.1]
}

/// How a tuner's steps grow.
fn by_observations(f: &mut Formatter<'_>, case: &Case) -> fmt::Result {
    let (Some(run), [k, t, l, d]) = (case.run(Mode::Recomputing), case.sizes) else { return Ok(()) };
    let incremental = case.run(Mode::Incremental);
    writeln!(f, "### {}: {k} knobs, at most {t} observations, {l} rows, {}\n", case.name, projection(d))?;
    writeln!(f, "| observations | ask | with a cache | cheapest tell | dearest tell |\n|---:|---:|---:|---:|---:|")?;
    for step in SHOWN.iter().filter_map(|t| run.step(*t)) {
        let (cheapest, dearest) = run.tells(step.t).unwrap_or_default();
        let cached = incremental.and_then(|run| run.step(step.t)).map_or(String::new(), |step| grouped(step.ask));
        let [t, ask, cheapest, dearest] = [step.t as u64, step.ask, cheapest, dearest].map(grouped);
        writeln!(f, "| {t} | {ask} | {cached} | {cheapest} | {dearest} |")?;
    }
    writeln!(f, "\nTells are of the last {WINDOW} steps: the dearest one fits the model, the cheapest does not.\n")
}

fn projection(d: u64) -> String {
    if d == 0 { "no projection".into() } else { format!("{d} dimensions") }
}

fn dimensions(d: u64) -> String {
    if d == 0 { "none".into() } else { d.to_string() }
}

/// A number with a space between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (head, tail) = digits.split_at(first);
    tail.as_bytes().chunks(3).fold(head.to_string(), |text, three| text + " " + &String::from_utf8_lossy(three))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [0, 7, 42, 999, 1000, 12_288, 4_540_000].map(grouped),
            ["0", "7", "42", "999", "1 000", "12 288", "4 540 000"]
        );
    }
}
