//! A log, repeated and drawn: a chip's by the code of `trimtab replay`, one of `trimtab tune` by that of
//! `trimtab replay` and `trimtab report`.

#[path = "../../src/device/replay/picture.rs"]
mod picture;
#[path = "../../src/device/replay/verdict.rs"]
#[allow(dead_code)]
mod verdict;

use serde_json::{Value, json};

use crate::device::stream::Runs;
use crate::tune::again::{self, Again};
use crate::tune::{log, report};
use verdict::Verdict;

/// Largest log that the page reads: a hundred thousand measurements.
const MOST_BYTES: usize = 4 << 20;

/// Operations for the predictions of a report: a quarter of the command's, as a browser takes longer.
const EFFORT: usize = 1_000_000_000;

/// Repeats all runs of a log; each comes with its verdict and its picture.
pub(crate) fn replay(stream: &[u8]) -> Result<Value, String> {
    if stream.len() > MOST_BYTES {
        return Err(format!("the file has more than {MOST_BYTES} bytes; `trimtab replay` reads larger ones"));
    }
    if stream.starts_with(log::START) {
        return tuned(stream);
    }
    let (runs, garbled) = Runs::read(stream);
    if runs.frames == 0 {
        return Err(
            "the file contains no frame of a chip; choose a log of `trimtab watch --log` or `trimtab tune --log`"
                .into(),
        );
    }
    let all = runs.all.iter().map(|run| {
        let verdict = Verdict::of(run);
        let measured = run.outcomes().count();
        json!({
            "name": run.name(), "measured": measured, "failures": run.failures(),
            "seed": run.about.as_ref().map(|about| about.seed.to_string()),
            "best": run.best().map(|(number, step, value)| json!({
                "number": number, "value": value, "levels": run.text(&step.levels),
            })),
            "same": verdict.same, "proposals": verdict.proposals, "differs": verdict.difference.is_some(),
            "lines": verdict.lines(run),
            "picture": (measured > 0).then(|| picture::draw(run, &verdict)),
        })
    });
    Ok(json!({"runs": all.collect::<Vec<_>>(), "garbled": garbled}))
}

/// Asks again what a log of `trimtab tune` asked, and shows what it learned.
fn tuned(stream: &[u8]) -> Result<Value, String> {
    let contents = log::read_from(&mut &stream[..])?.ok_or("the log is empty")?;
    let of_log = |error: crate::error::Error| match error {
        crate::error::Error::Usage(message) => format!("{message}; `trimtab report` takes larger logs"),
        other => other.to_string(),
    };
    let again = Again::of(&contents).map_err(of_log)?;
    let [run, best] = again::facts(&contents).map_err(of_log)?;
    let report = report::render::html(&contents, EFFORT).map_err(of_log)?;
    Ok(json!({
        "tuned": {"run": run, "best": best, "same": again.same, "asks": again.asks,
            "differs": again.difference.is_some(), "lines": again.lines(), "report": report},
        "runs": [], "garbled": 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::CHIP;

    #[test]
    fn the_log_of_a_chip_is_repeated_and_drawn() {
        let replayed = replay(CHIP).unwrap();
        let runs = replayed["runs"].as_array().unwrap();
        assert_eq!(runs.iter().map(|run| run["same"].as_u64().unwrap()).collect::<Vec<_>>(), [120, 40]);
        assert!(runs.iter().all(|run| run["picture"].as_str().unwrap().starts_with("<svg")));
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        assert!(replay(b"notes").unwrap_err().contains("no frame of a chip"));
        assert!(replay(b"{\"trimtab\":\"0.1.0\"}\n").unwrap_err().contains("line 1 is damaged"));
        assert!(replay(&vec![1; MOST_BYTES + 1]).unwrap_err().contains("trimtab replay"));
    }

    #[test]
    fn a_damaged_log_says_where_the_comparison_ends() {
        let mut log = CHIP.to_vec();
        log[CHIP.len() / 2] ^= 4;
        let replayed = replay(&log).unwrap();
        let text = replayed["runs"][0]["lines"].to_string();
        assert!(text.contains("missing") && replayed["garbled"] == 1, "{text}");
    }
}
