//! Axes: from values to pixels, round ticks, and the frame of a plot.

use crate::draw::svg::Svg;

/// One axis, which maps values to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Count,
    Linear,
    Log,
}

/// Up to this many decades have ticks at 1, 2 and 5; longer axes only at powers of ten.
const FEW_DECADES: f64 = 3.5;
/// The largest number on an axis; beyond it, differences and powers of ten overflow.
const LARGEST: f64 = 1e290;

impl Axis {
    /// Counts from 0 to `most`, evenly spaced, drawn at pixels `start` to `end`.
    pub(crate) fn count(most: usize, (start, end): (f64, f64)) -> Self {
        Self { low: 0.0, high: most.max(1) as f64, start, end, scale: Scale::Count }
    }

    /// Values from `low` to `high` on a linear scale.
    pub(crate) fn linear((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = ordered(low, high, (-LARGEST, LARGEST));
        // So narrow a range that its ticks would not differ in f64 is widened.
        let least = 1e-9 * low.abs().max(high.abs()).max(1e-280);
        let pad = if high - low < least { least } else { 0.0 };
        let (low, high) = (low - pad, high + pad);
        Self { low, high, start, end, scale: Scale::Linear }
    }

    /// Values from `low` to `high` on a logarithmic scale, which has no place for zero.
    pub(crate) fn log((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = ordered(low, high, (1.0 / LARGEST, LARGEST));
        let pad = if high / low < 1.0 + 1e-9 { 1.1 } else { 1.0 };
        let (low, high) = (low / pad, high * pad);
        Self { low, high, start, end, scale: Scale::Log }
    }

    /// The pixel of a value. Values outside are drawn at the edge.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.scale == Scale::Log {
            // Not the logarithm of a ratio, which may be infinite.
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Round values inside the axis: 1, 2 and 5 times powers of ten, or multiples of such a number.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        self.marks().into_iter().map(|(tick, _)| tick).collect()
    }

    /// The ticks and their labels.
    fn marks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Count => {
                // The smallest round step with at most eight ticks.
                let step = rounds(0..=6).map(|(tick, _)| tick).find(|step| self.high / step <= 8.0);
                let step = step.unwrap_or(self.high);
                let ticks = (0..=(self.high / step) as u32).map(|count| f64::from(count) * step);
                ticks.map(|tick| (tick, tick.to_string())).collect()
            }
            Scale::Linear => {
                let about = ((self.high - self.low) / 6.0).log10().floor() as i32;
                let step = rounds(about..=about + 1).find(|(step, _)| (self.high - self.low) / step <= 6.0);
                let (step, power) = step.unwrap_or((self.high - self.low, about));
                // A little slack, so that a tick at an end is kept.
                let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
                let decimals = (-power).max(0) as usize;
                let write = |count: i64| signed(&format!("{:.decimals$}", count as f64 * step));
                (first..=last).map(|count| (count as f64 * step, write(count))).collect()
            }
            Scale::Log => {
                let (low, high) = (self.low.log10(), self.high.log10());
                let powers = low.floor() as i32..=high.ceil() as i32;
                let is_inside = |tick: f64| (self.low..=self.high).contains(&tick);
                if high - low <= FEW_DECADES {
                    return rounds(powers)
                        .filter(|(tick, _)| is_inside(*tick))
                        .map(|(t, p)| (t, ratio(t, p)))
                        .collect();
                }
                let stride = ((high - low) / 7.0).ceil() as i32;
                let ticks = powers.filter(|power| power.rem_euclid(stride) == 0).map(|power| (ten_to(power), power));
                ticks
                    .filter(|(tick, _)| is_inside(*tick))
                    .map(|(_, p)| (ten_to(p), format!("10{}", superscript(p))))
                    .collect()
            }
        }
    }
}

/// Two values in order, within limits; the limits in place of what is not a number.
fn ordered(low: f64, high: f64, (least, most): (f64, f64)) -> (f64, f64) {
    let (low, high) = if low > high { (high, low) } else { (low, high) };
    let within = |value: f64, other: f64| if value.is_nan() { other } else { value.clamp(least, most) };
    (within(low, least), within(high, most))
}

/// 1, 2 and 5 times powers of ten, each with its power.
fn rounds(powers: std::ops::RangeInclusive<i32>) -> impl Iterator<Item = (f64, i32)> {
    powers.flat_map(|power| {
        // Divides by whole powers: 2/10 is the number nearest to 0.2, while 2 · 0.1 need not be.
        [1.0, 2.0, 5.0].map(|digit| (if power < 0 { digit / ten_to(-power) } else { digit * ten_to(power) }, power))
    })
}

fn ten_to(power: i32) -> f64 {
    10f64.powi(power)
}

/// The label of a tick on a log axis: a plain number while that is short.
fn ratio(tick: f64, power: i32) -> String {
    if (-3..=4).contains(&power) {
        return tick.to_string();
    }
    match (tick / ten_to(power)).round() {
        1.0 => format!("10{}", superscript(power)),
        digit => format!("{digit}·10{}", superscript(power)),
    }
}

/// A power in superscript digits.
fn superscript(power: i32) -> String {
    let above = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    power.to_string().chars().map(above).collect()
}

/// A number with a true minus sign, but none before zero.
pub(crate) fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => number.to_string(),
    }
}

/// The two axes of a plot; y grows upwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Frame {
    /// The pixels of a point.
    pub(crate) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// Grid lines; draw them before the data.
    pub(crate) fn grid(&self, svg: &mut Svg) {
        self.x_grid(svg);
        for tick in self.y.ticks() {
            let y = self.y.place(tick);
            svg.line((self.x.start, y), (self.x.end, y), "grid");
        }
    }

    /// Only the vertical grid lines.
    pub(crate) fn x_grid(&self, svg: &mut Svg) {
        for tick in self.x.ticks() {
            let x = self.x.place(tick);
            svg.line((x, self.y.start), (x, self.y.end), "grid");
        }
    }

    /// The border, and numbers and name of the x axis.
    pub(crate) fn x_axis(&self, svg: &mut Svg, x_name: &str) {
        let (left, bottom) = (self.x.start, self.y.start);
        svg.rect(left, self.y.end, self.x.end - left, bottom - self.y.end, "border");
        for (tick, label) in self.x.marks() {
            let x = self.x.place(tick);
            svg.line((x, bottom), (x, bottom + 4.0), "tick");
            svg.text(x, bottom + 17.0, "number middle", &label);
        }
        svg.text((left + self.x.end) / 2.0, bottom + 35.0, "name middle", x_name);
    }

    /// Border, numbers and names; draw them after the data.
    pub(crate) fn axes(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        let (left, bottom) = (self.x.start, self.y.start);
        self.x_axis(svg, x_name);
        let mut longest = 0;
        for (tick, label) in self.y.marks() {
            let y = self.y.place(tick);
            svg.line((left - 4.0, y), (left, y), "tick");
            svg.text(left - 8.0, y + 4.0, "number end", &label);
            longest = longest.max(label.chars().count());
        }
        // Clear of the numbers, whose digits are about seven pixels wide.
        let aside = (longest as f64 * 7.0 + 16.0).max(44.0);
        svg.upright_text(left - aside, (bottom + self.y.end) / 2.0, "name middle", y_name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_counts_are_placed() {
        // 10 is half way from 1 to 100 by ratio.
        let log = Axis::log((1.0, 100.0), (0.0, 200.0));
        assert_eq!([1.0, 10.0, 100.0, 0.01, 1e9].map(|v| log.place(v).round()), [0.0, 100.0, 200.0, 0.0, 200.0]);
        // Pixels may run backwards, as they do for y.
        let count = Axis::count(50, (300.0, 100.0));
        assert_eq!([0.0, 25.0, 50.0].map(|v| count.place(v)), [300.0, 200.0, 100.0]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::log((4.0, 60.0), (0.0, 1.0)).ticks(), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(Axis::count(120, (0.0, 1.0)).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert_eq!(Axis::count(1, (0.0, 1.0)).ticks(), [0.0, 1.0]);
    }

    #[test]
    fn a_linear_axis_has_round_steps_with_the_digits_they_need() {
        let label =
            |low, high| Axis::linear((low, high), (0.0, 1.0)).marks().into_iter().map(|m| m.1).collect::<Vec<_>>();
        assert_eq!(label(-1.0, -0.4), ["−1.0", "−0.9", "−0.8", "−0.7", "−0.6", "−0.5", "−0.4"]);
        assert_eq!(label(-0.031, 0.02), ["−0.03", "−0.02", "−0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(label(3.0, 2990.0), ["500", "1000", "1500", "2000", "2500"]);
        assert_eq!(Axis::linear((2.0, 4.0), (0.0, 10.0)).place(3.0), 5.0);
    }

    #[test]
    fn a_long_log_axis_marks_powers_and_a_short_one_digits() {
        let label = |low, high| Axis::log((low, high), (0.0, 1.0)).marks().into_iter().map(|m| m.1).collect::<Vec<_>>();
        assert_eq!(label(0.09, 1.0), ["0.1", "0.2", "0.5", "1"]);
        assert_eq!(label(1e-7, 1e-5), ["10⁻⁷", "2·10⁻⁷", "5·10⁻⁷", "10⁻⁶", "2·10⁻⁶", "5·10⁻⁶", "10⁻⁵"]);
        assert_eq!(label(1e-6, 1.0), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        assert_eq!(label(1e-12, 1.0), ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
    }

    /// Any two numbers, however far apart or near, give an axis with few ticks inside it.
    #[test]
    fn axes_of_extreme_ranges_have_ticks() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let special =
            [0.0, 1.0, -1.0, 1e300, -1e300, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN];
        let mut number = || match random.random_range(0..3) {
            0 => special[random.random_range(0..special.len())],
            1 => f64::from_bits(random.random()),
            _ => random.random_range(-1.0..1.0) * 10f64.powi(random.random_range(-300..300)),
        };
        for _ in 0..20_000 {
            let (a, b) = (number(), number());
            let near = a * (1.0 + f64::EPSILON);
            for (low, high) in [(a, b), (b, a), (a, a), (a, near)] {
                for axis in [
                    Axis::linear((low, high), (0.0, 100.0)),
                    Axis::log((low, high), (0.0, 100.0)),
                    Axis::log((low.abs(), high.abs()), (0.0, 100.0)),
                ] {
                    let marks = axis.marks();
                    assert!(marks.len() <= 40, "{axis:?}: {} ticks", marks.len());
                    for (tick, label) in marks {
                        assert!(tick.is_finite() && (0.0..=100.0).contains(&axis.place(tick)), "{axis:?}: {tick}");
                        assert!(label.chars().count() <= 330, "{label}");
                    }
                    for value in [a, b, 0.0] {
                        let place = axis.place(value);
                        assert!(value.is_nan() || (0.0..=100.0).contains(&place), "{axis:?}: {value} at {place}");
                    }
                }
            }
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(["-0.00", "-0.01", "3"].map(signed), ["0.00", "−0.01", "3"]);
    }
}
