//! What boards leave behind, in any of its forms, as measurements to learn from.
//!
//! | form | from |
//! |---|---|
//! | JSON lines | `trimtab tune --log` |
//! | one JSON object | the `export` of `trimtab serve` |
//! | frames | `trimtab watch --log`, or the bytes of a chip's serial port; a chip with its log in flash sends it after a boot |
//! | flash | a copy of exactly the pages that `Persistent` keeps its log in; the caller says how they are laid out |
//!
//! **Choices**
//! - A flash has neither knobs nor goal nor sizes in it. None is guessed: with another layout no checksum
//!   fits, and the file is refused.
//! - Of a stream the last run with a measurement counts: one board, one log.
//! - A combination that a board measured several times counts once, with its mean; how its values
//!   differ is the noise.
//! - A combination that failed and never had a cost is a failure of its board; one that also had costs
//!   has those.

use std::collections::HashMap;
use std::path::Path;

use trimtab::{Event, Goal, Knob, Level};
use trimtab_embedded::journal::{Entry, Geometry, read_image};

use super::model::Log;
use crate::device::stream::Runs;
use crate::error::Error;
use crate::session::Study;
use crate::session::record::{Happened, Record};
use crate::space::{MOST_KNOBS, NamedSpace};
use crate::tune::{export, log};

/// Fewest combinations with a cost.
const LEAST: usize = 4;
/// Largest file.
const MOST_BYTES: u64 = 64 << 20;

/// One board.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// The file.
    pub(crate) name: String,
    pub(crate) names: Vec<String>,
    pub(crate) knobs: Vec<Knob>,
    pub(crate) goal: Goal,
    pub(crate) log: Log,
    pub(crate) failures: usize,
    /// Whether the end of the file was cut off.
    pub(crate) is_torn: bool,
}

/// How copies of a flash are laid out, and what they mean.
pub(crate) struct Flash {
    pub(crate) geometry: Geometry,
    pub(crate) space: NamedSpace,
    pub(crate) goal: Goal,
}

/// Reads a file.
pub(crate) fn read(path: &Path, flash: Option<&Flash>) -> Result<Board, Error> {
    let fault = |what: String| Error::Failed(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?.len();
    if size > MOST_BYTES {
        return Err(fault(format!("the file is too long; at most {MOST_BYTES} bytes are allowed")));
    }
    let bytes = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
    let name = path.display().to_string();
    let board = match bytes.first() {
        None => Err("it is empty; write one with trimtab tune --log".into()),
        Some(b'{') => match export::message(path) {
            Some(fields) => {
                export::of_message(&fields).and_then(|(study, records)| session(name, study, records, false))
            }
            None => {
                let contents = log::read(path)?;
                contents.header.study().and_then(|study| session(name, study, contents.records, contents.is_torn))
            }
        },
        Some(_) => match flash {
            Some(flash) => image(name, &bytes, flash),
            None if bytes.starts_with(b"TRMJ") => Err(
                "it is a copy of a chip's flash; say how it is laid out: --flash-page, --flash-word, --flash-records, \
                     --space and --goal"
                    .into(),
            ),
            None => stream(name, &bytes),
        },
    };
    let board = board.map_err(fault)?;
    if board.log.costs.len() < LEAST {
        return Err(fault(format!(
            "it has {} combinations with a cost; a board needs at least {LEAST}",
            board.log.costs.len()
        )));
    }
    Ok(board)
}

/// Gathers the values of each combination.
#[derive(Default)]
struct Gathered {
    order: Vec<Vec<Level>>,
    values: HashMap<Vec<Level>, Vec<f64>>,
    failed: Vec<Vec<Level>>,
    failures: usize,
}

impl Gathered {
    fn add(&mut self, levels: Vec<Level>, value: f64) {
        let values = self.values.entry(levels.clone()).or_default();
        if values.is_empty() {
            self.order.push(levels);
        }
        values.push(value);
    }

    fn fail(&mut self, levels: Vec<Level>) {
        self.failures += 1;
        if !self.failed.contains(&levels) {
            self.failed.push(levels);
        }
    }

    fn log(self, goal: Goal) -> Log {
        let mut log = Log::default();
        log.failed.extend(self.failed.iter().filter(|levels| !self.values.contains_key(*levels)).cloned());
        for levels in self.order {
            let values = &self.values[&levels];
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            log.again += values.len() as f64 - 1.0;
            log.square += values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
            log.costs.push(if goal == Goal::Maximise { -mean } else { mean });
            log.levels.push(levels);
        }
        log
    }
}

/// A run of `tune` or `serve`.
fn session(name: String, study: Study, records: Vec<Record>, is_torn: bool) -> Result<Board, String> {
    if !study.space.conditions().is_empty() {
        return Err(
            "some of its knobs matter only sometimes, which a prior cannot express; tune without only-if".into()
        );
    }
    let (goal, knobs, space) = (study.goal, study.space.core_knobs(), study.space);
    let names = space.knobs().iter().map(|knob| knob.name().to_string()).collect();
    let (mut gathered, mut asked) = (Gathered::default(), HashMap::new());
    for (i, record) in records.into_iter().enumerate() {
        let fault = |error: String| format!("record {}: {error}", i + 1);
        let place = &record.place;
        let named = place.config.as_ref().map(|config| space.levels(config)).transpose().map_err(fault)?;
        let levels = named.or_else(|| place.levels.clone()).or_else(|| asked.get(&place.id?).cloned());
        if let (Happened::Ask { .. }, Some(id), Some(levels)) = (&record.happened, place.id, &levels) {
            asked.insert(id, levels.clone());
        }
        let is_level = |(knob, level): (&Knob, &Level)| usize::from(*level) < knob.levels();
        let checked = levels.filter(|levels| levels.len() == knobs.len() && knobs.iter().zip(levels).all(is_level));
        let checked = checked.ok_or_else(|| fault("it names no combination of these knobs".into()));
        match record.happened {
            Happened::Tell { value, values, .. } => {
                let (levels, values) = (checked?, if values.is_empty() { vec![value] } else { values });
                values.into_iter().for_each(|value| gathered.add(levels.clone(), value));
            }
            Happened::Failed { .. } => gathered.fail(checked?),
            _ => {}
        }
    }
    let failures = gathered.failures;
    Ok(Board { name, names, knobs, goal, log: gathered.log(goal), failures, is_torn })
}

/// The journal in a copy of a chip's flash: what came after its last restart.
fn image(name: String, bytes: &[u8], flash: &Flash) -> Result<Board, String> {
    let Flash { geometry, space, goal } = flash;
    if !space.conditions().is_empty() {
        return Err("some of its knobs matter only sometimes, which a prior cannot express".into());
    }
    let knobs = space.core_knobs();
    let (mut gathered, mut strange) = (Gathered::default(), 0);
    let is_level = |(knob, level): (&Knob, &Level)| usize::from(*level) < knob.levels();
    let damaged = read_image::<MOST_KNOBS>(bytes, *geometry, |entry| match entry {
        Entry::Restarted => gathered = Gathered::default(),
        Entry::Record(record) => {
            let levels = record.levels();
            match record.event {
                _ if levels.len() != knobs.len() || !knobs.iter().zip(levels).all(is_level) => strange += 1,
                Event::Told(value) | Event::Measured(value, _) => gathered.add(levels.to_vec(), value.into()),
                Event::Failed => gathered.fail(levels.to_vec()),
                Event::Enqueued | Event::Asked | Event::Cancelled => {}
            }
        }
    });
    let damaged =
        damaged.map_err(|error| format!("{error}; check --flash-page, --flash-word, --flash-records and --space"))?;
    if strange > 0 {
        return Err(format!("{strange} of its records are of other knobs; check --space"));
    }
    let names = space.knobs().iter().map(|knob| knob.name().to_string()).collect();
    let failures = gathered.failures;
    Ok(Board { name, names, knobs, goal: *goal, log: gathered.log(*goal), failures, is_torn: damaged > 0 })
}

/// The stream of a chip.
fn stream(name: String, bytes: &[u8]) -> Result<Board, String> {
    let (runs, _) = Runs::read(bytes);
    let run = runs.all.iter().rev().find(|run| run.outcomes().next().is_some());
    let run = run.ok_or("it is no log: neither of trimtab tune, nor of trimtab serve, nor of a chip")?;
    let knobs = run.knobs().ok_or("the frames with the knobs are missing; send the stream from its hello on")?;
    let names = (0..knobs.len()).map(|i| run.knob_name(i).map_or_else(|| format!("knob {i}"), String::from)).collect();
    let goal = run.goal();
    let mut gathered = Gathered::default();
    for step in run.outcomes() {
        match step.event {
            Event::Told(value) | Event::Measured(value, _) => gathered.add(step.levels.clone(), value.into()),
            Event::Failed => gathered.fail(step.levels.clone()),
            Event::Enqueued | Event::Asked | Event::Cancelled => {}
        }
    }
    let failures = gathered.failures;
    Ok(Board { name, names, knobs, goal, log: gathered.log(goal), failures, is_torn: run.lost > 0 })
}
