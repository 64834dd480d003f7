//! A transmitter with a pulse shape and a receiver with a feed-forward equaliser.
//!
//! cost = (I + n)/(S + I + n) of the taps' output: S the power of the wanted symbol, I that of the
//! others, n the noise that the taps let through. 1 is no signal, 0 a perfect one. Six taps of 16
//! levels from −1 to 1 (the fourth from 0.2 to 1.2), four pulse shapes. Each of the channel's six
//! paths is within 20 % of its design value. A strange board has the channel of another cable.
//!
//! **Target.** Within 5 % of the way from the best of a long search to the median.

use trimtab::{Knob, Level};

use super::{Board, Random, searched, within};

const TAPS: usize = 6;
const PATHS: [f64; 6] = [0.12, -0.28, 1.0, 0.42, -0.2, 0.1];
const OTHER: [f64; 6] = [-0.3, 0.9, 0.35, -0.45, 0.25, 0.15];
/// Samples of a pulse: what of a symbol leaks into its neighbours.
const PULSES: [[f64; 3]; 4] = [[0.0, 1.0, 0.0], [0.25, 0.9, 0.25], [-0.15, 0.95, -0.15], [0.1, 0.85, 0.35]];
const NOISE: f64 = 0.01;

pub(super) fn knobs() -> Vec<Knob> {
    let mut knobs = vec![Knob::nominal(4)];
    knobs.extend([Knob::ranked(16); TAPS]);
    knobs
}

struct Link {
    /// The response of the channel to each pulse.
    responses: [[f64; 8]; 4],
    target: f64,
    spread: f64,
}

pub(super) fn draw(random: &mut Random, is_strange: bool) -> Box<dyn Board> {
    let paths = if is_strange { OTHER } else { PATHS }.map(|path| path * within(random, 0.2));
    let responses = PULSES.map(|pulse| {
        let mut response = [0.0; 8];
        for (i, path) in paths.iter().enumerate() {
            for (j, sample) in pulse.iter().enumerate() {
                response[i + j] += path * sample;
            }
        }
        response
    });
    let mut board = Link { responses, target: 0.0, spread: 0.0 };
    (board.target, board.spread) = searched(&knobs(), random, 40, |levels| board.cost(levels));
    Box::new(board)
}

impl Board for Link {
    fn cost(&self, levels: &[Level]) -> f64 {
        let tap = |i: usize| {
            let at = f64::from(levels[i + 1]) / 15.0;
            if i == 3 { 0.2 + at } else { 2.0 * at - 1.0 }
        };
        let response = &self.responses[usize::from(levels[0])];
        let mut output = [0.0; 13];
        for i in 0..TAPS {
            for (j, sample) in response.iter().enumerate() {
                output[i + j] += tap(i) * sample;
            }
        }
        let wanted = output[6] * output[6];
        let others = output.iter().map(|sample| sample * sample).sum::<f64>() - wanted;
        let noise = NOISE * (0..TAPS).map(|i| tap(i) * tap(i)).sum::<f64>();
        (others + noise) / (wanted + others + noise)
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn spread(&self) -> f64 {
        self.spread
    }
}
