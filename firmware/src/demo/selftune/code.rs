//! The code as hardware: applying a setting chooses the function, measuring runs and times it.
//!
//! **Choices.** The timer is the caller's: the chip's own, or a model in a test. A function runs twice and is timed the
//! second time, so that a chip with caches is measured as it runs in a loop. Every output is checked each time; a wrong
//! one is a failure, however quickly it came.
//!
//! **Cost.** Two blocks of the filter, and clearing the memory between them, which is not timed.

use core::fmt;

use trimtab::Combination;

use super::{COUNT, Setting, Variant, Workspace};
use crate::objective::Objective;

/// The filter, to be set and timed. `T` runs a variant and says what it cost.
///
/// ```
/// use trimtab_firmware::objective::Objective;
/// use trimtab_firmware::selftune::{Code, CodeError, Workspace, space};
/// let (space, mut workspace) = (space(), Workspace::new());
/// // A timer that takes every filter for equal.
/// let mut code = Code::new(&mut workspace, |variant, workspace| {
///     variant.run(workspace);
///     1000
/// });
/// assert_eq!(code.evaluate(&space.combination(&[0; 7])?), Ok(1000.0));
/// // Pairs need two taps at least.
/// assert_eq!(code.evaluate(&space.combination(&[1, 0, 0, 0, 0, 0, 0])?), Err(CodeError::NoSuchFilter));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
#[derive(Debug)]
pub struct Code<'w, T> {
    workspace: &'w mut Workspace,
    timer: T,
    variant: Option<Variant>,
}

impl<'w, T: FnMut(&Variant, &mut Workspace) -> u32> Code<'w, T> {
    /// Brings the workspace into its first state; nothing is chosen yet.
    pub fn new(workspace: &'w mut Workspace, timer: T) -> Self {
        workspace.init();
        Self { workspace, timer, variant: None }
    }
}

impl<T: FnMut(&Variant, &mut Workspace) -> u32> Objective<COUNT> for Code<'_, T> {
    type Error = CodeError;

    // Inlined for the reason that `Setting::variant` is.
    #[inline]
    fn apply(&mut self, c: &Combination<COUNT>) -> Result<(), CodeError> {
        self.variant = Setting::of(c).variant();
        self.variant.map(|_| ()).ok_or(CodeError::NoSuchFilter)
    }

    fn measure(&mut self) -> Result<f32, CodeError> {
        let variant = self.variant.ok_or(CodeError::NoSuchFilter)?;
        self.workspace.clear();
        variant.run(self.workspace);
        let was_right = self.workspace.is_right();
        self.workspace.clear();
        let cost = (self.timer)(&variant, self.workspace);
        if was_right && self.workspace.is_right() { Ok(cost as f32) } else { Err(CodeError::WrongResult) }
    }
}

/// Why a setting has no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeError {
    /// The combination is infeasible, or nothing was applied.
    NoSuchFilter,
    /// An output was wrong.
    WrongResult,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchFilter => "there is no such filter, apply a feasible combination",
            Self::WrongResult => "an output is wrong, so the time it took means nothing",
        })
    }
}

impl core::error::Error for CodeError {}
