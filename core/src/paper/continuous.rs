//! The minimum of a smooth function over a box: quasi-Newton descents from several starts.
//!
//! The paper minimises the acquisition over a continuous 𝒳 and then turns the minimum into a
//! combination (Algorithm 1; sections 4.1 and 6). Each step goes along −H·∇f on the free
//! dimensions, with H the inverse curvature seen in the last steps, and is clipped to the box
//! (two-metric projection, Bertsekas 1982).
//!
//! | name | meaning | shape |
//! |---|---|---|
//! | x | a point in the caller's coordinates | D |
//! | u | the same in a box of sides 1: x = low·(1 − u) + high·u | D |
//! | free | dimensions that the gradient does not hold at a bound | D |
//!
//! **Choices**
//! - *Method*: the paper's software uses L-BFGS-B from 100 starts; this is a shorter relative.
//!   Instead of a Cauchy point and a subspace minimisation, dimensions that press against their
//!   bound are left out of all products, so H never mixes them in.
//! - *Step length*: cut while the value does not fall enough, doubled while the slope ahead is as
//!   steep as before (weak Wolfe, by bisection). Then s·y > 0, and a start on a slight slope far
//!   away gets going.
//! - *f32*: near a minimum values differ by less than their rounding, gradients do not. If a step's
//!   value is equal to rounding, its slopes decide (Hager and Zhang 2005). That finds x to some
//!   1e-6 of the box where values alone would stop at 1e-3.
//! - *Starts*: the middle of the box, then uniform points. The smallest value wins, the first of
//!   equals.
//! - *Not finite*: an infinite or NaN value or gradient counts as too high; the descent stays where
//!   f is finite.
//!
//! **Cost.** At most 100 steps of at most 20 evaluations per descent; for an acquisition some 10
//! steps of one or two. About 50·D operations per step besides f, and about 30·D numbers of stack.

use crate::math::float::dot;
use crate::math::random::Random;
use crate::paper::curvature::{Curvature, longest};

/// Most steps per descent, and most lengths tried per step.
const MOST_STEPS: usize = 100;
const MOST_LENGTHS: usize = 20;
/// A step must fall by this share of what the slope promises, and leave a slope of at most this
/// share.
const ENOUGH_FALL: f32 = 1e-4;
const ENOUGH_FLATTER: f32 = 0.9;
/// Values that differ by this share are equal to rounding.
const EQUAL: f32 = 2e-6;
/// The longest side of the first step, when the curvature is unknown, and the shortest step worth
/// taking, both in sides of the box.
const FIRST_STEP: f32 = 0.1;
const SHORTEST: f32 = 1e-6;
/// A descent ends after this many steps without a value that is smaller by more than rounding:
/// enough for the slopes to settle x.
const MOST_IDLE: usize = 3;

/// The smallest value found, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Minimum<const D: usize> {
    /// The point, inside the box or on its bounds.
    pub x: [f32; D],
    /// The value there; infinite if no start had a finite one.
    pub value: f32,
    /// Number of evaluations of the function.
    pub evaluations: u32,
}

/// Minimises `f` over a box by descents from the middle and from `starts` − 1 random points.
/// `bounds` has the two bounds of each dimension. `f` returns its value at a point and writes its
/// gradient.
///
/// ```
/// use trimtab::internals::{Random, minimise};
/// // (x − 3)² + (y + 1)² over [0, 2] × [−2, 2]: at the bound in x, inside in y.
/// let found = minimise(&[(0.0, 2.0), (-2.0, 2.0)], 1, &mut Random::new(1, 0), |[x, y], gradient| {
///     *gradient = [2.0 * (x - 3.0), 2.0 * (y + 1.0)];
///     (x - 3.0) * (x - 3.0) + (y + 1.0) * (y + 1.0)
/// });
/// assert_eq!(found.x[0], 2.0);
/// assert!((found.x[1] + 1.0).abs() < 1e-5 && (found.value - 1.0).abs() < 1e-5);
/// ```
pub fn minimise<const D: usize>(
    bounds: &[(f32, f32); D],
    starts: u16,
    random: &mut Random,
    mut f: impl FnMut(&[f32; D], &mut [f32; D]) -> f32,
) -> Minimum<D> {
    let mut best = descend_unit(bounds, [0.5; D], &mut f);
    for _ in 1..starts {
        let mut u = [0.0; D];
        u.iter_mut().for_each(|u| *u = random.uniform());
        let found = descend_unit(bounds, u, &mut f);
        let evaluations = best.evaluations.saturating_add(found.evaluations);
        best = Minimum { evaluations, ..if found.value < best.value { found } else { best } };
    }
    best
}

/// One descent; a start outside the box is moved to its bounds.
pub fn descend<const D: usize>(
    bounds: &[(f32, f32); D],
    start: &[f32; D],
    mut f: impl FnMut(&[f32; D], &mut [f32; D]) -> f32,
) -> Minimum<D> {
    let mut u = [0.0; D];
    for ((u, x), (low, high)) in u.iter_mut().zip(start).zip(bounds) {
        let share = (x - low) / (high - low);
        // A box without width, or a start that is not a number, begins at the low bound.
        *u = if share > 0.0 { share.min(1.0) } else { 0.0 };
    }
    descend_unit(bounds, u, &mut f)
}

/// The largest difference between the gradient that `f` writes and central differences of its
/// values, `step` to both sides.
///
/// ```
/// use trimtab::internals::gradient_error;
/// let right = gradient_error(&[3.0], 0.5, |[x], gradient| { *gradient = [2.0 * x]; x * x });
/// let wrong = gradient_error(&[3.0], 0.5, |[x], gradient| { *gradient = [*x]; x * x });
/// assert_eq!((right, wrong), (0.0, 3.0));
/// ```
pub fn gradient_error<const D: usize>(
    x: &[f32; D],
    step: f32,
    mut f: impl FnMut(&[f32; D], &mut [f32; D]) -> f32,
) -> f32 {
    let (mut gradient, mut unused) = ([0.0; D], [0.0; D]);
    f(x, &mut gradient);
    gradient.iter().enumerate().fold(0.0, |worst: f32, (i, own)| {
        let [ahead, behind] = [step, -step].map(|step| {
            let mut x = *x;
            x.iter_mut().skip(i).take(1).for_each(|x| *x += step);
            f(&x, &mut unused)
        });
        worst.max((own - (ahead - behind) / (2.0 * step)).abs())
    })
}

/// A point of the unit box with its value and gradient.
#[derive(Clone, Copy)]
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Point<const D: usize> {
    u: [f32; D],
    value: f32,
    slope: [f32; D],
}

impl<const D: usize> Point<D> {
    /// 0 for dimensions at a bound whose gradient presses against it, 1 for the others.
    fn free(&self) -> [f32; D] {
        let mut free = [1.0; D];
        for ((free, u), slope) in free.iter_mut().zip(&self.u).zip(&self.slope) {
            if *u <= 0.0 && *slope > 0.0 || *u >= 1.0 && *slope < 0.0 {
                *free = 0.0;
            }
        }
        free
    }
}

fn difference<const D: usize>(a: &[f32; D], b: &[f32; D]) -> [f32; D] {
    let mut difference = *a;
    difference.iter_mut().zip(b).for_each(|(a, b)| *a -= b);
    difference
}

/// A point of the unit box in the caller's coordinates.
fn from_unit<const D: usize>(bounds: &[(f32, f32); D], u: &[f32; D]) -> [f32; D] {
    let mut x = [0.0; D];
    // Exact at both bounds.
    x.iter_mut().zip(bounds).zip(u).for_each(|((x, (low, high)), u)| *x = low * (1.0 - u) + high * u);
    x
}

fn descend_unit<const D: usize>(
    bounds: &[(f32, f32); D],
    start: [f32; D],
    f: &mut impl FnMut(&[f32; D], &mut [f32; D]) -> f32,
) -> Minimum<D> {
    let mut evaluations = 0;
    let mut evaluate = |u: [f32; D]| {
        evaluations += 1;
        let mut slope = [0.0; D];
        let value = f(&from_unit(bounds, &u), &mut slope);
        slope.iter_mut().zip(bounds).for_each(|(slope, (low, high))| *slope *= high - low);
        (value.is_finite() && slope.iter().all(|slope| slope.is_finite())).then_some(Point { u, value, slope })
    };
    let Some(mut at) = evaluate(start) else {
        return Minimum { x: from_unit(bounds, &start), value: f32::INFINITY, evaluations };
    };
    let (mut curvature, mut lowest, mut idle) = (Curvature::new(), at.value, 0);
    for _ in 0..MOST_STEPS {
        let direction = curvature.direction(&at.slope, &at.free(), FIRST_STEP);
        let settled = !curvature.is_empty() && longest(&direction) < SHORTEST;
        if settled || idle >= MOST_IDLE {
            break;
        }
        if let Some(next) = step(&at, &direction, &mut evaluate) {
            idle = if next.value < lowest - EQUAL * lowest.abs() { 0 } else { idle + 1 };
            lowest = lowest.min(next.value);
            curvature.learn(difference(&next.u, &at.u), difference(&next.slope, &at.slope));
            at = next;
        } else if curvature.is_empty() {
            break;
        } else {
            // The curvature may be stale: try once more along the gradient before calling this a
            // minimum.
            curvature = Curvature::new();
        }
    }
    Minimum { x: from_unit(bounds, &at.u), value: at.value, evaluations }
}

/// The next point along a direction, clipped to the box, or `None` if no lower one was found.
fn step<const D: usize>(
    at: &Point<D>,
    direction: &[f32; D],
    evaluate: &mut impl FnMut([f32; D]) -> Option<Point<D>>,
) -> Option<Point<D>> {
    let steep = dot(&at.slope, direction);
    if steep >= 0.0 || steep.is_nan() {
        return None;
    }
    let (mut found, mut short, mut long, mut length) = (None, 0.0, f32::INFINITY, 1.0);
    for _ in 0..MOST_LENGTHS {
        let (mut u, mut moved, mut onward) = (at.u, [0.0; D], *direction);
        for (((u, moved), onward), from) in u.iter_mut().zip(&mut moved).zip(&mut onward).zip(&at.u) {
            let wanted = *from + length * *onward;
            *u = wanted.clamp(0.0, 1.0);
            *moved = *u - *from;
            // A dimension stopped by its bound goes no further.
            if *u != wanted {
                *onward = 0.0;
            }
        }
        if longest(&moved) < SHORTEST {
            break;
        }
        let (next, promised) = (evaluate(u), dot(&at.slope, &moved));
        let rise = next.map_or(f32::INFINITY, |next| next.value - at.value);
        let lower = next.filter(|next| {
            let flat = rise <= EQUAL * at.value.abs() && dot(&next.slope, &moved) <= -0.8 * promised;
            promised < 0.0 && (rise <= ENOUGH_FALL * promised || flat)
        });
        // Continue between `short` and `long`: in the middle, or at the minimum of a parabola
        // through value, slope and value.
        let mut share = 0.5;
        if let Some(next) = lower {
            found = lower;
            if dot(&next.slope, &onward) >= ENOUGH_FLATTER * steep {
                break;
            }
            short = length;
        } else {
            long = length;
            if short == 0.0 {
                let parabola = 0.5 * promised / (promised - rise);
                share = if parabola > 0.1 { parabola.min(0.5) } else { 0.1 };
            }
        }
        length = if long.is_finite() { short + share * (long - short) } else { 2.0 * length };
    }
    found
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::math::times;

    fn seeded() -> Random {
        Random::new(11, 0)
    }

    /// ½(x − c)ᵀA(x − c) with A = diag(1..D) + 1·1ᵀ.
    fn quadratic<const D: usize>(c: [f32; D]) -> impl Fn(&[f32; D], &mut [f32; D]) -> f32 {
        move |x, gradient| {
            let e: [f32; D] = core::array::from_fn(|i| x[i] - c[i]);
            let sum: f32 = e.iter().sum();
            *gradient = core::array::from_fn(|i| (i + 1) as f32 * e[i] + sum);
            0.5 * dot(gradient, &e)
        }
    }

    /// Extended Rosenbrock: minimum 0 at all ones.
    fn rosenbrock<const D: usize>(x: &[f32; D], gradient: &mut [f32; D]) -> f32 {
        *gradient = [0.0; D];
        (1..D).fold(0.0, |sum, i| {
            let (a, b) = (1.0 - x[i - 1], x[i] - x[i - 1] * x[i - 1]);
            gradient[i - 1] += -2.0 * a - 400.0 * x[i - 1] * b;
            gradient[i] += 200.0 * b;
            sum + a * a + 100.0 * b * b
        })
    }

    /// How far a point is from a minimum: the longest side of a step down the gradient, clipped to
    /// the box.
    fn distance_to_go<const D: usize>(
        found: &Minimum<D>,
        bounds: &[(f32, f32); D],
        f: impl Fn(&[f32; D], &mut [f32; D]) -> f32,
    ) -> f32 {
        let mut gradient = [0.0; D];
        assert_eq!(f(&found.x, &mut gradient), found.value);
        (0..D).fold(0.0, |longest, i| {
            let (low, high) = bounds[i];
            longest.max(((found.x[i] - gradient[i]).clamp(low, high) - found.x[i]).abs())
        })
    }

    #[test]
    fn a_quadratic_with_its_minimum_inside_on_a_face_and_in_a_corner() {
        let bounds = [(-3.0, 5.0); 10];
        // Inside, to 5e-6 of a side.
        let found = minimise(&bounds, 1, &mut seeded(), quadratic([0.7; 10]));
        assert!(found.x.iter().all(|x| (x - 0.7).abs() < 4e-5) && found.value < 1e-8, "{found:?}");
        // On a face of five dimensions: the last five would go past 5.
        let f = quadratic(core::array::from_fn(|i| i as f32));
        let found = minimise(&bounds, 1, &mut seeded(), &f);
        assert!(found.x[5..].iter().all(|x| *x == 5.0) && found.x[..5].iter().all(|x| *x < 5.0), "{found:?}");
        assert!(distance_to_go(&found, &bounds, f) < 1e-4, "{found:?}");
        // In a corner, exactly.
        assert_eq!(minimise(&bounds, 1, &mut seeded(), quadratic([-9.0; 10])).x, [-3.0; 10]);
    }

    #[test]
    fn sides_of_any_length_and_bounds_in_any_order() {
        let f = |x: &[f32; 3], gradient: &mut [f32; 3]| {
            let e = [(x[0] - 2e-4) * 1e4, (x[1] - 30.0) * 1e-2, x[2] - 1.0];
            *gradient = [2e4 * e[0], 2e-2 * e[1], 2.0 * e[2]];
            dot(&e, &e)
        };
        let found = minimise(&[(0.0, 1e-3), (100.0, -100.0), (0.5, 0.5)], 1, &mut seeded(), f);
        assert!((found.x[0] - 2e-4).abs() < 1e-8 && (found.x[1] - 30.0).abs() < 1e-3 && found.x[2] == 0.5, "{found:?}");
    }

    #[test]
    fn rosenbrock_inside_and_cut_by_the_box() {
        let found = descend(&[(-2.0, 2.0); 2], &[-1.2, 1.0], rosenbrock);
        assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-4) && found.evaluations < 80, "{found:?}");
        let found = minimise(&[(-2.0, 2.0); 10], 1, &mut seeded(), rosenbrock);
        // The valley is 2500 times flatter along than across: 1e-5 of gradient is 1e-2 of x at
        // worst.
        assert!(found.x.iter().all(|x| (x - 1.0).abs() < 1e-3) && found.evaluations < 200, "{found:?}");
        // With x₁ ≤ ½: at (½, ¼), 0.25.
        let found = minimise(&[(-2.0, 0.5), (-2.0, 2.0)], 1, &mut seeded(), rosenbrock);
        assert!(found.x[0] == 0.5 && (found.x[1] - 0.25).abs() < 1e-5, "{found:?}");
        let bounds = [(-2.0, 0.5); 10];
        let found = minimise(&bounds, 1, &mut seeded(), rosenbrock);
        assert!(distance_to_go(&found, &bounds, rosenbrock) < 2e-3, "{found:?}");
    }

    /// Σ (x² − cos 3πx): about 36 minima in the box, the lowest at (0.3, −0.6), all others at least
    /// 0.4 higher.
    fn eggs(x: &[f32; 2], gradient: &mut [f32; 2]) -> f32 {
        let e = [f64::from(x[0]) - 0.3, f64::from(x[1]) + 0.6];
        let w = 3.0 * core::f64::consts::PI;
        *gradient = e.map(|e| (2.0 * e + w * (w * e).sin()) as f32);
        e.iter().map(|e| e * e - (w * e).cos()).sum::<f64>() as f32
    }

    #[test]
    fn many_minima_need_many_starts() {
        let bounds = [(-2.0, 2.0); 2];
        assert!(gradient_error(&[0.2, 1.3], 1e-2, eggs) < 0.02);
        let starts = times(100, 3);
        let (one, many) = (minimise(&bounds, 1, &mut seeded(), eggs), minimise(&bounds, starts, &mut seeded(), eggs));
        assert!(one.value > -1.9, "{one:?}");
        // Three starts are not many.
        let is_found = (many.x[0] - 0.3).abs() < 1e-4 && (many.x[1] + 0.6).abs() < 1e-4;
        assert!(is_found || cfg!(miri), "{many:?}");
        assert_eq!(many, minimise(&bounds, starts, &mut seeded(), eggs));
    }

    #[test]
    fn values_that_are_not_finite_are_avoided_or_reported() {
        // A bowl that is not a number beyond a wall right behind its minimum, and has infinite
        // gradients at x > 3.
        let walled = |x: &[f32; 2], gradient: &mut [f32; 2]| {
            *gradient = [2.0 * (x[0] - 1.0), if x[0] > 3.0 { f32::INFINITY } else { 2.0 * x[1] }];
            if x[1] > 0.01 { f32::NAN } else { (x[0] - 1.0) * (x[0] - 1.0) + x[1] * x[1] }
        };
        let found = minimise(&[(-4.0, 4.0), (-4.0, 2.0)], 5, &mut seeded(), walled);
        assert!((found.x[0] - 1.0).abs() < 1e-4 && found.x[1].abs() < 1e-4, "{found:?}");
        let nowhere = minimise(&[(0.0, 1.0); 2], 3, &mut seeded(), |_, _| f32::NAN);
        assert_eq!(nowhere, Minimum { x: [0.5; 2], value: f32::INFINITY, evaluations: 3 });
        let endless = minimise(&[(f32::NEG_INFINITY, f32::INFINITY)], 3, &mut seeded(), |x, _| x[0]);
        assert_eq!(endless.value, f32::INFINITY);
        // A steep slope to the bound, a constant, and no dimensions at all.
        assert_eq!(minimise(&[(0.0, 1.0)], 1, &mut seeded(), |x, g| (*g = [-1e30], -1e30 * x[0]).1).x, [1.0]);
        assert_eq!(minimise(&[(0.0, 1.0)], 0, &mut seeded(), |_, _| 7.0).evaluations, 1);
        assert_eq!(minimise(&[], 2, &mut seeded(), |_, _| 7.0).value, 7.0);
        assert_eq!(descend(&[(0.0, 1.0)], &[f32::NAN], |_, _| 7.0).x, [0.0]);
    }

    /// ½‖B(x − c)‖² with random B and c is convex: a point without a step down is the minimum, and
    /// any start must find its value.
    #[test]
    fn random_convex_functions_end_where_no_step_leads_down() {
        const N: usize = 12;
        let (bounds, mut random) = ([(0.0, 1.0); N], seeded());
        for _ in 0..times(100, 1) {
            let b: [[f32; N]; N] = core::array::from_fn(|_| core::array::from_fn(|_| random.uniform() - 0.5));
            let c: [f32; N] = core::array::from_fn(|_| 1.6 * random.uniform() - 0.3);
            let f = |x: &[f32; N], gradient: &mut [f32; N]| {
                let e: [f32; N] = core::array::from_fn(|i| x[i] - c[i]);
                let p: [f32; N] = core::array::from_fn(|i| dot(&b[i], &e));
                *gradient = core::array::from_fn(|j| (0..N).map(|i| p[i] * b[i][j]).sum());
                0.5 * dot(&p, &p)
            };
            let (one, more) = (minimise(&bounds, 1, &mut random, f), minimise(&bounds, 4, &mut random, f));
            // Gradients are of size 1; four digits are left where they cancel.
            assert!(distance_to_go(&one, &bounds, f) < 3e-4, "{one:?}");
            assert!(one.value <= more.value * 1.001 + 1e-5, "{one:?} {more:?}");
        }
    }

    /// The lengths that a step tries along the first of two dimensions, from (from, ½) with value and slope at
    /// the start; `answers` has value and slope per try, refused once they are used up.
    fn lengths(
        (from, value, slope): (f32, f32, [f32; 2]),
        direction: [f32; 2],
        answers: &[(f32, [f32; 2])],
    ) -> (Vec<f32>, Option<Point<2>>) {
        let (mut tried, mut answers) = (Vec::new(), answers.iter());
        let at = Point { u: [from, 0.5], value, slope };
        let found = step(&at, &direction, &mut |u| {
            tried.push((u[0] - from) / direction[0]);
            answers.next().map(|(value, slope)| Point { u, value: *value, slope: *slope })
        });
        (tried, found)
    }

    fn close(tried: &[f32], expected: &[f32]) -> bool {
        tried.len() == expected.len() && tried.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-3)
    }

    /// A step doubles while the slope stays, halves what is too long, and ends where it is flatter.
    #[test]
    fn lengths_of_a_step_by_hand() {
        let start = (0.1, 0.0, [-1.0, 0.0]);
        let (steep, flat) = ([-1.0, 0.0], [-0.5, 0.0]);
        // The third try is too high, and so is the one between; the next has a smaller slope.
        let (tried, found) =
            lengths(start, [0.1, 0.0], &[(-0.1, steep), (-0.2, steep), (9.0, steep), (9.0, steep), (-0.25, flat)]);
        assert!(close(&tried, &[1.0, 2.0, 4.0, 3.0, 2.5]), "{tried:?}");
        assert!(found.is_some_and(|next| (next.u[0] - 0.35).abs() < 1e-6));
        // Nine tenths of the slope are not flatter, a little less is.
        assert_eq!(lengths(start, [0.1, 0.0], &[(-0.1, [-0.89, 0.0])]).0.len(), 1);
        assert!(lengths(start, [0.1, 0.0], &[(-0.1, [-0.91, 0.0])]).0.len() > 1);
        // What was found last counts if nothing better follows.
        let (tried, found) = lengths(start, [0.1, 0.0], &[(-0.1, steep)]);
        assert!(close(&tried[..4], &[1.0, 2.0, 1.5, 1.25]) && tried.len() > 10, "{tried:?}");
        assert!(found.is_some_and(|next| (next.u[0] - 0.2).abs() < 1e-6));
    }

    /// After a first try that is too long: the minimum of the parabola, between a tenth and a half.
    #[test]
    fn the_next_length_is_a_parabolas_minimum() {
        let start = (0.1, 0.0, [-1.0, 0.0]);
        // 0.4 promised: with a rise of 0.4 the minimum is at ½·0.4/0.8.
        for (rise, next) in [(0.4, 0.25), (0.1, 0.4), (-1e-6, 0.5), (9.0, 0.1), (f32::INFINITY, 0.1)] {
            let (tried, _) = lengths(start, [0.4, 0.0], &[(rise, [1.0, 0.0]), (-0.01, [0.0; 2])]);
            assert!(close(&tried, &[1.0, next]), "{rise}: {tried:?}");
        }
        // Refused to the end: tenths until a step is not worth taking.
        let (tried, found) = lengths(start, [0.4, 0.0], &[]);
        assert!(close(&tried, &[1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5]) && found.is_none(), "{tried:?}");
    }

    /// A value has to fall by a ten-thousandth of what the slope promises; within rounding, slopes decide.
    #[test]
    fn a_step_is_taken_if_the_value_falls_or_the_slope_does() {
        let is_taken = |value: f32, rise: f32, slope: f32| {
            let (_, found) = lengths((0.1, value, [-1.0, 0.0]), [0.1, 0.0], &[(value + rise, [slope, 0.0])]);
            found.is_some()
        };
        // 0.1 promised.
        assert!(is_taken(0.0, -2e-5, 1.0) && !is_taken(0.0, -5e-6, 1.0) && !is_taken(0.0, 1e-7, 0.0));
        // 2e-4 of 100 are rounding, and a slope of at most 0.8 in size is flat.
        assert!(is_taken(100.0, 1.5e-4, 0.7) && is_taken(100.0, 1.5e-4, -0.85));
        assert!(!is_taken(100.0, 1.5e-4, 0.9) && !is_taken(100.0, 4e-4, 0.7));
        // Uphill, level or not a number: nothing is tried.
        for slope in [1.0, 0.0, f32::NAN] {
            assert_eq!(lengths((0.1, 0.0, [slope, 0.0]), [0.1, 0.0], &[(-1.0, [0.0; 2])]), (Vec::new(), None));
        }
    }

    /// A dimension that its bound stops goes no further, and what is left of the step must still lead down.
    #[test]
    fn a_step_that_its_bound_cuts_counts_as_far_as_it_goes() {
        // The first dimension stops after 0.05; along the second the slope is level.
        let (tried, found) = lengths((0.95, 0.0, [-1.0, 0.0]), [0.1, 0.1], &[(-0.05, [-1.0, 0.0])]);
        assert!(tried.len() == 1 && found.is_some_and(|next| next.u == [1.0, 0.6]), "{tried:?} {found:?}");
        // Not stopped: as steep as before, so twice as far.
        assert!(lengths((0.5, 0.0, [-1.0, 0.0]), [0.1, 0.1], &[(-0.1, [-1.0, 0.0])]).0.len() > 1);
        // 0.05 down and 0.08 up: whatever the value, this is no step down.
        let (_, found) = lengths((0.95, 0.0, [-1.0, 0.8]), [0.1, 0.1], &[(-9.0, [0.0; 2])]);
        assert_eq!(found, None);
    }

    /// A quartic far above zero: steps go on as long as values fall by more than their rounding, and for three
    /// steps after.
    #[test]
    fn a_descent_ends_soon_after_values_stop_falling() {
        let quartic = |x: &[f32; 1], gradient: &mut [f32; 1]| {
            *gradient = [400.0 * x[0] * x[0] * x[0]];
            100.0 + 100.0 * x[0] * x[0] * x[0] * x[0]
        };
        let found = descend(&[(-1.0, 1.5)], &[1.4], quartic);
        assert!(found.x[0].abs() < 0.05 && (10..20).contains(&found.evaluations), "{found:?}");
    }
}
