//! The Moore-Penrose inverse in f32 against numpy's in f64.

use std::str::FromStr;

use trimtab::internals::{Matrix, pseudo_inverse};

/// R, R⁺ and the rank of one case.
struct Case {
    r: Vec<Vec<f64>>,
    inverse: Vec<Vec<f64>>,
    rank: usize,
}

fn numbers<T: FromStr>(line: &str) -> Vec<T> {
    line.split_whitespace().map(|word| word.parse().ok().expect(line)).collect()
}

fn cases() -> Vec<Case> {
    let mut lines = include_str!("golden/pinv.txt").lines().filter(|line| !line.starts_with('#'));
    let mut cases = Vec::new();
    while let Some(head) = lines.next() {
        let head: Vec<usize> = numbers(head);
        let mut rows = |n: usize| (0..n).map(|_| numbers(lines.next().expect("a row"))).collect();
        cases.push(Case { r: rows(head[0]), inverse: rows(head[1]), rank: head[2] });
    }
    cases
}

fn norm(rows: &[Vec<f64>]) -> f64 {
    rows.iter().flatten().map(|v| v * v).sum::<f64>().sqrt()
}

/// The largest difference from numpy's inverse, in units of ε·‖R‖·‖R⁺‖²: the effect on R⁺ of a
/// relative change of R by ε.
fn error<const D: usize, const M: usize>(case: &Case) -> f64 {
    assert_eq!((case.r.len(), case.inverse.len()), (D, M));
    let (mut r, mut inverse) = (Matrix::<D, M>::new(), Matrix::<M, D>::new());
    for (i, row) in case.r.iter().enumerate() {
        r.row_mut(i).iter_mut().zip(row).for_each(|(own, exact)| *own = *exact as f32);
    }
    assert_eq!(pseudo_inverse(&r, &mut inverse), case.rank);
    let pairs = inverse.rows().zip(&case.inverse).flat_map(|(own, exact)| own.iter().zip(exact));
    let worst = pairs.map(|(own, exact)| (f64::from(*own) - exact).abs()).fold(0.0, f64::max);
    let unit = f64::from(f32::EPSILON) * norm(&case.r) * norm(&case.inverse).powi(2);
    println!("{D} x {M}, rank {}: error {worst:.1e}, {:.3} units", case.rank, worst / unit);
    worst / unit
}

#[test]
fn the_inverse_agrees_with_numpy() {
    let cases = cases();
    let [a, b, c, d, e, f, g, h] = cases.as_slice() else { panic!("eight cases, not {}", cases.len()) };
    let errors = [
        error::<2, 4>(a),
        error::<5, 8>(b),
        error::<8, 5>(c),
        error::<20, 24>(d),
        error::<6, 6>(e),
        error::<4, 7>(f),
        error::<7, 4>(g),
        error::<5, 5>(h),
    ];
    // A backward stable method stays within a few units; the worst is 0.41. Rounding R itself to
    // f32 may cost half of one.
    assert!(errors.iter().all(|error| *error < 2.0), "{errors:?}");
}
