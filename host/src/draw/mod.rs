//! Pictures and numbers for people: SVG, plots, quantities with units, short numbers, shared style
//! sheets.

pub(crate) mod number;
pub(crate) mod plot;
pub(crate) mod quantity;
pub(crate) mod svg;

/// The last line of a report: the page that runs the tuner, in the same style.
pub(crate) const ABOUT: &str = "<p class=\"note\">Made by trimtab: \
    <a href=\"https://trimtab.github.io/trimtab/\">see it tune in your browser</a>.</p>\n";
