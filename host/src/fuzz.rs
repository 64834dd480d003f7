//! What the command reads: JSON lines of `serve`, space files, expressions, DIMACS, CSV, tune logs.
//! Each function takes any bytes and panics if a promise breaks. `cargo xtask fuzz` and the tests
//! call the same ones.

use serde_json::{Map, Value};
use trimtab::Level;

use crate::space::expression::Expression;
use crate::space::{NamedKnob, NamedSpace, strict};

pub use crate::bench::problem::{fuzz_csv as csv, fuzz_dimacs as dimacs};
pub use crate::serve::fuzz_lines as lines;
pub use crate::tune::fuzz_log as log;

/// A function with its name.
type Target = (&'static str, fn(&[u8]));

/// All functions with their names.
pub const TARGETS: [Target; 6] =
    [("lines", lines), ("space", space), ("expression", expression), ("dimacs", dimacs), ("csv", csv), ("log", log)];

/// A space that is read, as TOML or JSON, is written as it was read.
pub fn space(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let json = match strict::parse(text) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    };
    let toml: Option<Map<String, Value>> = toml::from_str(text).ok();
    for fields in [json, toml].into_iter().flatten() {
        let Ok(space) = NamedSpace::from_fields(&fields) else { continue };
        let again = NamedSpace::from_fields(&space.to_fields()).expect("what was read can be written");
        assert_eq!(space, again);
        let levels = vec![0; space.knobs().len()];
        assert_eq!(space.levels(&space.named(&levels)), Ok(levels));
    }
}

/// An expression holds or does not for every combination, and means the same when written again.
pub fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let knobs: Vec<NamedKnob> =
        ["opt=O1,O2,O3", "n=1..4", "gain=log:0.1,1,10"].iter().map(|knob| knob.parse().expect("a knob")).collect();
    let Ok(read) = Expression::parse(text, &knobs) else { return };
    let again = Expression::parse(&read.to_string(), &knobs).expect("what was read can be written");
    for i in 0..36 {
        let levels: [Level; 3] = [i % 3, i / 3 % 4, i / 12];
        assert_eq!(read.holds(&levels), again.holds(&levels));
    }
}

#[cfg(test)]
#[path = "../../tests/fuzz/src/smoke.rs"]
mod smoke;

/// A short run of all targets, where there is no fuzzer.
#[test]
fn no_bytes_make_a_reader_panic() {
    for (name, target) in TARGETS {
        smoke::run(name, target, 2000);
    }
}
