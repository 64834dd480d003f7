//! The antenna network of the demo, built of real parts.
//!
//! cost = −ln(1 − |Γ|²); see [`trimtab_firmware::antenna`]. Each of the 7 coils and 7 capacitors is
//! within ±5 % of its value, and the antenna's resistance and reactance are each within 15 % of those
//! of 35 − j120 Ω. A strange board has another antenna: 90 + j60 Ω.
//!
//! **Target.** An SWR within 5 % of the lowest of all 32 768 states.

use trimtab::{Knob, Level};
use trimtab_firmware::antenna::{CAPACITORS_PF, INDUCTORS_NH, KNOBS, SOURCE_OHM, STRAY_NH, STRAY_PF};

use super::{Board, Random, median, within};

const TOLERANCE: f64 = 0.05;
const AROUND: f64 = 0.15;
const OMEGA: f64 = std::f64::consts::TAU * 7.1e6;

pub(super) fn knobs() -> Vec<Knob> {
    KNOBS.to_vec()
}

/// A band of coils beside the best ones of most boards, near level 48, trips the amplifier.
pub(super) fn beside(levels: &[Level]) -> bool {
    (50..64).contains(&levels[0])
}

/// The best coils of most boards trip it: the best that works is beside.
pub(super) fn around(levels: &[Level]) -> bool {
    (45..54).contains(&levels[0])
}

struct Network {
    /// Impedance of the inductor and admittance of the capacitor at each level.
    inductors: Vec<f64>,
    capacitors: Vec<f64>,
    load: (f64, f64),
    target: f64,
    spread: f64,
}

pub(super) fn draw(random: &mut Random, is_strange: bool) -> Box<dyn Board> {
    let (resistance, reactance) = if is_strange { (90.0, 60.0) } else { (35.0, -120.0) };
    let load = (resistance * within(random, AROUND), reactance * within(random, AROUND));
    let mut bank = |values: [f32; 7], stray: f32, unit: f64| -> Vec<f64> {
        let parts = values.map(|value| f64::from(value) * within(random, TOLERANCE));
        let of = |level: usize| (0..7).filter(|i| level >> i & 1 == 1).map(|i| parts[i]).sum::<f64>();
        (0..128).map(|level| OMEGA * unit * (f64::from(stray) + of(level))).collect()
    };
    let inductors = bank(INDUCTORS_NH, STRAY_NH, 1e-9);
    let capacitors = bank(CAPACITORS_PF, STRAY_PF, 1e-12);
    let mut board = Network { inductors, capacitors, load, target: 0.0, spread: 0.0 };
    let all = (0..32_768usize).map(|i| [(i & 127) as Level, (i >> 7 & 127) as Level, (i >> 14) as Level]);
    let least = all.map(|levels| board.reflection(&levels)).fold(f64::INFINITY, f64::min);
    let swr = 1.05 * (1.0 + least.sqrt()) / (1.0 - least.sqrt());
    let reflected = (swr - 1.0) / (swr + 1.0);
    board.target = -(1.0 - reflected * reflected).ln();
    let lowest = -(1.0 - least).ln();
    board.spread = median(&knobs(), random, &|levels: &[Level]| board.cost(levels)) - lowest;
    Box::new(board)
}

impl Network {
    /// |Γ|².
    fn reflection(&self, levels: &[Level]) -> f64 {
        let (x, b) = (self.inductors[usize::from(levels[0])], self.capacitors[usize::from(levels[1])]);
        let inverse = |(re, im): (f64, f64)| (re / (re * re + im * im), -im / (re * re + im * im));
        let (re, im) = if levels[2] == 0 {
            let (g, s) = inverse(self.load);
            let (re, im) = inverse((g, s + b));
            (re, im + x)
        } else {
            let (g, s) = inverse((self.load.0, self.load.1 + x));
            inverse((g, s + b))
        };
        let source = f64::from(SOURCE_OHM);
        ((re - source) * (re - source) + im * im) / ((re + source) * (re + source) + im * im)
    }
}

impl Board for Network {
    fn cost(&self, levels: &[Level]) -> f64 {
        -(1.0 - self.reflection(levels)).max(1e-12).ln()
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn spread(&self) -> f64 {
        self.spread
    }
}
