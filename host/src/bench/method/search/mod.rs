//! Search over a box, for acquisitions and likelihoods: core's quasi-Newton descent, in any number
//! of dimensions.
//!
//! **Choices**
//! - CBO-Lookup searches with `trimtab::internals::descend`, so its rivals do too.
//! - Core takes the number of dimensions as a const generic and works in f32. Here a few sizes are
//!   compiled; the smallest that fits is used, and the unused dimensions have zero width.
//! - Functions are evaluated in f64. f32 resolves x to about 1e-6 of the box, finer than any
//!   rounding to a combination can notice, and a likelihood to 1e-5. Callers that need more digits
//!   search a smaller box around the minimum.

use trimtab::internals;

/// Where a descent ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Minimum {
    pub(crate) x: Vec<f64>,
    /// Infinite if the start had no finite value.
    pub(crate) value: f64,
}

/// A function over a box: returns its value at a point and writes its gradient there.
pub(crate) type Function<'a> = dyn FnMut(&[f64], &mut [f64]) -> f64 + 'a;

/// Descends from a point within bounds, in at most `most_evaluations` evaluations. Dimensions past
/// the 256th stay at their start.
pub(crate) fn descend(bounds: &[(f64, f64)], start: &[f64], most_evaluations: usize, f: &mut Function<'_>) -> Minimum {
    match bounds.len() {
        0..=2 => sized::<2>(bounds, start, most_evaluations, f),
        3..=8 => sized::<8>(bounds, start, most_evaluations, f),
        9..=24 => sized::<24>(bounds, start, most_evaluations, f),
        25..=32 => sized::<32>(bounds, start, most_evaluations, f),
        33..=72 => sized::<72>(bounds, start, most_evaluations, f),
        _ => sized::<256>(bounds, start, most_evaluations, f),
    }
}

fn sized<const D: usize>(bounds: &[(f64, f64)], start: &[f64], most: usize, f: &mut Function<'_>) -> Minimum {
    let (mut sides, mut from) = ([(0.0, 0.0); D], [0.0; D]);
    sides.iter_mut().zip(bounds).for_each(|(side, (low, high))| *side = (*low as f32, *high as f32));
    from.iter_mut().zip(start).for_each(|(from, x)| *from = *x as f32);
    let (mut x, mut gradient, mut evaluations) = (start.to_vec(), vec![0.0; start.len()], 0);
    let found = internals::descend(&sides, &from, |at, slopes| {
        evaluations += 1;
        if evaluations > most {
            // Rejects the step, so the descent ends where it is.
            return f32::INFINITY;
        }
        x.iter_mut().zip(at).for_each(|(x, at)| *x = f64::from(*at));
        gradient.fill(0.0);
        let value = f(&x, &mut gradient);
        slopes.iter_mut().zip(&gradient).for_each(|(slope, own)| *slope = *own as f32);
        value as f32
    });
    x.iter_mut().zip(&found.x).for_each(|(x, found)| *x = f64::from(*found));
    Minimum { x, value: f64::from(found.value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ (j + 1)·(xⱼ − ½)².
    fn bowl(x: &[f64], gradient: &mut [f64]) -> f64 {
        let terms = x.iter().zip(gradient).enumerate().map(|(j, (x, gradient))| {
            let (weight, offset) = (j as f64 + 1.0, x - 0.5);
            *gradient = 2.0 * weight * offset;
            weight * offset * offset
        });
        terms.sum()
    }

    #[test]
    fn any_number_of_dimensions() {
        for dimensions in [1, 2, 3, 20, 31, 64, 200] {
            let mut bounds = vec![(0.0, 1.0); dimensions];
            bounds[0] = (0.75, 1.0);
            let found = descend(&bounds, &vec![0.9; dimensions], 1000, &mut bowl);
            assert_eq!(found.x.len(), dimensions);
            assert!(found.x[0] == 0.75 && found.x[1..].iter().all(|x| (x - 0.5).abs() < 1e-4), "{found:?}");
        }
    }

    #[test]
    fn few_evaluations_still_descend() {
        let (mut evaluations, start) = (0, [0.9, 0.1, 0.8]);
        let found = descend(&[(0.0, 1.0); 3], &start, 3, &mut |x, gradient| {
            evaluations += 1;
            bowl(x, gradient)
        });
        assert_eq!(evaluations, 3);
        assert!(found.value < bowl(&start, &mut [0.0; 3]));
    }
}
