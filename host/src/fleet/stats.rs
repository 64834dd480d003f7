//! A fleet's statistics in a file, so that boards can be added without the old logs.
//!
//! One JSON object: knobs, goal, scale, metric, pseudo-points, the population that boards are compared
//! with, and the sums over boards. Its size does not depend on the number of boards: some 80 KB.

use std::path::Path;

use serde::{Deserialize, Serialize};
use trimtab::{Goal, Knob, Level, Scale as KnobScale};

use super::factors::{Points, Population, Sums};
use super::first::Candidate;
use super::kernel::{Columns, Metric};
use super::model::{Model, Scale};
use crate::bench::method::linalg::Triangle;
use crate::error::Error;
use crate::space::interned;

/// Version of the file.
const FORM: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    trimtab_fleet: u32,
    maximise: bool,
    knobs: Vec<NamedKnob>,
    /// Low, reach, centre, unit, and what a failure counts as.
    scale: [f64; 5],
    map: Vec<Vec<f64>>,
    weight: f64,
    points: Vec<Vec<Level>>,
    reference: Normal,
    boards: f64,
    sums: Normal,
    misfit: [f64; 2],
    repeats: [f64; 2],
    /// Failed combinations with their number of boards; files of earlier versions have none.
    #[serde(default)]
    failed: Vec<(Vec<Level>, u32)>,
    /// Candidates for the first measurement, each with two sums.
    #[serde(default)]
    candidates: Vec<(Vec<Level>, f64, f64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedKnob {
    name: String,
    kind: String,
    levels: usize,
    values: Vec<f32>,
}

/// A vector, a lower triangle, and two variances.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Normal {
    mean: Vec<f64>,
    square: Vec<f64>,
    rest: [f64; 2],
}

/// Writes the statistics of a fleet.
pub(crate) fn write(path: &Path, names: &[String], model: &Model) -> Result<(), Error> {
    let knob = |(knob, name): (&Knob, &String)| {
        let ends;
        let (kind, values) = match knob {
            Knob::Nominal { .. } | Knob::Refused { .. } => ("nominal", &[][..]),
            Knob::Ranked { .. } => ("ranked", &[][..]),
            Knob::Graded { values, scale: KnobScale::Linear } => ("linear", *values),
            Knob::Graded { values, scale: KnobScale::Log } => ("log", *values),
            Knob::Range { first, last, scale, .. } => {
                ends = [*first, *last];
                (if *scale == KnobScale::Linear { "range" } else { "log range" }, &ends[..])
            }
        };
        NamedKnob { name: name.clone(), kind: kind.into(), levels: knob.levels(), values: values.to_vec() }
    };
    let (reference, sums, scale) = (&model.reference, &model.sums, &model.scale);
    let file = File {
        trimtab_fleet: FORM,
        maximise: model.goal == Goal::Maximise,
        knobs: model.knobs.iter().zip(names).map(knob).collect(),
        scale: [scale.low, scale.reach, scale.centre, scale.unit, scale.worst],
        map: model.metric.map.clone(),
        weight: model.metric.weight,
        points: model.points.places.iter().map(|place| place.levels.clone()).collect(),
        reference: Normal {
            mean: reference.mean.clone(),
            square: reference.spread.entries().to_vec(),
            rest: [reference.rest, reference.nugget],
        },
        boards: sums.boards,
        sums: Normal { mean: sums.mean.clone(), square: sums.square.entries().to_vec(), rest: [0.0; 2] },
        misfit: [sums.misfit, sums.count],
        repeats: [model.again, model.square],
        failed: model.failed.iter().map(|(levels, count)| (levels.clone(), *count)).collect(),
        candidates: model.candidates.iter().map(|own| (own.levels.clone(), own.above, own.weight)).collect(),
    };
    let text = serde_json::to_string(&file).map_err(|error| Error::Failed(format!("cannot write JSON: {error}")))?;
    super::learn::write(path, (text + "\n").as_bytes())
}

/// Reads the statistics of a fleet and the names of its knobs.
pub(crate) fn read(path: &Path) -> Result<(Model, Vec<String>), Error> {
    let fault = |what: String| Error::Failed(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| {
        fault(format!("{error}; trimtab learn writes it beside the prior, and boards can be added only with it"))
    })?;
    let file: File =
        serde_json::from_str(&text).map_err(|error| fault(format!("no statistics of a fleet: {error}")))?;
    model(file).ok_or_else(|| fault("its numbers contradict each other; learn from the logs again".into()))
}

fn model(file: File) -> Option<(Model, Vec<String>)> {
    let knob = |knob: &NamedKnob| {
        let levels = u16::try_from(knob.levels).unwrap_or(u16::MAX);
        Some(match knob.kind.as_str() {
            "nominal" => Knob::nominal(levels),
            "ranked" => Knob::ranked(levels),
            "linear" => Knob::graded(interned(knob.values.clone()), KnobScale::Linear),
            "log" => Knob::graded(interned(knob.values.clone()), KnobScale::Log),
            "range" | "log range" => {
                let [first, last] = *knob.values.first_chunk()?;
                let scale = if knob.kind == "range" { KnobScale::Linear } else { KnobScale::Log };
                let range = Knob::Range { first, last, top: u16::try_from(knob.levels.checked_sub(1)?).ok()?, scale };
                trimtab::Space::<1>::new(&[range]).ok().map(|_| range)?
            }
            _ => return None,
        })
    };
    let knobs: Vec<Knob> = file.knobs.iter().map(knob).collect::<Option<_>>()?;
    let columns = Columns::new(&knobs);
    let size = file.points.len();
    let is_point = |levels: &Vec<Level>| {
        levels.len() == knobs.len()
            && levels.iter().zip(&knobs).all(|(level, knob)| usize::from(*level) < knob.levels())
    };
    let is_sane = file.trimtab_fleet == FORM
        && size > 0
        && file.points.iter().all(is_point)
        && file.failed.iter().all(|(levels, _)| is_point(levels))
        && file.candidates.iter().all(|(levels, ..)| is_point(levels))
        && file.map.iter().all(|row| row.len() == columns.count)
        && [&file.reference, &file.sums].iter().all(|own| own.mean.len() == size);
    let triangle = |entries: &[f64]| {
        let mut triangle = Triangle::zeros(size);
        (entries.len() == triangle.entries().len()).then(|| triangle.entries_mut().copy_from_slice(entries))?;
        Some(triangle)
    };
    if !is_sane {
        return None;
    }
    let metric = Metric { map: file.map, weight: file.weight };
    let points = Points::new(&columns, &metric, &file.points)?;
    let [low, reach, centre, unit, worst] = file.scale;
    let reference = Population {
        mean: file.reference.mean,
        spread: triangle(&file.reference.square)?,
        rest: file.reference.rest[0],
        nugget: file.reference.rest[1],
    };
    let sums = Sums {
        boards: file.boards,
        mean: file.sums.mean,
        square: triangle(&file.sums.square)?,
        misfit: file.misfit[0],
        count: file.misfit[1],
    };
    let model = Model {
        goal: if file.maximise { Goal::Maximise } else { Goal::Minimise },
        columns,
        metric,
        scale: Scale { low, reach, centre, unit, worst },
        points,
        reference,
        sums,
        again: file.repeats[0],
        square: file.repeats[1],
        failed: file.failed.into_iter().collect(),
        candidates: file
            .candidates
            .into_iter()
            .map(|(levels, above, weight)| Candidate { levels, above, weight })
            .collect(),
        knobs,
    };
    Some((model, file.knobs.into_iter().map(|knob| knob.name).collect()))
}
