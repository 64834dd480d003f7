//! The faults of the antenna's fault rig: a few lines of text stand for years of bad luck.
//!
//! | line | meaning | without it |
//! |---|---|---|
//! | `budget 30` | measurements until the antenna moves | 120 |
//! | `again 20` | measurements after that | 40 |
//! | `move 42 -105` | resistance and reactance of the moved antenna in ohm | 42 and −105 |
//! | `stay` | the antenna does not move | |
//! | `stick` | some relay settings never settle ([`settles`]) | all settle |
//! | `records 6` | records that fill a page of flash | 40 |
//! | `cut 17 half` | the power is cut at flash operation 17 of this boot | it stays |
//!
//! The word after the operation says how far it gets: `nothing`, `half`, `most`, `random` or `all`,
//! see [`Damage`].

use trimtab::Combination;

use super::antenna::Network;
use trimtab_embedded::flash::Damage;

/// The faults of a run.
///
/// ```
/// use trimtab_firmware::survival::Scenario;
/// use trimtab_embedded::flash::Damage;
/// let scenario = Scenario::parse("budget 30\ncut 17 half\n").map_err(|line| line.to_string())?;
/// assert_eq!((scenario.budget, scenario.cut), (30, Some((17, Damage::Half))));
/// assert_eq!(Scenario::parse("budget 30\ncut 17 badly\n").map_err(|error| error.line), Err(2));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// Measurements until the antenna moves.
    pub budget: u16,
    /// Measurements after that.
    pub again: u16,
    /// The moved antenna, or `None` if it stays.
    pub moves: Option<Network>,
    /// Whether some relay settings never settle.
    pub sticks: bool,
    /// Records that fill a page of flash.
    pub records: u16,
    /// The flash operation of a boot at which the power is cut, and how far it gets.
    pub cut: Option<(u32, Damage)>,
}

impl Scenario {
    /// No power cut and no hanging relay; the antenna moves by an eighth once it is tuned.
    pub const PLAIN: Self =
        Self { budget: 120, again: 40, moves: Some(Network::MOVED_WIRE), sticks: false, records: 40, cut: None };

    /// Reads a scenario. Anything it does not mention is as in [`Self::PLAIN`].
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let mut scenario = Self::PLAIN;
        for (line, number) in text.lines().zip(1..) {
            scenario.take(line).ok_or(ScenarioError { line: number })?;
        }
        Ok(scenario)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some("budget"), Some(n), None, _) => self.budget = n.parse().ok()?,
            (Some("again"), Some(n), None, _) => self.again = n.parse().ok()?,
            (Some("records"), Some(n), None, _) => self.records = n.parse().ok()?,
            (Some("stay"), None, ..) => self.moves = None,
            (Some("stick"), None, ..) => self.sticks = true,
            (Some("move"), Some(r), Some(x), None) => {
                let frequency = Network::SHORT_WIRE.frequency();
                self.moves = Some(Network::new(r.parse().ok()?, x.parse().ok()?, frequency).ok()?);
            }
            (Some("cut"), Some(n), Some(damage), None) => self.cut = Some((n.parse().ok()?, named(damage)?)),
            _ => return None,
        }
        Some(())
    }
}

/// A line that is not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The line, counted from 1.
    pub line: u32,
}

impl core::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: write budget, again, move, stay, stick, records or cut, as in `cut 17 half`", self.line)
    }
}

impl core::error::Error for ScenarioError {}

fn named(damage: &str) -> Option<Damage> {
    Some(match damage {
        "nothing" => Damage::Nothing,
        "half" => Damage::Half,
        "most" => Damage::AllButLast,
        "random" => Damage::Random(1),
        "all" => Damage::All,
        _ => return None,
    })
}

/// Whether the relays settle. With the two largest inductors and the two largest capacitors in, the
/// supply sags and they never do: a sixteenth of all states.
///
/// ```
/// use trimtab_firmware::antenna::space;
/// use trimtab_firmware::survival::settles;
/// let space = space();
/// let stuck = (0..=space.last_index()).filter_map(|index| space.at(index)).filter(|c| !settles(c)).count();
/// assert_eq!(stuck, 32_768 / 16);
/// ```
pub fn settles(c: &Combination<3>) -> bool {
    c.level(0) & c.level(1) & 0b110_0000 != 0b110_0000
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    #[test]
    fn every_line_is_read() {
        assert_eq!(Scenario::parse(""), Ok(Scenario::PLAIN));
        let text = "budget 30\nagain 20\n\n move 42 -105 \nstick\nrecords 6\ncut 17 most\n";
        let moves = Some(Network::new(42.0, -105.0, 7.1e6).unwrap());
        let cut = Some((17, Damage::AllButLast));
        assert_eq!(Scenario::parse(text), Ok(Scenario { budget: 30, again: 20, moves, sticks: true, records: 6, cut }));
        assert_eq!(Scenario::parse("stay").map(|scenario| scenario.moves), Ok(None));
    }

    #[test]
    fn a_bad_line_is_named() {
        for line in
            ["budget", "budget many", "budget 1 2", "cut 1", "cut 1 some", "move 0 5", "move 5", "stay here", "rain"]
        {
            let text = ["stick\n", line].concat();
            assert_eq!(Scenario::parse(&text), Err(ScenarioError { line: 2 }), "{line}");
        }
        assert!(ScenarioError { line: 3 }.to_string().starts_with("line 3: write budget"));
    }
}
