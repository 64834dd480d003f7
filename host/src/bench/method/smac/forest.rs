//! A random forest: regression trees, each grown on its own resample of the data. Their
//! disagreement measures the forest's uncertainty.
//!
//! A tree cuts the data by one knob at a time, so as to minimize the sum of squares Σ(y − ȳ)² of
//! both sides, until a side is pure or too small (Breiman, *Random forests*, 2001). A leaf keeps
//! the mean and the variance of its responses:
//!
//! μ = E_t\[m_t\], σ² = Var_t\[m_t\] + E_t\[v_t\],
//!
//! the mean over the trees and the law of total variance (Hutter, Xu, Hoos and Leyton-Brown,
//! *Algorithm runtime prediction*, 2014).
//!
//! | name | meaning |
//! |---|---|
//! | n | number of observations |
//! | m_t, v_t | mean and variance of the leaf of tree t that a combination falls into |
//! | S, k | sum and number of the responses on one side of a cut, relative to their overall mean |
//!
//! **Choices**
//! - A cut is a set of levels for any knob: a position in an order of the levels. Graded knobs are
//!   ordered by value, nominal ones by mean response, an order that contains the best of all
//!   subsets (Fisher 1958).
//! - Unobserved levels go to a random side: for a graded knob by a threshold drawn uniformly
//!   between the neighbours, for a nominal one by a coin.
//! - Cuts that gain nothing are made too, since exclusive-or needs them.
//! - Ties between cuts are broken at random.
//!
//! **Cost.** Growing a tree takes O(n·knobs·depth), a prediction O(trees·depth). A node takes 56
//! bytes.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level, MOST_LISTED};

/// How to grow trees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) trees: usize,
    /// Fraction of the knobs considered for a cut. If none of them can be cut, more are considered.
    pub(super) ratio: f64,
    /// Fewest observations per side.
    pub(super) least_in_leaf: usize,
    /// Whether each tree draws n observations with replacement; otherwise it takes all.
    pub(super) bootstrap: bool,
}

/// A forest's prediction for a combination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

pub(super) struct Forest {
    trees: Vec<Vec<Node>>,
}

impl Forest {
    /// Grows the trees on one or more combinations and their responses.
    pub(super) fn grow(
        settings: Settings,
        knobs: &[Knob],
        observed: &[Vec<Level>],
        responses: &[f64],
        random: &mut Xoshiro256PlusPlus,
    ) -> Self {
        let n = observed.len();
        let mut grower = Grower::new(settings, knobs, observed, responses, random);
        let trees = (0..settings.trees).map(|_| {
            let mut rows: Vec<usize> = match settings.bootstrap {
                true => (0..n).map(|_| grower.random.random_range(0..n)).collect(),
                false => (0..n).collect(),
            };
            let mut nodes = Vec::with_capacity(2 * n);
            grower.grow(&mut rows, &mut nodes);
            nodes
        });
        Self { trees: trees.collect() }
    }

    pub(super) fn predict(&self, levels: &[Level]) -> Prediction {
        let (mut mean, mut squares, mut within) = (0.0, 0.0, 0.0);
        for (t, tree) in self.trees.iter().enumerate() {
            let leaf = fall(tree, levels);
            // Welford's update avoids cancellation where the trees agree.
            let step = leaf.mean - mean;
            mean += step / (t + 1) as f64;
            squares += step * (leaf.mean - mean);
            within += leaf.variance;
        }
        Prediction { mean, variance: (squares + within) / self.trees.len() as f64 }
    }
}

/// A node of a tree. The left child follows its parent, so only the right one needs an index.
#[derive(Clone, Copy)]
enum Node {
    Leaf(Prediction),
    Cut { cut: Cut, right: u32 },
}

/// The levels of a knob that go left; all others go right.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    knob: u32,
    /// For a range: the first level that goes right. 0 for others.
    below: u32,
    left: [u64; MOST_LISTED / 64],
}

impl Cut {
    fn new(knob: usize) -> Self {
        Self { knob: knob as u32, below: 0, left: [0; MOST_LISTED / 64] }
    }

    fn add(&mut self, level: Level) {
        self.left[usize::from(level / 64)] |= 1 << (level % 64);
    }

    fn is_left(&self, levels: &[Level]) -> bool {
        let level = levels[self.knob as usize];
        if self.below > 0 {
            return u32::from(level) < self.below;
        }
        self.left[usize::from(level / 64)] >> (level % 64) & 1 == 1
    }
}

/// The leaf that a combination falls into.
fn fall(tree: &[Node], levels: &[Level]) -> Prediction {
    let mut at = 0;
    loop {
        match &tree[at] {
            Node::Leaf(leaf) => return *leaf,
            Node::Cut { cut, .. } if cut.is_left(levels) => at += 1,
            Node::Cut { right, .. } => at = *right as usize,
        }
    }
}

/// The responses at one level of a knob.
#[derive(Clone, Copy, Default)]
struct Tally {
    count: usize,
    sum: f64,
}

impl Tally {
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// S²/k: the reduction of the sum of squares by giving these responses their own mean.
    fn gain(&self) -> f64 {
        self.sum * self.sum / self.count as f64
    }
}

/// The state for growing, shared by all trees.
struct Grower<'a> {
    settings: Settings,
    knobs: &'a [Knob],
    observed: &'a [Vec<Level>],
    responses: &'a [f64],
    random: &'a mut Xoshiro256PlusPlus,
    /// All knobs, in an order that is shuffled for every cut.
    order: Vec<usize>,
    /// Number of knobs considered for a cut.
    looked_at: usize,
    /// The levels of each knob, ordered by position if it is graded; none for a range.
    levels: Vec<Vec<Level>>,
    tallies: Vec<Tally>,
    /// Observed levels, in the order in which they can be cut.
    present: Vec<Level>,
}

impl<'a> Grower<'a> {
    fn new(
        settings: Settings,
        knobs: &'a [Knob],
        observed: &'a [Vec<Level>],
        responses: &'a [f64],
        random: &'a mut Xoshiro256PlusPlus,
    ) -> Self {
        let levels = knobs.iter().map(|knob| {
            let count = if knob.is_range() { 0 } else { knob.levels() };
            let mut levels: Vec<Level> = (0..count).map(|level| level as Level).collect();
            levels.sort_by(|a, b| knob.position(*a).total_cmp(&knob.position(*b)));
            levels
        });
        Self {
            settings,
            knobs,
            observed,
            responses,
            random,
            order: (0..knobs.len()).collect(),
            looked_at: ((settings.ratio * knobs.len() as f64) as usize).max(1),
            levels: levels.collect(),
            tallies: vec![Tally::default(); knobs.iter().map(Knob::levels).max().unwrap_or(0)],
            present: Vec::new(),
        }
    }

    /// Appends the tree of these observations, depth first.
    fn grow(&mut self, rows: &mut [usize], nodes: &mut Vec<Node>) {
        let here = nodes.len();
        let all = self.summary(rows);
        nodes.push(Node::Leaf(all));
        let Some(cut) = self.best_cut(rows, all) else { return };
        let middle = partition(rows, |row| cut.is_left(&self.observed[row]));
        let (left, right) = rows.split_at_mut(middle);
        self.grow(left, nodes);
        nodes[here] = Node::Cut { cut, right: nodes.len() as u32 };
        self.grow(right, nodes);
    }

    /// The leaf of these observations.
    fn summary(&self, rows: &[usize]) -> Prediction {
        let n = rows.len() as f64;
        let mean = rows.iter().map(|row| self.responses[*row]).sum::<f64>() / n;
        let deviations = rows.iter().map(|row| self.responses[*row] - mean);
        let variance = deviations.map(|deviation| deviation * deviation).sum::<f64>() / n;
        Prediction { mean, variance }
    }

    /// The cut with the smallest sum of squares, or `None` if these observations cannot be cut or
    /// have equal responses.
    fn best_cut(&mut self, rows: &[usize], all: Prediction) -> Option<Cut> {
        let first = self.responses[rows[0]];
        if rows.len() < 2 * self.settings.least_in_leaf || rows.iter().all(|row| self.responses[*row] == first) {
            return None;
        }
        self.order.shuffle(self.random);
        let mut best: Option<(f64, usize, usize)> = None;
        for i in 0..self.order.len() {
            if i >= self.looked_at && best.is_some() {
                break;
            }
            let knob = self.order[i];
            self.tally(knob, rows, all.mean);
            if let Some((gain, place)) = self.best_place(knob, rows.len())
                && best.is_none_or(|(most, ..)| gain > most)
            {
                best = Some((gain, knob, place));
            }
        }
        let (_, knob, place) = best?;
        self.tally(knob, rows, all.mean);
        Some(self.cut_at(knob, place))
    }

    /// Tallies the responses, relative to their mean, per level of a knob, and orders the levels.
    fn tally(&mut self, knob: usize, rows: &[usize], mean: f64) {
        let is_range = self.knobs[knob].is_range();
        self.present.clear();
        if is_range {
            // Only the observed ones: a range has thousands.
            self.present.extend(rows.iter().map(|row| self.observed[*row][knob]));
            self.present.sort_unstable();
            self.present.dedup();
            self.present.iter().for_each(|level| self.tallies[usize::from(*level)] = Tally::default());
        } else {
            self.tallies[..self.knobs[knob].levels()].fill(Tally::default());
        }
        for row in rows {
            let tally = &mut self.tallies[usize::from(self.observed[*row][knob])];
            tally.count += 1;
            tally.sum += self.responses[*row] - mean;
        }
        let tallies = &self.tallies;
        if is_range {
            return;
        }
        self.present.extend(self.levels[knob].iter().filter(|level| tallies[usize::from(**level)].count > 0));
        if !self.knobs[knob].is_graded() {
            let mean = |level: &Level| tallies[usize::from(*level)].mean();
            self.present.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        }
    }

    /// The best cut in the order of a knob's levels: its gain, and the number of levels that go
    /// left.
    fn best_place(&self, knob: usize, n: usize) -> Option<(f64, usize)> {
        let sum_of_all: f64 = self.present.iter().map(|level| self.tallies[usize::from(*level)].sum).sum();
        let mut left = Tally::default();
        let mut best: Option<(f64, usize)> = None;
        for (i, pair) in self.present.windows(2).enumerate() {
            let tally = self.tallies[usize::from(pair[0])];
            left.count += tally.count;
            left.sum += tally.sum;
            let right = Tally { count: n - left.count, sum: sum_of_all - left.sum };
            let knob = &self.knobs[knob];
            let is_legal = left.count.min(right.count) >= self.settings.least_in_leaf
                // A threshold cannot separate levels of equal value.
                && (!knob.is_graded() || knob.position(pair[0]) < knob.position(pair[1]));
            let gain = left.gain() + right.gain();
            if is_legal && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, i + 1));
            }
        }
        best
    }

    /// The cut after the first `place` observed levels. Unobserved levels get a random side.
    fn cut_at(&mut self, knob: usize, place: usize) -> Cut {
        let mut cut = Cut::new(knob);
        let scale = &self.knobs[knob];
        if scale.is_range() {
            let (below, above) = (self.present[place - 1], self.present[place]);
            cut.below = self.random.random_range(u32::from(below) + 1..=u32::from(above));
        } else if scale.is_graded() {
            let (below, above) = (scale.position(self.present[place - 1]), scale.position(self.present[place]));
            let threshold = below + self.random.random::<f32>() * (above - below);
            // Rounding may reach the upper neighbour, which must go right.
            let is_left = |at: f32| at <= threshold && at < above;
            self.levels[knob].iter().filter(|level| is_left(scale.position(**level))).for_each(|level| cut.add(*level));
        } else {
            self.present[..place].iter().for_each(|level| cut.add(*level));
            for level in &self.levels[knob] {
                if self.tallies[usize::from(*level)].count == 0 && self.random.random::<bool>() {
                    cut.add(*level);
                }
            }
        }
        cut
    }
}

/// Moves the left rows to the front and returns their number.
fn partition(rows: &mut [usize], is_left: impl Fn(usize) -> bool) -> usize {
    let mut middle = 0;
    for i in 0..rows.len() {
        if is_left(rows[i]) {
            rows.swap(middle, i);
            middle += 1;
        }
    }
    middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::domain::Domain;
    use rand::SeedableRng;
    use trimtab::Scale;

    const WHOLE: Settings = Settings { trees: 3, ratio: 1.0, least_in_leaf: 1, bootstrap: false };

    fn grow(settings: Settings, knobs: &[Knob], observed: &[Vec<Level>], responses: &[f64], seed: u64) -> Forest {
        Forest::grow(settings, knobs, observed, responses, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Distinct combinations with random responses.
    fn noise(knobs: &[Knob], n: usize) -> (Vec<Vec<Level>>, Vec<f64>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let domain = Domain::new(knobs);
        let mut observed = Vec::new();
        while observed.len() < n {
            let levels = domain.random(&mut random);
            if !observed.contains(&levels) {
                observed.push(levels);
            }
        }
        (observed, (0..n).map(|_| random.random()).collect())
    }

    #[test]
    fn without_bootstrap_every_observation_is_fitted_exactly_on_any_knobs() {
        let values: &'static [f32] = &[5.0, 1.0, 2.0, 10.0];
        let knobs =
            [Knob::nominal(2), Knob::nominal(5), Knob::ranked(200), Knob::graded(values, Scale::Log), Knob::nominal(2)];
        let (observed, responses) = noise(&knobs, 80);
        for ratio in [1.0, 0.3] {
            let forest = grow(Settings { ratio, ..WHOLE }, &knobs, &observed, &responses, 1);
            for (levels, response) in observed.iter().zip(&responses) {
                let at = forest.predict(levels);
                assert!((at.mean - response).abs() < 1e-12 && at.variance < 1e-24, "{at:?}, {response}");
            }
        }
    }

    #[test]
    fn variance_is_that_of_the_means_plus_the_mean_of_the_variances() {
        // Two stumps. On the left the trees say 1 ± 0.5 and 4 ± 1.5: mean 2.5, variance of the
        // means 1.5² = 2.25, mean of the variances (0.25 + 2.25)/2 = 1.25, together 3.5. On the
        // right both say 0 for certain.
        let mut cut = Cut::new(0);
        cut.add(1);
        let zero = Prediction { mean: 0.0, variance: 0.0 };
        let stump = |mean, variance| {
            vec![Node::Cut { cut, right: 2 }, Node::Leaf(Prediction { mean, variance }), Node::Leaf(zero)]
        };
        let forest = Forest { trees: vec![stump(1.0, 0.25), stump(4.0, 2.25)] };
        assert_eq!(forest.predict(&[1]), Prediction { mean: 2.5, variance: 3.5 });
        assert_eq!(forest.predict(&[0]), zero);
        assert_eq!(forest.predict(&[2]), zero);
    }

    #[test]
    fn leaves_that_must_be_large_keep_their_spread() {
        // The best legal cut is by the first knob: means 1 and 11, and ±1 remains in each leaf.
        let observed = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|levels| levels.to_vec());
        let forest =
            grow(Settings { least_in_leaf: 2, ..WHOLE }, &[Knob::nominal(2); 2], &observed, &[0.0, 2.0, 10.0, 12.0], 1);
        assert_eq!(forest.predict(&[0, 1]), Prediction { mean: 1.0, variance: 1.0 });
        assert_eq!(forest.predict(&[1, 0]), Prediction { mean: 11.0, variance: 1.0 });
    }

    #[test]
    fn nominal_cuts_are_the_best_of_all_subsets() {
        // One cut of six levels, against all 2⁵ − 1 ways to split them.
        let knobs = [Knob::nominal(6)];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let observed: Vec<Vec<Level>> = (0..30).map(|i| vec![(i % 6) as Level]).collect();
        let responses: Vec<f64> = observed.iter().map(|c| f64::from(c[0] * 5 % 6) + random.random::<f64>()).collect();
        let squares = |is_in: &dyn Fn(Level) -> bool| {
            let side: Vec<f64> =
                observed.iter().zip(&responses).filter(|(c, _)| is_in(c[0])).map(|(_, y)| *y).collect();
            let mean = side.iter().sum::<f64>() / side.len() as f64;
            side.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>()
        };
        let both = |set: u64| squares(&|level| set >> level & 1 == 1) + squares(&|level| set >> level & 1 == 0);
        let least = (1..32).map(both).fold(f64::INFINITY, f64::min);
        let settings = Settings { least_in_leaf: 1, ..WHOLE };
        let mut grower = Grower::new(settings, &knobs, &observed, &responses, &mut random);
        let rows: Vec<usize> = (0..30).collect();
        let cut = grower.best_cut(&rows, grower.summary(&rows)).unwrap();
        assert!((both(cut.left[0]) - least).abs() < 1e-9, "{cut:?}");
    }

    #[test]
    fn graded_cuts_are_thresholds_in_the_order_of_the_values() {
        // By value the levels are 1, 2, 0, 3; the responses jump between the values 2 (level 2) and
        // 5 (level 0).
        let values: &'static [f32] = &[5.0, 1.0, 2.0, 10.0];
        let knobs = [Knob::graded(values, Scale::Linear)];
        let observed: Vec<Vec<Level>> = (0..4).map(|level| vec![level]).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let responses = [8.0, 0.0, 1.0, 9.0];
        let mut grower = Grower::new(WHOLE, &knobs, &observed, &responses, &mut random);
        let cut = grower.best_cut(&[0, 1, 2, 3], grower.summary(&[0, 1, 2, 3])).unwrap();
        assert_eq!(cut.left[0], 0b0110);
        // Level 2, between 1 and 0, is unobserved: the threshold is uniform in [1, 5), so it goes
        // left in 3/4 of the cuts.
        let rows = [0, 1, 3];
        let summary = grower.summary(&rows);
        let left = (0..4000).filter(|_| grower.best_cut(&rows, summary).unwrap().is_left(&[2])).count();
        // Standard error of the share: √(3/16/4000) = 0.0068; five of them.
        assert!((left as f64 / 4000.0 - 0.75).abs() < 0.034, "{left}");
    }

    #[test]
    fn exclusive_or_is_learnt_although_its_first_cut_gains_nothing() {
        let observed = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|levels| levels.to_vec());
        let responses = [0.0, 1.0, 1.0, 0.0];
        let forest = grow(WHOLE, &[Knob::nominal(2); 2], &observed, &responses, 1);
        for (levels, response) in observed.iter().zip(responses) {
            assert_eq!(forest.predict(levels), Prediction { mean: response, variance: 0.0 });
        }
    }

    #[test]
    fn bootstrapped_trees_follow_the_trend_and_disagree_a_little() {
        // Responses count the ones. Only combinations with few ones were observed.
        let knobs = [Knob::nominal(2); 8];
        let observed: Vec<Vec<Level>> = (0..256u16)
            .filter(|c| c.count_ones() <= 2)
            .map(|c| (0..8).map(|bit| (c >> bit & 1) as Level).collect())
            .collect();
        let responses: Vec<f64> = observed.iter().map(|c| c.iter().map(|l| f64::from(*l)).sum()).collect();
        let forest = grow(Settings { trees: 50, bootstrap: true, ..WHOLE }, &knobs, &observed, &responses, 2);
        let spread: f64 = observed.iter().map(|c| forest.predict(c).variance).sum::<f64>() / observed.len() as f64;
        let (few, many) = (forest.predict(&[0; 8]), forest.predict(&[1; 8]));
        assert!(few.mean < 0.5 && many.mean > 1.5, "{few:?} {many:?}");
        assert!(spread > 0.0 && spread < 0.25, "{spread}");
    }

    #[test]
    fn the_same_seed_grows_the_same_forest() {
        let knobs = [Knob::nominal(3), Knob::ranked(9), Knob::nominal(2)];
        let (observed, responses) = noise(&knobs, 30);
        let settings = Settings { bootstrap: true, ..WHOLE };
        let at = |seed| grow(settings, &knobs, &observed, &responses, seed).predict(&[1, 4, 0]);
        assert_eq!(at(5), at(5));
        assert_ne!(at(5), at(6));
    }
}
