//! The boards: what the firmware is built for, and what QEMU can stand in for.
//!
//! | field | meaning |
//! |---|---|
//! | name | the firmware's feature, and the layout of that name in `firmware/boards/` |
//! | target | what rustc builds for |
//! | emulator | how QEMU is called for it; none for a board that only exists as hardware |

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// What rustc builds for.
    pub target: &'static str,
    /// Who stands in for it.
    pub emulator: Option<Emulator>,
}

/// QEMU, and what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulator {
    /// The program.
    pub program: &'static str,
    /// The machine, and how its time goes: an instruction takes one nanosecond, so a run is the same every time.
    pub arguments: &'static [&'static str],
}

/// The board of all tests that do not name another.
pub const STM32F405: Board = Board {
    name: "stm32f405",
    target: "thumbv7em-none-eabihf",
    emulator: Some(Emulator {
        program: "qemu-system-arm",
        arguments: &["-machine", "netduinoplus2", "-icount", "shift=0"],
    }),
};

/// All boards.
pub const BOARDS: &[Board] = &[STM32F405];
