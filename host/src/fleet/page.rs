//! The page of a fleet: one HTML file with everything in it, in the style of the other reports.

use super::model::Model;
use super::outlook::Outlook;
use crate::draw::ABOUT;
use crate::draw::number::short;
use crate::draw::plot::{Axis, Frame};
use crate::draw::svg::{Svg, escape};

const STYLE: [&str; 3] = [include_str!("../draw/figure.css"), include_str!("../draw/page.css"), OWN];
const OWN: &str = "\
.line { stroke: #0969da; stroke-width: 2.4 }
.board { fill: #0969da; fill-opacity: .75 }
th + th, td + td { text-align: right; padding-left: 2em }
@media (prefers-color-scheme: dark) { .line { stroke: #58a6ff } .board { fill: #58a6ff } }
";
/// Most knobs that are drawn.
const MOST_KNOBS: usize = 24;

/// The page; `text` is what was printed.
pub(super) fn html(names: &[String], model: &Model, outlook: &Outlook, text: &str) -> String {
    let mut html = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
         <link rel=\"icon\" href=\"data:,\"/>\n<title>trimtab: what a fleet taught</title>\n<style>\n",
    );
    html += &STYLE.concat();
    html += "</style>\n</head>\n<body>\n";
    let sections = [
        (
            "needed",
            "How many measurements a next board needs",
            "Each board is left out in turn, and what the others taught chooses among its measurements. The line is the \
             share of boards within 5 % of their own best.",
            needed(outlook),
        ),
        (
            "knobs",
            "Which knobs vary between boards",
            "Around the fleet's best: how much the cost changes along a knob on average, and how much that differs from \
             board to board.",
            knobs(names, outlook),
        ),
        (
            "boards",
            "How boards differ",
            "Each board along the two factors that differ most, in standard deviations. One far from the others is a \
             strange one.",
            boards(model, outlook),
        ),
    ];
    html += "<aside>\n<nav aria-label=\"Contents\">\n<ul>\n";
    html.extend(sections.iter().map(|(id, title, ..)| format!("<li><a href=\"#{id}\">{title}</a></li>\n")));
    html += "</ul>\n</nav>\n</aside>\n<main>\n<header>\n<h1>What a fleet taught</h1>\n<pre>";
    html += &escape(text);
    html += "</pre>\n</header>\n";
    for (id, title, about, body) in sections {
        html += &format!("<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{about}</p>\n{body}</section>\n");
    }
    html += ABOUT;
    html + "</main>\n</body>\n</html>\n"
}

fn needed(outlook: &Outlook) -> String {
    if outlook.needed.is_empty() {
        return "<p>One board cannot tell.</p>\n".into();
    }
    let mut sorted = outlook.needed.clone();
    sorted.sort_unstable();
    let most = sorted.last().copied().unwrap_or(1).max(2);
    let mut svg = Svg::bare(720.0, 260.0, "Measurements that a next board needs", "Share of boards by measurements");
    let frame = Frame { x: Axis::count(most, (70.0, 700.0)), y: Axis::linear((0.0, 100.0), (210.0, 20.0)) };
    frame.grid(&mut svg);
    frame.axes(&mut svg, "measurements", "boards within 5 %, in %");
    // A staircase: the share holds until the next measurement.
    let mut steps = String::new();
    let mut height = frame.y.place(0.0);
    for count in 0..=most {
        let share = sorted.iter().filter(|needed| **needed <= count).count() as f64 / sorted.len() as f64;
        let (x, y) = frame.place(count as f64, 100.0 * share);
        steps += &format!("{}{x:.1} {height:.1}L{x:.1} {y:.1}", if steps.is_empty() { "M" } else { "L" });
        height = y;
    }
    svg.path(&steps, "line");
    svg.finish()
}

fn knobs(names: &[String], outlook: &Outlook) -> String {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| outlook.knobs[*b].1.total_cmp(&outlook.knobs[*a].1));
    let mut table = String::from(
        "<table>\n<thead><tr><th>knob</th><th>moves the cost by</th><th>differs between boards by</th></tr></thead>\n<tbody>\n",
    );
    for i in order.into_iter().take(MOST_KNOBS) {
        let (mean, boards) = outlook.knobs[i];
        let name = escape(&names[i]);
        table += &format!("<tr><td>{name}</td><td>{}</td><td>{}</td></tr>\n", short(mean), short(boards));
    }
    table + "</tbody>\n</table>\n"
}

fn boards(model: &Model, outlook: &Outlook) -> String {
    let reach = outlook.boards.iter().fold(2.0f64, |most, (x, y)| most.max(x.abs()).max(y.abs())) * 1.1;
    let mut svg = Svg::bare(460.0, 420.0, "Boards", &format!("{} boards along two factors", model.sums.boards));
    let frame =
        Frame { x: Axis::linear((-reach, reach), (70.0, 440.0)), y: Axis::linear((-reach, reach), (370.0, 20.0)) };
    frame.grid(&mut svg);
    frame.axes(&mut svg, "first factor", "second factor");
    for (x, y) in &outlook.boards {
        let (x, y) = frame.place(*x, *y);
        svg.circle(x, y, 4.5, "board");
    }
    svg.finish()
}
