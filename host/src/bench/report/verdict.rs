//! Where the reference, which is trimtab, wins and loses.
//!
//! | comparison | of | one per |
//! |---|---|---|
//! | overall | evaluations to target | other method |
//! | single | final values | problem and other method |
//!
//! **Choices**
//! - Both directions are tested: signed ranks of paired differences, two-sided, 5 % after Holm's
//!   correction over all comparisons of the report.
//! - The masked and the unmasked run of an instance are averaged first, because they are not
//!   independent.
//! - Where its mean is behind but the test does not say so, it may be chance, or too few seeds. The
//!   report says that too, and claims level only where neither is the case.

use super::runs::Runs;
use crate::bench::stats::{Estimate, Score, chance_of_equality, holm, is_level};
use crate::bench::text;
use crate::bench::yardstick::Field;

/// Significance level of a difference.
const SIGNIFICANT: f64 = 0.05;

/// The reference against one method on one problem.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) problem: String,
    pub(super) rival: String,
    pub(super) own: Estimate,
    pub(super) other: Estimate,
    pub(super) score: Score,
    /// After Holm's correction.
    pub(super) chance: f64,
}

impl Finding {
    fn is_behind(&self) -> bool {
        self.own.mean > self.other.mean && !is_level(self.own.mean, self.other.mean)
    }
}

/// The reference against one method on all problems: the method's ratio of evaluations to target.
#[derive(Clone, Debug)]
pub(super) struct Overall {
    rival: String,
    ratio: f64,
    chance: f64,
}

/// All comparisons with the reference.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    /// The reference's name.
    pub(super) own: String,
    /// Number of single comparisons.
    pub(super) compared: usize,
    /// Seeds below which no pattern of signs is significant after the correction.
    pub(super) fewest: usize,
    /// Single comparisons with fewer seeds.
    pub(super) too_few: usize,
    pub(super) overall: Vec<Overall>,
    pub(super) better: Vec<Finding>,
    pub(super) worse: Vec<Finding>,
    /// Worse in the mean, but not beyond chance.
    pub(super) behind: Vec<Finding>,
}

impl Verdict {
    pub(super) fn of(runs: &Runs, field: &Field<'_>, reference: &str) -> Self {
        let mut verdict = Self { own: reference.into(), ..Self::default() };
        let Some(own) = runs.method(reference) else { return verdict };
        let rivals = || runs.methods.iter().enumerate().filter(|(method, _)| *method != own);
        for (method, (name, _)) in rivals() {
            let ratios = field.ratios(method, own, |_| true);
            verdict.overall.extend(ratios.map(|ratios| Overall {
                rival: name.clone(),
                ratio: ratios.all.mean,
                chance: ratios.chance,
            }));
        }
        let (mut found, mut seeds) = (Vec::new(), Vec::new());
        for problem in &runs.problems {
            for (method, (name, _)) in rivals() {
                let pairs = problem.pairs(own, method);
                let (ours, others): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                let (Some(ours), Some(others)) = (Estimate::of(&ours), Estimate::of(&others)) else { continue };
                seeds.push(pairs.len());
                found.push(Finding {
                    problem: problem.name.clone(),
                    rival: name.clone(),
                    own: ours,
                    other: others,
                    score: Score::of(&pairs),
                    chance: chance_of_equality(&pairs),
                });
            }
        }
        verdict.compared = found.len();
        verdict.fewest = fewest_seeds(found.len() + verdict.overall.len());
        verdict.too_few = seeds.iter().filter(|seeds| **seeds < verdict.fewest).count();
        let all = verdict.overall.iter_mut().map(|one| &mut one.chance);
        correct(all.chain(found.iter_mut().map(|one| &mut one.chance)).collect());
        for finding in found {
            let is_sure = finding.chance < SIGNIFICANT;
            // The test ranks differences, so the score tells its direction better than the means.
            match finding.score {
                Score { wins, losses, .. } if is_sure && wins > losses => verdict.better.push(finding),
                _ if is_sure => verdict.worse.push(finding),
                _ if finding.is_behind() => verdict.behind.push(finding),
                _ => {}
            }
        }
        verdict
    }

    /// The verdict in a few sentences.
    pub(super) fn statement(&self) -> String {
        let Self { own, compared, fewest, too_few, better, worse, behind, .. } = self;
        if *compared == 0 {
            return format!(
                "There is nothing to compare {own} with: add runs of {own} and of another method on the same problem \
                 and seeds."
            );
        }
        let sure = |is_slower: bool| -> Vec<String> {
            let sure = self.overall.iter().filter(|one| one.chance < SIGNIFICANT && (one.ratio > 1.0) == is_slower);
            sure.map(|one| one.rival.clone()).collect()
        };
        let named = |names: Vec<String>| match names.len() {
            0 => "none".to_string(),
            n => format!("{n} ({})", text::list(&names)),
        };
        let mut text = format!(
            "Over all problems {own} needs significantly fewer measurements than {} of {}, and significantly more \
             than {}. In {} of final values, one per problem and method, it is significantly \
             better in {} and significantly worse in {}.",
            named(sure(true)),
            text::count(self.overall.len(), "other method"),
            named(sure(false)),
            text::count(*compared, "comparison"),
            better.len(),
            worse.len(),
        );
        if worse.is_empty() && behind.is_empty() && *too_few == 0 {
            text += " Its mean is behind in none of them.";
        }
        if !behind.is_empty() {
            text += &format!(
                " In {} its mean is behind, but not significantly: that does not show that it is level; more seeds \
                 would tell.",
                behind.len()
            );
        }
        if *too_few > 0 {
            text += &format!(
                " {too_few} of the {compared} have fewer than {fewest} seeds, too few for any difference on one \
                 problem to be significant among so many comparisons."
            );
        }
        text + " Signed-rank tests, two-sided, masked and unmasked runs of an instance averaged, 5 % after Holm's \
                correction over all comparisons: the chance of even one false finding is below one in twenty."
    }

    /// One sentence for each loss on a problem.
    pub(super) fn of_problem(&self, problem: &str) -> Vec<String> {
        let here = self.worse.iter().filter(|finding| finding.problem == problem);
        here.map(|finding| {
            let (own, other) = (text::with_error(&finding.own), text::with_error(&finding.other));
            let p = text::chance(finding.chance).replace("< ", "below ");
            format!("{} loses to {}: {own} against {other}, p {p}.", self.own, finding.rival)
        })
        .collect()
    }
}

/// Replaces chances by corrected ones.
fn correct(chances: Vec<&mut f64>) {
    let corrected = holm(&chances.iter().map(|chance| **chance).collect::<Vec<_>>());
    chances.into_iter().zip(corrected).for_each(|(chance, corrected)| *chance = corrected);
}

/// The fewest pairs of which some pattern of signs is significant among this many comparisons:
/// 2·comparisons/2ⁿ < 0.05.
fn fewest_seeds(comparisons: usize) -> usize {
    (1..60).find(|n| 2.0 * comparisons as f64 * 0.5f64.powi(*n) < SIGNIFICANT).unwrap_or(60) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_seeds_by_hand() {
        // 2/32 = 0.0625 and 2/64 = 0.03; 255 comparisons need 510/2ⁿ < 0.05, 2ⁿ > 10 200.
        assert_eq!((fewest_seeds(1), fewest_seeds(255)), (6, 14));
    }
}
