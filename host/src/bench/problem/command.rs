//! A command as a problem: what `trimtab tune` would measure, for races of methods.
//!
//! ```json
//! {"problem": "command", "space": "space.toml", "command": ["sh", "measure.sh", "{flags}"]}
//! ```
//!
//! | field | meaning |
//! |---|---|
//! | `space` | the file of the space, beside the instance |
//! | `command` | as after `--` of `trimtab tune`: the last number that it prints is the cost |
//!
//! **Choices**
//! - Every combination is measured once and kept, in a file beside the instance that ends in
//!   `.measured.jsonl`: methods and seeds share measurements, and a stopped race goes on. So a noisy
//!   cost is frozen; `--noise` adds noise whose truth is known.
//! - A failure is one for every method: its cost is infinite.
//! - Every method starts at the defaults of the space.
//!
//! **Cost.** A process per new combination; `--jobs` of `trimtab bench` runs several at once.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use trimtab::{Knob, Level};

use super::{Instance, Problem};
use crate::error::Error;
use crate::space::NamedSpace;
use crate::tune::{Measurer, Outcome, Stop, Template};

/// The name of the problem in an instance.
pub(super) const NAME: &str = "command";

/// One line of the file of measurements.
#[derive(Serialize, Deserialize)]
struct Line {
    levels: Vec<Level>,
    /// `None` for a failure.
    cost: Option<f64>,
}

struct Command {
    measurer: Measurer,
    knobs: Vec<Knob>,
    known: Mutex<Known>,
}

/// The measurements so far, and their file.
struct Known {
    costs: HashMap<Vec<Level>, f64>,
    file: File,
}

/// Builds the problem of an instance.
pub(super) fn load(instance: &Instance) -> Result<Box<dyn Problem>, Error> {
    let (space, words): (String, Vec<String>) = (instance.get("space")?, instance.get("command")?);
    let space = NamedSpace::read(&instance.path().with_file_name(space))?;
    if !space.conditions().is_empty() {
        return Err(
            instance.fault("some of its knobs matter only sometimes, which most methods cannot take into account")
        );
    }
    if !space.forbidden().is_empty() {
        return Err(instance.fault("its space forbids combinations, which most methods cannot take into account"));
    }
    let template = Template::parse(&words, false, &space)?;
    let knobs = space.core_knobs();
    let known = Mutex::new(Known::open(&instance.path().with_extension("measured.jsonl"), &knobs)?);
    Ok(Box::new(Command { measurer: Measurer::of(space, template), knobs, known }))
}

impl Known {
    fn open(path: &Path, knobs: &[Knob]) -> Result<Self, Error> {
        let fault = |error: &dyn std::fmt::Display| Error::Failed(format!("{}: {error}", path.display()));
        let mut costs = HashMap::new();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        // A last line without its end was torn.
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let Line { levels, cost } = serde_json::from_str(line).map_err(|error| fault(&error))?;
            let fits = |(level, knob): (&Level, &Knob)| usize::from(*level) < knob.levels();
            if levels.len() != knobs.len() || !levels.iter().zip(knobs).all(fits) {
                return Err(fault(&"its measurements are of another space; delete the file"));
            }
            costs.insert(levels, cost.unwrap_or(f64::INFINITY));
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| fault(&error))?;
        if !text.ends_with('\n') {
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            file.set_len(whole as u64).map_err(|error| fault(&error))?;
        }
        Ok(Self { costs, file })
    }
}

impl Command {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(|lock| lock.into_inner())
    }
}

impl Problem for Command {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn cost(&self, levels: &[Level]) -> f64 {
        if let Some(cost) = self.known().costs.get(levels) {
            return *cost;
        }
        // Not locked meanwhile: others measure too.
        let cost = match self.measurer.measure(1, levels, &Stop::default()) {
            Ok((Outcome::Value { value, .. }, _)) => Some(value),
            Ok(_) => None,
            // The program is missing: that ends the race.
            Err(_) => return f64::NAN,
        };
        let mut known = self.known();
        if let Ok(line) = serde_json::to_string(&Line { levels: levels.to_vec(), cost }) {
            // In one call, as another seed may write to the same file.
            let _ = known.file.write_all(format!("{line}\n").as_bytes());
        }
        // Two may have measured at once: the first counts.
        *known.costs.entry(levels.to_vec()).or_insert(cost.unwrap_or(f64::INFINITY))
    }

    fn may_fail(&self) -> bool {
        true
    }

    fn start(&self) -> Option<Vec<Level>> {
        Some(self.measurer.space.defaults())
    }
}
