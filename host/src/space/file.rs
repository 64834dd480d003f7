//! A space in a file or a message: TOML or JSON, the same fields.
//!
//! ```toml
//! forbid = ["opt=O1 & unroll=8"]
//! [knobs]                                  # as after the name on the command line, or a list of levels
//! opt = "O1,O2,O3"
//! unroll = [1, 2, 4, 8]
//! ```
//!
//! ```json
//! {"knobs": [{"name": "gain", "levels": [1, 10, 100], "kind": "log"}]}
//! ```
//!
//! **Choices**
//! - Knobs are a table, whose order counts, or a list of objects.
//! - A repeated field is refused, in JSON as in TOML: the second `forbid` must not replace the first.
//! - `kind` is `nominal`, `lin`, `graded` (the same as `lin`) or `log`; `default` is a level.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};
use trimtab::Scale;

use super::knob::{Kind, Levels, Written, levels_of};
use super::strict;
use super::{MOST_KNOBS, NamedKnob, NamedSpace};
use crate::error::Error;

/// Largest file in bytes.
const MOST_BYTES: u64 = 10 << 20;

impl NamedSpace {
    /// Reads a file, TOML unless its name ends in `.json`.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        let fault = |what: String| Error::Usage(format!("the space {shown}: {what}"));
        let mut text = String::new();
        // Not by its size: a device or a pipe has none.
        let file = std::fs::File::open(path).map_err(|error| fault(error.to_string()))?;
        let size = file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|error| fault(error.to_string()))?;
        if size as u64 > MOST_BYTES {
            return Err(fault(format!("the file is too long; at most {MOST_BYTES} bytes are allowed")));
        }
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let fields: Map<String, Value> = if is_json {
            match strict::parse(&text).map_err(|error| fault(error.to_string()))? {
                Value::Object(fields) => fields,
                _ => return Err(fault("it must be a JSON object with `knobs`".into())),
            }
        } else {
            toml::from_str(&text).map_err(|error| fault(error.to_string()))?
        };
        if let Some(field) = fields.keys().find(|field| !["knobs", "forbid", "only_if"].contains(&field.as_str())) {
            return Err(fault(format!("unknown field `{field}`; the fields are knobs, forbid and only_if")));
        }
        Self::from_fields(&fields).map_err(fault)
    }

    /// Reads the fields `knobs`, `forbid` and `only_if`.
    pub(crate) fn from_fields(fields: &Map<String, Value>) -> Result<Self, String> {
        let count = fields.get("knobs").map_or(0, |knobs| match knobs {
            Value::Array(knobs) => knobs.len(),
            Value::Object(knobs) => knobs.len(),
            _ => 0,
        });
        // Counted first, because each knob is compared with all others.
        if count > MOST_KNOBS {
            return Err(format!("{count} knobs are too many; at most {MOST_KNOBS} are possible"));
        }
        let knobs = match fields.get("knobs") {
            Some(Value::Array(knobs)) => knobs.iter().map(listed).collect::<Result<_, _>>()?,
            Some(Value::Object(knobs)) => {
                knobs.iter().map(|(name, knob)| tabled(name, knob)).collect::<Result<_, _>>()?
            }
            Some(_) => return Err("`knobs` must be a list or a table".into()),
            None => return Err("the field `knobs` is missing".into()),
        };
        let mut space = Self::new(knobs).map_err(|error| error.to_string())?;
        for text in texts(fields, "only_if")? {
            space.only_if(text).map_err(|error| format!("`only_if`: {error}"))?;
        }
        for text in texts(fields, "forbid")? {
            space.forbid(text).map_err(|error| error.to_string())?;
        }
        Ok(space)
    }

    /// The fields that [`from_fields`](Self::from_fields) reads.
    pub(crate) fn to_fields(&self) -> Map<String, Value> {
        let knob = |knob: &NamedKnob| {
            let kind = match knob.kind() {
                Kind::Nominal => "nominal",
                Kind::Ranked => "ranked",
                Kind::Graded(Scale::Linear) => "lin",
                Kind::Graded(Scale::Log) => "log",
            };
            serde_json::json!({"name": knob.name(), "levels": knob.to_value(), "kind": kind})
        };
        let mut fields = Map::new();
        fields.insert("knobs".into(), self.knobs().iter().map(knob).collect());
        if !self.forbidden().is_empty() {
            fields.insert("forbid".into(), self.forbidden().iter().map(|forbidden| forbidden.to_string()).collect());
        }
        if !self.conditions().is_empty() {
            fields.insert("only_if".into(), self.conditions().iter().map(|condition| condition.to_string()).collect());
        }
        fields
    }
}

/// The texts of a field: one, a list, or none.
fn texts<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a str>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text]),
        Some(Value::Array(list)) => {
            let text = |item: &'a Value| {
                item.as_str().ok_or_else(|| format!("`{name}` must be a text or a list of texts, not {item}"))
            };
            list.iter().map(text).collect()
        }
        Some(other) => Err(format!("`{name}` must be a text or a list of texts, not {other}")),
    }
}

/// Reads a knob of a list: an object with a name and levels.
fn listed(knob: &Value) -> Result<NamedKnob, String> {
    let Value::Object(fields) = knob else {
        return Err(format!("a knob must be an object with `name` and `levels`, not {knob}"));
    };
    if let Some(field) = fields.keys().find(|field| !["name", "levels", "kind", "default"].contains(&field.as_str())) {
        return Err(format!("a knob has no field `{field}`; it has name, levels, kind and default"));
    }
    let name = fields.get("name").and_then(Value::as_str).ok_or_else(|| format!("the knob {knob} needs a `name`"))?;
    let Written { levels, kind: written, default } = match fields.get("levels") {
        Some(Value::Array(levels)) => Written { levels: Levels::Listed(levels.clone()), kind: None, default: None },
        Some(Value::String(text)) => levels_of(text).map_err(|error| format!("knob `{name}`: {error}"))?,
        _ => return Err(format!("knob `{name}` needs a list `levels`")),
    };
    let kind = match fields.get("kind").map(|kind| kind.as_str().unwrap_or("")) {
        None => written,
        Some("nominal") => Some(Kind::Nominal),
        Some("ranked") => Some(Kind::Ranked),
        Some("graded" | "lin") => Some(Kind::Graded(Scale::Linear)),
        Some("log") => Some(Kind::Graded(Scale::Log)),
        Some(_) => return Err(format!("knob `{name}`: `kind` must be nominal, ranked, lin, graded or log")),
    };
    let knob = NamedKnob::written(name, levels, kind)?;
    let default = match fields.get("default") {
        Some(level) => Some(knob.find(level).map_err(|error| format!("`default`: {error}"))?),
        None => default,
    };
    Ok(knob.with_default(default))
}

/// Reads a knob of a table: a text as on the command line, or a list of levels.
fn tabled(name: &str, knob: &Value) -> Result<NamedKnob, String> {
    match knob {
        Value::String(text) => {
            let written = levels_of(text).map_err(|error| format!("knob `{name}`: {error}"))?;
            Ok(NamedKnob::written(name, written.levels, written.kind)?.with_default(written.default))
        }
        Value::Array(levels) => NamedKnob::new(name, levels.clone(), None),
        other => Err(format!("knob `{name}` must be a text like \"1,2,4\" or a list of levels, not {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn both_forms_give_the_same_space_and_read_back() {
        let toml =
            "forbid = [\"opt=O1 & unroll=8\"]\n[knobs]\nunroll = [1, 2, 4, 8]\nopt = \"O1,O2\"\ngain = \"log:1,10\"";
        let table = NamedSpace::from_fields(&toml::from_str(toml).unwrap()).unwrap();
        let list = json!({"knobs": [{"name": "unroll", "levels": [1, 2, 4, 8]}, {"name": "opt", "levels": "O1,O2"},
            {"name": "gain", "levels": [1, 10], "kind": "log"}], "forbid": "opt=O1 & unroll=8"});
        assert_eq!(table, NamedSpace::from_fields(&fields(list)).unwrap());
        assert_eq!(table, NamedSpace::from_fields(&table.to_fields()).unwrap());
        // The order of the file, not of the alphabet.
        assert_eq!(table.knobs().iter().map(NamedKnob::name).collect::<Vec<_>>(), ["unroll", "opt", "gain"]);
        assert!(!table.is_allowed(&[3, 0, 0]) && table.is_allowed(&[3, 1, 0]));
        // Ranges stay what the user wrote.
        let ranges = json!({"knobs": [{"name": "vref", "levels": "0..4095"}, {"name": "f", "levels": "geo:1..10:300"}],
            "forbid": "vref>4000"});
        let ranges = NamedSpace::from_fields(&fields(ranges)).unwrap();
        assert_eq!(ranges, NamedSpace::from_fields(&ranges.to_fields()).unwrap());
        assert_eq!(ranges.to_fields()["knobs"][0], json!({"name": "vref", "levels": "0..4095:1", "kind": "lin"}));
        assert!(ranges.is_allowed(&[4000, 0]) && !ranges.is_allowed(&[4001, 0]));
    }

    #[test]
    fn a_default_is_marked_or_named() {
        let list = json!({"knobs": [{"name": "a", "levels": [1, 2], "default": 2}, {"name": "b", "levels": "x,*y"},
            {"name": "c", "levels": ["*x", "y"]}]});
        let space = NamedSpace::from_fields(&fields(list)).unwrap();
        assert_eq!(space.text(&space.defaults()), "a=2,b=y,c=*x");
        let space = NamedSpace::from_fields(&fields(json!({"knobs": {"a": "1,*2"}}))).unwrap();
        assert_eq!(space.text(&space.defaults()), "a=2");
    }

    #[test]
    fn what_is_no_space_says_why() {
        for (value, wanted) in [
            (json!({}), "`knobs` is missing"),
            (json!({"knobs": 3}), "must be a list or a table"),
            (json!({"knobs": []}), "a space needs a knob"),
            (json!({"knobs": [{"levels": [1, 2]}]}), "needs a `name`"),
            (json!({"knobs": [{"name": "a"}]}), "needs a list `levels`"),
            (json!({"knobs": [{"name": "a", "levels": [1, 2], "type": "x"}]}), "no field `type`"),
            (json!({"knobs": [{"name": "a", "levels": [1, 2], "kind": "x"}]}), "must be nominal"),
            (json!({"knobs": [{"name": "a", "levels": [1, [2]]}]}), "the level [2] must be a text"),
            (json!({"knobs": [{"name": "a", "levels": [1, 2], "default": 3}]}), "`default`: knob `a` has no level 3"),
            (json!({"knobs": {"a": 5}}), "must be a text like"),
            (json!({"knobs": {"a": [1, 2]}, "forbid": 3}), "must be a text or a list"),
            (json!({"knobs": {"a": [1, 2]}, "forbid": ["a=3"]}), "it has 1, 2"),
        ] {
            let error = NamedSpace::from_fields(&fields(value.clone())).unwrap_err();
            assert!(error.contains(wanted), "{value}: {error}");
        }
    }

    #[test]
    fn a_repeated_key_in_a_json_file_is_refused() {
        let folder = std::env::temp_dir().join(format!("trimtab-repeated-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("space.json");
        for text in [
            r#"{"knobs":{"a":"1,2"},"forbid":"a=1","forbid":"a=2"}"#,
            r#"{"knobs":{"a":"1,2","a":"1,2,3"}}"#,
            r#"{"knobs":[{"name":"a","levels":[1,2],"levels":[1,2,3]}]}"#,
        ] {
            std::fs::write(&path, text).unwrap();
            let error = NamedSpace::read(&path).unwrap_err().to_string();
            assert!(error.contains("twice"), "{text}: {error}");
        }
        std::fs::write(&path, r#"{"knobs":{"a":"1,2"},"forbid":"a=1"}"#).unwrap();
        assert!(NamedSpace::read(&path).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn no_text_makes_it_panic() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let toml =
            "forbid = [\"a=1 & b>2\"]\n[knobs]\na = [1, 2, 4]\nb = \"1..8:2\"\nc = \"log:1,10\"\nd = \"nominal:x,y\"";
        let json = r#"{"knobs":[{"name":"a","levels":[1,2,4],"kind":"log"},{"name":"b","levels":["x",true]}],"forbid":"a=1|b=x"}"#;
        let mut read = 0;
        for turn in 0..4000 {
            let mut text: Vec<char> = if turn % 2 == 0 { toml } else { json }.chars().collect();
            for _ in 0..random.random_range(0..4) {
                let place = random.random_range(0..text.len());
                let other = text[random.random_range(0..text.len())];
                match random.random_range(0..3) {
                    0 => text[place] = other,
                    1 => text.insert(place, other),
                    _ => drop(text.remove(place)),
                }
            }
            let text: String = text.into_iter().collect();
            let fields: Option<Map<String, Value>> =
                if turn % 2 == 0 { toml::from_str(&text).ok() } else { serde_json::from_str(&text).ok() };
            read += usize::from(fields.is_some_and(|fields| NamedSpace::from_fields(&fields).is_ok()));
        }
        // Some mutants are spaces still, most are not.
        assert!((500..3500).contains(&read), "{read}");
    }
}
