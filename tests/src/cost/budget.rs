//! Targets and measured costs of a tuner of 64 observations and 256 candidates.
//!
//! A missed target stays in the table, with the change that would meet it. The test `budget` has
//! its own limits: the target where it is met, else a little above the measured cost.

use anyhow::{Context as _, Result};

use super::{Mode, Report, Run, Step};

/// Levels of optimization at which flash is measured, as cargo's configuration writes them. The
/// last is the flashed one, so that its image stays in the target folder.
pub const LEVELS: [&str; 3] = ["3", "'z'", "'s'"];

/// A target for one cost.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The limited cost, with its unit.
    pub what: &'static str,
    /// The limit, in bytes or instructions.
    pub most: u64,
    /// The change that would meet it.
    pub takes: &'static str,
}

/// The targets, in the order of [`Report::budgets`].
pub const TARGETS: [Target; 9] = [
    Target { what: "state, recomputing (bytes)", most: 24 * 1024, takes: "fewer observations" },
    Target { what: "state, incremental (bytes)", most: 92 * 1024, takes: "fewer rows in the cache" },
    Target { what: "stack of `ask` and `tell` (bytes)", most: 2 * 1024, takes: "no vector of T numbers on the stack" },
    Target {
        what: "flash at \"s\" without logging (bytes)",
        most: 12 * 1024,
        takes: "a simpler algorithm; no part is large, and leaving out choices (encodings, acquisitions, repeats, \
                eviction) is far from enough",
    },
    Target { what: "steady `ask` + `tell`, incremental (instructions)", most: 150_000, takes: "fewer candidates" },
    Target {
        what: "steady `ask` + `tell`, recomputing (instructions)",
        most: 600_000,
        takes: "a sharper bound of a candidate's variance before it is computed",
    },
    Target {
        what: "mean `ask` + `tell`, recomputing, fits included (instructions)",
        most: 700_000,
        takes: "fewer candidates that are solved before a good one is known",
    },
    Target {
        what: "worst `ask` + `tell`, recomputing, fits included (instructions)",
        most: 3_500_000,
        takes: "fewer hypotheses of the noise per fit",
    },
    Target { what: "longest slice, 8 graded dials included (instructions)", most: 20_000, takes: "shorter steps" },
];

/// A target with the measured cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The target.
    pub target: Target,
    /// The measured cost.
    pub reached: u64,
}

impl Budget {
    /// Whether the target is met.
    pub fn is_met(&self) -> bool {
        self.reached <= self.target.most
    }
}

impl Report {
    /// The measured cost for each of [`TARGETS`].
    pub fn budgets(&self) -> Result<[Budget; TARGETS.len()]> {
        let case = self.case("relays", 64)?;
        let run = |mode| case.run(mode).context("24 relays are measured in both modes");
        let (recomputing, incremental): (&Run, &Run) = (run(Mode::Recomputing)?, run(Mode::Incremental)?);
        let reached = [
            case.state,
            case.state + case.cache,
            recomputing.stack.max(incremental.stack),
            *self.flash.last().context("flash was measured")?,
            incremental.steady(),
            recomputing.steady(),
            recomputing.mean(Step::both),
            recomputing.worst(Step::both),
            self.slices.iter().map(|(_, count)| *count).max().context("slices were measured")?,
        ];
        let mut budgets = TARGETS.map(|target| Budget { target, reached: 0 });
        budgets.iter_mut().zip(reached).for_each(|(budget, reached)| budget.reached = reached);
        Ok(budgets)
    }
}
