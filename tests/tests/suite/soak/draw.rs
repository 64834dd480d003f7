//! Random spaces of 1 to 128 features, configurations and costs.

use trimtab::internals::Random;
use trimtab::sizes::{features, graded_levels};
use trimtab::{
    Acquisition, Beta, Combination, Config, Distribution, Encoding, Feasible, Goal, Knob, Level, Noise, Prior, Scale,
    Space, WhenFull,
};

/// Most features of a space.
pub(super) const MOST_FEATURES: usize = 128;

pub(super) struct Draw(Random);

/// What measurements return.
#[derive(Clone, Copy, Debug)]
pub(super) enum Costs {
    /// Depends on the knobs and on pairs of them, times this, plus noise of this deviation.
    Smooth(f32, f32),
    /// Always the same.
    Constant(f32),
    /// One, up to the last bits.
    Nearly,
    /// Anything that f32 can hold.
    Extreme,
}

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed, 1 << 59))
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u32) as usize
    }

    /// True once in n times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(super) fn one_of<E: Copy>(&mut self, these: &[E]) -> E {
        these[self.below(these.len())]
    }

    /// A space of at most `most` knobs whose graded levels, or features under a map, fit into `room`.
    pub(super) fn space<const K: usize>(&mut self, room: usize, is_mapped: bool) -> Space<K> {
        // The last two values are near-duplicates: their covariances are nearly the same.
        static VALUES: [f32; 7] = [0.5, 2.0, 10.0, 47.0, 220.0, 1000.0, 1000.001];
        let wanted = 1 + self.below(MOST_FEATURES);
        let only_bits = self.once_in(4);
        let mut knobs: Vec<Knob> = Vec::new();
        while knobs.len() < K {
            let knob = match self.below(5) {
                _ if only_bits => Knob::nominal(2),
                0 => Knob::nominal(2),
                1 => Knob::nominal(1 + self.below(9) as u16),
                2 => Knob::ranked(1 + self.below(20) as u16),
                3 => Knob::graded(&VALUES[..1 + self.below(7)], Scale::Log),
                _ => Knob::graded(&VALUES[5 - self.below(5)..], Scale::Linear),
            };
            knobs.push(knob);
            let needed = if is_mapped { features(&knobs) } else { graded_levels(&knobs) };
            if needed > room || features(&knobs) > wanted.max(16) {
                knobs.pop();
                break;
            }
            if features(&knobs) >= wanted {
                break;
            }
        }
        if knobs.is_empty() {
            knobs.push(Knob::nominal(2));
        }
        let space = Space::new(&knobs).expect("the knobs are sound");
        let rules: [Feasible<K>; 3] = [
            &|c| c.level(0) == 0,
            &|c| !c.levels().iter().map(|l| u32::from(*l)).sum::<u32>().is_multiple_of(3),
            &|c| c.levels().windows(2).all(|pair| pair != [1, 1]),
        ];
        if self.once_in(3) { space.with_feasible(self.one_of(&rules)) } else { space }
    }

    pub(super) fn config(&mut self) -> Config {
        let beta = self.one_of(&[Beta::Constant(2.0), Beta::Theorem { scale: 0.5, delta: 0.1 }]);
        Config {
            goal: self.one_of(&[Goal::Minimise, Goal::Maximise]),
            encoding: Encoding::PerKnob,
            map: self.one_of(&[Distribution::Centred, Distribution::Signs, Distribution::Uniform01]),
            prior: self.one_of(&[Prior::WEAK, Prior::WEAK, Prior::FIXED, Prior::MAXIMUM_LIKELIHOOD]),
            refit: self.one_of(&[16, 4, 1, 0]),
            standardise: !self.once_in(8),
            acquisition: self.one_of(&[Acquisition::Ucb(beta), Acquisition::ExpectedImprovement]),
            initial: self.below(6) as u16,
            noise: self.one_of(&[Noise::Auto, Noise::Auto, Noise::None, Noise::Given(0.0), Noise::Given(0.3)]),
            remeasure: self.one_of(&[u16::MAX, 1, 3]),
            when_full: self.one_of(&[WhenFull::Refuse, WhenFull::ForgetOldest, WhenFull::ForgetWorst]),
            rows: self.one_of(&[0, 0, 7]),
            observations: self.one_of(&[0, 0, 5]),
            ..Config::default()
        }
    }

    pub(super) fn costs(&mut self) -> Costs {
        let constant = self.one_of(&[0.0, 7.25, 1e30, -1e-30]);
        let scale = self.one_of(&[1.0, 1.0, 1e-30, 1e30, -1e6]);
        match self.below(8) {
            0 => Costs::Constant(constant),
            1 => Costs::Nearly,
            2 => Costs::Extreme,
            3 | 4 => Costs::Smooth(scale, 0.3),
            _ => Costs::Smooth(scale, 0.0),
        }
    }

    /// One measurement.
    pub(super) fn measure<const K: usize>(&mut self, costs: Costs, c: &Combination<K>) -> f32 {
        let extreme = [f32::MAX, f32::MIN, 1e30, -1e30, 1e-30, 0.0, -0.0, 1.0, f32::MIN_POSITIVE, 1e-45];
        match costs {
            Costs::Smooth(scale, noise) => {
                let weight = |i: usize| ((i * 37 + 11) % 17) as f32 / 17.0 - 0.4;
                let levels = || c.levels().iter().map(|level| f32::from(*level));
                let alone: f32 = levels().enumerate().map(|(i, level)| weight(i) * level).sum();
                let pairs: f32 =
                    levels().zip(levels().skip(1)).enumerate().map(|(i, (a, b))| weight(i + 5) * a * b).sum();
                scale * (alone + 0.5 * pairs + noise * (self.0.uniform() - 0.5))
            }
            Costs::Constant(value) => value,
            Costs::Nearly => 1.0 + f32::EPSILON * self.below(4) as f32,
            Costs::Extreme => self.one_of(&extreme),
        }
    }

    /// A combination of the space: anywhere, or a step from one that is known.
    pub(super) fn combination<const K: usize>(
        &mut self,
        space: &Space<K>,
        near: Option<Combination<K>>,
    ) -> Combination<K> {
        let mut level = |knob: &Knob| self.0.below(knob.levels() as u32) as Level;
        let mut levels: Vec<Level> = space.knobs().iter().map(&mut level).collect();
        if let Some(near) = near.filter(|_| self.once_in(2)) {
            let knob = self.below(levels.len());
            let new = levels[knob];
            levels.copy_from_slice(near.levels());
            levels[knob] = new;
        }
        space.combination(&levels).expect("its levels are the knob's")
    }
}
