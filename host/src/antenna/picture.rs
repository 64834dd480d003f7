//! The picture of a run: the best so far, and where in the L × C plane it measured.
//!
//! **Choices**
//! - One panel per topology, with the true SWR of all its states in seven bands behind the measured
//!   points.
//! - Bands and points differ in lightness, marks in shape, so the picture also works without
//!   colour.
//! - A band is one path of horizontal runs, which keeps 32 768 states within some tens of
//!   kilobytes.
//! - The plane's axes are logarithmic; otherwise everything that matters at 28 MHz would be in one
//!   corner.

use std::fmt::Write;

use trimtab::Level;
use trimtab_firmware::antenna::{CAPACITANCE_PF, INDUCTANCE_NH, LEVELS, Parts, Topology, space};

use super::run::{Run, Step};
use crate::draw::plot::{Axis, Frame};
use crate::draw::quantity::{Frequency, Load, swr_text};
use crate::draw::svg::{Svg, number};

const STYLE: &str = include_str!("../draw/picture.css");
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 884.0;
/// Upper ends of the SWR bands; one more band lies above the last.
const BANDS: [f32; 6] = [1.2, 1.5, 2.0, 3.0, 5.0, 10.0];
/// Measurements above this SWR are drawn at the edge, because the interesting ones are near 1.
const HIGHEST: f32 = 100.0;
/// Shades for the order of measurement.
const SHADES: usize = 5;

/// Renders the picture.
pub(crate) fn draw(run: &Run) -> String {
    let network = &run.settings.network;
    let (load, frequency) = (Load::of(network), Frequency(network.frequency()));
    let title = format!("Tuning an antenna of {load} Ω at {frequency}");
    let found = run.best().map_or(f32::NAN, |best| best.swr);
    let facts = format!(
        "SWR {} when left alone, {} found in {} measurement{}, {} is the best of all {} states",
        swr_text(network.unmatched_swr()),
        swr_text(found),
        run.steps.len(),
        if run.steps.len() == 1 { "" } else { "s" },
        swr_text(run.optimum_swr()),
        space().cardinality()
    );
    let mut svg = Svg::new(WIDTH, HEIGHT, &title, &facts, STYLE);
    svg.rect(0.0, 0.0, WIDTH, HEIGHT, "paper");
    svg.text(20.0, 34.0, "title", &title);
    svg.text(20.0, 56.0, "name", &facts);
    progress(&mut svg, run);
    plane(&mut svg, run, Topology::LoadSide, (64.0, 470.0));
    plane(&mut svg, run, Topology::SourceSide, (530.0, 936.0));
    legend(&mut svg, run.steps.len());
    svg.finish()
}

/// SWR of every measurement and of the best so far.
fn progress(svg: &mut Svg, run: &Run) {
    let frame = Frame {
        x: Axis::count(run.steps.len(), (64.0, 936.0)),
        // A little below 1, so that a line at the optimum is not the border.
        y: Axis::log((0.9, f64::from(HIGHEST)), (300.0, 104.0)),
    };
    svg.text(64.0, 92.0, "heading", "Best so far");
    svg.circle(370.0, 88.0, 3.0, "measured");
    svg.text(380.0, 92.0, "number", "a measurement");
    svg.path(&triangle(500.0, 88.0), "measured");
    svg.text(510.0, 92.0, "number", &format!("one above {HIGHEST}"));
    svg.line((622.0, 88.0), (652.0, 88.0), "best");
    svg.text(660.0, 92.0, "number", "the best so far");
    svg.line((774.0, 88.0), (804.0, 88.0), "optimum");
    svg.text(812.0, 92.0, "number", "the best of all states");
    frame.grid(svg);
    for step in &run.steps {
        let (x, y) = frame.place(step.number as f64, f64::from(step.swr));
        if step.swr > HIGHEST {
            svg.path(&triangle(x, y), "measured");
        } else {
            svg.circle(x, y, 3.0, "measured");
        }
    }
    let y = frame.y.place(f64::from(run.optimum_swr()));
    svg.line((64.0, y), (936.0, y), "optimum");
    let mut path = String::new();
    for step in &run.steps {
        let (x, y) = frame.place(step.number as f64, f64::from(run.steps[step.best - 1].swr));
        let (x, y) = (number(x), number(y));
        // Level until the measurement, then straight to its value.
        let _ = if path.is_empty() { write!(path, "M{x} {y}") } else { write!(path, "H{x}V{y}") };
    }
    svg.path(&path, "best");
    frame.axes(svg, "measurement", "SWR (log)");
}

/// The L × C plane of one topology.
fn plane(svg: &mut Svg, run: &Run, topology: Topology, across: (f64, f64)) {
    let (columns, rows) = (edges(&INDUCTANCE_NH), edges(&CAPACITANCE_PF));
    let range = |edges: &[f64]| (edges[0], edges[LEVELS]);
    let frame = Frame { x: Axis::log(range(&columns), across), y: Axis::log(range(&rows), (764.0, 390.0)) };
    let here = |step: &&Step| Parts::of(&step.combination).topology == topology;
    let count = run.steps.iter().filter(here).count();
    svg.text(across.0, 378.0, "heading", &format!("Capacitor on the {topology}: {count} measured"));

    svg.rect(across.0, 390.0, across.1 - across.0, 374.0, &format!("band{}", BANDS.len()));
    for (band, path) in bands(run, topology, &frame, &columns, &rows).iter().enumerate() {
        svg.path(path, &format!("band{band} crisp"));
    }
    let spot = |c| {
        let parts = Parts::of(c);
        frame.place(f64::from(parts.inductance_nh), f64::from(parts.capacitance_pf))
    };
    for step in run.steps.iter().filter(here) {
        let (parts, (x, y)) = (Parts::of(&step.combination), spot(&step.combination));
        let title = format!(
            "measurement {}: L {} nH, C {} pF, SWR {}",
            step.number,
            parts.inductance_nh,
            parts.capacitance_pf,
            swr_text(step.swr)
        );
        let class = format!("point order{}", (step.number - 1) * SHADES / run.steps.len());
        svg.element_with_title(
            "circle",
            &[("cx", &number(x)), ("cy", &number(y)), ("r", &4), ("class", &class)],
            &title,
        );
    }
    if Parts::of(&run.optimum).topology == topology {
        let (x, y) = spot(&run.optimum);
        svg.circle(x, y, 14.0, "ring");
    }
    if let Some(best) = run.best().filter(here) {
        let (x, y) = spot(&best.combination);
        svg.path(&star(x, y), "star");
    }
    frame.axes(svg, "inductance, nH (log)", "capacitance, pF (log)");
}

/// One path per band: horizontal runs of states, row by row. The worst band is the background.
fn bands(run: &Run, topology: Topology, frame: &Frame, columns: &[f64], rows: &[f64]) -> [String; BANDS.len()] {
    let space = space();
    let band_of = |inductor: usize, capacitor: usize| {
        let levels = [inductor as Level, capacitor as Level, topology as Level];
        let swr = space.combination(&levels).map_or(f32::INFINITY, |c| run.settings.network.swr(&c));
        BANDS.iter().position(|end| swr < *end)
    };
    let mut paths = [const { String::new() }; BANDS.len()];
    for row in 0..LEVELS {
        let (bottom, top) = (frame.y.place(rows[row]), frame.y.place(rows[row + 1]));
        let cells: Vec<_> = (0..LEVELS).map(|column| band_of(column, row)).collect();
        let mut column = 0;
        for cells in cells.chunk_by(|a, b| a == b) {
            let (left, right) = (frame.x.place(columns[column]), frame.x.place(columns[column + cells.len()]));
            column += cells.len();
            if let Some(band) = cells[0] {
                let [left, top, right, bottom] = [left, top, right, bottom].map(number);
                let _ = write!(paths[band], "M{left} {top}H{right}V{bottom}H{left}z");
            }
        }
    }
    paths
}

/// The edges of the cells: half way between neighbours by ratio.
fn edges(values: &[f32; LEVELS]) -> Vec<f64> {
    let (first, last) = (f64::from(values[0]), f64::from(values[LEVELS - 1]));
    let between = values.windows(2).map(|pair| (f64::from(pair[0]) * f64::from(pair[1])).sqrt());
    // By ratio the outer cells would reach far out; a little is enough to see them.
    std::iter::once(first / 1.2).chain(between).chain(std::iter::once(last * 1.1)).collect()
}

/// A small upward triangle, for points above the plot.
fn triangle(x: f64, y: f64) -> String {
    format!("M{} {}h8l-4 -7z", number(x - 4.0), number(y + 4.0))
}

/// A five-pointed star.
fn star(x: f64, y: f64) -> String {
    let corner = |i: u32| {
        let (radius, angle) = (if i.is_multiple_of(2) { 11.0 } else { 4.8 }, f64::from(i) * std::f64::consts::PI / 5.0);
        format!("{} {}", number(x + radius * angle.sin()), number(y - radius * angle.cos()))
    };
    format!("M{}z", (0..10).map(corner).collect::<Vec<_>>().join("L"))
}

/// The legend: one row for the bands, one for the marks.
fn legend(svg: &mut Svg, count: usize) {
    svg.text(64.0, 836.0, "name", "SWR of the states");
    let mut x = 190.0;
    for band in 0..=BANDS.len() {
        svg.rect(x, 823.0, 26.0, 16.0, &format!("band{band} swatch"));
        let label = match band {
            0 => format!("below {}", BANDS[0]),
            band if band == BANDS.len() => format!("{} and more", BANDS[band - 1]),
            band => format!("to {}", BANDS[band]),
        };
        svg.text(x + 32.0, 836.0, "number", &label);
        x += if band == 0 { 106.0 } else { 84.0 };
    }
    svg.text(64.0, 866.0, "name", "Measurements");
    let mut x = 198.0;
    for shade in 0..SHADES {
        // Numbers n with (n − 1)·SHADES / count = shade, rounded down.
        let (first, last) = ((shade * count).div_ceil(SHADES) + 1, ((shade + 1) * count).div_ceil(SHADES));
        if first > last {
            continue;
        }
        svg.circle(x, 862.0, 5.0, &format!("point order{shade}"));
        let label = if first == last { first.to_string() } else { format!("{first} to {last}") };
        svg.text(x + 10.0, 866.0, "number", &label);
        x += 90.0;
    }
    svg.path(&star(672.0, 862.0), "star");
    svg.text(690.0, 866.0, "number", "found");
    svg.circle(760.0, 862.0, 10.0, "ring");
    svg.text(777.0, 866.0, "number", "best of all states");
}
