//! The boards: what the firmware is built for, and what QEMU can stand in for.
//!
//! | field | meaning |
//! |---|---|
//! | name | the firmware's feature, and the layout of that name in `firmware/boards/` |
//! | target | what rustc builds for |
//! | probe | what probe-rs calls the chip, to flash it; none for what is only a machine of QEMU |
//! | emulator | how QEMU is called for it; none for a board that only exists as hardware |

use anyhow::{Context as _, Result};

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// What rustc builds for.
    pub target: &'static str,
    /// What probe-rs calls its chip.
    pub probe: Option<&'static str>,
    /// Who stands in for it.
    pub emulator: Option<Emulator>,
}

impl Board {
    /// The board of this name; if there is none, the error lists those there are.
    pub fn find(name: &str) -> Result<Self> {
        let found = BOARDS.iter().copied().find(|board| board.name == name);
        found.with_context(|| format!("there is no board `{name}`, only {}", names(BOARDS)))
    }

    /// How its images are heard unless told otherwise.
    pub fn channel(self) -> Channel {
        if self.emulator.is_some() { Channel::Semihosting } else { Channel::Rtt }
    }
}

/// How an image that logs is heard: a feature of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// By QEMU.
    Semihosting,
    /// By a debugger on a board.
    Rtt,
}

impl Channel {
    /// The feature's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Semihosting => "semihosting",
            Self::Rtt => "rtt",
        }
    }
}

/// QEMU, and what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulator {
    /// The program.
    pub program: &'static str,
    /// The machine, and how its time goes: an instruction takes one nanosecond (shift), and while the core sleeps time
    /// jumps to the next event instead of passing (sleep), so a run is the same every time.
    pub arguments: &'static [&'static str],
}

/// The board of all tests that do not name another.
pub const STM32F405: Board = Board {
    name: "stm32f405",
    target: "thumbv7em-none-eabihf",
    probe: Some("STM32F405RGTx"),
    emulator: Some(Emulator {
        program: "qemu-system-arm",
        arguments: &["-machine", "netduinoplus2", "-icount", "shift=0,sleep=off"],
    }),
};

/// Much memory, for what does not fit a chip. No board, only QEMU's machine.
pub const MPS2_AN386: Board = Board {
    name: "mps2-an386",
    target: "thumbv7em-none-eabihf",
    probe: None,
    emulator: Some(Emulator {
        program: "qemu-system-arm",
        arguments: &["-machine", "mps2-an386", "-icount", "shift=0,sleep=off"],
    }),
};

/// Boards that QEMU does not have: built, never run here.
const STM32F411: Board =
    Board { name: "stm32f411", target: "thumbv7em-none-eabihf", probe: Some("STM32F411RETx"), emulator: None };
const STM32F446: Board =
    Board { name: "stm32f446", target: "thumbv7em-none-eabihf", probe: Some("STM32F446RETx"), emulator: None };
const NRF52840: Board =
    Board { name: "nrf52840", target: "thumbv7em-none-eabihf", probe: Some("nRF52840_xxAA"), emulator: None };
const RP2350: Board =
    Board { name: "rp2350", target: "thumbv8m.main-none-eabihf", probe: Some("RP235x"), emulator: None };

/// All boards.
pub const BOARDS: &[Board] = &[STM32F405, STM32F411, STM32F446, NRF52840, RP2350, MPS2_AN386];

/// The boards' names, for people.
pub fn names(boards: &[Board]) -> String {
    boards.iter().map(|board| board.name).collect::<Vec<_>>().join(", ")
}
