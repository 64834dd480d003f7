//! Knobs that matter only while another has certain levels: `unroll=on: factor,depth`.
//!
//! **Choices**
//! - Idle knobs have the first level inside, and are shown as idle: `null` in JSON, empty in a
//!   spreadsheet, left out elsewhere.
//! - A comparison with an idle knob holds for none of its levels, so `forbid` does not see it.

use std::fmt;

use serde_json::Value;
use trimtab::{Level, OnlyIf};

use super::{NamedKnob, NamedSpace};
use crate::error::Error;

/// Stands for the level of an idle knob in an expression; a knob that can be idle has fewer levels.
const IDLE: Level = Level::MAX;

/// Some knobs, and when they matter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    knobs: Vec<usize>,
    on: usize,
    levels: Vec<Level>,
    text: String,
}

impl Condition {
    fn parse(text: &str, knobs: &[NamedKnob]) -> Result<Self, String> {
        let form = "write `unroll=on: factor`, or `unroll=on,auto: factor,depth`";
        let (when, names) = text.rsplit_once(':').ok_or_else(|| format!("`{text}` has no colon; {form}"))?;
        let (on, levels) = when.split_once('=').ok_or_else(|| format!("`{when}` is not name=level; {form}"))?;
        let find = |name: &str| {
            let place = knobs.iter().position(|knob| knob.name() == name.trim());
            let all = || knobs.iter().map(NamedKnob::name).collect::<Vec<_>>().join(", ");
            place.ok_or_else(|| format!("there is no knob `{}`; there are {}", name.trim(), all()))
        };
        let on = find(on)?;
        let level = |text: &str| knobs[on].find(&Value::String(text.trim().into()));
        let levels: Vec<Level> = levels.split(',').map(level).collect::<Result<_, _>>()?;
        let own: Vec<usize> = names.split(',').map(find).collect::<Result<_, _>>()?;
        for knob in own.iter().map(|place| &knobs[*place]) {
            if knob.count() > usize::from(IDLE) {
                return Err(format!(
                    "knob `{}` has {} levels; one that can be idle has at most {}",
                    knob.name(),
                    knob.count(),
                    IDLE
                ));
            }
        }
        if let Some(early) = own.iter().find(|knob| **knob <= on) {
            let (early, on) = (knobs[*early].name(), knobs[on].name());
            return Err(format!("`{early}` depends on `{on}`; name `{on}` before `{early}` among the knobs"));
        }
        let shown = |list: Vec<String>| list.join(",");
        let text = format!(
            "{}={}: {}",
            knobs[on].name(),
            shown(levels.iter().map(|level| knobs[on].label(*level)).collect()),
            shown(own.iter().map(|knob| knobs[*knob].name().into()).collect()),
        );
        Ok(Self { knobs: own, on, levels, text })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NamedSpace {
    /// Lets some knobs matter only at certain levels of another.
    pub(crate) fn only_if(&mut self, text: &str) -> Result<(), Error> {
        let condition = Condition::parse(text, &self.knobs).map_err(Error::Usage)?;
        let twice = condition.knobs.iter().enumerate().find(|(i, knob)| {
            condition.knobs[..*i].contains(knob) || self.conditions.iter().any(|other| other.knobs.contains(knob))
        });
        if let Some((_, knob)) = twice {
            let name = self.knobs[*knob].name();
            return Err(Error::Usage(format!(
                "`{text}`: knob `{name}` has a condition already; a knob has at most one"
            )));
        }
        self.conditions.push(condition);
        Ok(())
    }

    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The conditions as core has them, which needs them for ever: one list per space.
    pub(crate) fn core_conditions(&self) -> &'static [OnlyIf] {
        let one = |condition: &Condition| {
            let levels: &'static [Level] = condition.levels.clone().leak();
            let on = condition.on;
            condition.knobs.clone().into_iter().map(move |knob| OnlyIf { knob, on, levels })
        };
        self.conditions.iter().flat_map(one).collect::<Vec<_>>().leak()
    }

    /// Whether a knob does not matter in this combination.
    pub(crate) fn is_idle(&self, levels: &[Level], mut knob: usize) -> bool {
        // Each depends on an earlier one.
        while let Some(own) = self.conditions.iter().find(|condition| condition.knobs.contains(&knob)) {
            if !own.levels.contains(&levels[own.on]) {
                return true;
            }
            knob = own.on;
        }
        false
    }

    /// The combination with idle knobs at their first level, as core has it.
    pub(crate) fn canonical(&self, mut levels: Vec<Level>) -> Vec<Level> {
        for knob in 0..levels.len() {
            if self.is_idle(&levels, knob) {
                levels[knob] = 0;
            }
        }
        levels
    }

    /// The combination as expressions see it.
    pub(super) fn with_idle(&self, levels: &[Level]) -> Vec<Level> {
        let one = |(knob, level): (usize, &Level)| if self.is_idle(levels, knob) { IDLE } else { *level };
        levels.iter().enumerate().map(one).collect()
    }

    /// Number of combinations with these conditions, if it fits.
    pub(super) fn conditional_cardinality(&self) -> Option<u128> {
        let depends = |knob: usize| self.conditions.iter().any(|condition| condition.knobs.contains(&knob));
        let free = (0..self.knobs.len()).filter(|knob| !depends(*knob));
        free.map(|knob| self.variants(knob)).try_fold(1u128, |n, own| n.checked_mul(own?))
    }

    fn variants(&self, knob: usize) -> Option<u128> {
        let at = |level: usize| {
            let on = self.conditions.iter().filter(|own| own.on == knob && own.levels.contains(&(level as Level)));
            on.flat_map(|own| &own.knobs).try_fold(1u128, |n, own| n.checked_mul(self.variants(*own)?))
        };
        (0..self.knobs[knob].count()).try_fold(0u128, |n, level| n.checked_add(at(level)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn space() -> NamedSpace {
        let knobs = ["unroll=off,on,auto", "factor=2,4,8", "opt=O1,O2", "depth=1..5"];
        let mut space = NamedSpace::new(knobs.map(|knob| knob.parse().unwrap()).to_vec()).unwrap();
        space.only_if("unroll=on,auto: factor").unwrap();
        space.only_if("factor=8:depth").unwrap();
        space
    }

    #[test]
    fn idle_knobs_are_shown_as_idle_and_count_once() {
        let space = space();
        // Off: 1; on or auto: factors 2 and 4, or 8 with five depths.
        assert_eq!(space.cardinality(), (2 * (1 + 2 * (2 + 5))).to_string());
        let levels = space.parse("factor=8,depth=3,opt=O2").unwrap();
        assert_eq!(levels, [0, 0, 1, 0]);
        assert_eq!(
            Value::Object(space.named(&levels)),
            json!({"unroll": "off", "factor": null, "opt": "O2", "depth": null})
        );
        assert_eq!(space.levels(&space.named(&levels)), Ok(levels.clone()));
        assert_eq!(space.text(&levels), "unroll=off,opt=O2");
        assert_eq!(space.parse(&space.text(&levels)), Ok(levels.clone()));
        let on = space.parse("unroll=on,factor=8,depth=3").unwrap();
        assert_eq!(space.changes(&levels, &on), ["unroll=off", "opt=O2"]);
        let missing = json!({"unroll": "on", "factor": null, "opt": "O2", "depth": null});
        assert!(space.levels(missing.as_object().unwrap()).unwrap_err().contains("knob `factor` has no level"));
    }

    #[test]
    fn what_is_forbidden_does_not_see_idle_knobs() {
        let mut space = space();
        space.forbid("factor=2").unwrap();
        assert!(space.is_allowed(&[0, 0, 0, 0]) && !space.is_allowed(&[1, 0, 0, 0]));
    }

    #[test]
    fn spaces_with_conditions_read_back() {
        let space = space();
        assert_eq!(NamedSpace::from_fields(&space.to_fields()).unwrap(), space);
        let mut other = space.clone();
        other.conditions.pop();
        assert!(other.difference(&space).unwrap().contains("unroll=on,auto: factor, factor=8: depth"));
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, wanted) in [
            ("factor", "has no colon"),
            ("unroll: factor", "is not name=level"),
            ("unrol=on: factor", "there is no knob `unrol`"),
            ("unroll=yes: opt", "it has off, on, auto"),
            ("opt=O1: unroll", "name `opt` before `unroll`"),
            ("unroll=on: factor", "has a condition already"),
            ("unroll=on: opt,opt", "has a condition already"),
            ("unroll=on: opts", "there is no knob `opts`"),
        ] {
            let error = space().only_if(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
