//! The sizes of a [`Tuner`](crate::Tuner), for code that cannot use [`tuner!`](crate::tuner!).

pub use crate::features::encoding::{features, graded_features};
pub use crate::math::matrix::triangle;
