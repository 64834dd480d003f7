//! The style of a method: the same colour, dashes and marks in every figure.
//!
//! **Choices**
//! - trimtab is black (white on dark) and thick; rivals are thin, in eight colours.
//! - The colours began as those of Okabe and Ito (2008) and were adjusted until each stands out
//!   from its background and any two differ clearly, also for people without red, green or blue
//!   cones (a test measures both).
//! - Colours, dashes and marks repeat after 8, 6 and 7 methods, so that no two of 24 rivals share
//!   both colour and dashes, and in black and white no two of 42 share both dashes and marks.
//! - A method's style follows from its place in the list of all methods, so it does not depend on
//!   which methods a report has.

use std::fmt::Write;

use crate::bench::method::METHODS;

/// The method that the report compares with all others.
pub(super) const OWN: &str = "trimtab";

/// On a white and on a dark background; trimtab's first.
const COLOURS: [(&str, &str); 9] = [
    ("#000000", "#ffffff"),
    ("#0c447c", "#6885b3"),
    ("#d97c12", "#d37b07"),
    ("#27804e", "#53c071"),
    ("#ae6fb6", "#eea1b6"),
    ("#8e5304", "#fadf38"),
    ("#0498f8", "#b3c8fb"),
    ("#552a46", "#c984fe"),
    ("#899494", "#83776c"),
];

const DASHES: [&str; 6] = ["none", "8 3", "2 2.5", "9 3 2 3", "14 4", "5 2 1.5 2 1.5 2"];

/// Marks as paths relative to the point, at most five pixels in each direction.
const MARKS: [&str; 8] = [
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "m-3.2 -3.2h6.4v6.4h-6.4z",
    "m0 -4.2l4.2 7.4h-8.4z",
    "m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z",
    "m0 4.2l4.2 -7.4h-8.4z",
    "m-1.2 -4.2h2.4v3h3v2.4h-3v3h-2.4v-3h-3v-2.4h3z",
    "m-4 -2.4l1.6 -1.6l2.4 2.4l2.4 -2.4l1.6 1.6l-2.4 2.4l2.4 2.4l-1.6 1.6l-2.4 -2.4l-2.4 2.4l-1.6 -1.6l2.4 -2.4z",
    "",
];
/// The last mark is empty.
const NO_MARK: usize = MARKS.len() - 1;

/// Rules that all figures share, in files and on the page.
const RULES: &str = include_str!("../../draw/figure.css");

/// The style of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    colour: usize,
    dash: usize,
    mark: usize,
    pub(super) is_own: bool,
}

impl Style {
    /// The style of the rival at this place among all rivals.
    pub(super) fn rival(place: usize) -> Self {
        Self {
            colour: 1 + place % (COLOURS.len() - 1),
            dash: place % DASHES.len(),
            mark: place % NO_MARK,
            is_own: false,
        }
    }

    /// The style of trimtab.
    pub(super) const fn own() -> Self {
        Self { colour: 0, dash: 0, mark: 0, is_own: true }
    }

    /// The style of lines that are not measured: thin dots without marks.
    pub(super) const fn guide() -> Self {
        Self { colour: 0, dash: 2, mark: NO_MARK, is_own: false }
    }

    /// The CSS classes of a group in this style.
    pub(super) fn classes(&self) -> String {
        format!("method c{} d{}{}", self.colour, self.dash, if self.is_own { " own" } else { "" })
    }

    /// The mark, as path steps relative to the point.
    pub(super) fn mark(&self) -> &'static str {
        MARKS[self.mark]
    }
}

/// Methods in table order, each with its style; unknown names come last, alphabetically.
pub(super) fn ordered(names: impl Iterator<Item = String>) -> Vec<(String, Style)> {
    let listed: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
    let place = |name: &str| listed.iter().position(|own| *own == name).unwrap_or(listed.len());
    let mut names: Vec<String> = names.collect();
    names.sort_by(|a, b| (a != OWN, place(a), a).cmp(&(b != OWN, place(b), b)));
    names.dedup();
    let strangers: Vec<String> = names.iter().filter(|name| !listed.contains(&name.as_str())).cloned().collect();
    let rivals: Vec<&str> = listed.into_iter().filter(|name| *name != OWN).collect();
    let style = |name: &str| match rivals.iter().position(|rival| *rival == name) {
        _ if name == OWN => Style::own(),
        Some(place) => Style::rival(place),
        None => Style::rival(rivals.len() + strangers.iter().position(|own| own == name).unwrap_or(0)),
    };
    names.into_iter().map(|name| (name.clone(), style(&name))).collect()
}

/// The style sheet of a figure.
pub(super) fn sheet() -> String {
    let mut text = RULES.to_string();
    for (i, dashes) in DASHES.iter().enumerate() {
        let _ = writeln!(text, ".d{i} .line {{ stroke-dasharray: {dashes} }}");
    }
    let colours = |text: &mut String, is_dark: bool| {
        for (i, (light, dark)) in COLOURS.iter().enumerate() {
            let colour = if is_dark { dark } else { light };
            let _ = writeln!(text, ".c{i} .line {{ stroke: {colour} }}\n.c{i} .band, .c{i} .mark {{ fill: {colour} }}");
        }
    };
    colours(&mut text, false);
    text += "@media (prefers-color-scheme: dark) {\n";
    colours(&mut text, true);
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn twenty_four_rivals_differ_with_colour_and_without() {
        let rivals: Vec<Style> = (0..24).map(Style::rival).collect();
        assert_eq!(rivals.iter().map(|s| (s.colour, s.dash)).collect::<HashSet<_>>().len(), 24);
        assert_eq!(rivals.iter().map(|s| (s.dash, s.mark)).collect::<HashSet<_>>().len(), 24);
        assert!(rivals.iter().all(|s| s.colour > 0), "black is trimtab's");
    }

    #[test]
    fn looks_do_not_depend_on_who_else_is_there() {
        let few = ordered(["random", "trimtab"].map(String::from).into_iter());
        let more =
            ordered(["zebra", "random", "random", "cbo-lookup", "trimtab", "aardvark"].map(String::from).into_iter());
        let names: Vec<&str> = more.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["trimtab", "cbo-lookup", "random", "aardvark", "zebra"]);
        assert_eq!((&few[0], &few[1]), (&more[0], &more[2]));
        assert!(more[0].1.is_own);
    }

    /// The linear red, green and blue components of a colour.
    fn parts(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Contrast of two colours, from 1 to 21 (WCAG 2.1).
    fn contrast(a: &str, b: &str) -> f64 {
        let light = |colour: &str| {
            let [r, g, b] = parts(colour);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (light(a), light(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn every_colour_stands_out_from_its_paper() {
        // WCAG asks for 3 : 1 in graphics.
        for (light, dark) in COLOURS {
            assert!(contrast(light, "#ffffff") >= 3.0, "{light}: {}", contrast(light, "#ffffff"));
            assert!(contrast(dark, "#0d1117") >= 3.0, "{dark}: {}", contrast(dark, "#0d1117"));
        }
    }

    /// Transforms red, green and blue to vision without one kind of cones (Machado, Oliveira and
    /// Fernandes 2009, severity 1).
    const SIGHT: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// A colour as seen with that vision, in CIE L*a*b*.
    fn seen(colour: &str, sight: &[[f64; 3]; 3]) -> [f64; 3] {
        let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let rgb = times(sight, parts(colour)).map(|part| part.clamp(0.0, 1.0));
        let [x, y, z] = times(&xyz, rgb);
        let f = |t: f64| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let [x, y, z] = [f(x / 0.9505), f(y), f(z / 1.089)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn any_two_colours_differ_for_every_kind_of_eye() {
        for sight in &SIGHT {
            for is_dark in [false, true] {
                let all = COLOURS.map(|(light, dark)| seen(if is_dark { dark } else { light }, sight));
                for (i, a) in all.iter().enumerate() {
                    for (j, b) in all.iter().enumerate().skip(i + 1) {
                        let apart = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                        // About ten times the difference that is just visible side by side.
                        assert!(apart > 20.0, "{i} and {j}: {apart}, dark {is_dark}");
                    }
                }
            }
        }
    }
}
