//! A run's records as the yardstick wants them.

use std::collections::HashSet;

use super::evaluation::Evaluation;
use crate::bench::yardstick::{Outcome, Recommended, Stop};

/// What noise, failures and stops add to a run.
pub(crate) fn outcome(records: &[Evaluation]) -> Outcome {
    let recommended = records.iter().filter_map(|record| {
        let belief = record.believed_mean.zip(record.believed_sd);
        Some(Recommended { value: record.recommended?, belief })
    });
    let different: HashSet<_> = records.iter().map(|record| &record.combination).collect();
    let (first, second) = records.split_at(records.len() / 2);
    let failed = |half: &[Evaluation]| half.iter().filter(|record| record.failed).count();
    let failures = (failed(first), failed(second));
    Outcome {
        recommended: recommended.collect(),
        spread: records.first().and_then(|first| first.spread),
        repeats: records.len() - different.len(),
        failures: (failures != (0, 0)).then_some(failures),
        stops: records.iter().flat_map(stops).collect(),
    }
}

/// The stops after one evaluation.
fn stops(record: &Evaluation) -> impl Iterator<Item = Stop> {
    let value = record.settled_value.unwrap_or(record.best);
    record.settled.iter().map(move |tolerance| Stop { tolerance: *tolerance, after: record.index, value })
}
