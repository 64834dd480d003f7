//! A measuring front end with continuous-like and nominal settings: a 12-bit bias, a 10-bit gain, a
//! period over three decades, and three modes that move what is best.
//!
//! f(c) = Σᵢ wᵢ·(uᵢ² + 0.03·(1 − cos 6πuᵢ)) + Σⱼ bⱼ(mⱼ), uᵢ = xᵢ − oᵢ − Σⱼ sᵢⱼ(mⱼ) − aᵢ·(xᵢ₊₁ − ½)
//!
//! | name | meaning |
//! |---|---|
//! | x ∈ [0, 1]³ | positions of bias (4096 levels), gain (1024 levels) and period (2048 levels at equal ratios) on their scales; the last one's next is the first |
//! | m | input (4 levels), filter (3), clock (2), nominal |
//! | wᵢ, oᵢ | weight from [0.5, 2], best position from [0.2, 0.8] |
//! | aᵢ | how the best position follows the next setting, ±[0.3, 0.6] |
//! | sᵢⱼ, bⱼ | what a mode adds to the best position, [−0.15, 0.15], and to the cost, [0, 0.1], 0 for the best level |
//!
//! It is the [`board`](super::board) with 4096·1024·2048·24 = 2.1·10¹¹ combinations, so that a method needs
//! the values of a setting and cannot go through its levels. `all` leaves it out: some methods do go
//! through them.
//!
//! **Choices**
//! - Settings stand between modes, in one order for all instances: bias, input, gain, filter, period, clock.
//! - An instance is drawn again until its optimum is inside: every xᵢ in [0.05, 0.95].
//!
//! **Optimum.** No cost is below Σⱼ minₘ bⱼ(m) = 0, and with the best modes u = 0 has a solution, by three
//! linear equations. The best of the 11³ combinations around it is the known optimum: some 1e-6.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use trimtab::{Knob, Level};

use super::{Family, Optimum, Problem, random_of};

pub(super) const FAMILY: Family = Family {
    name: "mixed",
    about: "a front end: ranges of 4096, 2048 and 1024 levels whose optima depend on each other and on three modes",
    parameters: &[],
    build: |_, seed, _| Ok(Box::new(Mixed::random(&mut random_of(seed)))),
    load: None,
};

const KNOBS: [Knob; 6] = [
    Knob::range(0.0, 4095.0, 1.0),
    Knob::nominal(4),
    Knob::range(0.0, 1023.0, 1.0),
    Knob::nominal(3),
    Knob::log_range(10.0, 10_000.0, 2048),
    Knob::nominal(2),
];
/// Where the settings and the modes are among the knobs.
const SETTINGS: [usize; 3] = [0, 2, 4];
const MODES: [usize; 3] = [1, 3, 5];
const RIPPLE: f64 = 0.03;

struct Mixed {
    settings: [Setting; 3],
    /// Per mode and level: what it adds to each best position, and to the cost.
    modes: [Vec<([f64; 3], f64)>; 3],
}

#[derive(Clone, Copy)]
struct Setting {
    weight: f64,
    best: f64,
    follows: f64,
}

impl Mixed {
    fn random(random: &mut Xoshiro256PlusPlus) -> Self {
        loop {
            let settings = [(); 3].map(|()| {
                let (weight, best) = (random.random_range(0.5..2.0), random.random_range(0.2..0.8));
                let sign = if random.random() { 1.0 } else { -1.0 };
                Setting { weight, best, follows: sign * random.random_range(0.3..0.6) }
            });
            let modes = MODES.map(|place| {
                let count = KNOBS[place].levels();
                let free = random.random_range(0..count);
                let mut effect = |level: usize| {
                    let moves = [(); 3].map(|()| random.random_range(-0.15..0.15));
                    let cost: f64 = random.random_range(0.0..0.1);
                    (moves, if level == free { 0.0 } else { cost })
                };
                (0..count).map(&mut effect).collect::<Vec<_>>()
            });
            let drawn = Self { settings, modes };
            if drawn.solution().iter().all(|x| (0.05..=0.95).contains(x)) {
                return drawn;
            }
        }
    }

    /// The levels of the modes that cost nothing.
    fn best_modes(&self) -> [usize; 3] {
        self.modes.each_ref().map(|mode| mode.iter().position(|(_, cost)| *cost == 0.0).unwrap_or(0))
    }

    /// The positions with u = 0 at the best modes. Each follows the next by less than 0.6 of its way, so
    /// going round converges.
    fn solution(&self) -> [f64; 3] {
        let modes = self.best_modes();
        let mut x = [0.5; 3];
        for turn in 0..400 {
            let i = 2 - turn % 3;
            let moved: f64 = modes.iter().zip(&self.modes).map(|(level, mode)| mode[*level].0[i]).sum();
            let Setting { best, follows, .. } = self.settings[i];
            x[i] = best + moved + follows * (x[(i + 1) % 3] - 0.5);
        }
        x
    }
}

/// The position of a level, from 0 to 1. Ranges are evenly spaced on their scale.
fn position(place: usize, level: Level) -> f64 {
    f64::from(level) / (KNOBS[place].levels() - 1) as f64
}

impl Problem for Mixed {
    fn knobs(&self) -> &[Knob] {
        &KNOBS
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        let x = SETTINGS.map(|place| position(place, levels[place]));
        let modes: Vec<&([f64; 3], f64)> =
            MODES.iter().zip(&self.modes).map(|(place, mode)| &mode[usize::from(levels[*place])]).collect();
        let cost: f64 = modes.iter().map(|(_, cost)| cost).sum();
        let setting = |i: usize| {
            let Setting { weight, best, follows } = self.settings[i];
            let moved: f64 = modes.iter().map(|(moves, _)| moves[i]).sum();
            let u = x[i] - best - moved - follows * (x[(i + 1) % 3] - 0.5);
            weight * (u * u + RIPPLE * (1.0 - (6.0 * std::f64::consts::PI * u).cos()))
        };
        cost + (0..3).map(setting).sum::<f64>()
    }

    fn optimum(&self) -> Option<Optimum> {
        let mut levels: Vec<Level> = vec![0; KNOBS.len()];
        for (place, level) in MODES.iter().zip(self.best_modes()) {
            levels[*place] = level as Level;
        }
        let x = self.solution();
        let near = |i: usize| {
            let top = (KNOBS[SETTINGS[i]].levels() - 1) as f64;
            let middle = (x[i] * top).round();
            (-5..=5).map(move |step| (middle + f64::from(step)).clamp(0.0, top) as Level)
        };
        let mut best: Option<Optimum> = None;
        for (bias, gain, period) in
            near(0).flat_map(|a| near(1).flat_map(move |b| near(2).map(move |c| (a, b, c)))).collect::<Vec<_>>()
        {
            for (place, level) in SETTINGS.iter().zip([bias, gain, period]) {
                levels[*place] = level;
            }
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

    /// No combination that random search and descent by single levels find is below the optimum.
    #[test]
    fn the_optimum_is_a_lower_bound() {
        for seed in 0..10 {
            let problem = Mixed::random(&mut random_of(seed));
            let Optimum { value, levels } = problem.optimum().unwrap();
            assert!((0.0..1e-5).contains(&value) && problem.cost(&levels) == value, "{value}");
            let mut random = random_of(seed + 100);
            for _ in 0..300 {
                let mut at: Vec<Level> = KNOBS.iter().map(|k| random.random_range(0..k.levels()) as Level).collect();
                let mut cost = problem.cost(&at);
                for power in (0..12).rev() {
                    for place in 0..KNOBS.len() {
                        for other in [at[place].checked_sub(1 << power), at[place].checked_add(1 << power)] {
                            let Some(other) = other.filter(|l| usize::from(*l) < KNOBS[place].levels()) else {
                                continue;
                            };
                            let mut next = at.clone();
                            next[place] = other;
                            if problem.cost(&next) < cost {
                                (cost, at) = (problem.cost(&next), next);
                            }
                        }
                    }
                }
                assert!(cost >= value, "{cost} at {at:?} is below {value}");
            }
        }
    }

    /// By hand: one setting off by 0.1, all else at its best.
    #[test]
    fn the_cost_by_hand() {
        let free = |count: usize| vec![([0.0; 3], 0.0); count];
        let setting = Setting { weight: 2.0, best: 0.5, follows: 0.0 };
        let mut problem = Mixed { settings: [setting; 3], modes: [free(4), free(3), free(2)] };
        problem.modes[1][2] = ([0.0, 0.1, 0.0], 0.07);
        let at = |bias: Level, filter: Level| problem.cost(&[bias, 0, 512, filter, 1024, 0]);
        let ripple = |u: f64| 2.0 * (u * u + 0.03 * (1.0 - (6.0 * std::f64::consts::PI * u).cos()));
        let (gain, period) = (ripple(512.0 / 1023.0 - 0.5), ripple(1024.0 / 2047.0 - 0.5));
        assert!((at(2457, 0) - (ripple(0.6 - 0.5) + gain + period)).abs() < 1e-12);
        assert!((at(2457, 2) - (ripple(0.6 - 0.5) + ripple(512.0 / 1023.0 - 0.6) + period + 0.07)).abs() < 1e-12);
    }
}
