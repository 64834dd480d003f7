//! The runs on disk: one file per run, complete or absent.
//!
//! `DIR/<problem>/<method>-<seed>[-masked].jsonl`, and `DIR/bench.json` with the settings that all
//! runs of a directory share.
//!
//! **Choices**
//! - A file is written under a temporary name and then renamed, so that every file under its own
//!   name is a complete run.
//! - A run that ends before its budget says so on its last line. A file with fewer lines and without
//!   that word was cut, by a full disk or a copy, and is run again.
//! - A directory keeps the settings of its first run, because runs with another budget or noise
//!   would distort every mean.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::job::Job;
use crate::bench::runs::evaluation::{self, Evaluation};
use crate::error::Error;

/// The settings that all runs of a directory share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// Evaluations per run, including initial ones.
    pub(crate) budget: usize,
    /// Initial evaluations, the same for all methods of a seed.
    pub(crate) init: usize,
    /// Checksum of the --data table; `None` for generated data.
    #[serde(default)]
    pub(crate) data: Option<String>,
    /// Standard deviation of the noise, in standard deviations of random costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) heavy_tails: bool,
    /// The share of combinations whose measurement fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fail: Option<f64>,
}

impl Settings {
    /// The options that have these settings, apart from --data.
    fn options(&self) -> String {
        let Self { budget, init, .. } = self;
        let mut text = format!("--budget {budget} --init {init}");
        text.extend(self.noise.map(|sd| format!(" --noise {sd}")));
        text += if self.heavy_tails { " --heavy-tails" } else { "" };
        text.extend(self.fail.map(|share| format!(" --fail {share}")));
        text
    }
}

/// FNV-1a.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The FNV-1a checksum of a file, in hexadecimal digits.
pub(super) fn checksum(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|error| Error::Usage(format!("--data {}: {error}", path.display())))?;
    Ok(format!("{:016x}", fnv(&bytes)))
}

pub(crate) struct Store {
    folder: PathBuf,
    budget: usize,
    /// The text of `bench.json`, written with the first run, so that a command that fails earlier
    /// leaves nothing behind.
    settings: String,
}

impl Store {
    /// Opens a directory for runs with these settings.
    pub(crate) fn open(folder: &Path, settings: &Settings) -> Result<Self, Error> {
        let text = serde_json::to_string(settings).map_err(|error| Error::Failed(error.to_string()))?;
        let store = Self { folder: folder.to_path_buf(), budget: settings.budget, settings: text + "\n" };
        let path = store.settings_path();
        match fs::read_to_string(&path) {
            Ok(text) => {
                let there: Settings = serde_json::from_str(&text).map_err(|error| {
                    Error::Failed(format!("{} is damaged: {error}; choose another --out", path.display()))
                })?;
                if there.data != settings.data {
                    return Err(Error::Usage(format!(
                        "{} has runs with other data; pass the same --data, or choose another --out",
                        folder.display()
                    )));
                }
                if there != *settings {
                    return Err(Error::Usage(format!(
                        "{} has runs of {}; use the same options, or choose another --out",
                        folder.display(),
                        there.options()
                    )));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(Error::Failed(format!("cannot read {}: {error}", path.display()))),
        }
        Ok(store)
    }

    /// Whether a run is stored in full.
    pub(crate) fn has(&self, job: &Job) -> bool {
        fs::read_to_string(self.path(job)).is_ok_and(|text| is_whole(&text, self.budget))
    }

    /// Stores a run.
    pub(crate) fn write(&self, job: &Job, records: &[Evaluation]) -> Result<(), Error> {
        let mut text = String::new();
        for record in records {
            text += &serde_json::to_string(record).map_err(|error| Error::Failed(error.to_string()))?;
            text.push('\n');
        }
        if !self.settings_path().exists() {
            self.replace(&self.settings_path(), &self.settings)?;
        }
        self.replace(&self.path(job), &text)
    }

    fn settings_path(&self) -> PathBuf {
        self.folder.join("bench.json")
    }

    /// Reads a run.
    pub(crate) fn read(&self, job: &Job) -> Result<Vec<Evaluation>, Error> {
        evaluation::read(&self.path(job))
    }

    fn path(&self, job: &Job) -> PathBuf {
        let masked = if job.mask { "-masked" } else { "" };
        let file = format!("{}-{}{masked}.jsonl", job.method.name, job.seed);
        self.folder.join(job.problem.replace([':', ',', '=', '/'], "-")).join(file)
    }

    /// Writes a file completely or not at all, and creates its folder if needed.
    fn replace(&self, path: &Path, text: &str) -> Result<(), Error> {
        // Another thread, process or machine may write the same file, so each uses its own temporary name.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let half =
            path.with_extension(format!("{}-{:?}-{now:x}.half", std::process::id(), std::thread::current().id()));
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&half, text))
            .and_then(|()| fs::rename(&half, path))
            .map_err(|error| Error::Failed(format!("cannot write {}: {error}; choose another --out", path.display())))
    }
}

/// Whether the lines of a file are a whole run, as far as their number shows.
fn is_whole(text: &str, budget: usize) -> bool {
    let ends_early = |line: &str| serde_json::from_str(line).is_ok_and(|last: Evaluation| last.exhausted);
    text.ends_with('\n') && (text.lines().count() >= budget || text.lines().last().is_some_and(ends_early))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_settings_are_refused_by_their_options() {
        let folder = std::env::temp_dir().join(format!("trimtab-store-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let noisy = Settings { budget: 5, init: 1, noise: Some(0.5), heavy_tails: true, ..Settings::default() };
        fs::write(folder.join("bench.json"), serde_json::to_string(&noisy).unwrap()).unwrap();
        assert!(Store::open(&folder, &noisy).is_ok());
        let plain = Settings { noise: None, heavy_tails: false, ..noisy };
        let message = Store::open(&folder, &plain).err().unwrap().to_string();
        assert!(message.contains("has runs of --budget 5 --init 1 --noise 0.5 --heavy-tails; use"), "{message}");
        // Directories of earlier versions.
        fs::write(folder.join("bench.json"), "{\"budget\":5,\"init\":1,\"data\":null}").unwrap();
        assert!(Store::open(&folder, &plain).is_ok());
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn a_cut_file_is_no_run() {
        let line = |index: usize, more: &str| {
            format!(
                "{{\"problem\":\"bqp\",\"method\":\"random\",\"seed\":0,\"mask\":false,\"index\":{index},\"initial\":false,\
                 \"combination\":[0],\"value\":1.5,\"best\":1.5,\"optimizer_seconds\":0.0,\"objective_seconds\":0.0,\
                 \"optimum\":null,\"test\":null{more}}}\n"
            )
        };
        let whole = line(1, "") + &line(2, "") + &line(3, "");
        assert!(is_whole(&whole, 3));
        assert!(!is_whole(&whole, 4), "cut at the end of a line");
        assert!(!is_whole(&whole[..whole.len() - 1], 3), "cut within a line");
        assert!(!is_whole("", 3));
        let early = line(1, "") + &line(2, ",\"exhausted\":true");
        assert!(is_whole(&early, 3), "the space has only two combinations");
        assert!(!is_whole(&line(1, ""), 3));
    }
}
