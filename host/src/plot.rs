//! Axes: from values to pixels, round ticks, and the frame around a plot.

use crate::svg::Svg;

/// One axis: where each value is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    is_log: bool,
}

impl Axis {
    /// Counts from 0 to `most`, equally far apart, drawn at pixels `start` to `end`.
    pub(crate) fn count(most: usize, (start, end): (f64, f64)) -> Self {
        Self { low: 0.0, high: most.max(1) as f64, start, end, is_log: false }
    }

    /// Values from `low` to `high`, equal ratios equally long.
    pub(crate) fn log((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        Self { low, high, start, end, is_log: true }
    }

    /// The pixel of a value; what is outside is drawn at the edge.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let share = if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.start + share * (self.end - self.start)
    }

    /// Round values inside the axis: 1, 2 and 5 times powers of ten, or steps of such a whole number.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let rounds = (0..=6).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        if self.is_log {
            return rounds.filter(|tick| (self.low..=self.high).contains(tick)).collect();
        }
        // The smallest round step that gives at most eight ticks.
        let step = rounds.into_iter().find(|step| self.high / step <= 8.0).unwrap_or(self.high);
        (0..=(self.high / step) as u32).map(|count| f64::from(count) * step).collect()
    }
}

/// A plot's two axes; y grows upwards.
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

    /// Grid lines, to be drawn before the data.
    pub(crate) fn grid(&self, svg: &mut Svg) {
        for tick in self.x.ticks() {
            let x = self.x.place(tick);
            svg.line((x, self.y.start), (x, self.y.end), "grid");
        }
        for tick in self.y.ticks() {
            let y = self.y.place(tick);
            svg.line((self.x.start, y), (self.x.end, y), "grid");
        }
    }

    /// Border, numbers and names, to be drawn after the data.
    pub(crate) fn axes(&self, svg: &mut Svg, x_name: &str, y_name: &str) {
        let (left, bottom) = (self.x.start, self.y.start);
        svg.rect(left, self.y.end, self.x.end - left, bottom - self.y.end, "border");
        for tick in self.x.ticks() {
            let x = self.x.place(tick);
            svg.line((x, bottom), (x, bottom + 4.0), "tick");
            svg.text(x, bottom + 17.0, "number middle", &tick.to_string());
        }
        for tick in self.y.ticks() {
            let y = self.y.place(tick);
            svg.line((left - 4.0, y), (left, y), "tick");
            svg.text(left - 8.0, y + 4.0, "number end", &tick.to_string());
        }
        svg.text((left + self.x.end) / 2.0, bottom + 35.0, "name middle", x_name);
        svg.upright_text(left - 44.0, (bottom + self.y.end) / 2.0, "name middle", y_name);
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
        // Pixels may run backwards, as they do upwards.
        let count = Axis::count(50, (300.0, 100.0));
        assert_eq!([0.0, 25.0, 50.0].map(|v| count.place(v)), [300.0, 200.0, 100.0]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::log((4.0, 60.0), (0.0, 1.0)).ticks(), [5.0, 10.0, 20.0, 50.0]);
        assert_eq!(Axis::count(120, (0.0, 1.0)).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert_eq!(Axis::count(1, (0.0, 1.0)).ticks(), [0.0, 1.0]);
    }
}
