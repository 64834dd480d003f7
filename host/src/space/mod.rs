//! Knobs with names and levels as people write them, and the forbidden combinations.
//!
//! ```text
//! opt=O1,O2,O3,Os      block=16..256:16      gain=log:1,10,100,1000      forbid: opt=O1 & block>128
//! ```
//!
//! | file | contents |
//! |---|---|
//! | [`knob`] | one knob on the command line |
//! | [`file`] | a whole space in a TOML or JSON file, or in a message |
//! | [`strict`] | JSON, checked while it is read |
//! | [`expression`] | forbidden combinations |
//! | [`condition`] | knobs that matter only sometimes |
//!
//! **Choices**
//! - A level is a JSON text, number or truth value, and is shown as it was written.
//! - Knobs keep the order in which they were given, because a seed's proposals depend on it.

mod condition;
pub(crate) mod expression;
mod file;
mod knob;
mod range;
pub(crate) mod strict;

use std::fmt;

use serde_json::{Map, Value};
use trimtab::{Knob, Level};

use crate::error::Error;
use condition::Condition;
use expression::Expression;

pub(crate) use knob::{NamedKnob, interned};

/// Most knobs, as the tuner allows, and most expressions.
pub(crate) const MOST_KNOBS: usize = trimtab_sizes::MOST.0;
const MOST_FORBIDDEN: usize = 1000;

/// The knobs of a space and its forbidden combinations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedSpace {
    knobs: Vec<NamedKnob>,
    /// None of these may hold.
    forbidden: Vec<Expression>,
    conditions: Vec<Condition>,
}

impl NamedSpace {
    /// A space without forbidden combinations.
    pub(crate) fn new(knobs: Vec<NamedKnob>) -> Result<Self, Error> {
        if knobs.is_empty() {
            return Err(Error::Usage("a space needs a knob".into()));
        }
        if knobs.len() > MOST_KNOBS {
            return Err(Error::Usage(format!("{} knobs are too many; at most {MOST_KNOBS} are possible", knobs.len())));
        }
        for (i, knob) in knobs.iter().enumerate() {
            if knobs[..i].iter().any(|other| other.variable() == knob.variable()) {
                let name = knob.name();
                return Err(Error::Usage(format!("two knobs are called {name}; give each a name of its own")));
            }
        }
        Ok(Self { knobs, forbidden: Vec::new(), conditions: Vec::new() })
    }

    /// Forbids the combinations for which an expression holds.
    pub(crate) fn forbid(&mut self, text: &str) -> Result<(), Error> {
        if self.forbidden.len() == MOST_FORBIDDEN {
            let hint = "join some with `|`";
            return Err(Error::Usage(format!("more than {MOST_FORBIDDEN} forbidden expressions; {hint}")));
        }
        let expression = Expression::parse(text, &self.knobs).map_err(Error::Usage)?;
        self.forbidden.push(expression);
        Ok(())
    }

    pub(crate) fn knobs(&self) -> &[NamedKnob] {
        &self.knobs
    }

    /// The knobs as core has them.
    pub(crate) fn core_knobs(&self) -> Vec<Knob> {
        self.knobs.iter().map(NamedKnob::core).collect()
    }

    pub(crate) fn forbidden(&self) -> &[Expression] {
        &self.forbidden
    }

    /// Whether no expression forbids the combination.
    pub(crate) fn is_allowed(&self, levels: &[Level]) -> bool {
        self.forbidding(levels).is_none()
    }

    /// The first expression that forbids the combination.
    pub(crate) fn forbidding(&self, levels: &[Level]) -> Option<&Expression> {
        let seen = self.with_idle(levels);
        self.forbidden.iter().find(|forbidden| forbidden.holds(&seen))
    }

    /// Number of combinations in decimal digits.
    pub(crate) fn cardinality(&self) -> String {
        if !self.conditions.is_empty() {
            return self.conditional_cardinality().map_or_else(|| "more than 3e38".into(), |n| n.to_string());
        }
        // Least digit first.
        let mut digits = vec![1u32];
        for knob in &self.knobs {
            let mut carry = 0;
            for digit in &mut digits {
                let product = *digit * knob.count() as u32 + carry;
                (*digit, carry) = (product % 10, product / 10);
            }
            while carry > 0 {
                digits.push(carry % 10);
                carry /= 10;
            }
        }
        digits.iter().rev().map(u32::to_string).collect()
    }

    /// Names a combination: an object with a level for every knob, `null` for an idle one.
    pub(crate) fn named(&self, levels: &[Level]) -> Map<String, Value> {
        let value = |i: usize, knob: &NamedKnob, level: Level| match self.is_idle(levels, i) {
            true => Value::Null,
            false => knob.level(level).unwrap_or_default(),
        };
        let pairs = self.knobs.iter().zip(levels).enumerate();
        pairs.map(|(i, (knob, level))| (knob.name().to_string(), value(i, knob, *level))).collect()
    }

    /// Reads an object with a level for every knob and nothing else.
    pub(crate) fn levels(&self, named: &Map<String, Value>) -> Result<Vec<Level>, String> {
        if let Some(name) = named.keys().find(|name| !self.knobs.iter().any(|knob| knob.name() == *name)) {
            return Err(format!("there is no knob `{name}`; there are {}", self.names()));
        }
        let is_given = |knob: &NamedKnob| named.get(knob.name()).filter(|value| !value.is_null());
        let level = |knob: &NamedKnob| is_given(knob).map_or(Ok(0), |value| knob.find(value));
        let levels: Vec<Level> = self.knobs.iter().map(level).collect::<Result<_, _>>()?;
        let levels = self.canonical(levels);
        let is_missing = |(i, knob): &(usize, &NamedKnob)| is_given(knob).is_none() && !self.is_idle(&levels, *i);
        match self.knobs.iter().enumerate().find(is_missing) {
            Some((_, knob)) => Err(format!("knob `{}` has no level", knob.name())),
            None => Ok(levels),
        }
    }

    /// The marked level per knob, or else the first.
    pub(crate) fn defaults(&self) -> Vec<Level> {
        self.canonical(self.marked())
    }

    fn marked(&self) -> Vec<Level> {
        self.knobs.iter().map(|knob| knob.default().unwrap_or(0)).collect()
    }

    /// Parses a text like `opt=O2,unroll=4`; knobs that it does not name have their default.
    pub(crate) fn parse(&self, text: &str) -> Result<Vec<Level>, String> {
        let mut named = Map::new();
        for pair in text.split(',') {
            let (name, level) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is not name=level"))?;
            if named.insert(name.trim().to_string(), Value::String(level.trim().to_string())).is_some() {
                return Err(format!("knob `{}` occurs twice", name.trim()));
            }
        }
        // A default counts as soon as its knob matters.
        let marked = self.knobs.iter().zip(self.marked());
        let default =
            |(knob, level): (&NamedKnob, Level)| (knob.name().to_string(), knob.level(level).unwrap_or_default());
        let mut all: Map<String, Value> = marked.map(default).collect();
        all.append(&mut named);
        self.levels(&all)
    }

    /// The combination as on a command line, without idle knobs.
    pub(crate) fn text(&self, levels: &[Level]) -> String {
        let one = |(knob, level): (&NamedKnob, Level)| format!("{}={}", knob.name(), knob.label(level));
        self.active(levels).map(one).collect::<Vec<_>>().join(",")
    }

    /// The same for people: levels without their flags.
    pub(crate) fn short_text(&self, levels: &[Level]) -> String {
        let one = |(knob, level): (&NamedKnob, Level)| format!("{}={}", knob.name(), knob.short(level));
        self.active(levels).map(one).collect::<Vec<_>>().join(",")
    }

    /// The knobs that matter in this combination, with their levels.
    fn active<'a>(&'a self, levels: &'a [Level]) -> impl Iterator<Item = (&'a NamedKnob, Level)> {
        let all = self.knobs.iter().zip(levels).enumerate();
        all.filter(|(i, _)| !self.is_idle(levels, *i)).map(|(_, (knob, level))| (knob, *level))
    }

    /// The levels that differ from those of another combination, for people.
    pub(crate) fn changes(&self, levels: &[Level], from: &[Level]) -> Vec<String> {
        let pairs = self.knobs.iter().zip(levels).zip(from).enumerate();
        let changed = pairs.filter(|(i, ((_, level), from))| level != from && !self.is_idle(levels, *i));
        changed.map(|(_, ((knob, level), _))| format!("{}={}", knob.name(), knob.short(*level))).collect()
    }

    fn names(&self) -> String {
        self.knobs.iter().map(NamedKnob::name).collect::<Vec<_>>().join(", ")
    }

    /// Says how this space differs from an older one, or returns `None` if it does not.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        for knob in &self.knobs {
            match other.knobs.iter().find(|theirs| theirs.name() == knob.name()) {
                None => return Some(format!("knob `{}` is new", knob.name())),
                Some(theirs) if theirs != knob => {
                    return Some(format!("knob `{}` was {theirs} and is {knob}", knob.name()));
                }
                Some(_) => {}
            }
        }
        if let Some(gone) = other.knobs.iter().find(|theirs| self.knobs.iter().all(|knob| knob.name() != theirs.name()))
        {
            return Some(format!("knob `{}` is gone", gone.name()));
        }
        let names = |space: &Self| space.names();
        if self.knobs != other.knobs {
            return Some(format!("the order of the knobs was {} and is {}", names(other), names(self)));
        }
        if self.conditions != other.conditions {
            let all = |space: &Self| match space.conditions.is_empty() {
                true => "always".to_string(),
                false => space.conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(", "),
            };
            return Some(format!("knobs mattered {}, now {}", all(other), all(self)));
        }
        let forbidden = |space: &Self| match space.forbidden.is_empty() {
            true => "nothing".to_string(),
            false => space.forbidden.iter().map(|f| format!("`{f}`")).collect::<Vec<_>>().join(", "),
        };
        Some(format!("{} was forbidden, now {} is", forbidden(other), forbidden(self)))
    }
}

impl fmt::Display for NamedSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let knobs: Vec<_> = self.knobs.iter().map(|knob| format!("{}={knob}", knob.name())).collect();
        f.write_str(&knobs.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn space(knobs: &[&str]) -> NamedSpace {
        NamedSpace::new(knobs.iter().map(|knob| knob.parse().unwrap()).collect()).unwrap()
    }

    #[test]
    fn combinations_go_to_names_and_back() {
        let space = space(&["opt=O1,O2,O3", "unroll=1,2,4", "gain=log:1,10,100"]);
        let levels = vec![1, 2, 0];
        let named = space.named(&levels);
        assert_eq!(Value::Object(named.clone()), json!({"opt": "O2", "unroll": 4, "gain": 1}));
        assert_eq!(space.levels(&named), Ok(levels.clone()));
        assert_eq!(space.text(&levels), "opt=O2,unroll=4,gain=1");
        assert_eq!(space.parse("unroll=4.0, opt=O2,gain=1"), Ok(levels));
        // The rest has its default, or else its first level.
        assert_eq!(space.parse("unroll=4,opt=O2"), Ok(vec![1, 2, 0]));
        assert_eq!(super::tests::space(&["a=x,*y", "b=1,2,*3"]).parse("b=1"), Ok(vec![1, 0]));
        assert!(space.parse("unroll=4,unroll=2").unwrap_err().contains("`unroll` occurs twice"));
        assert_eq!(space.changes(&[1, 2, 0], &[1, 0, 2]), ["unroll=4", "gain=1"]);
        assert!(space.parse("unroll=3,opt=O2,gain=1").unwrap_err().contains("it has 1, 2, 4"));
        assert!(space.parse("unrol=3,opt=O2,gain=1").unwrap_err().contains("there are opt, unroll, gain"));
    }

    #[test]
    fn the_number_of_combinations_has_no_limit() {
        assert_eq!(space(&["a=0..9", "b=1..12", "c=x,y"]).cardinality(), "240");
        let many: Vec<String> = (0..200).map(|i| format!("k{i}=1..64")).collect();
        let many = space(&many.iter().map(String::as_str).collect::<Vec<_>>());
        // 64^200 = 2^1200 = 1.72e361.
        assert_eq!(many.cardinality().len(), 362);
        assert!(many.cardinality().starts_with("172"));
    }

    #[test]
    fn differences_are_named() {
        let old = space(&["opt=O1,O2", "unroll=1,2,4"]);
        assert_eq!(old.difference(&old.clone()), None);
        let says = |knobs: &[&str], words: &str| {
            let difference = space(knobs).difference(&old).unwrap();
            assert!(difference.contains(words), "{difference}");
        };
        says(&["opt=O1,O2,O3", "unroll=1,2,4"], "knob `opt` was nominal O1,O2 and is nominal O1,O2,O3");
        says(&["opt=O1,O2", "unroll=nominal:1,2,4"], "knob `unroll` was lin 1,2,4 and is nominal 1,2,4");
        says(&["opt=O1,O2"], "`unroll` is gone");
        says(&["opt=O1,O2", "unroll=1,2,4", "x=1,2"], "`x` is new");
        says(&["unroll=1,2,4", "opt=O1,O2"], "the order of the knobs was opt, unroll and is unroll, opt");
        let mut new = old.clone();
        new.forbid("opt=O1 & unroll=4").unwrap();
        assert_eq!(new.difference(&old).unwrap(), "nothing was forbidden, now `opt=O1 & unroll=4` is");
    }

    #[test]
    fn two_knobs_cannot_share_a_name() {
        let knobs = ["a-b=1,2", "A_B=1,2"].map(|knob| knob.parse().unwrap()).to_vec();
        assert!(NamedSpace::new(knobs).unwrap_err().to_string().contains("two knobs are called A_B"));
    }
}
