//! The picture of a chip's run: the best so far, and where it measured.
//!
//! **Choices**
//! - Many knobs do not fit in a plane, so each has its own strip under a common axis: one dot per
//!   measurement, as high as its level.
//! - Dots are shaded by the rank of their value, the best darkest, to show what good ones have in
//!   common.
//! - Failures are crosses.

use std::fmt::Write;

use trimtab::Goal;

use super::Verdict;
use crate::device::stream::{Run, Step};
use crate::draw::number::short;
use crate::draw::plot::{Axis, Frame, signed};
use crate::draw::svg::{Svg, number};

const STYLE: &str = include_str!("../../draw/picture.css");
const WIDTH: f64 = 960.0;
const ACROSS: (f64, f64) = (84.0, 936.0);
const PROGRESS: (f64, f64) = (300.0, 104.0);
/// Top of the strips, height of all and of one, and most strips.
const STRIPS: f64 = 378.0;
const ALL_STRIPS: f64 = 330.0;
const STRIP: (f64, f64) = (34.0, 110.0);
const MOST_STRIPS: usize = 32;
const SHADES: usize = 5;

/// Renders the picture.
pub(super) fn draw(run: &Run, verdict: &Verdict) -> String {
    let strips = run.outcomes().map(|step| step.levels.len()).max().unwrap_or(0);
    let shown = strips.min(MOST_STRIPS);
    let strip = (ALL_STRIPS / shown.max(1) as f64).clamp(STRIP.0, STRIP.1);
    let height = STRIPS + strip * shown as f64 + 44.0;
    let title = format!("{}, tuned on a chip", run.name());
    let measured = run.outcomes().count();
    let best = run.best().map_or_else(String::new, |(number, step, value)| {
        format!("; best {} at measurement {number}: {}", short(value.into()), cut(&run.text(&step.levels)))
    });
    let facts = format!("{measured} measured, {} failed{best}", run.failures());
    let mut svg = Svg::new(WIDTH, height, &title, &facts, STYLE);
    svg.rect(0.0, 0.0, WIDTH, height, "paper");
    svg.text(20.0, 34.0, "title", &title);
    svg.text(20.0, 56.0, "name", &signed(&facts));
    let x = Axis::count(measured, ACROSS);
    progress(&mut svg, run, x);
    strip_panels(&mut svg, run, x, (shown, strip));
    let left_out = if strips > shown { format!("; {} knobs are left out", strips - shown) } else { String::new() };
    let check = verdict.lines(run).join("; ");
    svg.text(20.0, height - 14.0, "number", &format!("{}{left_out}", cut_to(&check, 130)));
    svg.finish()
}

/// Every value, and the best so far.
fn progress(svg: &mut Svg, run: &Run, x: Axis) {
    let values: Vec<f64> = run.outcomes().filter_map(Step::value).map(f64::from).collect();
    let frame = Frame { x, y: axis(&values) };
    svg.text(ACROSS.0, 92.0, "heading", "Best so far");
    svg.circle(560.0, 88.0, 3.0, "measured");
    svg.text(570.0, 92.0, "number", "a measurement");
    svg.path(&cross(686.0, 88.0), "tick");
    svg.text(696.0, 92.0, "number", "a failure");
    svg.line((774.0, 88.0), (804.0, 88.0), "best");
    svg.text(812.0, 92.0, "number", "the best so far");
    frame.grid(svg);
    let mut path = String::new();
    let mut best = run.best_so_far().into_iter();
    let mut is_begun = false;
    for (i, step) in run.outcomes().enumerate() {
        let at = i as f64 + 1.0;
        match step.value() {
            Some(value) => {
                let (x, y) = frame.place(at, f64::from(value));
                svg.circle(x, y, 3.0, "measured");
            }
            None => svg.path(&cross(frame.x.place(at), PROGRESS.0 - 7.0), "tick"),
        }
        is_begun |= step.value().is_some() && step.is_kept();
        if let Some(best) = if is_begun { best.next() } else { None } {
            let (x, y) = frame.place(at, best);
            let (x, y) = (number(x), number(y));
            // Level until the measurement, then straight to its value.
            let _ = if path.is_empty() { write!(path, "M{x} {y}") } else { write!(path, "H{x}V{y}") };
        }
    }
    svg.path(&path, "best");
    frame.axes(svg, "measurement", if run.goal() == Goal::Minimise { "cost" } else { "gain" });
}

/// A scale for the values: logarithmic if they are positive and far apart.
fn axis(values: &[f64]) -> Axis {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match () {
        () if low > high => Axis::linear((0.0, 1.0), PROGRESS),
        () if low > 0.0 && high / low >= 100.0 => Axis::log((low / 1.2, high * 1.2), PROGRESS),
        () => {
            let air = if high > low { 0.05 * (high - low) } else { 0.5 * low.abs().max(1.0) };
            Axis::linear((low - air, high + air), PROGRESS)
        }
    }
}

/// The part of a knob's name that fits into the margin.
fn margin(name: &str) -> String {
    const MOST: usize = 10;
    match name.char_indices().nth(MOST) {
        None => name.into(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// One strip per knob.
fn strip_panels(svg: &mut Svg, run: &Run, x: Axis, (strips, strip): (usize, f64)) {
    svg.text(ACROSS.0, STRIPS - 14.0, "heading", "Where it measured: the level of each knob");
    let shades = shades(run);
    for (i, label) in ["the worst fifth", "", "", "", "the best fifth"].iter().enumerate() {
        let at = 640.0 + 24.0 * i as f64 + if i > 0 { 84.0 } else { 0.0 };
        svg.circle(at, STRIPS - 18.0, 4.0, &format!("point order{i}"));
        svg.text(at + 10.0, STRIPS - 14.0, "number", label);
    }
    let knobs = run.knobs();
    for place in 0..strips {
        let (top, bottom) = (STRIPS + strip * place as f64, STRIPS + strip * (place + 1) as f64);
        let heard =
            run.outcomes().filter_map(|step| step.levels.get(place)).max().map_or(1, |level| *level as usize + 1);
        let levels = knobs.as_ref().and_then(|knobs| knobs.get(place)).map_or(heard, |knob| knob.levels()).max(1);
        svg.rect(ACROSS.0, top, ACROSS.1 - ACROSS.0, strip, "border");
        let name = run.knob_name(place).map_or_else(|| format!("knob {place}"), margin);
        svg.text(ACROSS.0 - 8.0, (top + bottom) / 2.0 + 4.0, "number end", &name);
        let y = |level: usize| bottom - 6.0 - (strip - 12.0) * level as f64 / (levels - 1).max(1) as f64;
        for (i, (step, shade)) in run.outcomes().zip(&shades).enumerate() {
            let Some(level) = step.levels.get(place) else { continue };
            let (at, height) = (x.place(i as f64 + 1.0), y(usize::from(*level)));
            let Some(shade) = shade else {
                svg.path(&cross(at, height), "tick");
                continue;
            };
            let title = format!("measurement {}: level {level} of {levels}", i + 1);
            let class = format!("point order{shade}");
            svg.element_with_title(
                "circle",
                &[("cx", &number(at)), ("cy", &number(height)), ("r", &3), ("class", &class)],
                &title,
            );
        }
    }
}

/// The shade of each outcome: its fifth by rank, the best last; `None` for a failure.
fn shades(run: &Run) -> Vec<Option<usize>> {
    let mut order: Vec<(usize, f32)> =
        run.outcomes().enumerate().filter_map(|(i, step)| Some((i, step.value()?))).collect();
    order.sort_by(|a, b| match run.goal() {
        Goal::Minimise => b.1.total_cmp(&a.1),
        Goal::Maximise => a.1.total_cmp(&b.1),
    });
    let mut shades = vec![None; run.outcomes().count()];
    for (rank, (i, _)) in order.iter().enumerate() {
        shades[*i] = Some(rank * SHADES / order.len());
    }
    shades
}

/// A small cross.
fn cross(x: f64, y: f64) -> String {
    format!("M{} {}l6 6m0 -6l-6 6", number(x - 3.0), number(y - 3.0))
}

fn cut(text: &str) -> String {
    cut_to(text, 60)
}

fn cut_to(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}
