//! The parts of the method, for this project's own proofs and benchmarks. Not for users: anything
//! here may change in any version.

pub use crate::acquire::acquisition::{Rule, Slopes};
pub use crate::features::encoding::Encoder;
pub use crate::features::random_map::RandomMap;
pub use crate::math::cholesky::{Cholesky, CholeskyError};
pub use crate::math::float::{Arithmetic, Libm, Math, dot, erfc, squared_distance};
pub use crate::math::matrix::{Matrix, Triangle};
pub use crate::math::random::Random;
pub use crate::paper::continuous::{Minimum, descend, gradient_error, minimise};
pub use crate::paper::gradient::{PosteriorGradient, posterior_gradient, score_gradient};
pub use crate::paper::nearest::{FARTHEST, Lookup, Nearest, NearestError};
pub use crate::paper::pseudo_inverse::pseudo_inverse;
pub use crate::paper::reconstruction::Reconstruction;
#[cfg(feature = "defmt")]
pub use crate::space::log;
pub use crate::space::number::Value;
pub use crate::surrogate::costs::Standard;
pub use crate::surrogate::fit::Fit;
pub use crate::surrogate::gp::{Gp, Posterior, Repeats};
pub use crate::surrogate::kernel::{Pair, matern52, matern52_slope};
pub use crate::tuner::inspect::Inspected;
