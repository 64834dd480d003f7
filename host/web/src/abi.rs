//! What the page calls: numbers and bytes in, an answer out.
//!
//! | call | does |
//! |---|---|
//! | `input(n)` | returns where to write n bytes for the next call |
//! | `answer()` | returns where the last answer lies |
//! | all others | return the length of their answer in bytes: JSON, or `f32` for `…_truth` and `…_belief` |
//!
//! A JSON answer with the field `error` says what went wrong.

use std::cell::RefCell;

use serde_json::{Value, json};
use trimtab::{Distribution, Region};
use trimtab_firmware::antenna::Network;

use crate::antenna::{self, Layer, Live, Settings};
use crate::{bits, hand, replay};

#[derive(Default)]
struct Page {
    input: Vec<u8>,
    answer: Vec<u8>,
    live: Option<Live>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

/// Runs a call and keeps its answer.
fn answered(call: impl FnOnce(&mut Page) -> Result<Value, String>) -> usize {
    PAGE.with_borrow_mut(|page| {
        let answer = call(page).unwrap_or_else(|error| json!({"error": error}));
        page.answer = answer.to_string().into_bytes();
        page.answer.len()
    })
}

fn numbers(call: impl FnOnce(&Page) -> Vec<f32>) -> usize {
    PAGE.with_borrow_mut(|page| {
        page.answer = call(page).iter().flat_map(|x| x.to_le_bytes()).collect();
        page.answer.len()
    })
}

fn network(resistance: f32, reactance: f32, megahertz: f32) -> Result<Network, String> {
    Network::new(resistance, reactance, megahertz * 1e6).map_err(|error| error.to_string())
}

const NOT_STARTED: &str = "nothing is running; press start";

#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    PAGE.with_borrow_mut(|page| {
        page.input = vec![0; length];
        page.input.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    PAGE.with_borrow(|page| page.answer.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_about(r: f32, x: f32, mhz: f32, is_broken: u32) -> usize {
    answered(|_| {
        let network = network(r, x, mhz)?;
        Ok(antenna::about(&Settings { network, seed: 0, noise: 0.0, is_broken: is_broken != 0, budget: 0 }))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_truth(r: f32, x: f32, mhz: f32) -> usize {
    numbers(|_| network(r, x, mhz).map_or_else(|_| Vec::new(), |network| antenna::truth(&network)))
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_start(r: f32, x: f32, mhz: f32, seed: f64, noise: f32, is_broken: u32, budget: u32) -> usize {
    answered(|page| {
        let network = network(r, x, mhz)?;
        let budget = budget.min(u16::MAX.into()) as u16;
        let live = Live::new(Settings { network, seed: seed as u64, noise, is_broken: is_broken != 0, budget })?;
        let state = live.state();
        page.live = Some(live);
        Ok(state)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_step(count: usize) -> usize {
    answered(|page| page.live.as_mut().ok_or(NOT_STARTED)?.steps(count))
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_move(r: f32, x: f32, mhz: f32, budget: u32) -> usize {
    answered(|page| {
        let network = network(r, x, mhz)?;
        Ok(page.live.as_mut().ok_or(NOT_STARTED)?.relocate(network, budget.min(u16::MAX.into()) as u16))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn antenna_belief(stride: usize, layer: u32) -> usize {
    let layer = match layer {
        0 => Layer::Mean,
        1 => Layer::Deviation,
        _ => Layer::Score,
    };
    numbers(|page| page.live.as_ref().map_or_else(Vec::new, |live| live.belief(stride.max(1), layer)))
}

#[unsafe(no_mangle)]
pub extern "C" fn bits_compare() -> usize {
    answered(|_| bits::compare())
}

/// Replays the log in the input.
#[unsafe(no_mangle)]
pub extern "C" fn replay_input() -> usize {
    answered(|page| replay::replay(&page.input))
}

/// Replays the committed log of the chip.
#[unsafe(no_mangle)]
pub extern "C" fn replay_chip() -> usize {
    answered(|_| replay::replay(bits::CHIP))
}

/// The input lists indices and values: `[[3, 1.5], …]`.
#[unsafe(no_mangle)]
pub extern "C" fn hand_state(seed: f64, map: u32, region: u32) -> usize {
    answered(|page| {
        let list: Value = serde_json::from_slice(&page.input).map_err(|error| error.to_string())?;
        let one = |pair: &Value| Some((pair[0].as_u64()?, pair[1].as_f64()? as f32));
        let told: Option<Vec<(u64, f32)>> = list.as_array().and_then(|list| list.iter().map(one).collect());
        let map = if map == 0 { Distribution::Uniform01 } else { Distribution::Centred };
        let region = if region == 0 { Region::Polytope } else { Region::UnitBox };
        hand::state(seed as u64, map, region, &told.ok_or("a value must be a number")?)
    })
}
