//! Writes a prior as the core reads it: see `core/src/surrogate/fleet_prior.rs` for the bytes.
//!
//! **Choices**
//! - Numbers are 16 bits with one scale per row: that is what fits, and what the trial ran with.
//! - The core checks what was written before anyone gets it.

use trimtab::{FleetPrior, Goal, Knob, Level, MOST_BYTES, fleet_fingerprint};

use super::kernel::Columns;

/// A prior in f64.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    pub(crate) goal: Goal,
    pub(crate) boards: u32,
    pub(crate) low: f64,
    pub(crate) reach: f64,
    pub(crate) centre: f64,
    pub(crate) unit: f64,
    pub(crate) rest: f64,
    pub(crate) weight: f64,
    pub(crate) nugget: f64,
    pub(crate) noise: f64,
    /// A, row by row.
    pub(crate) map: Vec<Vec<f64>>,
    pub(crate) best: Vec<Level>,
    /// Per pseudo-point: its levels, its coordinates, and its weights in mean and factors.
    pub(crate) points: Vec<(Vec<Level>, Vec<f64>, Vec<f64>)>,
}

/// As many pseudo-points as fit.
pub(crate) fn room(knobs: &[Knob], rows: usize, factors: usize, has_levels: bool) -> usize {
    let columns = Columns::new(knobs).count;
    let fixed = 56 + 4 * (2 * rows + 1 + factors) + packed(knobs, &[]).len() + 2 * rows * columns + 8;
    let each = 2 * (rows + 1 + factors) + if has_levels { packed(knobs, &[]).len() } else { 0 };
    (MOST_BYTES.saturating_sub(fixed) / each).min(255)
}

impl Numbers {
    /// The bytes, checked by the core.
    pub(crate) fn write(&self, knobs: &[Knob]) -> Result<Vec<u8>, String> {
        let (rows, columns) = (self.map.len(), Columns::new(knobs).count);
        let factors = self.points.first().map_or(0, |point| point.2.len() - 1);
        let mut bytes = b"TTP2\0\0".to_vec();
        bytes.push(u8::from(self.goal == Goal::Maximise));
        bytes.extend([rows as u8, factors as u8, self.points.len() as u8]);
        bytes.extend((columns as u16).to_le_bytes());
        bytes.extend(self.boards.to_le_bytes());
        bytes.extend(fleet_fingerprint(knobs).to_le_bytes());
        for number in [self.low, self.reach, self.centre, self.unit, self.rest, self.weight, self.nugget, self.noise] {
            bytes.extend((number as f32).to_le_bytes());
        }
        let map: Vec<Scaled> = self.map.iter().map(|row| Scaled::new(row.iter().copied())).collect();
        let of = |i: usize| Scaled::new(self.points.iter().map(move |point| point.1[i]));
        let coordinates: Vec<Scaled> = (0..rows).map(of).collect();
        let of = |i: usize| Scaled::new(self.points.iter().map(move |point| point.2[i]));
        let weights: Vec<Scaled> = (0..=factors).map(of).collect();
        for row in map.iter().chain(&coordinates).chain(&weights) {
            bytes.extend(row.scale.to_le_bytes());
        }
        bytes.extend(packed(knobs, &self.best));
        map.iter().flat_map(|row| &row.numbers).for_each(|number| bytes.extend(number.to_le_bytes()));
        for (i, (levels, ..)) in self.points.iter().enumerate() {
            coordinates.iter().chain(&weights).for_each(|row| bytes.extend(row.numbers[i].to_le_bytes()));
            if self.weight > 0.0 {
                bytes.extend(packed(knobs, levels));
            }
        }
        let length = u16::try_from(bytes.len() + 8).unwrap_or(u16::MAX);
        bytes[4..6].copy_from_slice(&length.to_le_bytes());
        let sum = bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
        bytes.extend(sum.to_le_bytes());
        let read = read(&bytes).map_err(|error| format!("cannot write a prior: it would be {error}"))?;
        if !read.is_for(knobs) {
            return Err(format!("cannot write a prior for these knobs in {MOST_BYTES} bytes"));
        }
        Ok(bytes)
    }
}

/// Reads a prior.
pub(crate) fn read(bytes: &[u8]) -> Result<FleetPrior, trimtab::PriorError> {
    // Core needs `'static`; leaking 2 KB per prior is fine.
    FleetPrior::read(Box::leak(bytes.to_vec().into_boxed_slice()))
}

/// Numbers as 16 bits times a scale.
struct Scaled {
    scale: f32,
    numbers: Vec<i16>,
}

impl Scaled {
    fn new(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = numbers.clone().fold(0.0, |most: f64, number| most.max(number.abs()));
        let scale = if largest > 0.0 { (largest / 32_767.0) as f32 } else { 1.0 };
        let numbers = numbers.map(|number| (number / f64::from(scale)).round().clamp(-32_767.0, 32_767.0) as i16);
        Self { scale, numbers: numbers.collect() }
    }
}

/// A combination, the first knob in the lowest bits; missing levels are 0.
fn packed(knobs: &[Knob], levels: &[Level]) -> Vec<u8> {
    let (mut bytes, mut word, mut held) = (Vec::new(), 0u64, 0);
    for (i, knob) in knobs.iter().enumerate() {
        word |= u64::from(levels.get(i).copied().unwrap_or(0)) << held;
        held += usize::BITS - knob.levels().saturating_sub(1).leading_zeros();
        while held >= 8 {
            bytes.push(word as u8);
            (word, held) = (word >> 8, held - 8);
        }
    }
    if held > 0 {
        bytes.push(word as u8);
    }
    bytes
}
