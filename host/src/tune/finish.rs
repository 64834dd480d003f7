//! The final round: with noise, the last measurements go to the best combinations again, so that
//! the result is not the luckiest one.
//!
//! **Choices**
//! - It takes the last tenth of the budget, from 3 to 10 measurements, and is left out if that were
//!   more than a fifth. It also tells a rugged cost, which looks like noise until something is
//!   measured twice, from a noisy one.
//! - A run that is exhausted or settled sooner gets a round of the same length.
//! - The rule looks only at the asks so far and at the model, so a resumed run does the same.
//! - A round measures the 3 combinations with the best predicted means, of those that may well keep
//!   all limits, the one with the fewest
//!   measurements first. While all 3 are under way it waits, whatever --jobs says.

use trimtab::{Goal, Level, Noise};

use super::history::History;
use crate::session::Session;

/// Fewest and most measurements of a round.
const LEAST: usize = 3;
const MOST: usize = 10;
/// With limits it compares those with at least this chance to keep them.
const LEAST_CHANCE: f32 = 0.2;
/// How many combinations it compares.
const COMPARED: usize = 3;

/// What the final round does instead of an ask.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Finish {
    /// It has not begun.
    NotYet,
    Again(Vec<Level>),
    /// Everything that it compares is under way.
    Wait,
}

/// Number of measurements of the final round.
fn length(budget: usize) -> usize {
    Some((budget / 10).clamp(LEAST, MOST)).filter(|length| 5 * length <= budget).unwrap_or(0)
}

/// The next measurement if the end of the budget is near.
pub(super) fn near_end(session: &Session, history: &History, budget: usize) -> Finish {
    let left = budget.saturating_sub(history.trials.len());
    match left <= length(budget) {
        true => next(session, history),
        false => Finish::NotYet,
    }
}

/// The next measurement if the run ends before its budget is spent.
pub(super) fn early(session: &Session, history: &History, budget: usize) -> Finish {
    let again = (0..history.trials.len()).rev().take_while(|place| history.is_again(*place)).count();
    match again < length(budget) {
        true => next(session, history),
        false => Finish::NotYet,
    }
}

fn next(session: &Session, history: &History) -> Finish {
    let tuner = session.tuner();
    if session.study().noise == Noise::None || tuner.noise() <= 0.0 {
        return Finish::NotYet;
    }
    let mut best = Vec::new();
    for (place, trial) in history.trials.iter().enumerate().filter(|(place, _)| !history.is_again(*place)) {
        let may_keep = || tuner.keep_chance(&trial.levels).is_none_or(|chance| chance >= LEAST_CHANCE);
        if !session.study().limits.is_empty() && !may_keep() {
            continue;
        }
        let measured = tuner.measured(&trial.levels).filter(|measured| measured.repeats > 0);
        if let Some((measured, model)) = measured.zip(tuner.predict(&trial.levels)) {
            let cost = if session.study().goal == Goal::Minimise { model.mean } else { -model.mean };
            best.push((cost, measured.repeats, place));
        }
    }
    if best.is_empty() {
        return Finish::NotYet;
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    best.truncate(COMPARED);
    best.retain(|(_, _, place)| !session.is_pending(&history.trials[*place].levels));
    // Of equals the first, which has the best mean.
    let fewest = best.iter().min_by_key(|(_, repeats, _)| *repeats);
    fewest.map_or(Finish::Wait, |(_, _, place)| Finish::Again(history.trials[*place].levels.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_a_tenth_of_the_budget() {
        assert_eq!([1, 14, 15, 39, 57, 100, 1024].map(length), [0, 0, 3, 3, 5, 10, 10]);
    }
}
