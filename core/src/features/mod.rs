//! A combination as numbers: the encoding φ₁ and the random map R (paper: section 4.1).

pub(crate) mod encoding;
pub(crate) mod random_map;
