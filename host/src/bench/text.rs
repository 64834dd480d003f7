//! Formats numbers for people.

use crate::bench::stats::{Estimate, quantile};
use crate::draw::plot::signed;

/// Four significant digits.
pub(crate) fn short(x: f64) -> String {
    if x == f64::INFINITY {
        return "∞".into();
    }
    if x == 0.0 {
        return "0".into();
    }
    let power = x.abs().log10().floor() as i32;
    if (-4..=5).contains(&power) { fixed(x, 3 - power) } else { scientific(x, 3) }
}

/// A number with this many decimals; a negative count means no decimals.
fn fixed(x: f64, decimals: i32) -> String {
    let decimals = decimals.max(0) as usize;
    signed(&format!("{x:.decimals$}"))
}

fn scientific(x: f64, decimals: usize) -> String {
    signed(&format!("{x:.decimals$e}")).replace("e-", "e−")
}

/// A mean with its standard error, which decides the mean's digits.
pub(crate) fn with_error(estimate: &Estimate) -> String {
    let Estimate { mean, error, .. } = *estimate;
    match error {
        None => short(mean),
        Some(error) if error <= 1e-12 * mean.abs().max(1.0) => format!("{} ± 0", short(mean)),
        Some(error) => {
            // Two digits of the error.
            let power = error.log10().floor() as i32;
            if power < -6 || mean.abs() >= 1e7 {
                return format!("{} ± {}", scientific(mean, 3), scientific(error, 1));
            }
            format!("{} ± {}", fixed(mean, 1 - power), fixed(error, 1 - power))
        }
    }
}

/// A time in a suitable unit.
pub(crate) fn seconds(x: f64) -> String {
    let (unit, scale) = match x {
        x if x >= 1.0 => ("s", 1.0),
        x if x >= 1e-3 => ("ms", 1e3),
        x if x >= 1e-6 => ("µs", 1e6),
        _ => ("ns", 1e9),
    };
    let scaled = x * scale;
    let decimals = if scaled >= 99.5 {
        0
    } else if scaled >= 9.95 {
        1
    } else {
        2
    };
    format!("{scaled:.decimals$} {unit}")
}

pub(crate) fn chance(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

/// Joins words with commas and "and".
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// A number with its noun: 1 seed, 2 seeds.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The median run's evaluation that found the optimum, to sort by, and as text with the number of runs
/// that did: `54 (8/10)`, or `> 100 (3/10)` if less than half of them did. An evaluation is infinite
/// for a run that did not. `None` without runs.
pub(crate) fn optimum_at(at: &[f64], horizon: usize) -> Option<(f64, String)> {
    let solved = at.iter().filter(|t| t.is_finite()).count();
    let median = quantile(at, 0.5)?;
    let shown = if median.is_finite() { format!("{median}") } else { format!("> {horizon}") };
    Some((median, format!("{shown} ({solved}/{})", at.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, -1.0, 0.123_456, 1234.56, 123_456.7, 1e-7, -2.5e9, f64::INFINITY];
        let texts = ["0", "−1.000", "0.1235", "1235", "123457", "1.000e−7", "−2.500e9", "∞"];
        assert_eq!(numbers.map(short), texts);
    }

    #[test]
    fn the_error_decides_the_digits() {
        let text = |mean, error| with_error(&Estimate { mean, error, count: 2 });
        assert_eq!(text(-0.995, Some(0.002_13)), "−0.9950 ± 0.0021");
        assert_eq!(text(123.4, Some(12.0)), "123 ± 12");
        assert_eq!(text(-1.0, Some(0.0)), "−1.000 ± 0");
        assert_eq!(text(-1.0, Some(1e-17)), "−1.000 ± 0");
        assert_eq!(text(0.5, None), "0.5000");
        assert_eq!(text(3e-9, Some(1e-9)), "3.000e−9 ± 1.0e−9");
    }

    #[test]
    fn times_probabilities_and_lists() {
        assert_eq!(
            [2e-8, 12.3e-6, 0.0034, 1.5, 123.0].map(seconds),
            ["20.0 ns", "12.3 µs", "3.40 ms", "1.50 s", "123 s"]
        );
        assert_eq!([0.0421, 0.0001].map(chance), ["0.042", "< 0.001"]);
        assert_eq!(list(&["a", "b", "c"].map(String::from)), "a, b and c");
        assert_eq!((count(1, "seed"), count(2, "seed")), ("1 seed".into(), "2 seeds".into()));
    }

    /// `bench` and `report` print this: the median is over all runs, not over those that found it.
    #[test]
    fn an_optimum_that_most_runs_miss_is_beyond_the_budget() {
        let inf = f64::INFINITY;
        let text = |at: &[f64]| optimum_at(at, 100).map(|(_, text)| text);
        assert_eq!(text(&[54.0, inf, inf]).as_deref(), Some("> 100 (1/3)"));
        assert_eq!(text(&[54.0, 20.0, inf]).as_deref(), Some("54 (2/3)"));
        assert_eq!(text(&[54.0, 20.0, inf, inf]).as_deref(), Some("> 100 (2/4)"));
        assert_eq!(text(&[inf, inf]).as_deref(), Some("> 100 (0/2)"));
        assert_eq!((text(&[]), text(&[7.0]).as_deref()), (None, Some("7 (1/1)")));
    }
}
