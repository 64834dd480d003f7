//! One plot of a figure: lines with bands and marks, one group per method.
//!
//! **Choices**
//! - Marks are sparse and start at a different place on each line, so that lines on top of each
//!   other remain visible.
//! - trimtab is drawn last, on top.
//! - Points within a fifth of a pixel of a straight line are dropped, to keep pages small.

use std::fmt::Write;

use super::style::Style;
use crate::draw::plot::{Axis, Frame};
use crate::draw::svg::{Svg, number};

pub(super) const WIDTH: f64 = 450.0;
const HEIGHT: f64 = 296.0;
const LEFT: f64 = 74.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Marks per line.
const MARKS: usize = 5;

/// The range of an axis and its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    Count(usize),
    Linear(f64, f64),
    Log(f64, f64),
}

impl Scale {
    fn axis(self, pixels: (f64, f64)) -> Axis {
        match self {
            Self::Count(most) => Axis::count(most, pixels),
            Self::Linear(low, high) => Axis::linear((low, high), pixels),
            Self::Log(low, high) => Axis::log((low, high), pixels),
        }
    }

    /// A linear range with a margin around the values.
    pub(super) fn around(low: f64, high: f64) -> Self {
        let air = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        Self::Linear(low - air, high + air)
    }
}

/// A value with its band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) band: (f64, f64),
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) style: Style,
    /// Whether it is a method's line, which the page's legend can hide.
    pub(super) is_method: bool,
    pub(super) points: Vec<Point>,
}

/// Lines over two axes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) x: (Scale, String),
    pub(super) y: (Scale, String),
    pub(super) lines: Vec<Line>,
    /// A reference value.
    pub(super) level: Option<f64>,
}

/// One row of a plot of spans.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) style: Style,
    /// Low end, middle, high end.
    pub(super) span: [f64; 3],
}

#[derive(Clone, Debug)]
pub(super) enum Plot {
    Lines(Lines),
    /// Spans on a log axis of this name, one per row.
    Rows(String, Vec<Row>),
}

/// A plot with its title and description.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    /// For screen readers.
    pub(super) description: String,
    pub(super) plot: Plot,
}

impl Panel {
    pub(super) fn height(&self) -> f64 {
        match &self.plot {
            Plot::Lines(_) => HEIGHT,
            Plot::Rows(_, rows) => HEIGHT.max(TOP + BOTTOM + 16.0 * rows.len() as f64),
        }
    }

    /// The panel as part of a page.
    pub(super) fn part(&self, figure: &str) -> String {
        let mut svg = Svg::bare(WIDTH, self.height(), &format!("{figure}: {}", self.title), &self.description);
        self.draw(&mut svg, (0.0, 0.0));
        svg.finish()
    }

    /// Draws the panel at a position.
    pub(super) fn draw(&self, svg: &mut Svg, (left, top): (f64, f64)) {
        svg.text(left + LEFT, top + 18.0, "heading", &self.title);
        let across = (left + LEFT, left + WIDTH - RIGHT);
        let upwards = (top + self.height() - BOTTOM, top + TOP);
        match &self.plot {
            Plot::Lines(lines) => lines.draw(svg, across, upwards),
            Plot::Rows(name, rows) => {
                let longest = rows.iter().map(|row| text_width(&row.name)).fold(0.0, f64::max);
                spans(svg, name, rows, (left + longest + 16.0, across.1), upwards);
            }
        }
    }

    /// Its lines or rows, in order: name, style and whether it is a method's.
    pub(super) fn names(&self) -> Vec<(&str, Style, bool)> {
        match &self.plot {
            Plot::Lines(lines) => {
                lines.lines.iter().map(|line| (line.name.as_str(), line.style, line.is_method)).collect()
            }
            Plot::Rows(_, rows) => rows.iter().map(|row| (row.name.as_str(), row.style, true)).collect(),
        }
    }
}

impl Lines {
    fn draw(&self, svg: &mut Svg, across: (f64, f64), upwards: (f64, f64)) {
        let frame = Frame { x: self.x.0.axis(across), y: self.y.0.axis(upwards) };
        frame.grid(svg);
        if let Some(level) = self.level {
            let y = frame.y.place(level);
            svg.line((across.0, y), (across.1, y), "level");
        }
        // Back to front: the first of the list is drawn last.
        for (i, line) in self.lines.iter().enumerate().rev() {
            begin(svg, &line.name, line.style, line.is_method);
            let place = |y: fn(&Point) -> f64| -> Vec<(f64, f64)> {
                line.points.iter().map(|point| frame.place(point.x, y(point))).collect()
            };
            if line.points.iter().any(|point| point.band.0 < point.band.1) {
                let mut outline = thinned(&place(|point| point.band.1));
                outline.extend(thinned(&place(|point| point.band.0)).iter().rev());
                svg.path(&(steps(&outline) + "z"), "band");
            }
            let middle = place(|point| point.y);
            svg.path(&steps(&thinned(&middle)), "line");
            let every = middle.len().div_ceil(MARKS).max(1);
            // Each line starts elsewhere; the last point always has a mark.
            let first = (i * 3 + every / 2) % every;
            let last = middle.len().checked_sub(1);
            let places = (first..middle.len()).step_by(every).filter(|at| Some(at + every / 2) < last).chain(last);
            let marks: String = places.map(|at| mark(middle[at], line.style)).collect();
            svg.path(&marks, "mark");
            svg.end_group();
        }
        frame.axes(svg, &self.x.1, &self.y.1);
    }
}

/// One row per method: a bar from the low to the high end, a mark in the middle.
fn spans(svg: &mut Svg, name: &str, rows: &[Row], across: (f64, f64), (bottom, top): (f64, f64)) {
    let ends = rows.iter().flat_map(|row| row.span).filter(|x| *x > 0.0);
    let (low, high) = ends.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
    let (low, high) = if low < high { (low / 1.5, high * 1.5) } else { (1e-6, 1.0) };
    let frame = Frame { x: Axis::log((low, high), across), y: Axis::count(1, (bottom, top)) };
    frame.x_grid(svg);
    let gap = (bottom - top) / rows.len().max(1) as f64;
    for (i, row) in rows.iter().enumerate() {
        let y = top + gap * (i as f64 + 0.5);
        let [left, middle, right] = row.span.map(|x| frame.x.place(x));
        begin(svg, &row.name, row.style, true);
        svg.text(across.0 - 8.0, y + 4.0, "number end", &row.name);
        svg.path(&steps(&[(left, y), (right, y)]), "line");
        svg.path(&mark((middle, y), row.style), "mark");
        svg.end_group();
    }
    frame.x_axis(svg, name);
}

fn begin(svg: &mut Svg, name: &str, style: Style, is_method: bool) {
    let classes = style.classes();
    if is_method {
        svg.begin_group(&[("class", &classes), ("data-method", &name)], name);
    } else {
        svg.begin_group(&[("class", &classes)], name);
    }
}

/// A line and a mark for a legend, 34 pixels wide.
pub(super) fn sample(svg: &mut Svg, (x, y): (f64, f64), style: Style) {
    svg.path(&steps(&[(x, y), (x + 34.0, y)]), "line");
    svg.path(&mark((x + 17.0, y), style), "mark");
}

/// Estimated width of a name in the font of numbers, rather too large than too small.
pub(super) fn text_width(name: &str) -> f64 {
    7.6 * name.chars().count() as f64
}

fn mark((x, y): (f64, f64), style: Style) -> String {
    format!("M{} {}{}", number(x), number(y), style.mark())
}

/// A path from point to point, to a tenth of a pixel.
fn steps(points: &[(f64, f64)]) -> String {
    let tenth = |x: f64| number((x * 10.0).round() / 10.0);
    let mut path = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{} {}", if i == 0 { 'M' } else { 'L' }, tenth(*x), tenth(*y));
    }
    path
}

/// Drops the points that the others nearly determine (Ramer 1972; Douglas and Peucker 1973).
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    const NEAR: f64 = 0.2;
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    // Points go from left to right, so the vertical distance is enough.
    let off = |(x, y): (f64, f64)| {
        let share = if last.0 > first.0 { (x - first.0) / (last.0 - first.0) } else { 0.0 };
        (first.1 + share * (last.1 - first.1) - y).abs()
    };
    let farthest = (1..points.len().saturating_sub(1)).max_by(|a, b| off(points[*a]).total_cmp(&off(points[*b])));
    match farthest {
        Some(at) if off(points[at]) > NEAR => {
            let mut kept = thinned(&points[..=at]);
            kept.pop();
            kept.extend(thinned(&points[at..]));
            kept
        }
        _ if points.len() == 1 => vec![*first],
        _ => vec![*first, *last],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_is_kept_and_a_straight_is_not() {
        let straight: Vec<_> = (0..50).map(|i| (f64::from(i), 2.0 * f64::from(i))).collect();
        assert_eq!(thinned(&straight), [(0.0, 0.0), (49.0, 98.0)]);
        let bent = [(0.0, 0.0), (1.0, 0.1), (2.0, 0.0), (3.0, 5.0), (4.0, 5.1), (5.0, 5.0)];
        assert_eq!(thinned(&bent), [(0.0, 0.0), (2.0, 0.0), (3.0, 5.0), (5.0, 5.0)]);
        assert_eq!((thinned(&[]), thinned(&[(1.0, 1.0)])), (vec![], vec![(1.0, 1.0)]));
    }

    #[test]
    fn equal_values_still_get_a_range() {
        assert_eq!(Scale::around(3.0, 3.0), Scale::Linear(1.5, 4.5));
        assert_eq!(Scale::around(0.0, 100.0), Scale::Linear(-4.0, 104.0));
    }
}
