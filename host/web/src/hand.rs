//! Five switches by hand: all 32 combinations, what the model believes of each, and the next choice.
//!
//! **Choices.** Nothing is kept between calls: both tuners start anew and learn all values, so a
//! value can be changed or taken back.

use serde_json::{Value, json};
use trimtab::{Combination, Config, Distribution, Region, Space};

use crate::map::{self, BITS, COMBINATIONS, SWITCHES, Told};

type Five = trimtab::tuner!(SWITCHES, observations: COMBINATIONS, rows: COMBINATIONS);

/// A value for those who do not want to invent one: each switch has a weight, and neighbours that
/// are both on disturb each other.
pub(crate) fn example(c: &Combination<BITS>) -> f32 {
    const WEIGHTS: [f32; BITS] = [1.5, -2.0, 0.5, -1.0, -1.5];
    const TOGETHER: f32 = 1.75;
    let levels = c.levels();
    let single: f32 = levels.iter().zip(WEIGHTS).map(|(level, weight)| f32::from(*level) * weight).sum();
    let pairs = levels.windows(2).filter(|pair| pair[0] == 1 && pair[1] == 1).count();
    5.0 + single + TOGETHER * pairs as f32
}

/// What both methods make of the values: `told` lists indices and values in order.
pub(crate) fn state(seed: u64, map: Distribution, region: Region, told: &[(u64, f32)]) -> Result<Value, String> {
    let space = Space::new(&SWITCHES).map_err(|error| error.to_string())?;
    let told: Vec<Told> = told
        .iter()
        .map(|(index, value)| space.at(*index).map(|c| (c, *value)).ok_or("there is no such combination"))
        .collect::<Result<_, _>>()?;
    let mut tuner = Five::new();
    tuner.init(space.clone(), Config::default(), seed).map_err(|error| error.to_string())?;
    for (c, value) in &told {
        tuner.tell(c, *value).map_err(|error| error.to_string())?;
    }
    let cells = (0..COMBINATIONS as u64).filter_map(|index| space.at(index)).map(|c| {
        let estimate = tuner.predict(&c);
        let value = told.iter().find(|(own, _)| *own == c).map(|(_, value)| *value);
        json!({
            "levels": c.levels(), "value": value, "mean": estimate.map(|e| e.mean),
            "deviation": estimate.map(|e| e.std_dev), "example": example(&c),
        })
    });
    let cells: Vec<Value> = cells.collect();
    let relevance: Vec<f32> = (0..BITS).map(|knob| tuner.relevance(knob)).collect();
    let next = tuner.ask().ok().map(|next| json!({"index": space.index(&next.combination), "score": next.score}));
    let is_random = told.len() < usize::from(Config::default().initial);
    Ok(json!({
        "cells": cells, "next": next, "random": is_random, "relevance": relevance,
        "map": map::draw(&space, map, region, seed, &told),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_told_value_is_believed_and_another_is_asked() {
        let told: Vec<(u64, f32)> = (0..8).map(|i| (3 * i, i as f32)).collect();
        let state = state(1, Distribution::Uniform01, Region::Polytope, &told).unwrap();
        let next = state["next"]["index"].as_u64().unwrap();
        assert!(told.iter().all(|(index, _)| *index != next));
        assert_eq!(state["cells"][21]["value"], 7.0);
        assert!((state["cells"][21]["mean"].as_f64().unwrap() - 7.0).abs() < 1.0);
        assert_eq!(state["random"], false);
    }

    #[test]
    fn every_value_may_be_told_and_no_other() {
        let all: Vec<(u64, f32)> = (0..32).map(|i| (i, i as f32)).collect();
        assert!(state(1, Distribution::Centred, Region::UnitBox, &all).unwrap()["next"].is_null());
        assert!(state(1, Distribution::Centred, Region::UnitBox, &[(32, 1.0)]).is_err());
        assert!(state(1, Distribution::Centred, Region::UnitBox, &[(3, f32::NAN)]).is_err());
    }
}
