//! Processors: what core is built for, and a machine for each on which its bits are compared.
//!
//! | target | processor | floats | machine |
//! |---|---|---|---|
//! | thumbv6m-none-eabi | Cortex-M0 | by software | QEMU's microbit |
//! | thumbv7m-none-eabi | Cortex-M3 | by software | QEMU's mps2-an385 |
//! | thumbv7em-none-eabi | Cortex-M4 | by software | QEMU's netduinoplus2 |
//! | thumbv7em-none-eabihf | Cortex-M4F | its own | QEMU's netduinoplus2 |
//! | thumbv8m.main-none-eabihf | Cortex-M33 | its own | QEMU's mps2-an505 |
//! | riscv32imac-unknown-none-elf | RV32IMAC | by software | QEMU's virt |
//! | wasm32-unknown-unknown | WebAssembly | its own | the interpreter wasmi |
//!
//! **Choices**
//! - Each processor is emulated as itself: a Cortex-M0 stops at an instruction that only a
//!   Cortex-M3 has.
//! - QEMU's microbit gets more memory than the real one, which could not hold the runs.

use crate::board::{Board, Emulator, STM32F405};
use crate::qemu::{PROGRAM, RISCV};

/// The targets of core.
pub const TARGETS: [&str; 7] = [
    MICROBIT.target,
    MPS2_AN385.target,
    STM32F405_SOFT.target,
    STM32F405.target,
    MPS2_AN505.target,
    RISCV32_VIRT.target,
    WASM.target,
];

/// Cortex-M0.
pub const MICROBIT: Board = Board {
    name: "microbit",
    target: "thumbv6m-none-eabi",
    probe: None,
    emulator: Some(Emulator {
        program: PROGRAM,
        arguments: &[
            "-machine",
            "microbit",
            "-global",
            "nrf51-soc.flash-size=1048576",
            "-global",
            "nrf51-soc.sram-size=131072",
        ],
    }),
};

/// Cortex-M3.
pub const MPS2_AN385: Board = Board {
    name: "mps2-an385",
    target: "thumbv7m-none-eabi",
    probe: None,
    emulator: Some(Emulator { program: PROGRAM, arguments: &["-machine", "mps2-an385"] }),
};

/// Cortex-M4 without use of its floating-point unit.
pub const STM32F405_SOFT: Board = Board { target: "thumbv7em-none-eabi", ..STM32F405 };

/// Cortex-M33.
pub const MPS2_AN505: Board = Board {
    name: "mps2-an505",
    target: "thumbv8m.main-none-eabihf",
    probe: None,
    emulator: Some(Emulator { program: PROGRAM, arguments: &["-machine", "mps2-an505"] }),
};

/// RISC-V, without floating-point unit.
pub const RISCV32_VIRT: Board = Board {
    name: "riscv32-virt",
    target: "riscv32imac-unknown-none-elf",
    probe: None,
    emulator: Some(Emulator { program: RISCV, arguments: &["-machine", "virt", "-bios", "none"] }),
};

/// WebAssembly: not a board, but built like one.
pub const WASM: Board = Board { name: "wasm", target: "wasm32-unknown-unknown", probe: None, emulator: None };

/// The machines of QEMU, one per target.
pub const MACHINES: [Board; 6] = [MICROBIT, MPS2_AN385, STM32F405_SOFT, STM32F405, MPS2_AN505, RISCV32_VIRT];
