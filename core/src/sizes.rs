//! The sizes of a [`Tuner`](crate::Tuner), for code that cannot use [`tuner!`](crate::tuner!).

pub use crate::acquire::table::cached_rows;
pub use crate::features::encoding::features;
pub use crate::math::matrix::triangle;
pub use crate::surrogate::fleet_prior::NUMBERS as PRIOR;
pub use crate::surrogate::product::graded_levels;
