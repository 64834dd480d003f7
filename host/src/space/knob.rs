//! One knob with a name: `name=levels`.
//!
//! | levels | knob |
//! |---|---|
//! | `O1,O2,O3` | words: nominal |
//! | `1,2,4,8` | numbers: graded, by their difference |
//! | `16..256:16` | 16 to 256 in steps of 16; without a step, of 1: graded |
//! | `0..4095` | the same with up to 65 536 levels: a DAC, a timer |
//! | `geo:20..20000:1000` | 1000 levels from 20 to 20 000 at equal ratios: graded by their ratio |
//! | `log:1,10,100` | graded, by their ratio; also `log:` before a range |
//! | `lin:1,2,4` | graded, by their difference, as numbers are by default |
//! | `nominal:1,2,4` | numbers without order |
//! | `ranked:low,mid,high` | in order, evenly spaced |
//! | `O1,*O2,O3` | O2 is the default |
//!
//! **Choices**
//! - A list with a word in it is nominal as a whole.
//! - A range ends at the last step that is not past its end. Up to 256 levels it is a list, and its
//!   logs are those of a list; beyond, levels follow from a formula and nothing is kept per level.
//! - A star marks the default; `**x` is the level `*x`, and `*` alone is a level.
//! - Names have letters, digits, `_`, `-` and `.`, and begin with a letter or `_`.
//! - In the environment names are upper case, with `_` for everything but letters and digits.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;

use serde_json::{Number, Value};
use trimtab::{Knob, Level, MOST_LISTED, Scale};

use super::range::Range;

/// A knob, its name and its levels.
#[derive(Clone, Debug)]
pub(crate) struct NamedKnob {
    name: String,
    levels: Levels,
    core: Knob,
    /// The level that the user marked.
    default: Option<Level>,
}

/// Without the default, which only completes a start: with another one a log goes on.
impl PartialEq for NamedKnob {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.levels, self.core) == (&other.name, &other.levels, other.core)
    }
}

/// The levels of a knob.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Levels {
    Listed(Vec<Value>),
    Range(Range),
}

/// How levels compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Nominal,
    /// In order, evenly spaced.
    Ranked,
    Graded(Scale),
}

impl NamedKnob {
    /// A knob with these levels; without a kind, numbers are graded and everything else is nominal.
    pub(crate) fn new(name: &str, levels: Vec<Value>, kind: Option<Kind>) -> Result<Self, String> {
        Self::written(name, Levels::Listed(levels), kind)
    }

    /// The same with levels as written.
    pub(super) fn written(name: &str, levels: Levels, kind: Option<Kind>) -> Result<Self, String> {
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_later = |c: char| is_first(c) || c.is_ascii_digit() || c == '-' || c == '.';
        if !name.starts_with(is_first) || !name.chars().all(is_later) || name.len() > 64 {
            return Err(format!(
                "`{name}` is not a valid name; write at most 64 letters, digits, `_`, `-` or `.`, first a letter or `_`"
            ));
        }
        let fault = |what: String| Err(format!("knob `{name}`: {what}"));
        let levels = match levels {
            Levels::Listed(levels) => levels,
            Levels::Range(range) => {
                let core = range.core();
                match kind {
                    None | Some(Kind::Graded(_)) if range.fits(kind) => {}
                    Some(Kind::Graded(Scale::Log)) => {
                        let count = MOST_LISTED;
                        return fault(format!(
                            "log: compares a list of at most {count} levels; write geo:{}..{}:{count} for levels at \
                             equal ratios",
                            range.low(),
                            range.high()
                        ));
                    }
                    _ => {
                        return fault(format!(
                            "{} are too many unless they are graded; at most {MOST_LISTED} are possible",
                            plural(range.count())
                        ));
                    }
                }
                if let Err(error) = trimtab::Space::<1>::new(&[core]) {
                    return fault(error.to_string());
                }
                return Ok(Self { name: name.to_string(), levels: Levels::Range(range), core, default: None });
            }
        };
        if levels.len() < 2 {
            return fault(format!("{} is not enough; write at least two levels", plural(levels.len())));
        }
        if levels.len() > MOST_LISTED {
            return fault(format!(
                "{} are too many for a list; at most {MOST_LISTED} are possible, or 65536 as low..high:step",
                plural(levels.len())
            ));
        }
        let (mut texts, mut seen) = (HashSet::new(), HashSet::new());
        for level in &levels {
            if !matches!(level, Value::String(_) | Value::Number(_) | Value::Bool(_)) {
                return fault(format!("the level {level} must be a text, a number or a truth value"));
            }
            // The sum turns −0 into 0.
            let is_new_number = number_of(level).is_none_or(|number| seen.insert((number + 0.0).to_bits()));
            if !texts.insert(shown(level)) || !is_new_number {
                return fault(format!("the level {} occurs twice", shown(level)));
            }
        }
        let numbers: Option<Vec<f32>> = levels.iter().map(|level| Some(level.as_f64()? as f32)).collect();
        let kind = kind.unwrap_or(if numbers.is_some() { Kind::Graded(Scale::Linear) } else { Kind::Nominal });
        let core = match (kind, numbers) {
            (Kind::Nominal, _) => Knob::nominal(levels.len() as u16),
            (Kind::Ranked, _) => Knob::ranked(levels.len() as u16),
            (Kind::Graded(_), None) => {
                return fault("graded levels must be numbers; leave lin: or log: away, or write ranked:".into());
            }
            (Kind::Graded(Scale::Log), Some(values)) if values.iter().any(|value| *value <= 0.0) => {
                return fault("log: compares by ratio, so every level must be above 0".into());
            }
            (Kind::Graded(scale), Some(values)) => Knob::graded(interned(values), scale),
        };
        // Check here what core would refuse, because here the knob has a name.
        if let Err(error) = trimtab::Space::<1>::new(&[core]) {
            return fault(error.to_string());
        }
        Ok(Self { name: name.to_string(), levels: Levels::Listed(levels), core, default: None })
    }

    /// The knob with a default.
    pub(super) fn with_default(self, default: Option<Level>) -> Self {
        Self { default, ..self }
    }

    /// The level that the user marked as the default.
    pub(crate) fn default(&self) -> Option<Level> {
        self.default
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Number of levels.
    pub(crate) fn count(&self) -> usize {
        self.core.levels()
    }

    /// The value of a level.
    pub(crate) fn level(&self, level: Level) -> Option<Value> {
        match &self.levels {
            Levels::Listed(levels) => levels.get(usize::from(level)).cloned(),
            Levels::Range(range) => range.value(level),
        }
    }

    /// The levels as a file has them: a list, or the text of a range.
    pub(super) fn to_value(&self) -> Value {
        match &self.levels {
            Levels::Listed(levels) => Value::Array(levels.clone()),
            Levels::Range(range) => Value::String(range.to_string()),
        }
    }

    /// The levels as a list, unless they are a range.
    fn listed(&self) -> &[Value] {
        match &self.levels {
            Levels::Listed(levels) => levels,
            Levels::Range(_) => &[],
        }
    }

    pub(crate) fn core(&self) -> Knob {
        self.core
    }

    /// How the levels compare.
    pub(crate) fn kind(&self) -> Kind {
        match self.core {
            Knob::Graded { scale, .. } | Knob::Range { scale, .. } => Kind::Graded(scale),
            Knob::Ranked { .. } => Kind::Ranked,
            Knob::Nominal { .. } | Knob::Refused { .. } => Kind::Nominal,
        }
    }

    /// The name of the environment variable, without its prefix.
    pub(crate) fn variable(&self) -> String {
        self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
    }

    /// A level as text.
    pub(crate) fn label(&self, level: Level) -> String {
        self.level(level).as_ref().map_or_else(String::new, shown)
    }

    /// A level for people: without its flag, if every level has a name of its own before one. `find`
    /// finds the level by it.
    pub(crate) fn short(&self, level: Level) -> String {
        let label = self.label(level);
        let names: Option<HashSet<String>> = self.listed().iter().map(|level| before_flag(&shown(level))).collect();
        let is_unique = names.is_some_and(|names| names.len() == self.listed().len());
        before_flag(&label).filter(|_| is_unique).unwrap_or(label)
    }

    /// A level as a number, if it is one.
    pub(crate) fn number(&self, level: Level) -> Option<f64> {
        self.level(level).as_ref().and_then(Value::as_f64)
    }

    /// Finds the level with this value; a text may stand for a number, and what is before the colon
    /// for a level with a flag.
    pub(crate) fn find(&self, value: &Value) -> Result<Level, String> {
        let is_it = |level: &Value| is_same(level, value) || shown(level) == shown(value);
        let none = |levels: String| format!("knob `{}` has no level {}; it has {levels}", self.name, shown(value));
        let levels = match &self.levels {
            Levels::Listed(levels) => levels,
            Levels::Range(range) => {
                let near = number_of(value).map(|number| range.nearest(number));
                return near
                    .filter(|level| range.value(*level).is_some_and(|own| is_it(&own)))
                    .ok_or_else(|| none(range.to_string()));
            }
        };
        let is_named = |level: &Value| shown(level).split_once(':').is_some_and(|(name, _)| name == shown(value));
        let named =
            || Some(levels.iter().position(is_named)?).filter(|_| levels.iter().filter(|l| is_named(l)).count() == 1);
        levels.iter().position(is_it).or_else(named).map(|place| place as Level).ok_or_else(|| {
            let levels: Vec<_> = levels.iter().map(shown).collect();
            none(levels.join(", "))
        })
    }
}

/// The name of a level such as `on:-funroll-loops` or `off:`.
fn before_flag(label: &str) -> Option<String> {
    let (name, flag) = label.split_once(':')?;
    let is_flag = !name.is_empty() && (flag.is_empty() || flag.starts_with('-'));
    is_flag.then(|| name.to_string())
}

/// Core needs `'static` values; equal lists are leaked only once.
pub(crate) fn interned(values: Vec<f32>) -> &'static [f32] {
    static KEPT: Mutex<Vec<&'static [f32]>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(|lock| lock.into_inner());
    let is_same = |other: &&&'static [f32]| other.iter().map(|x| x.to_bits()).eq(values.iter().map(|x| x.to_bits()));
    if let Some(there) = kept.iter().find(is_same) {
        return there;
    }
    let new: &'static [f32] = Box::leak(values.into_boxed_slice());
    kept.push(new);
    new
}

/// A level as a number, also if it is written as text.
fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

/// Whether two levels are the same number.
fn is_same(a: &Value, b: &Value) -> bool {
    matches!((number_of(a), number_of(b)), (Some(a), Some(b)) if a == b)
}

/// A level as the user wrote it.
pub(crate) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn plural(levels: usize) -> String {
    format!("{levels} level{}", if levels == 1 { "" } else { "s" })
}

/// Kind and levels as on the command line; a range of at most 256 levels is written out.
impl fmt::Display for NamedKnob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind() {
            Kind::Nominal => "nominal",
            Kind::Ranked => "ranked",
            Kind::Graded(Scale::Linear) => "lin",
            Kind::Graded(Scale::Log) => "log",
        };
        let levels: Vec<_> = match &self.levels {
            Levels::Listed(levels) => levels.iter().map(shown).collect(),
            Levels::Range(range) => vec![range.to_string()],
        };
        write!(f, "{kind} {}", levels.join(","))
    }
}

impl FromStr for NamedKnob {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, levels) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is not a knob; write name=level,level,…"))?;
        let written = levels_of(levels).map_err(|error| format!("knob `{name}`: {error}"))?;
        Ok(Self::written(name.trim(), written.levels, written.kind)?.with_default(written.default))
    }
}

/// Levels as on the command line.
pub(super) struct Written {
    pub(super) levels: Levels,
    pub(super) kind: Option<Kind>,
    pub(super) default: Option<Level>,
}

/// Parses the levels and, if present, the kind and the default.
pub(super) fn levels_of(text: &str) -> Result<Written, String> {
    let (kind, list) = match text.split_once(':') {
        Some(("nominal", rest)) => (Some(Kind::Nominal), rest),
        Some(("ranked", rest)) => (Some(Kind::Ranked), rest),
        Some(("lin", rest)) => (Some(Kind::Graded(Scale::Linear)), rest),
        Some(("log", rest)) => (Some(Kind::Graded(Scale::Log)), rest),
        _ => (None, text),
    };
    if let Some(list) = text.strip_prefix("geo:") {
        return Ok(Written { levels: Levels::Range(Range::geometric(list)?), kind: None, default: None });
    }
    if list.contains("..") {
        let range = Range::linear(list)?;
        let levels = if range.count() > MOST_LISTED { Levels::Range(range) } else { Levels::Listed(range.values()) };
        return Ok(Written { levels, kind, default: None });
    }
    let mut words: Vec<_> = list.split(',').map(str::trim).collect();
    let mut default = None;
    for (place, word) in words.iter_mut().enumerate() {
        let Some(rest) = word.strip_prefix('*').filter(|rest| !rest.is_empty()) else { continue };
        if !rest.starts_with('*') && default.replace(place as Level).is_some() {
            return Err(format!("`{list}` marks two defaults; mark one, and write ** for a level that begins with *"));
        }
        *word = rest;
    }
    if let Some(place) = words.iter().position(|word| word.is_empty()) {
        return Err(format!("level {} of `{list}` is empty", place + 1));
    }
    let is_numbers = words.iter().all(|word| number(word).is_some());
    let level = |word: &&str| match number(word).filter(|_| is_numbers) {
        Some(number) => Value::Number(number),
        None => Value::String(word.to_string()),
    };
    Ok(Written { levels: Levels::Listed(words.iter().map(level).collect()), kind, default })
}

/// A finite number; whole ones stay integers, so that they print without a point.
pub(super) fn number(text: &str) -> Option<Number> {
    match text.parse::<i64>() {
        Ok(whole) => Some(whole.into()),
        Err(_) => text.parse().ok().and_then(Number::from_f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_levels_without_flags_and_name_them_so() {
        let short = |text: &str| {
            let knob: NamedKnob = text.parse().unwrap();
            let names: Vec<String> = (0..knob.count()).map(|level| knob.short(level as Level)).collect();
            for (level, name) in names.iter().enumerate() {
                assert_eq!(knob.find(&Value::String(name.clone())).unwrap(), level as Level, "{text}");
            }
            names.join(" ")
        };
        assert_eq!(short("unroll=on:-funroll-loops,off:"), "on off");
        assert_eq!(short("opt=2:-O2,3:-O3 -g"), "2 3");
        // No flags, names that are not unique, a level without a flag.
        for text in ["time=10:00,12:00", "opt=a:-x,a:-y", "opt=a:-x,b"] {
            assert_eq!(short(text), text.split_once('=').unwrap().1.replace(',', " "));
        }
    }

    fn shown_as(text: &str) -> String {
        text.parse::<NamedKnob>().unwrap().to_string()
    }

    #[test]
    fn knobs_as_people_write_them() {
        for (text, wanted) in [
            ("opt=O1,O2,O3,Os", "nominal O1,O2,O3,Os"),
            ("unroll=1,2,4,8", "lin 1,2,4,8"),
            ("block=16..64:16", "lin 16,32,48,64"),
            ("n=3..6", "lin 3,4,5,6"),
            ("n=0..1:0.4", "lin 0,0.4,0.8"),
            ("n=0.1..0.3:0.1", "lin 0.1,0.2,0.3"),
            ("gain=log:1,10,100,1000", "log 1,10,100,1000"),
            ("mode=nominal:1,2,4", "nominal 1,2,4"),
            ("mixed=1,2,auto", "nominal 1,2,auto"),
            ("neg=-2..2:2", "lin -2,0,2"),
            ("path=a:b,c:d", "nominal a:b,c:d"),
            ("eq=a=1,b=2", "nominal a=1,b=2"),
        ] {
            assert_eq!(shown_as(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_star_marks_the_default() {
        for (text, default, wanted) in [
            ("opt=O1,*O2,O3", Some(1), "nominal O1,O2,O3"),
            ("n=1,2,*4", Some(2), "lin 1,2,4"),
            ("gain=log:*1,10", Some(0), "log 1,10"),
            ("opt=O1,O2", None, "nominal O1,O2"),
            ("glob=**.c,**.h", None, "nominal *.c,*.h"),
            ("sign=+,*", None, "nominal +,*"),
            ("sign=+,**", None, "nominal +,*"),
        ] {
            let knob: NamedKnob = text.parse().unwrap();
            assert_eq!((knob.default(), knob.to_string().as_str()), (default, wanted), "{text}");
        }
        assert_eq!("opt=O1,*O2".parse::<NamedKnob>(), "opt=O1,O2".parse());
    }

    #[test]
    fn what_is_no_knob_says_why() {
        for (text, wanted) in [
            ("opt", "write name=level"),
            ("=1,2", "is not a valid name"),
            ("1x=1,2", "is not a valid name"),
            ("x=1", "at least two levels"),
            ("x=1,1.0", "the level 1.0 occurs twice"),
            ("x=a,b,a", "the level a occurs twice"),
            ("x=a,,b", "level 2 of `a,,b` is empty"),
            ("x=*a,*b", "`*a,*b` marks two defaults; mark one, and write **"),
            ("x=log:0,1", "above 0"),
            ("x=lin:a,b", "must be numbers"),
            ("x=1..100000", "more than 65536 levels; take a larger step"),
            ("x=log:1..1000", "write geo:1..1000:256"),
            ("x=nominal:1..1000", "too many unless they are graded"),
            ("x=ranked:1..1000", "too many unless they are graded"),
            ("x=geo:1..1000", "write geo:low..high:count"),
            ("x=5..1", "goes nowhere"),
            ("x=1..5:0", "goes nowhere"),
            ("x=1..b", "`b` is not a number"),
            ("x=1..1e300", "larger step"),
            ("x=nan,inf", ""),
        ] {
            match text.parse::<NamedKnob>() {
                Err(error) => assert!(error.contains(wanted), "{text}: {error}"),
                // Words that only look like numbers are words.
                Ok(knob) => assert_eq!((text, knob.to_string().as_str()), ("x=nan,inf", "nominal nan,inf")),
            }
        }
    }

    #[test]
    fn a_range_of_thousands_of_levels_has_no_list() {
        for (text, count, shown) in [
            ("vref=0..4095", 4096, "lin 0..4095:1"),
            ("timer=0..65535:1", 65_536, "lin 0..65535:1"),
            ("volt=lin:0..3.3:0.001", 3301, "lin 0..3.3:0.001"),
            ("hertz=geo:20..20000:1000", 1000, "log geo:20..20000:1000"),
        ] {
            let knob: NamedKnob = text.parse().unwrap();
            assert_eq!((knob.count(), knob.to_string().as_str()), (count, shown));
            assert!(knob.core().is_range() && knob.listed().is_empty());
            for level in (0..count).step_by(97) {
                let label = knob.label(level as Level);
                assert_eq!(knob.find(&Value::from(label.as_str())), Ok(level as Level), "{text}: {label}");
            }
            assert!(knob.find(&Value::from("0.00007")).unwrap_err().contains("it has "), "{text}");
        }
        // Up to 256 levels nothing has changed: a list, as logs have it.
        let knob: NamedKnob = "v=0..255".parse().unwrap();
        assert!(!knob.core().is_range() && knob.listed().len() == 256);
    }

    #[test]
    fn levels_are_found_as_text_or_number() {
        let knob: NamedKnob = "block=16..64:16".parse().unwrap();
        assert_eq!(knob.find(&Value::from(32)), Ok(1));
        assert_eq!(knob.find(&Value::from("32.0")), Ok(1));
        assert!(knob.find(&Value::from(33)).unwrap_err().contains("it has 16, 32, 48, 64"));
        assert_eq!((knob.variable().as_str(), knob.number(2)), ("BLOCK", Some(48.0)));
    }
}
