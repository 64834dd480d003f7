//! A delay line of 24 relays, each of which puts a piece of line into the path.
//!
//! cost = |t(c) − t₀|/t₁ + loss(c), t(c) = Σ dᵢ + Σ xᵢ over the relays that are on: dᵢ is the delay of
//! relay i (1.22ⁱ by design, within 3 %), xᵢ its crosstalk with the next if both are on, within ±2 % of
//! their smaller delay. Each piece loses 1 % on top. The wanted delay t₀ is within 5 % of the design's.
//! A strange board is another layout: the pieces in another order.
//!
//! **Target.** Within 5 % of the way from the best of a long search to the median.

use rand::RngExt;
use trimtab::{Knob, Level};

use super::{Board, Random, searched, within};

const RELAYS: usize = 24;
const RATIO: f64 = 1.22;
const LOSS: f64 = 0.01;

pub(super) fn knobs() -> Vec<Knob> {
    vec![Knob::nominal(2); RELAYS]
}

/// The two longest pieces together reflect too much: the measurement finds no pulse.
pub(super) fn fails(levels: &[Level]) -> bool {
    levels[RELAYS - 2..] == [1, 1]
}

struct Line {
    delays: [f64; RELAYS],
    crosstalk: [f64; RELAYS],
    wanted: f64,
    unit: f64,
    target: f64,
    spread: f64,
}

pub(super) fn draw(random: &mut Random, is_strange: bool) -> Box<dyn Board> {
    let place = |i: usize| if is_strange { (7 * i + 5) % RELAYS } else { i };
    let design: [f64; RELAYS] = std::array::from_fn(|i| RATIO.powi(place(i) as i32));
    let delays = design.map(|delay| delay * within(random, 0.03));
    let crosstalk = std::array::from_fn(|i| {
        let smaller = design[i].min(*design.get(i + 1).unwrap_or(&0.0));
        smaller * 0.02 * random.random_range(-1.0..1.0)
    });
    let whole: f64 = design.iter().sum();
    let wanted = 0.37 * whole * within(random, 0.05);
    let mut board = Line { delays, crosstalk, wanted, unit: 0.2 * whole, target: 0.0, spread: 0.0 };
    (board.target, board.spread) = searched(&knobs(), random, 12, |levels| board.cost(levels));
    Box::new(board)
}

impl Board for Line {
    fn cost(&self, levels: &[Level]) -> f64 {
        let is_on = |i: usize| levels.get(i).is_some_and(|level| *level == 1);
        let mut delay = 0.0;
        for i in (0..RELAYS).filter(|i| is_on(*i)) {
            delay += self.delays[i] + if is_on(i + 1) { self.crosstalk[i] } else { 0.0 };
        }
        let on = (0..RELAYS).filter(|i| is_on(*i)).count();
        (delay - self.wanted).abs() / self.unit + LOSS * on as f64
    }

    fn target(&self) -> f64 {
        self.target
    }

    fn spread(&self) -> f64 {
        self.spread
    }
}
