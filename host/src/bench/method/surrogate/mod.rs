//! Gaussian process regression in f64, for the methods that trimtab is compared with.
//!
//! kernel → Gram matrix → process → acquisition, and hyper-parameters by marginal likelihood.
//!
//! | part | what it knows |
//! |---|---|
//! | [`Gp`] | a Gram matrix and costs: posterior, likelihood and the slopes of both. No kernel, no places. |
//! | [`Kernel`] | places and hyper-parameters: the Gram matrix and how it changes with them |
//! | [`fit`] | a kernel and costs: the hyper-parameters that make the costs likely, and the process under them |
//! | [`Rule`] | mean and variance: the acquisition, smallest wins |
//! | [`Standard`] | measured costs: what the process sees |
//!
//! A kernel of one's own needs only [`Gp`] (hyper-parameters sampled or fixed) or an `impl Kernel` (fitted).
//!
//! **Choices.** Exponentials and logarithms are libm's, as in the core: the same bits on every machine.

mod acquisition;
mod aitchison_aitken;
mod costs;
mod fit;
mod gp;
mod matern;

pub(crate) use acquisition::Rule;
pub(crate) use aitchison_aitken::AitchisonAitken;
pub(crate) use costs::Standard;
#[allow(unused_imports, reason = "`Kernel` is what methods with a kernel of their own implement")]
pub(crate) use fit::{Fitted, Kernel, Range, fit};
pub(crate) use gp::{Gp, Posterior, Prior};
pub(crate) use matern::Matern;
