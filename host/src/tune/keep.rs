//! What happens, kept everywhere: in the log, in the tuner and in the history.

use super::history::{History, Trial};
use super::log::Log;
use crate::error::Error;
use crate::session::record::{Happened, Place, Record};
use crate::session::{Ask, Session};
use crate::space::NamedSpace;

/// Logs a record by the names of its levels.
pub(crate) fn write(record: Record, space: &NamedSpace, log: &mut Option<Log>) -> Result<(), Error> {
    log.as_mut().map_or(Ok(()), |log| log.write(&record.named(space)))
}

/// Logs an ask; returns the place of its trial.
pub(crate) fn ask(ask: &Ask, space: &NamedSpace, history: &mut History, log: &mut Option<Log>) -> Result<usize, Error> {
    write(ask.record(), space, log)?;
    history.trials.push(Trial::new(ask));
    Ok(history.trials.len() - 1)
}

/// Logs the outcome of a trial, then tells the tuner and the history.
pub(crate) fn outcome(
    happened: Happened,
    place: usize,
    session: &mut Session,
    history: &mut History,
    log: &mut Option<Log>,
) -> Result<(), Error> {
    let trial = &history.trials[place];
    let asked = Place { id: Some(trial.id), config: None, levels: Some(trial.levels.clone()) };
    let record = Record { place: asked, happened };
    write(record.clone(), session.space(), log)?;
    session.apply(record.clone()).map_err(Error::Failed)?;
    match record.happened {
        Happened::Failed { details: Some(details) } => history.fail(place, &details),
        Happened::Tell { value, numbers, seconds, .. } => {
            history.finish(place, Ok(value), seconds.unwrap_or(0.0));
            history.limit(numbers, &session.study().limits);
        }
        _ => {}
    }
    Ok(())
}
