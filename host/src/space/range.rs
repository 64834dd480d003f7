//! Levels by a formula: `low..high:step` at equal steps, or `geo:low..high:count` at equal ratios.
//!
//! **Choices**
//! - Values are computed in f64 and rounded to the digits that were meant: 0.1 + 0.2 is 0.3, and a level
//!   at equal ratios has seven digits. The text of a level finds it again.

use std::fmt;

use serde_json::Value;
use trimtab::{Knob, Level, MOST_LEVELS};

use super::knob::{Kind, number};

/// Two levels or more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    low: f64,
    high: f64,
    /// As written.
    step: f64,
    count: usize,
    is_geometric: bool,
}

impl Range {
    /// Parses `low..high` or `low..high:step`.
    pub(super) fn linear(text: &str) -> Result<Self, String> {
        let (low, high, step) = parts(text, Some(1.0), "low..high:step")?;
        if step <= 0.0 || high <= low {
            return Err(format!(
                "{low}..{high}:{step} goes nowhere; write low..high:step, with low < high and step > 0"
            ));
        }
        let steps = ((high - low) / step * (1.0 + 1e-12)).floor();
        if steps >= MOST_LEVELS as f64 {
            return Err(format!("{low}..{high}:{step} has more than {MOST_LEVELS} levels; take a larger step"));
        }
        Ok(Self { low, high, step, count: steps as usize + 1, is_geometric: false })
    }

    /// Parses `low..high:count`.
    pub(super) fn geometric(text: &str) -> Result<Self, String> {
        let (low, high, count) = parts(text, None, "geo:low..high:count")?;
        if low <= 0.0 || high <= low {
            return Err(format!("geo:{text} goes nowhere; write geo:low..high:count, with 0 < low < high"));
        }
        if count.fract() != 0.0 || !(2.0..=MOST_LEVELS as f64).contains(&count) {
            return Err(format!("geo:{text} needs a whole number of levels, 2 to {MOST_LEVELS}, after the colon"));
        }
        if (high / low).powf(1.0 / (count - 1.0)) < 1.0 + 1e-6 {
            return Err(format!("geo:{text} has levels that agree in seven digits; take fewer"));
        }
        Ok(Self { low, high, step: 0.0, count: count as usize, is_geometric: true })
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Number of levels.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether levels of this kind are what it has.
    pub(super) fn fits(&self, kind: Option<Kind>) -> bool {
        use trimtab::Scale::{Linear, Log};
        kind.is_none_or(|kind| kind == Kind::Graded(if self.is_geometric { Log } else { Linear }))
    }

    /// The knob of the core.
    pub(super) fn core(&self) -> Knob {
        if self.is_geometric {
            return Knob::log_range(self.low as f32, self.high as f32, self.count as u32);
        }
        let scale = trimtab::Scale::Linear;
        Knob::Range {
            first: self.low as f32,
            last: self.at(self.count - 1) as f32,
            top: (self.count - 1) as u16,
            scale,
        }
    }

    /// The value of a level.
    pub(super) fn value(&self, level: Level) -> Option<Value> {
        if usize::from(level) >= self.count {
            return None;
        }
        let value = self.at(usize::from(level));
        // Sums such as 0.1 + 0.2 become what was meant.
        let text = if self.is_geometric { format!("{value:.6e}") } else { format!("{value:.12}") };
        let rounded: f64 = text.parse().unwrap_or(value);
        Some(match rounded == rounded.trunc() && rounded.abs() < 1e15 {
            true => Value::from(rounded as i64),
            false => Value::from(rounded),
        })
    }

    /// The values of all levels.
    pub(super) fn values(&self) -> Vec<Value> {
        (0..self.count).filter_map(|level| self.value(level as Level)).collect()
    }

    /// The level with the nearest value.
    pub(super) fn nearest(&self, value: f64) -> Level {
        let place = match self.is_geometric {
            true => (value / self.low).ln() / (self.high / self.low).ln() * (self.count - 1) as f64,
            false => (value - self.low) / self.step,
        };
        // A cast saturates, and makes 0 of what is not a number.
        (place.round().min((self.count - 1) as f64)) as Level
    }

    fn at(&self, level: usize) -> f64 {
        match (level, self.is_geometric) {
            (0, true) => self.low,
            (level, true) if level + 1 == self.count => self.high,
            (level, true) => self.low * (self.high / self.low).powf(level as f64 / (self.count - 1) as f64),
            (level, false) => self.low + level as f64 * self.step,
        }
    }
}

/// As it is written.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_geometric {
            true => write!(f, "geo:{}..{}:{}", self.low, self.high, self.count),
            false => write!(f, "{}..{}:{}", self.low, self.high, self.step),
        }
    }
}

/// Three numbers: `low..high:third`.
fn parts(text: &str, third: Option<f64>, form: &str) -> Result<(f64, f64, f64), String> {
    let parse = |text: &str| {
        let text = text.trim();
        number(text).and_then(|n| n.as_f64()).ok_or_else(|| format!("`{text}` is not a number; write {form}"))
    };
    let (low, rest) = text.split_once("..").ok_or_else(|| format!("`{text}` is not a range; write {form}"))?;
    let (high, last) = match rest.split_once(':') {
        Some((high, last)) => (high, parse(last)?),
        None => (rest, third.ok_or_else(|| format!("`{text}` has no number of levels; write {form}"))?),
    };
    Ok((parse(low)?, parse(high)?, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_found_by_its_value_and_by_what_core_has() {
        for text in ["0..4095", "0..65535:1", "-40..125:0.01", "0.1..100:0.1", "5..90000:3"] {
            let range = Range::linear(text).unwrap();
            check(&range);
            assert_eq!(Range::linear(&range.to_string()).unwrap(), range);
        }
        for text in ["20..20000:1000", "1e-9..1e-3:65536", "1..2:3"] {
            let range = Range::geometric(text).unwrap();
            check(&range);
            let written = range.to_string();
            assert_eq!(Range::geometric(written.strip_prefix("geo:").unwrap()).unwrap(), range);
        }
    }

    fn check(range: &Range) {
        let core = range.core();
        assert_eq!(core.levels(), range.count());
        for level in 0..range.count() {
            let level = level as Level;
            let value = range.value(level).unwrap().as_f64().unwrap();
            assert_eq!(range.nearest(value), level, "{range}");
            let own = f64::from(core.value(level).unwrap());
            assert!((own - value).abs() <= 4e-6 * value.abs().max(range.high().abs() * 1e-1), "{range}: {own} {value}");
        }
        assert_eq!(range.value(range.count() as Level), if range.count() > 65_535 { range.value(0) } else { None });
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (text, wanted) in [
            ("0..65536", "more than 65536 levels"),
            ("5..1", "goes nowhere"),
            ("0..5:0", "goes nowhere"),
            ("0..x", "`x` is not a number"),
        ] {
            assert!(Range::linear(text).unwrap_err().contains(wanted), "{text}");
        }
        for (text, wanted) in [
            ("1..10", "no number of levels"),
            ("0..10:5", "0 < low"),
            ("1..10:1", "2 to 65536"),
            ("1..10:2.5", "whole number"),
            ("1..1.0001:60000", "take fewer"),
        ] {
            assert!(Range::geometric(text).unwrap_err().contains(wanted), "{text}");
        }
    }
}
