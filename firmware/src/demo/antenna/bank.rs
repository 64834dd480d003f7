//! The relay banks: which parts a combination puts into the circuit.
//!
//! **Choices**
//! - A bank has seven relays and its level, 0 to 127, is the relay code: bit i puts part i in.
//! - Every part is larger than all smaller ones together, so the value rises with the level.
//! - The wiring adds a stray inductance and capacitance, so no value is zero and a logarithmic
//!   scale works.
//!
//! **Cost.** 1 KiB of constant tables.

use core::fmt;

use trimtab::{Combination, Level};

/// Relays per bank.
pub const RELAYS: usize = 7;
/// Levels per bank: each relay is in or out.
pub const LEVELS: usize = 1 << RELAYS;
/// The switched inductors in nanohenry, relay 0 first.
pub const INDUCTORS_NH: [f32; RELAYS] = [50.0, 100.0, 220.0, 450.0, 1000.0, 2200.0, 4500.0];
/// The switched capacitors in picofarad, relay 0 first.
pub const CAPACITORS_PF: [f32; RELAYS] = [10.0, 22.0, 47.0, 100.0, 220.0, 470.0, 1000.0];
/// Inductance of the wiring in nanohenry, present with every relay out.
pub const STRAY_NH: f32 = 20.0;
/// Capacitance of the wiring in picofarad, present with every relay out.
pub const STRAY_PF: f32 = 5.0;

/// Inductance of each level of the first knob in nanohenry; rises with the level.
pub static INDUCTANCE_NH: [f32; LEVELS] = bank(&INDUCTORS_NH, STRAY_NH);
/// Capacitance of each level of the second knob in picofarad; rises with the level.
pub static CAPACITANCE_PF: [f32; LEVELS] = bank(&CAPACITORS_PF, STRAY_PF);

/// The value of every relay code: the stray plus the parts that are in.
const fn bank(parts: &[f32; RELAYS], stray: f32) -> [f32; LEVELS] {
    let mut values = [stray; LEVELS];
    let mut code = 0;
    while code < LEVELS {
        let mut relay = 0;
        while relay < RELAYS {
            if code >> relay & 1 == 1 {
                values[code] += parts[relay];
            }
            relay += 1;
        }
        code += 1;
    }
    values
}

/// The capacitor's side of the inductor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Beside the antenna: brings a large resistance down.
    LoadSide,
    /// Beside the source: brings a small resistance up.
    SourceSide,
}

impl Topology {
    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LoadSide => "load side",
            Self::SourceSide => "source side",
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The parts that a combination puts into the circuit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// Relay code of the inductor bank.
    pub inductor_code: Level,
    /// Relay code of the capacitor bank.
    pub capacitor_code: Level,
    /// Series inductance in nanohenry.
    pub inductance_nh: f32,
    /// Shunt capacitance in picofarad.
    pub capacitance_pf: f32,
    /// The side of the capacitor.
    pub topology: Topology,
}

impl Parts {
    /// The parts of a combination of [`space`](super::space).
    ///
    /// ```
    /// use trimtab_firmware::antenna::{Parts, Topology, space};
    /// let parts = Parts::of(&space().combination(&[0b101, 0b10, 1])?);
    /// assert_eq!(parts.inductance_nh, 20.0 + 50.0 + 220.0);
    /// assert_eq!(parts.capacitance_pf, 5.0 + 22.0);
    /// assert_eq!(parts.topology, Topology::SourceSide);
    /// # Ok::<(), trimtab::SpaceError>(())
    /// ```
    pub fn of(c: &Combination<3>) -> Self {
        let (inductor_code, capacitor_code) = (c.level(0), c.level(1));
        let value = |bank: &[f32; LEVELS], code: Level| bank.get(usize::from(code)).copied().unwrap_or(0.0);
        Self {
            inductor_code,
            capacitor_code,
            inductance_nh: value(&INDUCTANCE_NH, inductor_code),
            capacitance_pf: value(&CAPACITANCE_PF, capacitor_code),
            topology: if c.level(2) == 0 { Topology::LoadSide } else { Topology::SourceSide },
        }
    }
}

#[cfg(all(target_os = "none", feature = "log"))]
impl defmt::Format for Parts {
    fn format(&self, f: defmt::Formatter<'_>) {
        let (inductors, capacitors, side) = (self.inductor_code, self.capacitor_code, self.topology.name());
        defmt::write!(f, "inductors {=u16:07b}, capacitors {=u16:07b} on the {=str}", inductors, capacitors, side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_are_sums_of_their_parts_and_rise() {
        assert_eq!((INDUCTANCE_NH[0], INDUCTANCE_NH[1], INDUCTANCE_NH[127]), (20.0, 70.0, 8540.0));
        assert_eq!((CAPACITANCE_PF[0], CAPACITANCE_PF[64], CAPACITANCE_PF[127]), (5.0, 1005.0, 1874.0));
        for bank in [&INDUCTANCE_NH, &CAPACITANCE_PF] {
            assert!(bank.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
