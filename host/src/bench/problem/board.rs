//! A small board, such as users have: a few graded settings whose best levels depend on each other,
//! and modes that move them.
//!
//! f(c) = Σᵢ wᵢ·(uᵢ² + 0.03·(1 − cos 6πuᵢ)) + Σⱼ bⱼ(mⱼ), uᵢ = xᵢ − oᵢ − Σⱼ
//! sᵢⱼ(mⱼ) − aᵢ·(xᵢ₊₁ − ½)
//!
//! | name | meaning |
//! |---|---|
//! | xᵢ ∈ [0, 1] | position of graded setting i on its scale: ranks, linear values or log values; the last one's next is the first |
//! | mⱼ | mode j, nominal, 2 to 4 levels |
//! | wᵢ, oᵢ | weight from [0.5, 2], best position from [0.2, 0.8] |
//! | aᵢ | how the best position follows the next setting, ±[0.3, 0.6] |
//! | sᵢⱼ, bⱼ | what a mode adds to the best position, [−0.2, 0.2], and to the cost, [0, 0.1] |
//!
//! | `knobs` | 3 | 4 | 5 | 6 | 7 |
//! |---|---|---|---|---|---|
//! | graded settings, 5 to 16 levels | 2 | 3 | 3 | 3 | 4, up to 12 levels |
//! | modes | 1 | 1 | 1 | 2 | 2 |
//! | irrelevant knobs, graded or nominal | 0 | 0 | 1 | 1 | 1 |
//!
//! **Choices**
//! - The ripple is just strong enough for local minima along one knob.
//! - Knobs stand in random order, because some methods encode them in theirs.
//!
//! **Optimum.** By enumeration of the relevant knobs, at most 331 776 combinations.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level, Scale};

use super::{Family, Optimum, Parameter, Problem, random_of};
use crate::bench::domain::Domain;

pub(super) const FAMILY: Family = Family {
    name: "board",
    about: "a small board: graded settings whose optima depend on each other, modes, an irrelevant knob",
    parameters: &[Parameter { name: "knobs", default: "5", about: "number of knobs, 3 to 7" }],
    build: |given, seed, _| Ok(Box::new(Board::random(given.count("knobs", 3..=7)?, &mut random_of(seed)))),
    load: None,
};

/// The E6 series of resistors and capacitors.
const E6: [f32; 16] = [1.0, 1.5, 2.2, 3.3, 4.7, 6.8, 10.0, 15.0, 22.0, 33.0, 47.0, 68.0, 100.0, 150.0, 220.0, 330.0];
/// Drive strengths in milliampere.
const CURRENTS: [f32; 16] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 24.0, 28.0, 32.0, 40.0];
const RIPPLE: f64 = 0.03;

struct Board {
    knobs: Vec<Knob>,
    settings: Vec<Setting>,
    modes: Vec<Mode>,
}

/// A graded setting.
struct Setting {
    place: usize,
    /// The position of each level, from 0 to 1.
    positions: Vec<f64>,
    weight: f64,
    best: f64,
    /// a: how the best position follows the next setting.
    follows: f64,
}

struct Mode {
    place: usize,
    /// Per level: what it adds to the best position of each setting, and to the cost.
    effects: Vec<(Vec<f64>, f64)>,
}

impl Board {
    fn random(count: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let (settings, modes) = match count {
            ..=3 => (2, 1),
            4 | 5 => (3, 1),
            6 => (3, 2),
            _ => (4, 2),
        };
        let most = if settings == 4 { 12 } else { 16 };
        let mut knobs: Vec<Option<Knob>> = vec![None; count];
        let mut places: Vec<usize> = (0..count).collect();
        places.shuffle(random);
        let (graded, rest) = places.split_at(settings.min(count));
        let (nominal, irrelevant) = rest.split_at(modes.min(rest.len()));
        let settings: Vec<Setting> = graded
            .iter()
            .map(|place| {
                let knob = graded_knob(most, random);
                knobs[*place] = Some(knob);
                let (weight, best) = (random.random_range(0.5..2.0), random.random_range(0.2..0.8));
                let sign = if random.random() { 1.0 } else { -1.0 };
                let follows = sign * random.random_range(0.3..0.6);
                Setting { place: *place, positions: positions(&knob), weight, best, follows }
            })
            .collect();
        let modes = nominal.iter().map(|place| {
            let levels: u16 = random.random_range(2..=4);
            knobs[*place] = Some(Knob::nominal(levels));
            let mut effect =
                |_| (settings.iter().map(|_| random.random_range(-0.2..0.2)).collect(), random.random_range(0.0..0.1));
            Mode { place: *place, effects: (0..levels).map(&mut effect).collect() }
        });
        let modes = modes.collect();
        for place in irrelevant {
            let is_mode = random.random();
            knobs[*place] =
                Some(if is_mode { Knob::nominal(random.random_range(2..=4)) } else { graded_knob(most, random) });
        }
        Self { knobs: knobs.into_iter().flatten().collect(), settings, modes }
    }
}

/// A knob of ranks, linear values or log values.
fn graded_knob(most: usize, random: &mut Xoshiro256PlusPlus) -> Knob {
    const VALUES: (&[f32], &[f32]) = (&E6, &CURRENTS);
    let levels = random.random_range(5..=most.min(E6.len()));
    match random.random_range(0..3) {
        0 => Knob::ranked(levels as u16),
        1 => Knob::graded(&VALUES.0[..levels], Scale::Log),
        _ => Knob::graded(&VALUES.1[..levels], Scale::Linear),
    }
}

fn positions(knob: &Knob) -> Vec<f64> {
    let position = |level: usize| f64::from(knob.position(level as Level));
    let (first, last) = (position(0), position(knob.levels() - 1));
    (0..knob.levels()).map(|level| (position(level) - first) / (last - first)).collect()
}

impl Problem for Board {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let level = |place: usize| usize::from(levels[place]);
        let position = |setting: &Setting| setting.positions[level(setting.place)];
        let next = self.settings.iter().cycle().skip(1);
        let terms = self.settings.iter().zip(next).enumerate().map(|(i, (setting, next))| {
            let shift: f64 = self.modes.iter().map(|mode| mode.effects[level(mode.place)].0[i]).sum();
            let best = setting.best + shift + setting.follows * (position(next) - 0.5);
            let u = position(setting) - best;
            setting.weight * (u * u + RIPPLE * (1.0 - libm::cos(6.0 * std::f64::consts::PI * u)))
        });
        let modes = self.modes.iter().map(|mode| mode.effects[level(mode.place)].1);
        terms.sum::<f64>() + modes.sum::<f64>()
    }

    fn optimum(&self) -> Option<Optimum> {
        let mut levels = vec![0; self.knobs.len()];
        let settings = self.settings.iter().map(|setting| setting.place);
        let places: Vec<usize> = settings.chain(self.modes.iter().map(|mode| mode.place)).collect();
        let relevant = Domain::new(&places.iter().map(|place| self.knobs[*place]).collect::<Vec<_>>());
        let mut best: Option<Optimum> = None;
        for chosen in (0..).map_while(|index| relevant.at(index)) {
            places.iter().zip(chosen).for_each(|(place, level)| levels[*place] = level);
            let value = self.cost(&levels);
            if best.as_ref().is_none_or(|best| value < best.value) {
                best = Some(Optimum { value, levels: levels.clone() });
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::problem::oracle;

    fn setting(place: usize, weight: f64, best: f64, follows: f64) -> Setting {
        Setting { place, positions: vec![0.0, 0.5, 1.0], weight, best, follows }
    }

    #[test]
    fn by_hand() {
        let effects = vec![(vec![0.0, 0.0], 0.0), (vec![0.5, 0.0], 0.25)];
        let board = Board {
            knobs: vec![Knob::nominal(2), Knob::ranked(3), Knob::ranked(3)],
            settings: vec![setting(1, 1.0, 0.5, 0.5), setting(2, 2.0, 0.5, 0.0)],
            modes: vec![Mode { place: 0, effects }],
        };
        // Both settings in the middle: u = (0, 0).
        assert_eq!(board.cost(&[0, 1, 1]), 0.0);
        // The second at 1 moves the best of the first to 0.75: u = (−0.25, 0.5), cos(−1.5π) = 0 and
        // cos 3π = −1: (0.0625 + 0.03) + 2·(0.25 + 0.06).
        assert!((board.cost(&[0, 1, 2]) - 0.7125).abs() < 1e-12);
        // The mode moves it to 1 and costs 0.25.
        assert!((board.cost(&[1, 2, 1]) - 0.25).abs() < 1e-12);
        assert_eq!(board.optimum(), Some(Optimum { value: 0.0, levels: vec![0, 1, 1] }));
    }

    #[test]
    fn the_optimum_is_the_least_of_all() {
        for (knobs, seed) in [(3, 0), (3, 1), (4, 2), (5, 3)] {
            oracle::check_optimum(&format!("board:knobs={knobs}"), seed);
        }
        let error = oracle::refusal("board:knobs=8");
        assert!(error.contains("from 3 to 7"), "{error}");
    }

    #[test]
    fn boards_are_small_mixed_and_not_convex() {
        for (count, seed) in (3..=7).flat_map(|count| (0..4).map(move |seed| (count, seed))) {
            let board = Board::random(count, &mut random_of(seed));
            let graded = board.knobs.iter().filter(|knob| knob.is_graded()).count();
            assert_eq!(board.knobs.len(), count);
            assert!(graded >= 2 && graded < count && Domain::new(&board.knobs).cardinality() < 10_000_000);
            assert_eq!(board.settings.len() + board.modes.len() + usize::from(count > 4), count);
        }
        // Single steps alone do not find the optimum of every board from every start.
        let board = Board::random(4, &mut random_of(0));
        let optimum = board.optimum().unwrap().value;
        assert!((0..20).any(|seed| oracle::descend(&board, seed) > optimum + 1e-3));
    }
}
