//! Where trimtab loses: every problem and method where it is not at least level.
//!
//! **Choices**
//! - The comparison is of the best value at the end, on the seeds that both methods have.
//! - trimtab loses where the signed-rank test of the paired differences says *worse* at 5 %,
//!   one-sided.
//! - Where its mean is behind but the test does not say so, it may be chance, or too few seeds. The
//!   report says that too, and claims level only where neither is the case.
//! - No correction for the number of comparisons: it would hide losses.

use super::runs::Runs;
use crate::bench::stats::{Estimate, Score, chance_of_being_worse, is_level};

/// Significance level of a difference.
pub(super) const SIGNIFICANT: f64 = 0.05;
/// With fewer seeds no pattern of signs is significant: 1/2⁴ > 0.05.
pub(super) const FEWEST_SEEDS: usize = 5;

/// trimtab against one method on one problem, masked or not.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) problem: String,
    pub(super) mask: bool,
    pub(super) rival: String,
    pub(super) own: Estimate,
    pub(super) other: Estimate,
    pub(super) score: Score,
    pub(super) chance: f64,
}

impl Finding {
    fn is_worse(&self) -> bool {
        self.chance < SIGNIFICANT
    }

    fn is_behind(&self) -> bool {
        self.own.mean > self.other.mean && !is_level(self.own.mean, self.other.mean)
    }
}

/// All comparisons with trimtab.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    pub(super) compared: usize,
    /// Comparisons with too few seeds to say anything.
    pub(super) too_few: usize,
    pub(super) worse: Vec<Finding>,
    /// Worse in the mean, but not beyond chance.
    pub(super) behind: Vec<Finding>,
}

impl Verdict {
    pub(super) fn of(runs: &Runs) -> Self {
        let mut verdict = Self::default();
        let Some(own) = runs.own() else { return verdict };
        for (problem, mask, race) in runs.races() {
            for (method, (name, _)) in runs.methods.iter().enumerate().filter(|(method, _)| *method != own) {
                let pairs = race.pairs(own, method);
                let (ours, others): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                let (Some(ours), Some(others)) = (Estimate::of(&ours), Estimate::of(&others)) else { continue };
                verdict.compared += 1;
                verdict.too_few += usize::from(pairs.len() < FEWEST_SEEDS);
                let finding = Finding {
                    problem: problem.name.clone(),
                    mask,
                    rival: name.clone(),
                    own: ours,
                    other: others,
                    score: Score::of(&pairs),
                    chance: chance_of_being_worse(&pairs),
                };
                if finding.is_worse() {
                    verdict.worse.push(finding);
                } else if finding.is_behind() {
                    verdict.behind.push(finding);
                }
            }
        }
        verdict
    }

    /// The verdict in a few sentences.
    pub(super) fn statement(&self) -> String {
        let Self { compared, too_few, worse, behind } = self;
        if *compared == 0 {
            return "There is nothing to compare trimtab with: add runs of trimtab and of another method on the same \
                    problem and seeds."
                .into();
        }
        let what = "comparisons (one per problem, mask and method)";
        let mut text = match (worse.len(), compared) {
            (0, _) if too_few == compared => format!(
                "There are too few seeds to say who loses: below {FEWEST_SEEDS} seeds no difference is significant. \
                 Only means can be compared."
            ),
            (0, _) if behind.is_empty() => format!(
                "trimtab is at least level with every other method on every problem: in none of {compared} {what} is \
                 its final value worse in the mean or by the signed-rank test."
            ),
            (0, _) => format!(
                "In none of {compared} {what} is trimtab's final value significantly worse (signed-rank test, 5 %)."
            ),
            (n, _) => format!(
                "trimtab loses in {n} of {compared} {what}: there its final value is significantly worse (signed-rank \
                 test over seeds, one-sided, 5 %)."
            ),
        };
        if *too_few > 0 && too_few < compared {
            text += &format!(" {too_few} of them have fewer than {FEWEST_SEEDS} seeds, too few to tell.");
        }
        if !behind.is_empty() {
            let n = behind.len();
            text += &format!(
                " In {n} its mean is behind, but not significantly: that does not show that it is level; more seeds \
                 would tell."
            );
        }
        text + " Between equal methods, at most one comparison in twenty would look like a loss by chance."
    }

    /// One sentence for each loss on a problem.
    pub(super) fn of_problem(&self, problem: &str) -> Vec<String> {
        let here = self.worse.iter().filter(|finding| finding.problem == problem);
        here.map(|finding| {
            let mask = if finding.mask { "masked" } else { "not masked" };
            let (own, other) = (super::text::with_error(&finding.own), super::text::with_error(&finding.other));
            let p = super::text::chance(finding.chance).replace("< ", "below ");
            format!("trimtab loses to {} ({mask}): {own} against {other}, p {p}.", finding.rival)
        })
        .collect()
    }
}
