//! `tune --import runs.csv`: measurements from elsewhere, as if this run had made them.
//!
//! ```text
//! opt,unroll,cost
//! O2,4,0.31
//! O3,8,failed
//! ```
//!
//! **Choices**
//! - The whole table is checked before anything happens: one bad row refuses it.
//! - Every row becomes an ask and its outcome, so the log needs no other form, and resumes.
//! - The cost is the column `cost`, or else `value`, or else the only one that is no knob. Others are
//!   ignored, so what `export` wrote can be imported.
//! - A number that a limit is on needs its column, under its name.
//! - A cost of `failed` or nothing is a failure.

use std::path::Path;

use serde_json::Value;
use trimtab::{Level, Noise};

use super::export;
use super::history::{History, Trial};
use super::keep;
use super::log::Log;
use super::plan::Plan;
use crate::error::Error;
use crate::session::csv::{Row, Table};
use crate::session::limits::Numbers;
use crate::session::record::{Details, Happened};
use crate::session::{Session, Study};

/// Largest table in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// One measurement of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Imported {
    pub(super) levels: Vec<Level>,
    /// `None` if it failed.
    pub(super) value: Option<f64>,
    /// The readings that limits are on; none if it failed.
    pub(super) numbers: Numbers,
}

/// Reads a table.
pub(super) fn read(path: &Path, study: &Study) -> Result<Vec<Imported>, Error> {
    let fault = |what: String| Error::Usage(format!("--import {}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?.len();
    if size > MOST_BYTES {
        return Err(fault(format!("the file is too long; at most {MOST_BYTES} bytes are allowed")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let rows = parse(&text, study).map_err(fault)?;
    match rows.len() < study.budget {
        true => Ok(rows),
        false => Err(fault(format!(
            "its {} measurements count, so they leave nothing of the budget of {}; write a larger --budget",
            rows.len(),
            study.budget
        ))),
    }
}

fn parse(text: &str, study: &Study) -> Result<Vec<Imported>, String> {
    let table = Table::parse(text)?;
    let knobs = study.space.knobs();
    let column = |name: &str| table.heads.iter().position(|head| head == name);
    if let Some((i, head)) = table.heads.iter().enumerate().find(|(i, head)| table.heads[..*i].contains(head)) {
        return Err(format!("column {} is called `{head}` like another; rename or delete one", i + 1));
    }
    let columns = knobs.iter().map(|knob| {
        column(knob.name())
            .ok_or_else(|| format!("there is no column `{}`; add it, with the level that the knob had", knob.name()))
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let limited = study.limits.names().into_iter().map(|name| {
        let head = export::column(name);
        let place = column(&head).ok_or_else(|| format!("there is no column `{head}`, which a limit needs; add it"))?;
        Ok((name.to_string(), place))
    });
    let limited = limited.collect::<Result<Vec<_>, String>>()?;
    let is_other = |place: &usize| !columns.contains(place) && limited.iter().all(|(_, own)| own != place);
    let others: Vec<usize> = (0..table.heads.len()).filter(is_other).collect();
    let cost = ["cost", "value"].into_iter().filter_map(column).find(|place| others.contains(place));
    let cost = match (cost, &others[..]) {
        (Some(cost), _) | (None, &[cost]) => cost,
        (None, []) => return Err("there is no column with the cost; add one that is called `cost`".into()),
        (None, _) => {
            let names: Vec<_> = others.iter().map(|place| format!("`{}`", table.heads[*place])).collect();
            return Err(format!("which of {} is the cost? call it `cost`", names.join(", ")));
        }
    };
    let mut rows: Vec<(usize, Imported)> = Vec::new();
    for row in &table.rows {
        let imported = imported(&table, row, (&columns, cost, &limited), study)
            .and_then(|imported| {
                let before = rows.iter().find(|(_, other)| other.levels == imported.levels);
                check_repeat(&imported, before, study.noise)?;
                Ok(imported)
            })
            .map_err(|error| format!("line {}: {error}", row.line))?;
        rows.push((row.line, imported));
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// One row; the columns are those of the knobs, of the cost, and of the numbers that limits are on.
fn imported(
    table: &Table,
    row: &Row,
    (columns, cost, limited): (&[usize], usize, &[(String, usize)]),
    study: &Study,
) -> Result<Imported, String> {
    let level = |(knob, place): (&crate::space::NamedKnob, &usize)| {
        let field = &row.fields[*place];
        // Of a knob that is idle; of another one it is an error below.
        if field.is_empty() && knob.find(&Value::String(String::new())).is_err() {
            return Ok(None);
        }
        let found = knob.find(&Value::String(field.clone()));
        found.or_else(|error| knob.find(&Value::String(table.pointed(field).into_owned())).map_err(|_| error)).map(Some)
    };
    let found: Vec<Option<Level>> = study.space.knobs().iter().zip(columns).map(level).collect::<Result<_, _>>()?;
    let levels = study.space.canonical(found.iter().map(|level| level.unwrap_or(0)).collect());
    let is_missing = |(i, level): &(usize, &Option<Level>)| level.is_none() && !study.space.is_idle(&levels, *i);
    if let Some((i, _)) = found.iter().enumerate().find(is_missing) {
        let name = study.space.knobs()[i].name();
        return Err(format!("the level of `{name}` is empty, but the knob matters here; write one of its levels"));
    }
    if let Some(forbidden) = study.space.forbidding(&levels) {
        return Err(format!("`{forbidden}` forbids this combination; delete the row, or allow it"));
    }
    let field = &row.fields[cost];
    if field.is_empty() || field == "failed" {
        return Ok(Imported { levels, value: None, numbers: Numbers::new() });
    }
    let number = |field: &str| {
        let number = table.pointed(field).parse::<f64>().ok();
        number.filter(|number| (*number as f32).is_finite())
    };
    let numbers = limited.iter().map(|(name, place)| {
        let field = &row.fields[*place];
        let number = number(field).ok_or_else(|| {
            format!("`{field}` of `{name}` is not a number; write digits with a point, or `failed` as the cost")
        })?;
        Ok((name.clone(), number))
    });
    let numbers = numbers.collect::<Result<Numbers, String>>()?;
    let Some(value) = number(field) else {
        return Err(format!("the cost `{field}` is not a number; write digits with a point, or `failed`"));
    };
    Ok(Imported { levels, value: Some(value), numbers })
}

/// Whether the tuner takes a combination again.
fn check_repeat(row: &Imported, before: Option<&(usize, Imported)>, noise: Noise) -> Result<(), String> {
    match before {
        None => Ok(()),
        Some((line, _)) if noise == Noise::None => Err(format!(
            "the same combination as in line {line}, but with --noise none each counts once; delete one of them"
        )),
        Some((line, other)) if other.value.is_none() || row.value.is_none() => Err(format!(
            "the same combination as in line {line}, and one of them failed; delete the one that does not count"
        )),
        Some(_) => Ok(()),
    }
}

/// Takes the rows in that the log does not have yet.
pub(super) fn apply(
    rows: &[Imported],
    plan: &Plan,
    session: &mut Session,
    history: &mut History,
    log: &mut Option<Log>,
) -> Result<(), Error> {
    let is_other = |(row, trial): (&Imported, &Trial)| {
        let is_same = row.value == trial.value() && row.numbers == trial.numbers;
        row.levels != trial.levels || trial.outcome.is_some() && !is_same
    };
    if rows.iter().zip(&history.trials).any(is_other) {
        return Err(Error::Usage(
            "the log does not begin with the measurements of --import; leave --import away, or choose another --log"
                .into(),
        ));
    }
    for (i, row) in rows.iter().enumerate() {
        let place = match history.trials.get(i) {
            Some(trial) if trial.outcome.is_some() => continue,
            Some(_) => i,
            None => {
                let ask = session.ask_for(&row.levels).map_err(Error::Failed)?;
                keep::ask(&ask, &plan.study.space, history, log)?
            }
        };
        let none = String::new;
        let happened = match row.value {
            Some(value) => {
                let (values, numbers) = (Vec::new(), row.numbers.clone());
                Happened::Tell { value, values, numbers, seconds: None }
            }
            None => Happened::Failed {
                details: Some(Box::new(Details {
                    why: "imported as failed".into(),
                    stdout: none(),
                    stderr: none(),
                    seconds: 0.0,
                })),
            },
        };
        keep::outcome(happened, place, session, history, log)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::limits::Limits;
    use crate::space::NamedSpace;
    use trimtab::Goal;

    fn study(noise: Noise) -> Study {
        let mut space =
            NamedSpace::new(["opt=O1,O2", "n=0.5,1,2"].iter().map(|knob| knob.parse().unwrap()).collect()).unwrap();
        space.forbid("opt=O1 & n=2").unwrap();
        let limits = Limits::default();
        Study { space, goal: Goal::Minimise, seed: 1, budget: 9, noise, limits, prior: None }
    }

    #[test]
    fn rows_become_measurements() {
        let numbers = Numbers::new;
        let row = |levels: [Level; 2], value| Imported { levels: levels.to_vec(), value, numbers: numbers() };
        let wanted = [row([1, 0], Some(3.5)), row([0, 1], None), row([1, 2], Some(-4.0))];
        for text in [
            "opt,n,cost\nO2,0.5,3.5\nO1,1,failed\nO2,2,-4\n",
            "n,value,opt\n0.5,3.5,O2\n1,,O1\n2.0,-4e0,O2\n",
            "note;opt;n;cost\nfirst;O2;0,5;3,5\n;O1;1;failed\n;O2;2;-4\n",
        ] {
            assert_eq!(parse(text, &study(Noise::Auto)).unwrap(), wanted, "{text}");
        }
    }

    /// promise: trimtab tune | --import with limits | a column per limited number; a missing one or a bad number is named
    #[test]
    fn limited_numbers_have_columns() {
        let mut study = study(Noise::Auto);
        let limits = ["watts<3", "seconds<9"].map(|limit| limit.parse().unwrap());
        study.limits = Limits::new(limits.to_vec(), &study.space).unwrap();
        let rows = parse("opt,n,time,watts,number seconds\nO2,1,5,2.5,-1\nO1,1,failed,,\n", &study).unwrap();
        let numbers = [("watts".to_string(), 2.5), ("seconds".to_string(), -1.0)];
        assert_eq!((rows[0].value, &rows[0].numbers), (Some(5.0), &numbers.into()));
        assert_eq!((rows[1].value, rows[1].numbers.len()), (None, 0));
        for (text, wanted) in [
            ("opt,n,cost,watts\nO2,1,5,2.5\n", "there is no column `number seconds`, which a limit needs"),
            ("opt,n,cost,watts,number seconds\nO2,1,5,,1\n", "line 2: `` of `watts` is not a number"),
            ("opt,n,cost,watts,number seconds\nO2,1,5,nan,1\n", "line 2: `nan` of `watts` is not a number"),
            ("opt,n,watts,number seconds\nO2,1,5,1\n", "there is no column with the cost"),
        ] {
            let error = parse(text, &study).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }

    #[test]
    fn a_bad_row_is_named_and_says_what_to_do() {
        for (text, wanted) in [
            ("opt,cost\nO2,3\n", "there is no column `n`; add it"),
            ("opt,n\nO2,1\n", "there is no column with the cost; add one that is called `cost`"),
            ("opt,n,a,b\nO2,1,1,1\n", "which of `a`, `b` is the cost? call it `cost`"),
            ("opt,n,n,cost\nO2,1,1,1\n", "column 3 is called `n` like another"),
            ("opt,n,cost\nO2,1,3\nO3,1,3\n", "line 3: knob `opt` has no level O3; it has O1, O2"),
            ("opt,n,cost\nO2,1,3\n\nO1,2,3\n", "line 4: `opt=O1 & n=2` forbids this combination; delete the row"),
            ("opt,n,cost\nO2,1,3 ms\n", "line 2: the cost `3 ms` is not a number; write digits"),
            ("opt,n,cost\nO2,1,1e99\n", "line 2: the cost `1e99` is not a number"),
            ("opt,n,cost\nO2,1,nan\n", "line 2: the cost `nan` is not a number"),
            ("opt,n,cost\nO2,1,3\nO2,1,failed\n", "line 3: the same combination as in line 2, and one of them failed"),
        ] {
            let error = parse(text, &study(Noise::Auto)).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        let twice = "opt,n,cost\nO2,1,3\nO2,1.0,4\n";
        assert_eq!(parse(twice, &study(Noise::Auto)).unwrap().len(), 2);
        assert!(
            parse(twice, &study(Noise::None)).unwrap_err().contains("line 3: the same combination as in line 2, but")
        );
    }
}
