//! What a session is about, and its fields in a log's first line and in the `init` of `serve`.
//!
//! ```text
//! "goal":"minimize","seed":1,"budget":60,"noise":"auto","limits":["watts<3"],"knobs":[…],"forbid":[…]
//! ```

use serde_json::Value;
use trimtab::{Goal, Noise};
use trimtab_sizes::MOST;

use super::limits::Limits;
use super::noise;
use super::prior::SessionPrior;
use super::record::Fields;
use crate::space::NamedSpace;

/// Seed of a session that names none.
pub(crate) const SEED: u64 = 1;
/// The most measurements of a session; also the budget of one that names none.
pub(crate) const BUDGET: usize = MOST.2;

/// Space, goal, seed, budget, noise, limits and prior.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Study {
    pub(crate) space: NamedSpace,
    pub(crate) goal: Goal,
    pub(crate) seed: u64,
    /// The most measurements; values told again without an ask are not counted.
    pub(crate) budget: usize,
    pub(crate) noise: Noise,
    /// What the best has to keep.
    pub(crate) limits: Limits,
    /// What earlier boards taught.
    pub(crate) prior: Option<SessionPrior>,
}

impl Study {
    /// Reads the fields; only `knobs` is required.
    pub(crate) fn from_fields(fields: &Fields) -> Result<Self, String> {
        let space = NamedSpace::from_fields(fields)?;
        Ok(Self {
            goal: match fields.get("goal").map(|goal| goal.as_str().unwrap_or("")) {
                None | Some("minimize") => Goal::Minimise,
                Some("maximize") => Goal::Maximise,
                Some(_) => return Err("`goal` must be \"minimize\" or \"maximize\"".into()),
            },
            seed: match fields.get("seed") {
                None => SEED,
                Some(seed) => seed.as_u64().ok_or("`seed` must be a whole number from 0 to 2^64 - 1")?,
            },
            budget: match fields.get("budget") {
                None => BUDGET,
                Some(budget) => {
                    let budget = budget.as_u64().filter(|budget| (1..=BUDGET as u64).contains(budget));
                    budget.ok_or_else(|| format!("`budget` must be a whole number from 1 to {BUDGET}"))? as usize
                }
            },
            noise: noise::from_value(fields.get("noise"))?,
            prior: match fields.get("prior") {
                None | Some(Value::Null) => None,
                Some(prior) => Some(SessionPrior::from_text(prior.as_str().unwrap_or("?"))?),
            },
            limits: Limits::from_value(fields.get("limits"), &space)?,
            space,
        })
    }

    /// The fields that [`from_fields`](Self::from_fields) reads.
    pub(crate) fn to_fields(&self) -> Fields {
        let mut fields = Fields::new();
        fields.insert("goal".into(), goal_name(self.goal).into());
        fields.insert("seed".into(), self.seed.into());
        fields.insert("budget".into(), Value::from(self.budget));
        fields.insert("noise".into(), noise::to_value(self.noise));
        // Only if there are any: other logs are as ever.
        if !self.limits.is_empty() {
            fields.insert("limits".into(), self.limits.to_value());
        }
        if let Some(prior) = &self.prior {
            fields.insert("prior".into(), prior.text().into());
        }
        fields.append(&mut self.space.to_fields());
        fields
    }
}

pub(crate) fn goal_name(goal: Goal) -> &'static str {
    match goal {
        Goal::Minimise => "minimize",
        Goal::Maximise => "maximize",
    }
}
