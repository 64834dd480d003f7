//! Logs of chips and of `tune`, repeated and compared by the code of `trimtab replay`.

#[path = "../../src/device/replay/verdict.rs"]
#[allow(dead_code)]
mod verdict;

use std::path::PathBuf;

use pyo3::prelude::*;
use serde_json::json;

use crate::device::stream::Runs;
use crate::tune::again::Again;
use crate::tune::log;
use crate::tuner::fault;
use verdict::Verdict;

/// Repeats a log; returns a list with an object per run.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    py.detach(|| repeated(&path)).map_err(fault)
}

fn repeated(path: &std::path::Path) -> Result<String, String> {
    let shown = path.display();
    let stream = std::fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if stream.starts_with(log::START) {
        let of_log = |what: String| format!("the log {shown}: {what}");
        let contents = log::read_from(&mut &stream[..]).map_err(of_log)?.ok_or_else(|| of_log("it is empty".into()))?;
        let again = Again::of(&contents).map_err(|error| of_log(error.to_string()))?;
        let one = json!({
            "name": "tune", "proposals": again.asks, "same": again.same, "chosen": again.chosen,
            "difference": again.difference, "lines": again.lines(),
        });
        return Ok(json!([one]).to_string());
    }
    let (runs, _) = Runs::read(&stream);
    if runs.frames == 0 {
        return Err(format!("{shown} contains no frame; name a log of trimtab watch --log or trimtab tune --log"));
    }
    let all = runs.all.iter().map(|run| {
        let verdict = Verdict::of(run);
        json!({
            "name": run.name(), "proposals": verdict.proposals, "same": verdict.same, "chosen": 0,
            "difference": verdict.difference.as_ref().map(|(_, difference)| difference.to_string()),
            "lines": verdict.lines(run),
        })
    });
    Ok(serde_json::Value::from(all.collect::<Vec<_>>()).to_string())
}
