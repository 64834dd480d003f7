//! Pictures and numbers for people: SVG, plots, quantities with units, short numbers, shared style
//! sheets.

pub(crate) mod number;
pub(crate) mod plot;
pub(crate) mod quantity;
pub(crate) mod svg;
