//! One run: tell the initial points, then ask, evaluate and tell until the budget is spent.
//!
//! **Choices**
//! - The method sees masked levels; the record holds the problem's own.
//! - The method is told noisy costs; the record holds the true one beside what was told.
//! - Under noise the method recommends a combination after 30, 60 and 100 % of the budget. One that
//!   recommends none, or one that failed, gets the lowest mean of measurements.
//! - A method that would stop by itself is not stopped: the record says where it would have, at each
//!   of a few tolerances, so that one run shows what that saves and what it loses.
//! - The optimizer's seconds are those of `ask` and `tell`; the objective's are counted separately.
//!   Both are [processor time](super::clock) of the run's one thread.

use std::sync::atomic::{AtomicBool, Ordering};

use trimtab::Level;

use super::clock::Clock;
use super::failures::Listener;
use super::job::{Built, Job, Plan};
use crate::bench::domain::Domain;
use crate::bench::method::Task;
use crate::bench::problem::Mask;
use crate::bench::runs::evaluation::Evaluation;
use crate::bench::yardstick::TOLERANCES;
use crate::error::Error;

/// When a recommendation is asked for, in tenths of the budget.
const RECOMMEND: [usize; 3] = [3, 6, 10];

/// Returns the records of a run, or `None` if it was stopped.
pub(crate) fn run(plan: &Plan, job: &Job, stop: &AtomicBool) -> Result<Option<Vec<Evaluation>>, Error> {
    let built = plan.built(job)?;
    let (problem, budget) = (&*built.problem, plan.settings.budget);
    let none = Mask::none(problem.knobs());
    let mask = if job.mask { &built.mask } else { &none };
    let method = (job.method.start)(&Task { knobs: problem.knobs(), seed: job.seed, budget })?;
    let mut method = Listener::new(method, Domain::new(problem.knobs()), job.seed);
    let recommends = RECOMMEND.map(|tenths| (tenths * budget).div_ceil(10));
    let mut records: Vec<Evaluation> = Vec::with_capacity(budget);
    while records.len() < budget {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let given = built.initial.get(records.len());
        let fallbacks = method.method.fallbacks();
        let clock = Clock::start();
        let asked = match given {
            Some(levels) => Some(mask.put_on(levels)),
            None => method.ask()?,
        };
        let Some(asked) = asked else {
            if let Some(last) = records.last_mut() {
                last.exhausted = true;
                recommend(&mut method, &built, mask, &mut records);
            }
            break;
        };
        let asking = clock.seconds();
        settle(&mut method, &built, mask, &mut records);
        let combination = mask.lift(&asked);
        let is_fenced = built.fence.as_ref().is_some_and(|fence| fence.fails(&combination));
        let clock = Clock::start();
        let value = if is_fenced { f64::INFINITY } else { problem.cost(&combination) };
        let objective_seconds = clock.seconds();
        let failed = is_fenced || (problem.may_fail() && value == f64::INFINITY);
        if !failed && !value.is_finite() {
            return Err(Error::Failed(format!("{combination:?} costs {value}, but costs must be finite")));
        }
        let noise = built.noise.as_ref().filter(|_| !failed);
        let told = noise.map(|noise| value + noise.error(records.len()));
        let clock = Clock::start();
        if failed {
            method.tell_failed(&asked)?;
        } else {
            method.tell(&asked, told.unwrap_or(value))?;
        }
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
            failed,
            told,
            spread: built.noise.as_ref().map(|noise| noise.spread),
            recommended: None,
            believed_mean: None,
            believed_sd: None,
            settled: Vec::new(),
            settled_value: None,
            fallback: method.method.fallbacks() > fallbacks,
            exhausted: false,
        });
        if recommends.contains(&records.len()) {
            recommend(&mut method, &built, mask, &mut records);
        }
    }
    Ok(Some(records))
}

/// Adds to the last record the tolerances at which the method would stop now, for the first time.
fn settle(method: &mut Listener, built: &Built, mask: &Mask, records: &mut [Evaluation]) {
    let known: Vec<f64> = records.iter().flat_map(|record| &record.settled).copied().collect();
    let is_new = |tolerance: &f64| !known.contains(tolerance) && method.method.is_settled(*tolerance);
    let settled: Vec<f64> = TOLERANCES.into_iter().filter(is_new).collect();
    if settled.is_empty() {
        return;
    }
    let recommended = built.noise.as_ref().and_then(|_| recommended(method, built, mask, records));
    let Some(last) = records.last_mut() else { return };
    last.settled_value = recommended.map(|(value, _)| value).or(Some(last.best));
    last.settled = settled;
}

/// Adds the true cost of the recommendation to the last record, if there is noise.
fn recommend(method: &mut Listener, built: &Built, mask: &Mask, records: &mut [Evaluation]) {
    if built.noise.is_none() {
        return;
    }
    let Some((value, belief)) = recommended(method, built, mask, records) else { return };
    let Some(last) = records.last_mut() else { return };
    last.recommended = Some(value);
    (last.believed_mean, last.believed_sd) = belief.unzip();
}

/// The true cost of what the method recommends, and what it believes of it.
fn recommended(
    method: &mut Listener,
    built: &Built,
    mask: &Mask,
    records: &[Evaluation],
) -> Option<(f64, Option<(f64, f64)>)> {
    let fails = |levels: &[Level]| built.fence.as_ref().is_some_and(|fence| fence.fails(levels));
    let own = method.method.recommend().map(|own| (mask.lift(&own.levels), own.belief));
    let own = own.filter(|(levels, _)| !fails(levels));
    let (levels, belief) = own.or_else(|| Some((lowest_mean(records)?, None)))?;
    Some((built.problem.cost(&levels), belief))
}

/// The combination with the lowest mean of what was told, the first of equals.
fn lowest_mean(records: &[Evaluation]) -> Option<Vec<Level>> {
    let mut sums: Vec<(&[Level], f64, f64)> = Vec::new();
    for record in records.iter().filter(|record| !record.failed) {
        let told = record.told.unwrap_or(record.value);
        match sums.iter_mut().find(|(levels, ..)| *levels == record.combination) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + told, *count + 1.0),
            None => sums.push((&record.combination, told, 1.0)),
        }
    }
    let best = sums.into_iter().min_by(|a, b| (a.1 / a.2).total_cmp(&(b.1 / b.2)));
    best.map(|(levels, ..)| levels.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::bench::runs::RaceArgs;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: RaceArgs,
    }

    /// The records of all jobs of a command line.
    fn records(words: &str) -> Vec<Vec<Evaluation>> {
        let line = Line::try_parse_from(format!("bench --out x {words}").split_whitespace()).unwrap();
        let plan = Plan::new(&line.args).unwrap();
        let stop = AtomicBool::new(false);
        plan.jobs.iter().map(|job| run(&plan, job, &stop).unwrap().unwrap()).collect()
    }

    #[test]
    fn every_method_meets_the_same_noise_and_recommends() {
        let words = "--problem board:knobs=3 --method trimtab,heat,casmopolitan,combo,bin-aa,bin-round,random,bocs-sa";
        let runs = records(&format!("{words} --seeds 1 --budget 10 --init 2 --noise 0.5 --mask both"));
        let errors = |run: &[Evaluation]| run.iter().map(|r| r.told.unwrap() - r.value).collect::<Vec<f64>>();
        let first = errors(&runs[0]);
        assert!(first.iter().all(|error| *error != 0.0), "initial points too");
        for run in &runs {
            let method = &run[0].method;
            assert!(errors(run).iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-9), "{method}");
            let at: Vec<usize> = run.iter().filter(|r| r.recommended.is_some()).map(|r| r.index).collect();
            assert_eq!(at, [3, 6, 10], "{method}");
            let believes = !["random", "bocs-sa"].contains(&method.as_str());
            assert!(run.iter().all(|r| r.believed_sd.is_some() == (believes && r.recommended.is_some())), "{method}");
            // Nobody recommends what was not measured.
            let true_costs: Vec<f64> = run.iter().map(|r| r.value).collect();
            assert!(run.iter().filter_map(|r| r.recommended).all(|cost| true_costs.contains(&cost)), "{method}");
        }
    }

    /// The first stop of each tolerance, a larger one no later; methods without a rule have none.
    #[test]
    fn where_a_method_would_stop_is_recorded_once() {
        let runs = records("--problem thumbs-up,board:knobs=3 --method trimtab,random --seeds 1 --budget 60");
        for run in &runs {
            let stops: Vec<(f64, usize)> =
                run.iter().flat_map(|r| r.settled.iter().map(|tolerance| (*tolerance, r.index))).collect();
            if run[0].method == "random" {
                assert!(stops.is_empty());
                continue;
            }
            assert!(!stops.is_empty() && stops.iter().all(|(_, index)| *index > 25), "{stops:?}");
            for (tolerance, index) in &stops {
                assert!(stops.iter().all(|(other, at)| other <= tolerance || at <= index), "{stops:?}");
                assert_eq!(stops.iter().filter(|(other, _)| other == tolerance).count(), 1);
            }
            assert!(run.iter().all(|r| r.settled_value == (!r.settled.is_empty()).then_some(r.best)));
        }
    }

    #[test]
    fn without_noise_there_is_nothing_of_it() {
        let run = &records("--problem bqp --method trimtab --seeds 1 --budget 5")[0];
        assert!(run.iter().all(|r| r.told.is_none() && r.recommended.is_none() && r.spread.is_none() && !r.failed));
        let text = serde_json::to_string(&run[4]).unwrap();
        assert!(text.ends_with("\"test\":null}"), "{text}");
    }

    #[test]
    fn failures_are_recorded_and_the_best_is_over_successes() {
        let runs =
            records("--problem bqp --method trimtab,heat,cbo-lookup,local-search,smac --seeds 2 --budget 20 --fail");
        for run in &runs {
            let failed = run.iter().filter(|record| record.failed).count();
            assert!(failed > 0 && failed < 20, "{}: {failed}", run[0].method);
            let mut best = f64::INFINITY;
            for record in run {
                assert_eq!(record.failed, record.value.is_infinite());
                best = best.min(record.value);
                assert_eq!(record.best, best);
            }
            assert!(best >= run[0].optimum.unwrap() - 1e-9);
        }
    }

    #[test]
    fn the_lowest_mean_by_hand() {
        let mut run = records("--problem bqp --method random --seeds 1 --budget 4").remove(0);
        for (record, (levels, told)) in run.iter_mut().zip([(0, 1.0), (1, 2.0), (0, 5.0), (2, 0.0)]) {
            (record.combination, record.told) = (vec![levels], Some(told));
        }
        run[3].failed = true;
        // 0 has the mean 3, 1 has 2, and 2 failed.
        assert_eq!(lowest_mean(&run), Some(vec![1]));
        assert_eq!(lowest_mean(&run[3..]), None);
    }
}
