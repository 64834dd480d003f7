//! `trimtab bench`: every method on every problem and seed, from the same starting points, one file
//! per run.
//!
//! | name | meaning |
//! |---|---|
//! | job | one run: a problem, a method and a seed, masked or not |
//! | shard i/n | every n-th job from the i-th on, so that n machines share the work |
//!
//! **Choices**
//! - Runs are independent and use all cores.
//! - A run is written when it is complete. Stopping the program loses at most the runs in progress,
//!   and the same command continues where it stopped.
//! - Jobs that a method rejects on principle, such as a problem with too many bits, are skipped and
//!   named. Any other error fails the command after all other jobs are done.

mod args;
mod clock;
pub(crate) mod evaluation;
mod failures;
mod job;
mod noise;
mod outcome;
mod progress;
mod race;
mod store;
mod summary;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rayon::prelude::*;

use crate::error::Error;
use crate::terminal;

pub(crate) use args::RaceArgs;
use job::Plan;
pub(crate) use outcome::outcome;
use progress::Progress;
use store::Store;

/// Stack per thread: the largest tuner is built on it before it is boxed.
const STACK: usize = 64 << 20;

/// Runs the missing jobs, then prints a summary.
pub(crate) fn run(args: &RaceArgs) -> Result<(), Error> {
    let begin = Instant::now();
    let plan = Plan::new(args)?;
    let store = Store::open(&args.out, &plan.settings)?;
    let todo: Vec<_> = plan.jobs.iter().filter(|job| !store.has(job)).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // A second Ctrl-C exits at once, which cannot leave incomplete files.
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|error| Error::Failed(format!("cannot listen for Ctrl-C: {error}")))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.unwrap_or(0)).stack_size(STACK).build();
    let pool = pool.map_err(|error| Error::Failed(format!("cannot start threads: {error}; try --jobs 1")))?;
    let progress = Progress::new(plan.jobs.len(), plan.jobs.len() - todo.len(), args.quiet);
    let faults = Mutex::new(Vec::new());
    // The runs' processor time.
    let seconds = Mutex::new(0.0);
    pool.install(|| {
        // One at a time from the front, so that long runs spread evenly and an early stop leaves
        // complete problems.
        todo.par_iter().with_max_len(1).for_each(|job| {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            match race::run(&plan, job, &stop) {
                Ok(Some(records)) => {
                    let own = records.iter().map(|record| record.optimizer_seconds + record.objective_seconds);
                    *seconds.lock().unwrap_or_else(|lock| lock.into_inner()) += own.sum::<f64>();
                    if let Err(error) = store.write(job, &records) {
                        faults.lock().unwrap_or_else(|lock| lock.into_inner()).push((job.to_string(), error));
                    }
                }
                Ok(None) => return,
                Err(error) => faults.lock().unwrap_or_else(|lock| lock.into_inner()).push((job.to_string(), error)),
            }
            progress.done(job);
        });
    });
    progress.finish();
    let mut faults = faults.into_inner().unwrap_or_else(|lock| lock.into_inner());
    faults.sort_by(|a, b| a.0.cmp(&b.0));
    let (skipped, failed): (Vec<_>, Vec<_>) = faults.into_iter().partition(|(_, e)| matches!(e, Error::Usage(_)));
    for (job, error) in &skipped {
        terminal::note(&format!("skipped {job}: {error}"));
    }
    for (job, error) in &failed {
        terminal::note(&format!("failed {job}: {error}"));
    }
    let done = plan.jobs.iter().filter(|job| store.has(job)).count();
    if stop.load(Ordering::Relaxed) && done < plan.jobs.len() {
        return Err(Error::Failed(format!(
            "stopped: {done} of {} runs are in {}; the same command goes on from there",
            plan.jobs.len(),
            args.out.display()
        )));
    }
    if !failed.is_empty() {
        return Err(Error::Failed(format!("{} of {} runs failed, see above", failed.len(), plan.jobs.len())));
    }
    terminal::print(&summary::text(&store, &plan)?)?;
    let minutes = [begin.elapsed().as_secs_f64(), seconds.into_inner().unwrap_or_else(|lock| lock.into_inner())];
    let [wall, own] = minutes.map(|seconds| seconds / 60.0);
    terminal::note(&format!("{} runs took {wall:.1} min, {own:.1} min of processor time", todo.len()));
    terminal::note(&format!("{done} runs are in {out}; next: trimtab report {out}", out = args.out.display()));
    Ok(())
}
