//! What differs from another combination, and by how much: `−2.1 % from start: opt=O2, unroll=4`.
//!
//! **Choices**
//! - The start is the first combination that was asked, be it of `--start` or the tuner's own.
//! - With few knobs a combination is written out, so that it can be compared at a glance.
//! - A change is in percent of the other value, if that is not 0.

use trimtab::Level;

use super::history::{History, Trial};
use crate::draw::number::short;
use crate::space::NamedSpace;

/// Most knobs that are always written out.
const FEW: usize = 6;

/// Whether there are too many knobs to write them all out.
pub(super) fn is_many(space: &NamedSpace) -> bool {
    space.knobs().len() > FEW
}

/// The levels that differ, at most `most` of them.
pub(super) fn levels(space: &NamedSpace, levels: &[Level], from: &[Level], most: usize) -> String {
    let mut changes = space.changes(levels, from);
    let left_out = changes.len().saturating_sub(most);
    changes.truncate(most);
    match (changes.is_empty(), left_out) {
        (true, _) => "nothing".into(),
        (false, 0) => changes.join(", "),
        (false, _) => format!("{} and {left_out} more", changes.join(", ")),
    }
}

/// How far a value is from another one.
pub(super) fn value(value: f64, from: f64) -> String {
    let percent = 100.0 * (value - from) / from.abs();
    let text = match percent.is_finite() {
        true if percent.abs() < 1e5 => format!("{percent:+.1} %"),
        true => format!("{percent:+.0e} %"),
        false if value == from => "+0.0".into(),
        false => format!("{}{}", if value > from { "+" } else { "" }, short(value - from)),
    };
    // Rounded to nothing, it has no direction.
    let text = if text == "-0.0 %" { "+0.0 %".into() } else { text };
    text.replace('-', "−").replace("+0.0", "±0")
}

/// The first combination of a run.
pub(super) struct Start<'a> {
    pub(super) levels: &'a [Level],
    /// Its first value.
    pub(super) value: Option<f64>,
    /// The mean of its values.
    average: Option<f64>,
    /// Whether its first measurement keeps all limits.
    is_kept: bool,
}

impl<'a> Start<'a> {
    pub(super) fn of(history: &'a History) -> Option<Self> {
        let first = history.trials.first()?;
        let same = history.trials.iter().filter(|trial| trial.levels == first.levels);
        let values: Vec<f64> = same.filter_map(Trial::value).collect();
        let average = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        Some(Self { levels: &first.levels, value: first.value(), average, is_kept: first.is_kept() })
    }

    /// How far a measured value is from that of the start.
    pub(super) fn gain(&self, value: f64) -> Option<String> {
        Some(format!("{} from start{}", self::value(value, self.value?), self.note()))
    }

    /// How far a value that the model expects is from what was measured at the start. Not from what it
    /// expects there: it cuts bad outliers, and a start is often one.
    pub(super) fn expected_gain(&self, mean: f64) -> Option<String> {
        Some(format!("{} from start{}", self::value(mean, self.average?), self.note()))
    }

    /// A start that breaks a limit is no rival.
    fn note(&self) -> &'static str {
        if self.is_kept { "" } else { ", which breaks a limit" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_in_percent_where_that_means_something() {
        for (new, old, wanted) in [
            (31.59, 32.27, "−2.1 %"),
            (-72.0, -71.0, "−1.4 %"),
            (3.0, 2.0, "+50.0 %"),
            (2.0, 2.0, "±0 %"),
            (1.99999, 2.0, "±0 %"),
            (-3.5, 0.0, "−3.5"),
            (3.5, 0.0, "+3.5"),
            (0.0, 0.0, "±0"),
            (1e9, 1.0, "+1e11 %"),
        ] {
            assert_eq!(value(new, old), wanted, "{new} from {old}");
        }
    }

    #[test]
    fn only_what_differs_is_named() {
        let space = NamedSpace::new((0..4).map(|i| format!("k{i}=a,b").parse().unwrap()).collect()).unwrap();
        let from = [0, 0, 1, 1];
        assert_eq!(levels(&space, &[0, 1, 1, 0], &from, 2), "k1=b, k3=a");
        assert_eq!(levels(&space, &[1, 1, 0, 0], &from, 2), "k0=b, k1=b and 2 more");
        assert_eq!(levels(&space, &from, &from, 2), "nothing");
    }
}
