//! Which combination a next board measures first: the one that earlier boards, each by its own measurements, would
//! expect the lowest cost of.
//!
//! The mean on pseudo-points is smooth, and its lowest place may be one that no board found good. So some candidates are
//! followed by name. A board whose posterior of candidate c has mean μ_b and variance v_b, under the fleet as the
//! first `learn` saw it with mean m and variance k, says of its own cost at c what one measurement would, with
//! weight w_b = 1 − v_b/k. By generalised least squares over the boards, and one board's worth of belief in m:
//!
//! value(c) = m(c) + Σ_b (μ_b − m(c)) / (1 + Σ_b w_b)
//!
//! **Choices**
//! - Candidates are what the first boards found best, and where the mean is lowest: fixed by the first `learn`, so
//!   that a board added later is one more term of the sums.

use trimtab::Level;

use super::kernel::Place;
use super::metric::Measured;
use super::model::{Fleet, Model};
use crate::bench::method::linalg::{Cholesky, Triangle, dot};

/// Candidates from the boards' best measurements.
const MOST: usize = 100;

/// A combination that may be measured first, with its sums over boards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) levels: Vec<Level>,
    /// Σ(μ_b − m).
    pub(crate) above: f64,
    /// Σw_b.
    pub(crate) weight: f64,
}

/// A combination under a fleet: its mean, and what its covariances take.
struct Seen {
    mean: f64,
    factors: Vec<f64>,
    place: Place,
}

/// The best measurements of the boards, of each equally many, and where the mean is lowest.
pub(crate) fn candidates(boards: &[Measured], lowest: Vec<Level>) -> Vec<Candidate> {
    let each = (MOST / boards.len().max(1)).max(1);
    let mut all = vec![lowest];
    for board in boards.iter().take(MOST) {
        let mut order: Vec<usize> = (0..board.y.len() - board.failed).collect();
        order.sort_by(|a, b| board.y[*a].total_cmp(&board.y[*b]));
        for i in order.into_iter().take(each) {
            if !all.contains(&board.levels[i]) {
                all.push(board.levels[i].clone());
            }
        }
    }
    all.into_iter().map(|levels| Candidate { levels, above: 0.0, weight: 0.0 }).collect()
}

/// Adds what boards say of each candidate.
pub(crate) fn add(candidates: &mut [Candidate], model: &Model, boards: &[Measured]) {
    let fleet = model.first_fleet();
    let own: Vec<Seen> = candidates.iter().map(|candidate| seen(model, &fleet, &candidate.levels)).collect();
    let covariance = |a: &Seen, b: &Seen| {
        dot(&a.factors, &b.factors) + fleet.rest * model.metric.covariance(&model.columns, &a.place, &b.place)
    };
    for board in boards {
        let points: Vec<Seen> = board.levels.iter().map(|levels| seen(model, &fleet, levels)).collect();
        let gram = Triangle::from_fn(points.len(), |i, j| {
            let alone = if i == j { fleet.nugget + board.vagueness(i) } else { 0.0 };
            covariance(&points[i], &points[j]) + alone
        });
        let Some(factor) = Cholesky::new(gram) else { continue };
        let mut white: Vec<f64> = board.y.iter().zip(&points).map(|(y, point)| y - point.mean).collect();
        factor.forward(&mut white);
        for (candidate, own) in candidates.iter_mut().zip(&own) {
            let mut k: Vec<f64> = points.iter().map(|point| covariance(point, own)).collect();
            factor.forward(&mut k);
            candidate.above += dot(&k, &white);
            candidate.weight += (dot(&k, &k) / (covariance(own, own) + fleet.nugget)).min(1.0);
        }
    }
}

/// The candidate with the lowest value that may be measured.
pub(crate) fn best(candidates: &[Candidate], model: &Model) -> Option<Vec<Level>> {
    let fleet = model.first_fleet();
    let open = candidates.iter().filter(|candidate| !model.is_ruled_out(&candidate.levels));
    let value = |own: &Candidate| seen(model, &fleet, &own.levels).mean + own.above / (1.0 + own.weight);
    let values = open.map(|candidate| (value(candidate), &candidate.levels));
    values.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, levels)| levels.clone())
}

fn seen(model: &Model, fleet: &Fleet, levels: &[Level]) -> Seen {
    let place = model.metric.place(&model.columns, levels);
    let g = model.points.whitened(&model.columns, &model.metric, &place).0;
    let factors = fleet.factors.iter().map(|factor| dot(&g, factor)).collect();
    Seen { mean: dot(&g, &fleet.mean), factors, place }
}

#[cfg(test)]
mod tests {
    use super::super::model::Log;
    use super::*;
    use trimtab::{Goal, Knob};

    const KNOBS: [Knob; 2] = [Knob::ranked(12), Knob::nominal(3)];

    /// A bowl around 3, lower with each position of the second knob.
    fn model() -> Model {
        let log = |board: usize| {
            let levels: Vec<Vec<Level>> = (0..36u16)
                .filter(|i| !(usize::from(*i) + board).is_multiple_of(3))
                .map(|i| vec![i % 12, i / 12])
                .collect();
            let of = |levels: &Vec<Level>| {
                0.3 * (f64::from(levels[0]) - 3.0).powi(2) - f64::from(levels[1]) + 0.01 * (board * 7 % 5) as f64
            };
            Log { costs: levels.iter().map(of).collect(), levels, ..Log::default() }
        };
        let logs: Vec<Log> = (0..12).map(log).collect();
        Model::learn(&KNOBS, Goal::Minimise, &logs).unwrap()
    }

    /// What boards measured counts more than the smooth mean, in proportion to what they know; what failed is
    /// left out.
    #[test]
    fn what_boards_found_better_than_the_mean_says_comes_first() {
        let mut model = model();
        assert_eq!(model.numbers().best, [3, 2]);
        assert!(model.candidates.iter().all(|own| own.weight > 0.0 && own.weight <= 12.0));
        let [good, better] = [vec![3, 2], vec![8, 0]];
        let own = |levels: &[Level], above, weight| Candidate { levels: levels.to_vec(), above, weight };
        model.candidates = vec![own(&good, 0.0, 12.0), own(&better, -100.0, 9.0)];
        assert_eq!(model.numbers().best, better);
        // So little per board that the mean is right.
        model.candidates = vec![own(&good, 0.0, 12.0), own(&better, -100.0, 9999.0)];
        assert_eq!(model.numbers().best, good);
        model.failed.insert(good.clone(), 2);
        assert_eq!(model.numbers().best, better);
        // Statistics of an earlier version have no candidates: then the mean decides.
        model.failed.clear();
        model.candidates.clear();
        assert_eq!(model.numbers().best, good);
    }

    /// Ten boards say ten times what one says, and a bad cost speaks against a combination.
    #[test]
    fn sums_grow_with_the_boards() {
        let (mut model, mut again) = (model(), model());
        let before = model.candidates.clone();
        let log = Log { levels: vec![vec![3, 2], vec![3, 0]], costs: vec![4.0, 1.0], ..Log::default() };
        model.add(std::slice::from_ref(&log));
        again.add(&vec![log; 10]);
        for ((old, one), ten) in before.iter().zip(&model.candidates).zip(&again.candidates) {
            assert!((10.0 * (one.above - old.above) - (ten.above - old.above)).abs() < 1e-6, "{old:?} {one:?} {ten:?}");
            assert!((10.0 * (one.weight - old.weight) - (ten.weight - old.weight)).abs() < 1e-6);
        }
        let at = |all: &[Candidate]| all.iter().find(|own| own.levels == [3, 2]).map(|own| own.above).unwrap();
        assert!(at(&model.candidates) > at(&before));
    }
}
