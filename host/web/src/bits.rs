//! The committed stream of a chip, and whether this machine sends the same bytes.
//!
//! `tests/golden/antenna.log` is what the image `antenna` sent over its serial port in QEMU: 120
//! measurements, then 40 more after the antenna moved. `tests/tests/stream.rs` keeps it true.
//!
//! **Choices.** A fingerprint is the 64-bit FNV-1a hash of the stream up to the last proposal: knobs,
//! configuration, and the bits of every proposal and outcome.

use serde_json::{Value, json};
use trimtab::Event;
use trimtab_embedded::telemetry::Frame;
use trimtab_firmware::antenna::Network;

use crate::antenna::{Live, Settings};
use crate::device::stream::Decoder;

/// What the chip sent.
pub(crate) const CHIP: &[u8] = include_bytes!("../../../tests/golden/antenna.log");
/// Its measurements before and after the antenna moved.
const BUDGET: u16 = 120;
const AGAIN: u16 = 40;

/// A hash of bytes, continued from `before`.
fn hash(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

/// The fingerprint of a stream.
pub(crate) fn fingerprint(stream: &[u8]) -> String {
    format!("{:016x}", hash(EMPTY, stream))
}

/// The fingerprint of the chip's stream after so many proposals, if it has as many.
pub(crate) fn chip_fingerprint(proposals: usize) -> Option<String> {
    let proposals = proposals.checked_sub(1)?;
    lines(CHIP).get(proposals).map(|line| fingerprint(&CHIP[..line.end]))
}

/// A proposal and its outcome, as sent.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    levels: Vec<trimtab::Level>,
    /// The bits of mean, deviation and score, and of the outcome; `None` for a failure.
    bits: [u32; 3],
    outcome: Option<u32>,
    /// Bytes of the stream up to its end.
    end: usize,
}

impl Line {
    fn text(&self) -> String {
        let levels: Vec<String> = self.levels.iter().map(ToString::to_string).collect();
        let [mean, deviation, score] = self.bits;
        let outcome = self.outcome.map_or("failed".into(), |bits| format!("{bits:08x}"));
        format!("{} {mean:08x} {deviation:08x} {score:08x} {outcome}", levels.join(" "))
    }
}

/// The proposals of a stream.
fn lines(stream: &[u8]) -> Vec<Line> {
    let mut decoder = Decoder::new();
    let mut lines = Vec::new();
    for (place, byte) in stream.iter().enumerate() {
        let Some(Ok(received)) = decoder.push(*byte) else { continue };
        if let Frame::Measured { proposed, event } = received.frame {
            let outcome = if let Event::Told(value) = event { Some(value.to_bits()) } else { None };
            let bits = [proposed.mean, proposed.std_dev, proposed.score].map(f32::to_bits);
            lines.push(Line { levels: proposed.levels.iter().collect(), bits, outcome, end: place + 1 });
        }
    }
    lines
}

/// Repeats the chip's run here and compares it, proposal by proposal.
pub(crate) fn compare() -> Result<Value, String> {
    let own = own_stream()?;
    let (chip, here) = (lines(CHIP), lines(&own));
    let rows = chip.iter().zip(&here).map(|(chip, here)| {
        let is_same = (&chip.levels, chip.bits, chip.outcome) == (&here.levels, here.bits, here.outcome);
        json!({"chip": chip.text(), "here": here.text(), "same": is_same})
    });
    let rows: Vec<Value> = rows.collect();
    let same = rows.iter().filter(|row| row["same"] == true).count();
    Ok(json!({
        "rows": rows, "same": same, "proposals": chip.len().max(here.len()),
        "chip": fingerprint(CHIP), "here": fingerprint(&own), "bytes": CHIP.len(),
    }))
}

/// The stream of the chip's run on this machine.
fn own_stream() -> Result<Vec<u8>, String> {
    let network = Network::SHORT_WIRE;
    let mut live = Live::new(Settings { network, seed: 1, noise: 0.0, is_broken: false, budget: BUDGET })?;
    live.steps(BUDGET.into())?;
    live.relocate(Network::MOVED_WIRE, AGAIN);
    live.steps(AGAIN.into())?;
    live.end();
    Ok(live.stream())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_by_hand() {
        // The test vectors of Fowler, Noll and Vo.
        assert_eq!(fingerprint(b""), "cbf29ce484222325");
        assert_eq!(fingerprint(b"a"), "af63dc4c8601ec8c");
        assert_eq!(fingerprint(b"foobar"), "85944171f73967e8");
    }

    #[test]
    fn the_page_sends_the_bytes_of_the_chip() {
        let compared = compare().unwrap();
        assert_eq!((&compared["same"], &compared["proposals"]), (&json!(160), &json!(160)));
        assert_eq!(own_stream().unwrap(), CHIP);
        assert_eq!(chip_fingerprint(0), None);
        assert_eq!(chip_fingerprint(161), None);
        assert!(chip_fingerprint(160).is_some_and(|mark| mark != fingerprint(CHIP)), "the end is a frame of its own");
    }
}
