//! Limits on further numbers, as an option, a field and words: `watts<3`, `log(errors)<=1e-6`.
//!
//! margin = bound − reading for `<` and `<=`, reading − bound for `>` and `>=`; with `log`, of the
//! logarithms. Not negative if the limit is kept, which is what the tuner is told.
//!
//! **Choices**
//! - Whether a limit is kept is decided here, in double precision: for `<` and `>` a reading at the
//!   bound breaks it, for `<=` and `>=` it keeps it. The margin has the sign that says so.
//! - Records hold readings by name, not margins: a log stays readable.
//! - `log` is asked for, never guessed: a scale that depends on the readings would change during a run.
//! - On a log scale a reading below a thousandth of the bound counts as that, and so do 0 and what is
//!   negative: an error rate of 0 is far below 1e-6, and how far makes no difference.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use trimtab::{MOST_LIMITS, Margins};

use crate::draw::number::short;
use crate::space::NamedSpace;

/// Readings by name.
pub(crate) type Numbers = BTreeMap<String, f64>;

/// Longest name.
const MOST_LETTERS: usize = 60;
/// If a quarter of the readings is so many times the bound, a log scale is better.
const MANY_TIMES: f64 = 100.0;
/// On a log scale smaller shares of the bound count as this one.
const LEAST_SHARE: f64 = 1e-3;

/// One limit.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    name: String,
    is_log: bool,
    /// Whether readings have to be above the bound.
    is_lower: bool,
    /// Whether the bound itself keeps the limit.
    is_closed: bool,
    bound: f64,
    /// The bound as the user wrote it.
    written: String,
}

impl PartialEq for Limit {
    fn eq(&self, other: &Self) -> bool {
        let key = |own: &Self| (own.name.clone(), own.is_log, own.is_lower, own.is_closed, own.bound);
        key(self) == key(other)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.is_log { format!("log({})", self.name) } else { self.name.clone() };
        write!(f, "{name}{}{}", self.operator(), self.written)
    }
}

impl std::str::FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = cut(text);
        let text = unquoted(text);
        let Some(place) = text.find(['<', '>', '=', '≤', '≥']) else {
            return Err(format!("`{shown}` has no bound; write a name, <, <=, > or >=, and a number, as in watts<3"));
        };
        let (name, rest) = text.split_at(place);
        let operators = [
            ("<=", false, true),
            ("≤", false, true),
            (">=", true, true),
            ("≥", true, true),
            ("<", false, false),
            (">", true, false),
        ];
        let found = operators.into_iter().find_map(|own| Some((own, rest.strip_prefix(own.0)?)));
        let Some(((_, is_lower, is_closed), bound)) = found else {
            return Err(format!("`{shown}` must compare by <, <=, > or >=, as in watts<3"));
        };
        let name = name.trim();
        let inner =
            name.strip_prefix("log").map(str::trim_start).and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        let (name, is_log) = inner.map_or((name, false), |inner| (inner, true));
        let name = self::name(name).map_err(|error| format!("`{shown}`: {error}"))?;
        let written = unquoted(bound).to_string();
        let bound = written.parse::<f64>().ok().filter(|bound| (*bound as f32).is_finite());
        let Some(bound) = bound else {
            return Err(match name.parse::<f64>() {
                Ok(_) => format!("`{shown}`: write the name first and the bound last, as in watts<3"),
                Err(_) => format!("the bound of `{shown}` is not a number; write digits, as in watts<3 or errors<1e-6"),
            });
        };
        if is_log && bound <= 0.0 {
            return Err(format!("the bound of `{shown}` must be above 0 on a log scale; leave log() away"));
        }
        if is_log && (bound * LEAST_SHARE) as f32 <= 0.0 {
            return Err(format!("the bound of `{shown}` is too small; measure in a smaller unit"));
        }
        Ok(Self { name, is_log, is_lower, is_closed, bound, written })
    }
}

impl Limit {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bound(&self) -> f64 {
        self.bound
    }

    pub(crate) fn is_log(&self) -> bool {
        self.is_log
    }

    pub(crate) fn is_lower(&self) -> bool {
        self.is_lower
    }

    /// Whether so many readings are so far above the bound that their ratios would tell more: beside
    /// them, everything near the bound looks alike.
    pub(crate) fn is_better_by_ratio(&self, readings: &[f64]) -> bool {
        let far = readings.iter().filter(|reading| **reading > MANY_TIMES * self.bound).count();
        let may_be_log = !self.is_log && self.bound > 0.0 && readings.iter().all(|reading| *reading >= 0.0);
        may_be_log && 4 * far >= readings.len().max(1)
    }

    /// The same limit on a log scale.
    pub(crate) fn by_ratio(&self) -> Self {
        Self { is_log: true, ..self.clone() }
    }

    fn operator(&self) -> &'static str {
        match (self.is_lower, self.is_closed) {
            (false, false) => "<",
            (false, true) => "<=",
            (true, false) => ">",
            (true, true) => ">=",
        }
    }

    fn is_kept(&self, reading: f64) -> bool {
        match (self.is_lower, self.is_closed) {
            (false, false) => reading < self.bound,
            (false, true) => reading <= self.bound,
            (true, false) => reading > self.bound,
            (true, true) => reading >= self.bound,
        }
    }

    /// The margin of a finite reading: not negative if and only if the limit is kept.
    fn margin(&self, reading: f64) -> f32 {
        let scaled = |x: f64| if self.is_log { x.max(self.bound * LEAST_SHARE).ln() } else { x };
        let above = scaled(reading) - scaled(self.bound);
        let margin = (if self.is_lower { above } else { -above }) as f32;
        match self.is_kept(reading) {
            // Adding 0 turns −0 into 0.
            true => margin.clamp(0.0, f32::MAX) + 0.0,
            false => margin.clamp(f32::MIN, -f32::MIN_POSITIVE),
        }
    }
}

/// The limits of a study, at most four.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Limits(Vec<Limit>);

impl Limits {
    /// Checks the limits together, and against the knobs.
    pub(crate) fn new(limits: Vec<Limit>, space: &NamedSpace) -> Result<Self, String> {
        if limits.len() > MOST_LIMITS {
            return Err(format!("there are {} limits; the tuner keeps at most {MOST_LIMITS}", limits.len()));
        }
        for (i, limit) in limits.iter().enumerate() {
            if limits[..i].contains(limit) {
                return Err(format!("the limit {limit} is named twice; leave one away"));
            }
            if space.knobs().iter().any(|knob| knob.name() == limit.name) {
                return Err(format!(
                    "the limit {limit} is on a knob; forbid such levels instead (--forbid, `forbid`), or name the \
                     number otherwise"
                ));
            }
        }
        Ok(Self(limits))
    }

    /// Reads the field: a text or a list of texts.
    pub(crate) fn from_value(value: Option<&Value>, space: &NamedSpace) -> Result<Self, String> {
        let texts = match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().collect(),
            Some(one) => vec![one],
        };
        let limit = |text: &Value| {
            let text = text.as_str().ok_or("`limits` must be a text such as \"watts<3\", or a list of them")?;
            text.parse().map_err(|error| format!("`limits`: {error}"))
        };
        Self::new(texts.into_iter().map(limit).collect::<Result<_, String>>()?, space)
    }

    /// The field that [`from_value`](Self::from_value) reads.
    pub(crate) fn to_value(&self) -> Value {
        self.0.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Limit> {
        self.0.iter()
    }

    /// The names of the limited numbers, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for limit in &self.0 {
            if !names.contains(&limit.name.as_str()) {
                names.push(&limit.name);
            }
        }
        names
    }

    /// The margins of readings, which must be those of the limits and no others.
    pub(crate) fn margins(&self, numbers: &Numbers) -> Result<Margins, String> {
        if let Some(other) = numbers.keys().find(|name| self.0.iter().all(|limit| limit.name != **name)) {
            let other = cut(other);
            return Err(match self.0.is_empty() {
                true => format!("`numbers` has `{other}`, but the run has no limits; leave it away"),
                false => format!("`numbers` has `{other}`, but no limit is on it; the limits are {self}"),
            });
        }
        let margin = |limit: &Limit| {
            let reading = numbers.get(&limit.name).ok_or_else(|| {
                format!("`numbers` has no `{}`, which the limit {limit} needs; tell it beside the value", limit.name)
            })?;
            match (*reading as f32).is_finite() {
                true => Ok(limit.margin(*reading)),
                false => Err(format!("the number {reading} of `{}` is not finite, or too large", limit.name)),
            }
        };
        let margins = self.0.iter().map(margin).collect::<Result<Vec<f32>, String>>()?;
        Margins::new(&margins).ok_or_else(|| format!("at most {MOST_LIMITS} limits are possible"))
    }

    /// The limits that margins break.
    pub(crate) fn broken(&self, margins: &[f32]) -> Vec<&Limit> {
        self.0.iter().zip(margins).filter(|(_, margin)| **margin < 0.0).map(|(limit, _)| limit).collect()
    }

    /// Readings in words: `watts 2.9, volts 1.1`.
    pub(crate) fn readings(&self, numbers: &Numbers) -> String {
        let reading = |name: &str| Some(format!("{name} {}", short(*numbers.get(name)?)));
        self.names().into_iter().filter_map(reading).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.0.iter().collect::<Vec<_>>()))
    }
}

/// Limits in words: `watts<3, volts>=1`.
pub(crate) fn joined(limits: &[&Limit]) -> String {
    limits.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Where limits are broken least, of margins each with a cost to be small; of equals the cheapest.
///
/// A violation counts in units of the middle size of all margins to its limit, as for the tuner.
pub(crate) fn nearest<'a>(all: impl Iterator<Item = (&'a [f32], f64)> + Clone) -> Option<usize> {
    let unit = |j: usize| {
        let mut sizes: Vec<f32> = all.clone().filter_map(|(margins, _)| margins.get(j).map(|own| own.abs())).collect();
        sizes.sort_by(f32::total_cmp);
        let middle = sizes.get(sizes.len() / 2).copied().filter(|size| *size > 0.0);
        f64::from(middle.or(sizes.last().copied()).filter(|size| *size > 0.0).unwrap_or(1.0))
    };
    let units: Vec<f64> = (0..MOST_LIMITS).map(unit).collect();
    let violation = |margins: &[f32]| -> f64 {
        margins.iter().zip(&units).map(|(margin, unit)| f64::from(-margin.min(0.0)) / unit).sum()
    };
    let ranked = all.enumerate().map(|(i, (margins, cost))| (i, violation(margins), cost));
    ranked.min_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2))).map(|(i, _, _)| i)
}

/// The name of a number, as an option has it.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let name = unquoted(text);
    let is_odd = |c: char| c.is_control() || matches!(c, '<' | '>' | '=' | '"' | '\'' | '`' | '≤' | '≥');
    if name.is_empty() {
        return Err("the name of the number is missing; write it as the command prints it".into());
    }
    if name.chars().any(is_odd) || name.chars().count() > MOST_LETTERS {
        return Err(format!("the name of a number has up to {MOST_LETTERS} letters, and none of < > = \" ' `"));
    }
    if name.parse::<f64>().is_ok() {
        return Err(format!("`{name}` is a number; write the name first and the bound last, as in watts<3"));
    }
    Ok(name.into())
}

/// A text without blanks and quotes around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    inner.map_or(text, str::trim)
}

fn cut(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn limits(texts: &[&str]) -> Result<Limits, String> {
        let space = NamedSpace::new(vec!["block=1,2".parse().unwrap()]).unwrap();
        Limits::new(texts.iter().map(|text| limit(text)).collect(), &space)
    }

    #[test]
    fn limits_as_people_write_them() {
        for (text, wanted) in [
            ("watts<3", "watts<3"),
            (" watts <= 3.50 ", "watts<=3.50"),
            ("'watts' > -1e-3", "watts>-1e-3"),
            ("\"error rate\" >= 0", "error rate>=0"),
            ("'watts<3'", "watts<3"),
            ("log(errors)<1e-6", "log(errors)<1e-6"),
            ("log (errors) ≤ 1e-6", "log(errors)<=1e-6"),
            ("p99.9 [µs](max)<+5", "p99.9 [µs](max)<+5"),
            ("a.*b<.5", "a.*b<.5"),
            ("log<3", "log<3"),
        ] {
            let own = limit(text);
            assert_eq!(own.to_string(), wanted);
            assert_eq!(limit(&own.to_string()), own, "{text}");
        }
        assert_eq!(limit("watts<3"), limit("watts<3.0"));
        assert_ne!(limit("watts<3"), limit("watts<=3"));
    }

    /// promise: trimtab tune, serve | a limit without a bound, with NaN, five limits, on a knob, twice | an error that says what to write
    #[test]
    fn what_is_no_limit_says_what_to_write() {
        for (text, wanted) in [
            ("watts", "has no bound; write a name, <"),
            ("", "has no bound"),
            ("watts<", "the bound of `watts<` is not a number"),
            ("watts<three", "is not a number; write digits"),
            ("watts<nan", "is not a number"),
            ("watts<inf", "is not a number"),
            ("watts<1e60", "is not a number"),
            ("watts<3 W", "is not a number"),
            ("watts=3", "must compare by <, <=, > or >="),
            ("watts==3", "must compare by"),
            ("<3", "the name of the number is missing"),
            ("log()<3", "the name of the number is missing"),
            ("3>watts", "write the name first"),
            ("3<5", "write the name first"),
            ("1<watts<3", "write the name first"),
            ("log(errors)<0", "must be above 0 on a log scale"),
            ("log(errors)<-1", "must be above 0 on a log scale"),
            ("log(errors)<1e-45", "is too small"),
            ("a\u{7}b<3", "the name of a number has up to 60 letters"),
        ] {
            let error = text.parse::<Limit>().unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        assert!(limits(&["a<1", "a>0", "b<1", "c<1"]).is_ok());
        for (texts, wanted) in [
            (&["a<1", "b<1", "c<1", "d<1", "e<1"][..], "there are 5 limits; the tuner keeps at most 4"),
            (&["a<1", "a<1.0"], "the limit a<1.0 is named twice"),
            (&["block<2"], "the limit block<2 is on a knob; forbid such levels instead"),
        ] {
            assert!(limits(texts).unwrap_err().contains(wanted), "{texts:?}");
        }
    }

    /// promise: trimtab tune, serve | a reading equal to the bound | breaks < and >, keeps <= and >=
    #[test]
    fn a_margin_has_the_sign_of_its_limit() {
        for (text, reading, is_kept) in [
            ("w<3", 2.9, true),
            ("w<3", 3.0, false),
            ("w<=3", 3.0, true),
            ("w>3", 3.0, false),
            ("w>=3", 3.0, true),
            ("w>3", 3.1, true),
            ("w<3", 3.0 - 1e-15, true),
            ("w<3", 3.0 + 1e-15, false),
            ("w<0", 1e-300, false),
            ("w<0", -1e-300, true),
            ("w<3e38", -3e38, true),
            ("w>3e38", -3e38, false),
            ("log(w)<1e-6", 0.0, true),
            ("log(w)<1e-6", -1.0, true),
            ("log(w)<1e-6", 1e-6, false),
            ("log(w)<=1e-6", 1e-6, true),
            ("log(w)<1e-6", 1e-6 * (1.0 + 1e-15), false),
            ("log(w)>1e-6", 0.0, false),
            ("log(w)>1e-6", 1.0, true),
        ] {
            let margin = limit(text).margin(reading);
            assert!(margin.is_finite() && (margin >= 0.0) == is_kept && margin.is_sign_positive() == is_kept, "{text}");
        }
        assert_eq!((limit("w<3").margin(2.5), limit("w>3").margin(2.5)), (0.5, -0.5));
        let errors = limit("log(errors)<1e-6");
        assert!((errors.margin(1e-7) - 10f32.ln()).abs() < 1e-5 && (errors.margin(1e-5) + 10f32.ln()).abs() < 1e-5);
        assert_eq!(errors.margin(0.0), errors.margin(1e-12));
    }

    #[test]
    fn a_log_scale_is_proposed_where_readings_dwarf_the_bound() {
        let far = [1e-9, 1e-7, 1e-3, 0.1];
        assert!(limit("errors<1e-6").is_better_by_ratio(&far));
        assert_eq!(limit("errors<1e-6").by_ratio().to_string(), "log(errors)<1e-6");
        assert!(!limit("log(errors)<1e-6").is_better_by_ratio(&far));
        assert!(!limit("errors<0.01").is_better_by_ratio(&far));
        assert!(!limit("errors<0").is_better_by_ratio(&far));
        assert!(!limit("errors<1e-6").is_better_by_ratio(&[-1.0, 5.0, 5.0]));
        assert!(!limit("errors<1e-6").is_better_by_ratio(&[]));
    }

    #[test]
    fn margins_need_every_number_and_no_other() {
        let own = limits(&["watts<3", "volts>1", "volts<2"]).unwrap();
        let numbers = |all: &[(&str, f64)]| all.iter().map(|(name, number)| ((*name).into(), *number)).collect();
        let margins = own.margins(&numbers(&[("watts", 3.5), ("volts", 1.5)])).unwrap();
        assert_eq!(margins[..], [-0.5, 0.5, 0.5]);
        assert_eq!(joined(&own.broken(&margins)), "watts<3");
        assert_eq!(own.readings(&numbers(&[("watts", 3.5), ("volts", 1.5)])), "watts 3.5, volts 1.5");
        for (numbers, wanted) in [
            (numbers(&[("watts", 1.0)]), "`numbers` has no `volts`, which the limit volts>1 needs"),
            (numbers(&[("watts", 1.0), ("volts", 1.0), ("amps", 1.0)]), "has `amps`, but no limit is on it"),
            (numbers(&[("watts", f64::NAN), ("volts", 1.0)]), "of `watts` is not finite"),
            (numbers(&[("watts", 1e40), ("volts", 1.0)]), "of `watts` is not finite, or too large"),
        ] {
            let error = own.margins(&numbers).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
        assert!(Limits::default().margins(&Numbers::new()).unwrap().is_empty());
        let error = Limits::default().margins(&numbers(&[("watts", 1.0)])).unwrap_err();
        assert!(error.contains("the run has no limits"), "{error}");
    }

    #[test]
    fn the_nearest_breaks_the_limits_least() {
        let all: [(&[f32], f64); 4] =
            [(&[-3.0, 1.0], 1.0), (&[-1.0, 0.5], 9.0), (&[-1.0, 2.0], 2.0), (&[0.5, -9.0], 0.0)];
        assert_eq!(nearest(all.iter().copied()), Some(2));
        assert_eq!(nearest(all[..1].iter().copied()), Some(0));
        assert_eq!(nearest(all[..0].iter().copied()), None);
    }
}
