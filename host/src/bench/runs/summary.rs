//! The result of a bench as a short table: one line per problem and method.

use std::fmt::Write;

use super::job::{Job, Plan};
use super::store::Store;
use crate::bench::runs::evaluation::Evaluation;
use crate::bench::stats::{Estimate, evaluations_to};
use crate::error::Error;

/// The table of the plan's stored runs.
pub(crate) fn text(store: &Store, plan: &Plan) -> Result<String, Error> {
    let mut text = format!(
        "{:<32} {:<18} {:>5} {:>12} {:>9} {:>12} {:>10}\n",
        "problem", "method", "runs", "best, mean", "± error", "optimum at", "ms per ask"
    );
    let mut todo: Vec<&Job> = plan.jobs.iter().filter(|job| store.has(job)).collect();
    while let Some(first) = todo.first().copied() {
        let is_like =
            |job: &&Job| job.problem == first.problem && job.mask == first.mask && job.method.name == first.method.name;
        let (group, rest) = todo.into_iter().partition(is_like);
        todo = rest;
        let _ = writeln!(text, "{}", line(store, first, group)?);
    }
    text += "\noptimum at: median evaluation of the runs that found it, and how many did\n\
             ms per ask: processor time of ask and tell\n";
    Ok(text)
}

/// The table's line for one method on one problem.
fn line(store: &Store, first: &Job, group: Vec<&Job>) -> Result<String, Error> {
    let runs = group.into_iter().map(|job| store.read(job)).collect::<Result<Vec<_>, _>>()?;
    let bests: Vec<Vec<f64>> = runs.iter().map(|run| run.iter().map(|record| record.best).collect()).collect();
    let finals: Vec<f64> = bests.iter().filter_map(|best| best.last()).copied().collect();
    let shown = Estimate::of(&finals).map_or_else(String::new, |estimate| {
        let error = estimate.error.map_or_else(String::new, |error| format!("{error:.5}"));
        format!("{:>12.5} {error:>9}", estimate.mean)
    });
    let optimum = |run: &[Evaluation]| run.first().and_then(|record| record.optimum);
    let found = runs.iter().zip(&bests).filter_map(|(run, bests)| evaluations_to(optimum(run)?, bests));
    let mut at: Vec<usize> = found.collect();
    at.sort_unstable();
    let optimum = match (runs.iter().any(|run| optimum(run).is_some()), at.get(at.len().saturating_sub(1) / 2)) {
        (false, _) => "unknown".into(),
        (true, None) => "never".into(),
        (true, Some(median)) => format!("{median} ({}/{})", at.len(), runs.len()),
    };
    let asked: Vec<f64> = runs.iter().flatten().filter(|r| !r.initial).map(|r| r.optimizer_seconds).collect();
    let ms = 1e3 * asked.iter().sum::<f64>() / asked.len().max(1) as f64;
    let problem = format!("{}{}", first.problem, if first.mask { ", masked" } else { "" });
    let method = first.method.name;
    Ok(format!("{problem:<32} {method:<18} {:>5} {shown} {optimum:>12} {ms:>10.2}", runs.len()))
}
