//! The code as hardware: applying a setting selects the function, measuring runs and times it.
//!
//! **Choices**
//! - The caller brings the timer: the chip's own, or a model in a test.
//! - A function runs twice and the second run is timed, so a chip with caches is measured as in a
//!   loop.
//! - Every output is checked each time. A wrong one is a failure, however quick.
//!
//! **Cost.** Two blocks of the filter, and clearing the memory between them, which is not timed.

use core::fmt;

use trimtab::Combination;

use super::{COUNT, Setting, Variant, Workspace};
use trimtab_embedded::objective::Objective;

/// The filter to set and time. `T` runs a variant and returns its cost.
///
/// ```
/// use trimtab_embedded::objective::Objective;
/// use trimtab_firmware::selftune::{Code, CodeError, Workspace, space};
/// let (space, mut workspace) = (space(), Workspace::new());
/// // A timer for which every filter costs the same.
/// let mut code = Code::new(&mut workspace, |variant, workspace| {
///     variant.run(workspace);
///     1000
/// });
/// assert_eq!(code.evaluate(&space.combination(&[0; 7])?), Ok(1000.0));
/// // Pairs need at least two taps.
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
    /// Initialises the workspace. No setting is applied yet.
    pub fn new(workspace: &'w mut Workspace, timer: T) -> Self {
        workspace.init();
        Self { workspace, timer, variant: None }
    }
}

impl<T: FnMut(&Variant, &mut Workspace) -> u32> Objective<COUNT> for Code<'_, T> {
    type Error = CodeError;

    // Inlined for the same reason as `Setting::variant`.
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
            Self::NoSuchFilter => "no such filter: apply a feasible combination first",
            Self::WrongResult => "an output is wrong, so its time does not count",
        })
    }
}

impl core::error::Error for CodeError {}
