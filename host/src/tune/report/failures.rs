//! Why measurements failed, and which levels they have in common.
//!
//! **Choices**
//! - Failures with the same last line of standard error belong together; without one, those with the
//!   same reason.
//! - A level fails if it was measured twice or more and never succeeded. Then nobody knows its cost.
//! - A level is suspected of a group if at least three quarters of the group have it, and at most half
//!   as large a part of the successes.

use trimtab::Level;

use crate::space::NamedSpace;
use crate::tune::history::{History, Trial};

/// Fewest failures that say something about a level.
const FEWEST: usize = 2;
/// Most suspects per group.
const MOST_SUSPECTS: usize = 3;

/// Failures for the same reason.
pub(super) struct Group<'a> {
    pub(super) reason: String,
    pub(super) trials: Vec<&'a Trial>,
    /// What they have in common, in words.
    pub(super) suspects: Vec<String>,
}

/// A level, and how often it failed and succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Count {
    pub(super) knob: usize,
    pub(super) level: Level,
    pub(super) failed: usize,
    pub(super) succeeded: usize,
}

/// The levels that were measured.
fn counts(history: &History, space: &NamedSpace) -> Vec<Count> {
    let mut counts: Vec<Count> = Vec::new();
    for (knob, own) in space.knobs().iter().enumerate() {
        let mut levels: Vec<Level> = (0..own.count()).map(|level| level as Level).collect();
        if own.count() > trimtab::MOST_LISTED {
            // Most levels of a range were never measured.
            levels = history.outcomes().filter_map(|trial| trial.levels.get(knob).copied()).collect();
            levels.sort_unstable();
            levels.dedup();
        }
        for level in levels {
            let with = || history.outcomes().filter(|trial| trial.levels.get(knob) == Some(&level));
            let failed = with().filter(|trial| trial.value().is_none()).count();
            counts.push(Count { knob, level, failed, succeeded: with().count() - failed });
        }
    }
    counts
}

/// The levels that always fail, unless nothing ever succeeded: then no level is to blame.
pub(super) fn failing(history: &History, space: &NamedSpace) -> Vec<Count> {
    if history.failures() == history.done.len() {
        return Vec::new();
    }
    counts(history, space).into_iter().filter(|count| count.succeeded == 0 && count.failed >= FEWEST).collect()
}

/// The failures by reason, the most frequent first.
pub(super) fn groups<'a>(history: &'a History, space: &NamedSpace) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for trial in history.outcomes() {
        let Some(Err(why)) = &trial.outcome else { continue };
        let reason = trial.complaint.as_ref().unwrap_or(why);
        match groups.iter_mut().find(|group| group.reason == *reason) {
            Some(group) => group.trials.push(trial),
            None => groups.push(Group { reason: reason.clone(), trials: vec![trial], suspects: Vec::new() }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.trials.len()));
    let counts = counts(history, space);
    for group in &mut groups {
        group.suspects = suspects(&group.trials, &counts, history.done.len() - history.failures(), space);
    }
    groups
}

fn suspects(trials: &[&Trial], counts: &[Count], successes: usize, space: &NamedSpace) -> Vec<String> {
    if trials.len() < FEWEST || successes == 0 {
        return Vec::new();
    }
    let mut found: Vec<(f64, usize, &Count)> = Vec::new();
    for count in counts {
        let with = trials.iter().filter(|trial| trial.levels.get(count.knob) == Some(&count.level)).count();
        let (here, there) = (with as f64 / trials.len() as f64, count.succeeded as f64 / successes as f64);
        if here >= 0.75 && there <= here / 2.0 {
            found.push((here - there, with, count));
        }
    }
    // A level that never succeeded explains a group; what else it has in common may be chance.
    if found.iter().any(|(_, _, count)| count.succeeded == 0) {
        found.retain(|(_, _, count)| count.succeeded == 0);
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let text = |(_, with, count): &(f64, usize, &Count)| {
        let knob = &space.knobs()[count.knob];
        let level = format!("{}={}", knob.name(), knob.short(count.level));
        let here = match *with == trials.len() {
            true => "always".to_string(),
            false => format!("{with} of {}", trials.len()),
        };
        match count.succeeded {
            0 => format!("{level} ({here}; it never succeeded)"),
            succeeded => format!("{level} ({here}; also in {succeeded} of {successes} that succeeded)"),
        }
    };
    found.iter().take(MOST_SUSPECTS).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Level 1 of `a` fails but for one; level 2 of `b` always fails, for another reason.
    fn history() -> (History, NamedSpace) {
        let space = NamedSpace::new(["a=x,y", "b=1,2,3,4"].iter().map(|knob| knob.parse().unwrap()).collect()).unwrap();
        let mut history = History::default();
        let all = (0..2).flat_map(|a| (0..4).map(move |b| vec![a, b]));
        for (place, levels) in all.enumerate() {
            let complaint = match levels[..] {
                [_, 2] => Some("no such block"),
                [1, 0] => None,
                [1, _] => Some("out of memory"),
                _ => None,
            };
            let outcome = if complaint.is_some() { Err("exit code 1".into()) } else { Ok(1.0) };
            history.trials.push(Trial { id: place as u64 + 1, levels, ..Trial::default() });
            history.finish(place, outcome, 0.0);
            history.trials[place].complaint = complaint.map(String::from);
        }
        (history, space)
    }

    #[test]
    fn failures_are_grouped_and_explained() {
        let (history, space) = history();
        let groups = groups(&history, &space);
        let text: Vec<_> = groups.iter().map(|group| (&group.reason[..], group.trials.len())).collect();
        assert_eq!(text, [("no such block", 2), ("out of memory", 2)]);
        assert_eq!(groups[0].suspects, ["b=3 (always; it never succeeded)"]);
        assert_eq!(groups[1].suspects, ["a=y (always; also in 1 of 4 that succeeded)"]);
    }

    #[test]
    fn a_level_that_never_succeeds_fails() {
        let (mut history, space) = history();
        assert_eq!(failing(&history, &space), [Count { knob: 1, level: 2, failed: 2, succeeded: 0 }]);
        // Nothing but failures says nothing about a level.
        history.trials.iter_mut().for_each(|trial| trial.outcome = Some(Err("no".into())));
        assert!(failing(&history, &space).is_empty());
        let groups = groups(&history, &space);
        assert!(groups.iter().all(|group| group.suspects.is_empty()));
    }
}
