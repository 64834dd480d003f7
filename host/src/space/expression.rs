//! Forbidden combinations: a small language over knobs.
//!
//! ```text
//! expression = term { "|" term }          term = factor { "&" factor }
//! factor     = "!" factor | "(" expression ")" | name compare level
//! compare    = "=" | "!=" | "<" | "<=" | ">" | ">="
//! ```
//!
//! `opt=O1 & unroll=8`, `block>128 & !(opt=O3 | opt=Os)`, `mode='a b'`.
//!
//! **Choices**
//! - `!` binds tighter than `&`, `&` tighter than `|`.
//! - A level is a word without blanks or operators, or anything in quotes.
//! - `=` and `!=` need a level of the knob, the others a number, so that a typo is found before the
//!   first measurement.
//! - Parentheses nest at most 100 deep.
//!
//! **Cost.** One table of truth values per comparison; evaluating an expression only looks them up.

use std::fmt;

use serde_json::Value;
use trimtab::Level;

use super::NamedKnob;

/// Deepest nesting of parentheses and negations.
const MOST_DEPTH: usize = 100;
/// Longest text.
const MOST_BYTES: usize = 10_000;

/// A condition on a combination.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    text: String,
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// The knob, and whether the condition holds for each of its levels.
    Compare(usize, Vec<bool>),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Expression {
    /// Parses an expression; an error marks the place.
    pub(crate) fn parse(text: &str, knobs: &[NamedKnob]) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("an expression of {} bytes is too long; at most {MOST_BYTES} are read", text.len()));
        }
        let mut parser = Parser { text, place: 0, depth: 0, knobs };
        let root = parser.any()?;
        parser.skip();
        match parser.rest().is_empty() {
            true => Ok(Self { text: text.trim().to_string(), root }),
            false => Err(parser.fault("expected `&`, `|` or the end")),
        }
    }

    /// Whether it holds for a combination.
    pub(crate) fn holds(&self, levels: &[Level]) -> bool {
        self.root.holds(levels)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Node {
    fn holds(&self, levels: &[Level]) -> bool {
        match self {
            Self::Compare(knob, truth) => {
                levels.get(*knob).and_then(|level| truth.get(usize::from(*level))).copied().unwrap_or(false)
            }
            Self::Not(node) => !node.holds(levels),
            Self::All(nodes) => nodes.iter().all(|node| node.holds(levels)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(levels)),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    place: usize,
    depth: usize,
    knobs: &'a [NamedKnob],
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.place..]
    }

    fn skip(&mut self) {
        self.place += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes an operator if it comes next.
    fn take(&mut self, sign: &str) -> bool {
        self.skip();
        let is_next = self.rest().starts_with(sign);
        self.place += if is_next { sign.len() } else { 0 };
        is_next
    }

    /// An error message with the place marked under the text.
    fn fault(&self, what: &str) -> String {
        let before = self.text[..self.place].chars().count();
        format!("{what}\n  {}\n  {}^ here", self.text.replace(['\n', '\r', '\t'], " "), " ".repeat(before))
    }

    fn any(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.all()?];
        while self.take("|") {
            self.take("|");
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.factor()?];
        while self.take("&") {
            self.take("&");
            nodes.push(self.factor()?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::All(nodes) })
    }

    fn factor(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.fault(&format!("parentheses and `!` nest at most {MOST_DEPTH} deep")));
        }
        let node = if self.take("!") {
            Node::Not(Box::new(self.factor()?))
        } else if self.take("(") {
            let node = self.any()?;
            if !self.take(")") {
                return Err(self.fault("expected `)`"));
            }
            node
        } else {
            self.compare()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn compare(&mut self) -> Result<Node, String> {
        self.skip();
        let start = self.place;
        let name = self.word()?;
        let Some(place) = self.knobs.iter().position(|knob| knob.name() == name) else {
            self.place = start;
            let names: Vec<_> = self.knobs.iter().map(NamedKnob::name).collect();
            return Err(self.fault(&format!("there is no knob `{name}`; there are {}", names.join(", "))));
        };
        self.skip();
        let signs = ["!=", "<=", ">=", "=", "<", ">"];
        let Some(sign) = signs.into_iter().find(|sign| self.take(sign)) else {
            return Err(self.fault("expected =, !=, <, <=, > or >="));
        };
        if sign == "=" {
            self.take("=");
        }
        self.skip();
        let start = self.place;
        let level = self.word()?;
        let truth = truth(&self.knobs[place], sign, &level).map_err(|what| {
            self.place = start;
            self.fault(&what)
        })?;
        Ok(Node::Compare(place, truth))
    }

    /// Parses a word, or anything in quotes.
    fn word(&mut self) -> Result<String, String> {
        self.skip();
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| *c == '\'' || *c == '"') {
            let Some(length) = rest[1..].find(quote) else { return Err(self.fault("this quote is never closed")) };
            self.place += length + 2;
            return Ok(rest[1..=length].to_string());
        }
        let is_end = |c: char| c.is_whitespace() || "=!<>&|()'\"".contains(c);
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.fault("expected a name or a level"));
        }
        self.place += word.len();
        Ok(word.to_string())
    }
}

/// The levels for which a comparison holds.
fn truth(knob: &NamedKnob, sign: &str, level: &str) -> Result<Vec<bool>, String> {
    let all = 0..knob.count();
    if sign == "=" || sign == "!=" {
        let found = usize::from(knob.find(&Value::from(level))?);
        return Ok(all.map(|own| (own == found) == (sign == "=")).collect());
    }
    let Ok(bound) = level.parse::<f64>() else { return Err(format!("`{level}` is not a number to compare with")) };
    all.map(|own| {
        let Some(own) = knob.number(own as Level) else {
            return Err(format!("the levels of `{}` are no numbers, so {sign} means nothing", knob.name()));
        };
        Ok(match sign {
            "<" => own < bound,
            "<=" => own <= bound,
            ">" => own > bound,
            _ => own >= bound,
        })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs() -> Vec<NamedKnob> {
        ["opt=O1,O2,O3", "unroll=1,2,4,8", "mode='a b',c"].iter().map(|knob| knob.parse().unwrap()).collect()
    }

    /// Which of the 12 combinations of opt and unroll an expression is true of, as `opt` × `unroll`
    /// numbers.
    fn holds(text: &str) -> Vec<(Level, Level)> {
        let expression = Expression::parse(text, &knobs()).unwrap();
        let all = (0..3).flat_map(|opt| (0..4).map(move |unroll| (opt, unroll)));
        all.filter(|(opt, unroll)| expression.holds(&[*opt, *unroll, 0])).collect()
    }

    #[test]
    fn expressions_by_hand() {
        assert_eq!(holds("opt=O1 & unroll=8"), [(0, 3)]);
        assert_eq!(holds("opt != O1 & unroll >= 4 & unroll<8"), [(1, 2), (2, 2)]);
        // & before |: O1 at any unroll, or O3 at 1.
        assert_eq!(holds("opt=O1|opt=O3&unroll=1"), [(0, 0), (0, 1), (0, 2), (0, 3), (2, 0)]);
        assert_eq!(holds("(opt=O1|opt=O3)&unroll=1"), [(0, 0), (2, 0)]);
        assert_eq!(holds("!(opt=O1|opt=O3) && !unroll>1"), [(1, 0)]);
        assert_eq!(holds("opt==O2 & unroll <= 2.5"), [(1, 0), (1, 1)]);
        assert_eq!(holds("!!opt=O2 & unroll=1.0"), [(1, 0)]);
    }

    #[test]
    fn mistakes_point_at_the_word() {
        for (text, what, place) in [
            ("opt=O4", "it has O1, O2, O3", 4),
            ("opt=O1 & unrol=8", "there is no knob `unrol`", 9),
            ("opt O1", "expected =", 4),
            ("opt=O1 unroll=1", "expected `&`", 7),
            ("(opt=O1", "expected `)`", 7),
            ("opt<2", "are no numbers", 4),
            ("unroll<x", "`x` is not a number", 7),
            ("opt=", "expected a name or a level", 4),
            ("", "expected a name or a level", 0),
            ("opt='O1", "never closed", 4),
            ("& opt=O1", "expected a name", 0),
        ] {
            let error = Expression::parse(text, &knobs()).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
            let mark = error.lines().last().unwrap().find('^').unwrap();
            assert_eq!(mark, place + 2, "{error}");
        }
        let deep = format!("{}opt=O1", "!".repeat(5000));
        assert!(Expression::parse(&deep, &knobs()).unwrap_err().contains("nest at most"));
        assert!(Expression::parse(&" ".repeat(20_000), &knobs()).unwrap_err().contains("too long"));
    }

    #[test]
    fn no_text_makes_it_panic() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
        let words = ["opt", "unroll", "=", "!=", "<", "&", "|", "!", "(", ")", "O1", "8", "'", "\"", " ", "é", "\u{0}"];
        for _ in 0..20_000 {
            let length = random.random_range(0..12);
            let text: String = (0..length).map(|_| words[random.random_range(0..words.len())]).collect();
            let _ = Expression::parse(&text, &knobs());
        }
    }
}
