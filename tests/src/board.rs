//! The boards: what the firmware is built for, and what QEMU emulates.
//!
//! | field | meaning |
//! |---|---|
//! | name | the firmware's feature, and the layout of that name in `firmware/boards/` |
//! | target | the target of rustc |
//! | probe | probe-rs's name of the chip; `None` for a machine of QEMU |
//! | emulator | how to call QEMU; `None` for a board that exists only as hardware |

use anyhow::{Context as _, Result};

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// The target of rustc.
    pub target: &'static str,
    /// probe-rs's name of the chip.
    pub probe: Option<&'static str>,
    /// The emulator, if there is one.
    pub emulator: Option<Emulator>,
}

impl Board {
    /// The board of this name. The error lists all boards.
    pub fn find(name: &str) -> Result<Self> {
        let found = BOARDS.iter().copied().find(|board| board.name == name);
        found.with_context(|| format!("there is no board `{name}`, only {}", names(BOARDS)))
    }

    /// The default channel of its logs.
    pub fn channel(self) -> Channel {
        if self.emulator.is_some() { Channel::Semihosting } else { Channel::Rtt }
    }
}

/// The channel of a log: a feature of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Semihosting, to QEMU.
    Semihosting,
    /// RTT, to a debugger.
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

/// QEMU and its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulator {
    /// The program.
    pub program: &'static str,
    /// The machine and its clock: an instruction takes one nanosecond (shift), and while the core
    /// sleeps, time jumps to the next event (sleep), so a run is the same every time.
    pub arguments: &'static [&'static str],
}

/// The default board of the tests.
pub const STM32F405: Board = Board {
    name: "stm32f405",
    target: "thumbv7em-none-eabihf",
    probe: Some("STM32F405RGTx"),
    emulator: Some(Emulator {
        program: "qemu-system-arm",
        arguments: &["-machine", "netduinoplus2", "-icount", "shift=0,sleep=off"],
    }),
};

/// QEMU's machine with much memory, for images that do not fit a chip. Not a board.
pub const MPS2_AN386: Board = Board {
    name: "mps2-an386",
    target: "thumbv7em-none-eabihf",
    probe: None,
    emulator: Some(Emulator {
        program: "qemu-system-arm",
        arguments: &["-machine", "mps2-an386", "-icount", "shift=0,sleep=off"],
    }),
};

/// Boards that QEMU does not emulate: built, never run here.
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

/// The boards' names, for messages.
pub fn names(boards: &[Board]) -> String {
    boards.iter().map(|board| board.name).collect::<Vec<_>>().join(", ")
}
