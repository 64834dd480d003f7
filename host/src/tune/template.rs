//! The command with places for levels: `./measure.sh {opt} --block={block}`.
//!
//! | in the command | becomes |
//! |---|---|
//! | `{name}` | the knob's level |
//! | `{flags}` | the flags of all levels written `level:flag`; a word of its own becomes a word per flag |
//! | `{slot}` | the number of the slot that measures, from 1 to --jobs, unless a knob has that name |
//! | `{{name}}` | `{name}` itself |
//! | `${name}`, `{}`, `{print $1}` and anything else | unchanged |
//!
//! **Choices**
//! - A name in braces must be a knob, so that a typo is found before the first measurement.
//! - Braces of other languages (awk, JSON, shells) rarely look like that, so they need no escapes.
//! - A level is part of one word and is never split.
//! - With a shell the words are joined by blanks and levels are pasted unquoted. Read those that
//!   need quotes from the environment, as `"$TRIMTAB_NAME"`.

use std::process::Command;

use trimtab::Level;

use crate::error::Error;
use crate::space::{NamedKnob, NamedSpace};

/// Prefix of the environment variables.
pub(super) const PREFIX: &str = "TRIMTAB_";

/// A command with places for levels.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    words: Vec<Vec<Part>>,
    is_shell: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// The index of a knob in the space.
    Knob(usize),
    /// The flags of all knobs that have them.
    Flags,
    /// The number of the slot that measures.
    Slot,
}

impl Template {
    /// Parses the words of a command.
    pub(crate) fn parse(words: &[String], is_shell: bool, space: &NamedSpace) -> Result<Self, Error> {
        let mut parsed = Vec::new();
        for (i, word) in words.iter().enumerate() {
            parsed.push(parts(word, space).map_err(|(name, offset)| {
                let names: Vec<_> = space.knobs().iter().map(NamedKnob::name).collect();
                let before = words[..i].iter().map(|word| word.chars().count() + 1).sum::<usize>();
                let place = before + word[..offset].chars().count();
                let shown = words.join(" ").replace(['\n', '\r', '\t'], " ");
                Error::Usage(format!(
                    "there is no knob `{name}`; there are {} (to pass it unchanged, write {{{{{name}}}}})\n  \
                     {shown}\n  {}^ here",
                    names.join(", "),
                    " ".repeat(place)
                ))
            })?);
        }
        if parsed.is_empty() {
            return Err(Error::Usage("the command is missing; write it after --".into()));
        }
        let template = Self { words: parsed, is_shell };
        if template.has_flags() {
            template.check_flags(space)?;
        }
        // Without a flag there would be no program.
        if !is_shell && template.words[0].contains(&Part::Flags) {
            return Err(Error::Usage("{flags} cannot be the program; write the program before it".into()));
        }
        Ok(template)
    }

    fn has_flags(&self) -> bool {
        self.words.iter().flatten().any(|part| *part == Part::Flags)
    }

    /// Whether some knobs have flags, and each of those at all levels.
    fn check_flags(&self, space: &NamedSpace) -> Result<(), Error> {
        let count = |knob: &NamedKnob| (0..knob.count()).filter(|level| flag(knob, *level as Level).is_some()).count();
        if let Some(knob) = space.knobs().iter().find(|knob| (1..knob.count()).contains(&count(knob))) {
            return Err(Error::Usage(format!(
                "{{flags}} needs a flag for every level of knob `{}`, or for none; write level:flag, or level: for \
                 nothing",
                knob.name()
            )));
        }
        match space.knobs().iter().any(|knob| count(knob) > 0) {
            true => Ok(()),
            false => Err(Error::Usage(
                "{flags} is in the command, but no level has a flag; write --knob unroll=on:-funroll-loops,off:".into(),
            )),
        }
    }

    /// The words with the levels filled in, as slot 1 runs them.
    pub(crate) fn filled(&self, space: &NamedSpace, levels: &[Level]) -> Vec<String> {
        self.filled_on(1, space, levels)
    }

    fn filled_on(&self, slot: usize, space: &NamedSpace, levels: &[Level]) -> Vec<String> {
        let flags = || -> Vec<String> {
            let own = |(i, (knob, level)): (usize, (&NamedKnob, &Level))| {
                flag(knob, *level).filter(|_| !space.is_idle(levels, i))
            };
            let all = space.knobs().iter().zip(levels).enumerate().filter_map(own);
            all.flat_map(|flag| flag.split_whitespace().map(String::from).collect::<Vec<_>>()).collect()
        };
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Flags => flags().join(" "),
            Part::Slot => slot.to_string(),
            Part::Knob(place) => {
                let knob = space.knobs().get(*place).zip(levels.get(*place));
                knob.map_or_else(String::new, |(knob, level)| knob.label(*level))
            }
        };
        let word = |word: &Vec<Part>| match word[..] {
            [Part::Flags] => flags(),
            _ => vec![word.iter().map(part).collect()],
        };
        self.words.iter().flat_map(word).collect()
    }

    /// The command, ready to run on a slot.
    pub(crate) fn command(&self, slot: usize, space: &NamedSpace, levels: &[Level]) -> Command {
        let words = self.filled_on(slot, space, levels);
        let mut command = if self.is_shell {
            let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
            let mut command = Command::new(shell);
            command.arg(flag).arg(words.join(" "));
            command
        } else {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            command
        };
        command.env(format!("{PREFIX}SLOT"), slot.to_string());
        for (knob, level) in space.knobs().iter().zip(levels) {
            command.env(format!("{PREFIX}{}", knob.variable()), knob.label(*level));
        }
        command
    }

    /// The command, ready to paste into a shell.
    pub(crate) fn pasted(&self, space: &NamedSpace, levels: &[Level]) -> String {
        let words = self.filled(space, levels);
        match self.is_shell {
            true => words.join(" "),
            false => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Whether every combination runs the same program: if that cannot be started once, it never
    /// can.
    pub(crate) fn has_fixed_program(&self) -> bool {
        self.is_shell || self.words[0].iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Whether the words tell the level of this knob.
    pub(crate) fn has_place_for(&self, knob: usize, space: &NamedSpace) -> bool {
        self.is_placed(knob) || space.knobs().get(knob).is_some_and(|knob| self.has_flag_for(knob))
    }

    fn is_placed(&self, knob: usize) -> bool {
        self.words.iter().flatten().any(|part| *part == Part::Knob(knob))
    }

    /// Whether `{flags}` tells the level of this knob.
    fn has_flag_for(&self, knob: &NamedKnob) -> bool {
        self.has_flags() && flag(knob, 0).is_some()
    }

    /// Whether the words alone tell every level.
    pub(crate) fn has_all_places(&self, space: &NamedSpace) -> bool {
        (0..space.knobs().len()).all(|knob| self.has_place_for(knob, space))
    }

    /// Whether the words have a place for a level; if not, the command reads the environment.
    pub(crate) fn has_places(&self) -> bool {
        self.words.iter().flatten().any(|part| matches!(part, Part::Knob(_) | Part::Flags))
    }
}

/// Splits a word into text and places; fails with a name that is not a knob, and its offset.
fn parts<'a>(word: &'a str, space: &NamedSpace) -> Result<Vec<Part>, (&'a str, usize)> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut place = 0;
    while let Some(open) = word[place..].find('{').map(|found| place + found) {
        text += &word[place..open];
        let is_twice = word[open + 1..].starts_with('{');
        let start = open + 1 + usize::from(is_twice);
        let name = name_at(&word[start..]);
        let (end, closing) = (start + name.len(), if is_twice { "}}" } else { "}" });
        if name.is_empty() || !word[end..].starts_with(closing) || word[..open].ends_with('$') {
            // One brace at a time: `{{{x}` is two braces and a place.
            text.push('{');
            place = open + 1;
            continue;
        }
        place = end + closing.len();
        if is_twice {
            text += &word[open + 1..end + 1];
            continue;
        }
        let knob = space.knobs().iter().position(|knob| knob.name() == name);
        let part = match knob {
            Some(knob) => Part::Knob(knob),
            None if name == "flags" => Part::Flags,
            None if name == "slot" => Part::Slot,
            None => return Err((name, start)),
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(part);
    }
    text += &word[place..];
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

/// The flag of a level that is written `level:flag`; it may be empty.
fn flag(knob: &NamedKnob, level: Level) -> Option<String> {
    let label = knob.label(level);
    label.split_once(':').filter(|(name, _)| !name.is_empty()).map(|(_, flag)| flag.trim().to_string())
}

/// The longest prefix that could be a knob's name.
fn name_at(text: &str) -> &str {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !text.starts_with(is_first) {
        return "";
    }
    let is_later = |c: char| is_first(c) || c.is_ascii_digit() || c == '-' || c == '.';
    &text[..text.find(|c| !is_later(c)).unwrap_or(text.len())]
}

/// Quotes a word so that a shell reads it as one word.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./:,@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> NamedSpace {
        NamedSpace::new(["opt=O1,O2", "block-size=16,32"].iter().map(|knob| knob.parse().unwrap()).collect()).unwrap()
    }

    fn filled(word: &str) -> String {
        let template = Template::parse(&[word.to_string()], false, &space()).unwrap();
        template.filled(&space(), &[1, 0]).join("|")
    }

    #[test]
    fn places_are_filled_and_other_braces_stay() {
        for (word, wanted) in [
            ("-{opt}", "-O2"),
            ("{opt}{block-size}x", "O216x"),
            ("{{opt}}", "{opt}"),
            ("${opt} ${HOME}", "${opt} ${HOME}"),
            ("{}", "{}"),
            ("{ opt }", "{ opt }"),
            ("awk '{print $1}'", "awk '{print $1}'"),
            (r#"{"opt": "{opt}", "n": {block-size}}"#, r#"{"opt": "O2", "n": 16}"#),
            ("{{{opt}", "{{O2"),
            ("{opt", "{opt"),
            ("opt}", "opt}"),
            ("é{opt}é", "éO2é"),
            ("", ""),
        ] {
            assert_eq!(filled(word), wanted, "{word}");
        }
    }

    #[test]
    fn flags_are_words_and_may_be_none() {
        let knobs = ["unroll=on:-funroll-loops,off:", "opt=2:-O2,3:-O3 -g", "n=1,2"];
        let space = NamedSpace::new(knobs.iter().map(|knob| knob.parse().unwrap()).collect()).unwrap();
        let filled = |words: &[&str], levels: &[Level]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            Template::parse(&words, false, &space).unwrap().filled(&space, levels).join("|")
        };
        assert_eq!(filled(&["cc", "{flags}", "{n}.c"], &[0, 1, 0]), "cc|-funroll-loops|-O3|-g|1.c");
        assert_eq!(filled(&["cc", "{flags}", "{n}.c"], &[1, 0, 1]), "cc|-O2|2.c");
        assert_eq!(filled(&["make", "CFLAGS={flags}"], &[0, 0, 0]), "make|CFLAGS=-funroll-loops -O2");
        assert_eq!(space.parse("unroll=off"), Ok(vec![1, 0, 0]));
        let template = Template::parse(&["cc".into(), "{flags}".into()], false, &space).unwrap();
        assert_eq!([0, 1, 2].map(|knob| template.has_place_for(knob, &space)), [true, true, false]);
        for (knob, wanted) in [("a=on:-x,off", "every level of knob `a`"), ("a=on,off", "no level has a flag")] {
            let space = NamedSpace::new(vec![knob.parse().unwrap()]).unwrap();
            let error = Template::parse(&["{flags}".into()], false, &space).unwrap_err().to_string();
            assert!(error.contains(wanted), "{knob}: {error}");
        }
        let error = Template::parse(&["{flags}".into()], false, &space).unwrap_err().to_string();
        assert!(error.contains("cannot be the program"), "{error}");
    }

    #[test]
    fn a_slip_of_the_pen_is_pointed_at() {
        let words = ["./é.sh", "{opt}", "--n={blok}"].map(String::from);
        let error = Template::parse(&words, false, &space()).unwrap_err().to_string();
        assert!(error.contains("no knob `blok`; there are opt, block-size"), "{error}");
        let lines: Vec<_> = error.lines().collect();
        let mark = lines[2].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[1].chars().skip(mark).take(4).collect::<String>(), "blok");
    }

    #[test]
    fn the_environment_has_every_knob() {
        let command = Template::parse(&["true".into()], false, &space()).unwrap().command(3, &space(), &[0, 1]);
        let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_string();
        let mut variables: Vec<_> = command.get_envs().map(|(key, value)| (text(key), text(value.unwrap()))).collect();
        variables.sort();
        let wanted = [("TRIMTAB_BLOCK_SIZE", "32"), ("TRIMTAB_OPT", "O1"), ("TRIMTAB_SLOT", "3")];
        assert_eq!(variables, wanted.map(|(key, value)| (key.into(), value.into())));
    }

    #[test]
    fn a_slot_is_a_place_unless_a_knob_has_its_name() {
        let words = |space: &NamedSpace| {
            let template = Template::parse(&["ssh".into(), "board{slot}".into()], false, space).unwrap();
            let command = template.command(7, space, &[1, 0]);
            let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap().to_string()).collect();
            let slot = command.get_envs().find(|(key, _)| *key == "TRIMTAB_SLOT").and_then(|(_, value)| value).unwrap();
            (words[0].clone(), slot.to_str().unwrap().to_string())
        };
        assert_eq!(words(&space()), ("board7".into(), "7".into()));
        let own = NamedSpace::new(["slot=a,b", "n=1,2"].iter().map(|knob| knob.parse().unwrap()).collect()).unwrap();
        assert_eq!(words(&own), ("boardb".into(), "b".into()));
    }

    #[test]
    fn what_is_pasted_is_read_as_it_was() {
        let words = ["./a b.sh", "{opt}", "it's", ""].map(String::from);
        let template = Template::parse(&words, false, &space()).unwrap();
        assert_eq!(template.pasted(&space(), &[0, 0]), r"'./a b.sh' O1 'it'\''s' ''");
        let words = ["echo {opt} | wc -c".to_string()];
        assert_eq!(Template::parse(&words, true, &space()).unwrap().pasted(&space(), &[0, 0]), "echo O1 | wc -c");
    }
}
