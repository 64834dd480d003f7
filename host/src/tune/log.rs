//! The log of a run: JSON lines that rebuild the run, so that it can go on.
//!
//! ```text
//! {"trimtab":"0.1.0","log":2,"goal":"minimize","seed":1,"budget":60,"noise":"auto",
//!  "knobs":[…],"command":["./measure.sh","{opt}"],"shell":false,"cost":"last number","crc":"…"}
//! {"event":"ask","id":1,"config":{"opt":"O2"},"mean":null,"std_dev":null,"crc":"…"}
//! …
//! ```
//!
//! The first line is one line in the file. The others are [records](crate::session::record).
//!
//! **Choices**
//! - Records stand in the order in which they happened. That order alone decides the tuner's state,
//!   also with several jobs.
//! - An outcome is on the disk before the run goes on, so a power cut costs at most the
//!   measurements under way.
//! - Each line has a [checksum](super::seal), so that no changed bit becomes another cost. Logs of
//!   format 1 have none and are still read.
//! - A last line without its end was torn. It is dropped, and what it recorded happens again.
//! - A log goes on only with its own space, goal, seed, noise, limits, command and cost; the budget
//!   may change.
//! - One program at a time writes to it.
//!
//! **Cost.** Lines over 4 MiB are refused; the longest that is written is a failure with 128 KiB of
//! text.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::seal;
use crate::error::Error;
use crate::locked;
use crate::session::Study;
use crate::session::noise;
use crate::session::record::{Fields, Happened, Record};
use crate::session::study::goal_name;

/// Version of the log format: in the first, lines had no checksum.
const FORM: u32 = 2;
const WITHOUT_CHECKSUMS: u32 = 1;
/// Longest line.
const MOST_BYTES: u64 = 4 << 20;
/// Most lines: far more than the asks and outcomes of the largest tuner.
const MOST_LINES: usize = 100_000;

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version that began the log.
    trimtab: String,
    log: u32,
    /// The fields of the study.
    #[serde(flatten)]
    study: Fields,
    pub(super) command: Vec<String>,
    pub(super) shell: bool,
    /// How the cost is found, in words.
    pub(super) cost: String,
}

impl Header {
    pub(crate) fn new(study: &Study, command: &[String], shell: bool, cost: String) -> Self {
        Self {
            trimtab: env!("CARGO_PKG_VERSION").into(),
            log: FORM,
            study: study.to_fields(),
            command: command.to_vec(),
            shell,
            cost,
        }
    }

    pub(super) fn version(&self) -> &str {
        &self.trimtab
    }

    pub(crate) fn study(&self) -> Result<Study, String> {
        match self.log {
            WITHOUT_CHECKSUMS | FORM => Study::from_fields(&self.study),
            other => Err(format!("the log has format {other}; this trimtab reads formats 1 to {FORM}")),
        }
    }

    /// Says why a new run cannot go on with this log, or returns `None` if it can.
    fn difference(&self, new: &Self) -> Result<Option<String>, String> {
        let changed = |what: &str, was: &str, is: &str| Some(format!("{what} was {was} and is {is}"));
        let (old, now) = (self.study()?, new.study()?);
        if let Some(difference) = now.space.difference(&old.space) {
            return Ok(Some(difference));
        }
        let command = |header: &Self| {
            let words: Vec<_> = header.command.iter().map(|word| super::template::quoted(word)).collect();
            format!("{}`{}`", if header.shell { "--shell " } else { "" }, words.join(" "))
        };
        Ok(if old.goal != now.goal {
            changed("the goal", goal_name(old.goal), goal_name(now.goal))
        } else if old.seed != now.seed {
            changed("the seed", &old.seed.to_string(), &now.seed.to_string())
        } else if old.noise != now.noise {
            changed("--noise", &noise::text(old.noise), &noise::text(now.noise))
        } else if old.limits != now.limits {
            let named = |study: &Study| match study.limits.is_empty() {
                true => "none".into(),
                false => study.limits.to_string(),
            };
            changed("--limit", &named(&old), &named(&now))
        } else if old.prior != now.prior {
            let named = |study: &Study| study.prior.as_ref().map_or("none".into(), |prior| format!("{prior:?}"));
            changed("--prior", &named(&old), &named(&now))
        } else if (&self.command, self.shell) != (&new.command, new.shell) {
            changed("the command", &command(self), &command(new))
        } else if self.cost != new.cost {
            changed("the cost", &self.cost, &new.cost)
        } else {
            None
        })
    }
}

/// The contents of a log.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) header: Header,
    pub(crate) records: Vec<Record>,
    /// Bytes of complete lines; the rest was torn.
    whole: u64,
    pub(crate) is_torn: bool,
}

impl Contents {
    #[cfg(any(test, fuzzing))]
    pub(super) fn whole(&self) -> usize {
        self.whole as usize
    }

    /// Number of asks.
    pub(crate) fn asks(&self) -> usize {
        self.records.iter().filter(|record| matches!(record.happened, Happened::Ask { .. })).count()
    }
}

/// An open log, to write to.
pub(crate) struct Log {
    file: File,
    path: PathBuf,
    /// Bytes that were read and written.
    length: u64,
}

impl Log {
    /// Opens a log to go on with, or begins one; returns its contents if it had any.
    pub(crate) fn open(path: &Path, header: &Header) -> Result<(Self, Option<Contents>), Error> {
        let fault = |what: String| Error::Failed(format!("the log {}: {what}", path.display()));
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| fault(error.to_string()))?;
        }
        let mut file = locked::open(path).map_err(fault)?;
        let contents = read_from(&mut file).map_err(fault)?;
        if let Some(contents) = &contents {
            let difference = contents.header.difference(header).map_err(fault)?;
            if let Some(difference) = difference {
                return Err(Error::Usage(format!(
                    "the log {} belongs to another run: {difference}; use the same options, or choose another --log",
                    path.display()
                )));
            }
        }
        let whole = contents.as_ref().map_or(0, |contents| contents.whole);
        file.set_len(whole)
            .and_then(|()| file.seek(SeekFrom::Start(whole)))
            .map_err(|error| fault(format!("cannot write to it: {error}")))?;
        let mut log = Self { file, path: path.to_path_buf(), length: whole };
        if contents.is_none() {
            log.line(header, true)?;
        }
        Ok((log, contents))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record.
    pub(crate) fn write(&mut self, record: &Record) -> Result<(), Error> {
        // A lost ask is asked again; an outcome is worth the wait for the disk.
        let is_dear = matches!(record.happened, Happened::Tell { .. } | Happened::Failed { .. });
        self.line(record, is_dear)
    }

    fn line(&mut self, what: &impl Serialize, is_dear: bool) -> Result<(), Error> {
        let shown = self.path.display();
        let mut line =
            serde_json::to_string(what).map_err(|error| Error::Failed(format!("the log {shown}: {error}")))?;
        seal::close(&mut line);
        line.push('\n');
        if line.len() as u64 >= MOST_BYTES {
            return Err(Error::Usage(format!(
                "a line of {} bytes is too long for a log; shorten the levels or the command, or go without --log",
                line.len()
            )));
        }
        if is_dear && !locked::is_at(&self.file, &self.path) {
            return Err(Error::Failed(format!("the log {shown} was deleted or replaced during the run")));
        }
        // What cannot be found out is no reason to stop.
        let found = self.file.metadata().map_or(self.length, |found| found.len());
        if found != self.length {
            return Err(Error::Failed(format!(
                "the log {shown} was changed by another program during the run: it has {found} bytes instead of {}",
                self.length
            )));
        }
        self.length += line.len() as u64;
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| if is_dear { self.file.sync_data() } else { Ok(()) })
            .map_err(|error| Error::Failed(format!("cannot write the log {shown}: {error}; is the disk full?")))
    }
}

/// Reads a log without locking it.
pub(crate) fn read(path: &Path) -> Result<Contents, Error> {
    let fault = |what: String| Error::Failed(format!("the log {}: {what}", path.display()));
    let mut file = File::open(path).map_err(|error| fault(error.to_string()))?;
    read_from(&mut file).map_err(fault)?.ok_or_else(|| fault("it is empty; write one with trimtab tune --log".into()))
}

/// Reads a log; `None` if it is empty.
pub(crate) fn read_from(source: &mut impl Read) -> Result<Option<Contents>, String> {
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    let mut header = None;
    let mut records = Vec::new();
    let (mut whole, mut is_torn) = (0, false);
    // A log of an older version goes on with checksums.
    let mut is_checked = false;
    for number in 1.. {
        if number > MOST_LINES {
            return Err(format!("the file has more than {MOST_LINES} lines; is this a log?"));
        }
        line.clear();
        let length =
            source.by_ref().take(MOST_BYTES).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if length == 0 {
            break;
        }
        if line.last() != Some(&b'\n') {
            if length as u64 == MOST_BYTES {
                return Err(format!("line {number} is longer than {MOST_BYTES} bytes; is this a log?"));
            }
            // A torn line may be dropped, but a file of another kind must not be overwritten.
            if header.is_none() && !is_beginning(&line) {
                return Err(NO_LOG.into());
            }
            is_torn = true;
            break;
        }
        if header.is_none() && !is_beginning(&line) {
            return Err(NO_LOG.into());
        }
        let damaged = |what: &str| format!("line {number} is damaged: {what}");
        let (text, is_sealed) = seal::open(&line).map_err(damaged)?;
        let fields: Fields = serde_json::from_slice(&text).map_err(|error| damaged(&error.to_string()))?;
        is_checked |= is_sealed || fields.get("log").and_then(Value::as_u64) >= Some(FORM.into());
        if is_checked && !is_sealed {
            return Err(damaged("its checksum is missing"));
        }
        if header.is_none() {
            let fields = serde_json::from_value(fields.into());
            header = Some(fields.map_err(|error| damaged(&error.to_string()))?);
        } else {
            records.push(Record::from_fields(&fields).map_err(|error| format!("line {number}: {error}"))?);
        }
        whole += length as u64;
    }
    Ok(header.map(|header| Contents { header, records, whole, is_torn }))
}

/// How a log begins.
pub(crate) const START: &[u8] = b"{\"trimtab\":";

const NO_LOG: &str = "this file is not a log of trimtab tune; choose another --log";

/// Whether a line, as far as it goes, begins like a header.
fn is_beginning(line: &[u8]) -> bool {
    START.iter().zip(line).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::NamedSpace;
    use rand::{RngExt, SeedableRng};
    use trimtab::{Goal, Noise};

    fn header() -> Header {
        let space = NamedSpace::new(vec!["opt=O1,O2".parse().unwrap(), "n=1..4".parse().unwrap()]).unwrap();
        let limits = Default::default();
        let study =
            Study { space, goal: Goal::Minimise, seed: 7, budget: 9, noise: Noise::Given(0.1), limits, prior: None };
        Header::new(&study, &["echo".into(), "{n}".into()], false, "last number".into())
    }

    /// A log as version 0.1.0 wrote it, but for the fields of its first line, which stood in
    /// another order.
    const LINES: &str = r#"{"event":"ask","id":1,"config":{"opt":"O2","n":3},"mean":null,"std_dev":null}
{"event":"tell","id":1,"config":{"opt":"O2","n":3},"value":0.30000000000000004,"seconds":0.5}
{"event":"ask","id":2,"config":{"opt":"O1","n":3},"mean":0.25,"std_dev":1e-9}
{"event":"failed","id":2,"config":{"opt":"O1","n":3},"why":"é","stdout":"\u0000\n","stderr":"","seconds":1.0}
{"event":"resume","budget":12}
"#;

    fn sample() -> Vec<u8> {
        let lines = serde_json::to_string(&header()).unwrap() + "\n" + LINES;
        let sealed = lines.lines().map(|line| {
            let mut line = line.to_string();
            seal::close(&mut line);
            line + "\n"
        });
        sealed.collect::<String>().into_bytes()
    }

    #[test]
    fn what_is_written_reads_back() {
        let contents = read_from(&mut &sample()[..]).unwrap().unwrap();
        assert_eq!(contents.header, header());
        let study = contents.header.study().unwrap();
        assert_eq!((study.budget, study.noise), (9, Noise::Given(0.1)));
        assert!(matches!(contents.records[1].happened, Happened::Tell { value, .. } if value == 0.1 + 0.2));
        assert!(!contents.is_torn && contents.whole == sample().len() as u64 && contents.records.len() == 5);
    }

    #[test]
    fn every_changed_bit_is_noticed() {
        let sample = sample();
        for place in 0..sample.len() - 1 {
            for bit in 0..8 {
                let mut bytes = sample.clone();
                bytes[place] ^= 1 << bit;
                assert!(read_from(&mut &bytes[..]).is_err(), "byte {place}, bit {bit}");
            }
        }
    }

    #[test]
    fn wherever_it_is_torn_the_whole_lines_stay() {
        let sample = sample();
        for length in 0..sample.len() {
            let lines = sample[..length].iter().filter(|byte| **byte == b'\n').count();
            let contents = read_from(&mut &sample[..length]).unwrap();
            assert_eq!(contents.as_ref().map_or(0, |contents| contents.records.len() + 1), lines, "{length}");
            if let Some(contents) = contents {
                assert_eq!(contents.is_torn, sample[length - 1] != b'\n');
                assert!(sample[..contents.whole as usize].ends_with(b"\n"));
            }
        }
    }

    #[test]
    fn other_files_are_left_alone() {
        for text in ["notes", "notes\nmore\n", "{\"a\":1}\n", "\n", "[1]"] {
            assert_eq!(read_from(&mut text.as_bytes()).unwrap_err(), NO_LOG, "{text:?}");
        }
        assert!(read_from(&mut &b""[..]).unwrap().is_none());
        let long = [&sample()[..], &vec![b'x'; MOST_BYTES as usize + 9]].concat();
        assert!(read_from(&mut &long[..]).unwrap_err().contains("line 7 is longer than"));
    }

    #[test]
    fn differences_are_named() {
        let says = |change: &dyn Fn(&mut Header), words: &str| {
            let mut new = header();
            change(&mut new);
            let difference = header().difference(&new).unwrap().unwrap_or_default();
            assert!(difference.contains(words) && difference.is_empty() == words.is_empty(), "{difference}");
        };
        says(&|_| {}, "");
        says(&|new| drop(new.study.insert("budget".into(), 100.into())), "");
        says(&|new| new.trimtab = "9.9.9".into(), "");
        says(&|new| drop(new.study.insert("seed".into(), 8.into())), "the seed was 7 and is 8");
        says(&|new| drop(new.study.insert("goal".into(), "maximize".into())), "the goal was minimize and is maximize");
        says(&|new| drop(new.study.insert("noise".into(), "none".into())), "--noise was 0.1 and is none");
        says(&|new| drop(new.study.insert("limits".into(), "watts < 3".into())), "--limit was none and is watts<3");
        says(&|new| drop(new.study.remove("noise")), "--noise was 0.1 and is auto");
        says(&|new| new.command[1] = "{opt} x".into(), "the command was `echo '{n}'` and is `echo '{opt} x'`");
        says(&|new| new.shell = true, "and is --shell `echo '{n}'`");
        says(&|new| new.cost = "time".into(), "the cost was last number and is time");
        let knobs = serde_json::json!([{"name": "opt", "levels": ["O1", "O3"]}]);
        says(&|new| drop(new.study.insert("knobs".into(), knobs.clone())), "knob `opt` was nominal O1,O2");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(3);
        let sample = sample();
        for _ in 0..3000 {
            let mut bytes = sample.clone();
            for _ in 0..random.random_range(1..6) {
                if bytes.is_empty() {
                    break;
                }
                let place = random.random_range(0..bytes.len());
                match random.random_range(0..4) {
                    0 => bytes[place] = random.random(),
                    1 => drop(bytes.remove(place)),
                    2 => bytes.insert(place, b"{}[]\",:0-\n\\"[random.random_range(0..11)]),
                    _ => bytes.truncate(place.max(1)),
                }
            }
            if let Ok(Some(contents)) = read_from(&mut &bytes[..]) {
                let _ = contents.header.study();
                let _ = contents.header.difference(&header());
            }
        }
    }
}
