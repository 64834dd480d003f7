//! Simulated annealing of a quadratic in bits.
//!
//! | setting | value |
//! |---|---|
//! | restarts | 5, each from a uniform random combination |
//! | step | one bit; in a nominal knob of more than two levels, one level to another |
//! | temperature | T = 0.8ᵗ at step t = 1, 2, …, in units of the cost |
//! | accepted | a change Δ with probability min(1, exp(−Δ/T)) |
//!
//! **Choices**
//! - u < exp(−Δ/T) for u uniform in (0, 1) is Δ/T < e for e exponential, so no `exp` is needed.
//!
//! **Cost.** O(m) per step.

use rand::RngExt;
use rand_distr::Exp1;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::code::{Code, Flip};
use super::quadratic::{Best, Quadratic};

const RESTARTS: usize = 5;
const COOLING: f64 = 0.8;

/// Returns the smallest values seen in all restarts.
pub(super) fn minimise(
    model: &Quadratic,
    code: &Code,
    flips: usize,
    may_propose: &dyn Fn(&[bool]) -> bool,
    random: &mut Xoshiro256PlusPlus,
) -> Best {
    let mut best = Best::default();
    let mut x = vec![false; code.bits()];
    for _ in 0..RESTARTS {
        code.random_into(&mut x, random);
        let mut value = model.value(&x);
        best.offer(value, &x, may_propose);
        let mut temperature = 1.0;
        for _ in 0..flips {
            temperature *= COOLING;
            let Some(flip) = code.random_flip(&x, random) else { continue };
            let change = turn(model, &mut x, flip);
            best.offer(value + change, &x, may_propose);
            let threshold: f64 = random.sample(Exp1);
            if change < 0.0 || change < temperature * threshold {
                value += change;
            } else {
                turn(model, &mut x, flip);
            }
        }
    }
    best
}

/// Flips bits and returns the change of the value.
fn turn(model: &Quadratic, x: &mut [bool], flip: Flip) -> f64 {
    let mut change = 0.0;
    for i in [Some(flip.first), flip.second].into_iter().flatten() {
        let slope = model.slope(i, x);
        change += if x[i] { -slope } else { slope };
        x[i] ^= true;
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use trimtab::Knob;

    #[test]
    fn finds_the_minimum_of_small_quadratics() {
        let code = Code::new(&[Knob::nominal(2); 8]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut found = 0;
        for _ in 0..20 {
            let model = Quadratic::random(8, &mut random);
            let least = model.least();
            let best = minimise(&model, &code, 200, &|_| true, &mut random);
            let (value, x) = best.allowed.unwrap();
            // The value was accumulated change by change.
            assert!((model.value(&x) - value).abs() < 1e-12);
            found += usize::from(value - least < 1e-12);
        }
        // Cooling this fast is nearly a descent. All five may end in other minima, but most runs do
        // not.
        assert!(found >= 17, "{found} of 20");
    }

    #[test]
    fn changes_add_up_on_every_kind_of_knob() {
        let code = Code::new(&[Knob::nominal(4), Knob::ranked(6), Knob::nominal(2)]);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let model = Quadratic::random(8, &mut random);
        let mut x = code.encode(&[0, 0, 0]);
        for _ in 0..200 {
            let old = model.value(&x);
            let Some(flip) = code.random_flip(&x, &mut random) else { continue };
            let change = turn(&model, &mut x, flip);
            assert!((model.value(&x) - old - change).abs() < 1e-12);
        }
    }
}
