//! The result of a bench as short tables: one line per problem and method, then the yardstick.

use std::fmt::Write;

use trimtab::Level;

use super::job::{Job, Plan};
use super::outcome;
use super::store::Store;
use crate::bench::problem::Group;
use crate::bench::runs::evaluation::Evaluation;
use crate::bench::stats::{Estimate, evaluations_to};
use crate::bench::table::Table;
use crate::bench::text::optimum_at;
use crate::bench::yardstick::{Field, Trace, failing, noisy, settled, tables};
use crate::error::Error;

/// A job and its evaluations.
type Run<'a> = (&'a Job, Vec<Evaluation>);

/// The tables of the plan's stored runs.
pub(crate) fn text(store: &Store, plan: &Plan) -> Result<String, Error> {
    let stored = plan.jobs.iter().filter(|job| store.has(job));
    let runs: Vec<Run<'_>> = stored.map(|job| Ok((job, store.read(job)?))).collect::<Result<_, Error>>()?;
    let mut text = format!(
        "{:<32} {:<18} {:>5} {:>12} {:>9} {:>12} {:>10}\n",
        "problem", "method", "runs", "best, mean", "± error", "optimum at", "ms per ask"
    );
    let mut todo: Vec<&Run<'_>> = runs.iter().collect();
    while let Some((first, _)) = todo.first() {
        let is_like = |(job, _): &&Run<'_>| {
            job.problem == first.problem && job.mask == first.mask && job.method.name == first.method.name
        };
        let (group, rest): (Vec<_>, Vec<_>) = todo.iter().partition(|run| is_like(run));
        let _ = writeln!(text, "{}", line(first, &group));
        todo = rest;
    }
    text += "\noptimum at: the median run's evaluation that found it, and how many runs did\n\
             ms per ask: processor time of ask and tell\n";
    for table in yardsticks(&runs).iter().filter(|table| !table.is_empty()) {
        text += "\n";
        text += &table.plain();
    }
    Ok(text)
}

/// The yardstick's tables, relative to trimtab, or to the first method if trimtab did not run.
fn yardsticks(runs: &[Run<'_>]) -> Vec<Table> {
    let (mut methods, mut problems) = (Vec::<String>::new(), Vec::<String>::new());
    let place = |names: &mut Vec<String>, name: &str| {
        names.iter().position(|own| own == name).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        })
    };
    let (mut traces, mut groups) = (Vec::new(), Vec::new());
    for (job, records) in runs {
        let (method, problem) = (place(&mut methods, job.method.name), place(&mut problems, &job.problem));
        let (mask, seed) = (job.mask, job.seed);
        let bests = records.iter().map(|record| record.best).collect();
        let optimum = records.first().and_then(|first| first.optimum);
        if problem == groups.len() {
            groups.push(Group::of(&job.problem, &highest(records)));
        }
        let group = groups[problem];
        traces.push(Trace { method, problem, group, seed, mask, bests, optimum, outcome: outcome(records) });
    }
    let reference = methods.iter().position(|name| name == "trimtab").unwrap_or(0);
    let field = Field::new(&traces);
    vec![
        tables::ratios(&field, &methods, reference),
        tables::groups(&field, &methods, reference),
        noisy::recommendations(&field, &methods),
        failing::failures(&field, &methods),
        settled::stops(&field, &methods),
    ]
}

/// The largest evaluated level of each knob.
fn highest(records: &[Evaluation]) -> Vec<Level> {
    let mut highest = vec![0; records.first().map_or(0, |first| first.combination.len())];
    for record in records {
        highest.iter_mut().zip(&record.combination).for_each(|(most, level)| *most = (*most).max(*level));
    }
    highest
}

/// The table's line for one method on one problem.
fn line(first: &Job, group: &[&Run<'_>]) -> String {
    let runs: Vec<&Vec<Evaluation>> = group.iter().map(|(_, run)| run).collect();
    let bests: Vec<Vec<f64>> = runs.iter().map(|run| run.iter().map(|record| record.best).collect()).collect();
    let finals: Vec<f64> = bests.iter().filter_map(|best| best.last()).copied().collect();
    let shown = Estimate::of(&finals).map_or_else(String::new, |estimate| {
        let error = estimate.error.map_or_else(String::new, |error| format!("{error:.5}"));
        format!("{:>12.5} {error:>9}", estimate.mean)
    });
    let optimum = |run: &[Evaluation]| run.first().and_then(|record| record.optimum);
    let at: Vec<f64> = runs
        .iter()
        .zip(&bests)
        .filter_map(|(run, bests)| Some(evaluations_to(optimum(run)?, bests).map_or(f64::INFINITY, |t| t as f64)))
        .collect();
    let longest = bests.iter().map(Vec::len).max().unwrap_or(0);
    let optimum = optimum_at(&at, longest).map_or_else(|| "unknown".into(), |(_, text)| text);
    let asked: Vec<f64> =
        runs.iter().flat_map(|run| run.iter()).filter(|r| !r.initial).map(|r| r.optimizer_seconds).collect();
    let ms = 1e3 * asked.iter().sum::<f64>() / asked.len().max(1) as f64;
    let problem = format!("{}{}", first.problem, if first.mask { ", masked" } else { "" });
    let method = first.method.name;
    format!("{problem:<32} {method:<18} {:>5} {shown} {optimum:>12} {ms:>10.2}", runs.len())
}
