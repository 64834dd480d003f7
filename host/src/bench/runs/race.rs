//! One run: tell the initial points, then ask, evaluate and tell until the budget is spent.
//!
//! **Choices**
//! - The method sees masked levels; the record holds the problem's own.
//! - The optimizer's seconds are those of `ask` and `tell`; the objective's are counted separately.
//!   Both are [processor time](super::clock) of the run's one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use super::clock::Clock;
use super::job::{Job, Plan};
use crate::bench::method::Task;
use crate::bench::problem::Mask;
use crate::bench::runs::evaluation::Evaluation;
use crate::error::Error;

/// Returns the records of a run, or `None` if it was stopped.
pub(crate) fn run(plan: &Plan, job: &Job, stop: &AtomicBool) -> Result<Option<Vec<Evaluation>>, Error> {
    let built = plan.built(job)?;
    let (problem, budget) = (&*built.problem, plan.settings.budget);
    let none = Mask::none(problem.knobs());
    let mask = if job.mask { &built.mask } else { &none };
    let mut method = (job.method.start)(&Task { knobs: problem.knobs(), seed: job.seed, budget })?;
    let mut records: Vec<Evaluation> = Vec::with_capacity(budget);
    while records.len() < budget {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let given = built.initial.get(records.len());
        let clock = Clock::start();
        let asked = match given {
            Some(levels) => Some(mask.put_on(levels)),
            None => method.ask()?,
        };
        let Some(asked) = asked else {
            records.last_mut().into_iter().for_each(|last| last.exhausted = true);
            break;
        };
        let asking = clock.seconds();
        let combination = mask.lift(&asked);
        let clock = Clock::start();
        let value = problem.cost(&combination);
        let objective_seconds = clock.seconds();
        if !value.is_finite() {
            return Err(Error::Failed(format!("{combination:?} costs {value}, but costs must be finite")));
        }
        let clock = Clock::start();
        method.tell(&asked, value)?;
        let optimizer_seconds = asking + clock.seconds();
        let best = records.last().map_or(value, |last| last.best.min(value));
        records.push(Evaluation {
            problem: job.problem.to_string(),
            method: job.method.name.to_string(),
            seed: job.seed,
            mask: job.mask,
            index: records.len() + 1,
            initial: given.is_some(),
            test: problem.test_cost(&combination),
            combination,
            value,
            best,
            optimizer_seconds,
            objective_seconds,
            optimum: built.optimum.as_ref().map(|optimum| optimum.value),
            exhausted: false,
        });
    }
    Ok(Some(records))
}
