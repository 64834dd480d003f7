//! Gaussian process regression in f64, for the methods that trimtab is compared with.
//!
//! kernel → Gram matrix → process → acquisition, and hyper-parameters by marginal likelihood.
//!
//! | part | role |
//! |---|---|
//! | [`Gp`] | from a Gram matrix and costs: posterior, likelihood and the slopes of both; knows no kernel and no points |
//! | [`Kernel`] | from points and hyper-parameters: the Gram matrix and its gradient |
//! | [`fit`] | from a kernel and costs: the most likely hyper-parameters and their process |
//! | [`Rule`] | from mean and variance: the acquisition; the smallest wins |
//! | [`Standard`] | from measured costs: the process's inputs |
//!
//! A new kernel needs only [`Gp`] (hyper-parameters sampled or fixed) or an `impl Kernel` (fitted).
//!
//! **Choices**
//! - Exponentials and logarithms come from libm, as in core: the same bits on every machine.

mod acquisition;
mod aitchison_aitken;
mod costs;
mod fit;
mod gp;
mod matern;

pub(crate) use acquisition::Rule;
pub(crate) use aitchison_aitken::AitchisonAitken;
pub(crate) use costs::Standard;
#[allow(unused_imports, reason = "methods with their own kernel implement `Kernel`")]
pub(crate) use fit::{Fitted, Kernel, Range, fit};
pub(crate) use gp::{Gp, Posterior, Prior};
pub(crate) use matern::{Matern, matern52, matern52_slope};
