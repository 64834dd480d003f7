//! Flash of the least programs: on four processors, and with one more feature each.
//!
//! All are the image `sized` at "s", without logging: code and constants, and the initial values of
//! variables.

use std::fmt::Write as _;

use anyhow::Result;

use crate::board::{Board, STM32F405};
use crate::image::{Image, Profile, Sizes};
use crate::machine::{MICROBIT, MPS2_AN505, RISCV32_VIRT};

/// The processors, with their boards.
const PROCESSORS: [(&str, Board); 4] =
    [("Cortex-M0", MICROBIT), ("Cortex-M4F", STM32F405), ("Cortex-M33", MPS2_AN505), ("RV32IMAC", RISCV32_VIRT)];

/// What the image `sized` can be built to use.
const FEATURES: [&str; 14] = [
    "exact measurements alone",
    "a configuration given to `init`",
    "predictions",
    "stopping rule",
    "failures",
    "a limit",
    "batches",
    "ranked knobs",
    "knobs with values",
    "cache",
    "slices",
    "replay",
    "stream",
    "log in flash",
];

/// Builds them all and shows the tables.
pub fn tables() -> Result<String> {
    let mut text =
        "### Flash of the least program: 24 relays, ask and tell\n\n| processor | bytes |\n|---|---:|\n".into();
    for (processor, board) in PROCESSORS {
        row(&mut text, processor, bytes(None, board)?)?;
    }
    let least = bytes(None, STM32F405)?;
    text.push_str("\n### What a feature adds on a Cortex-M4F\n\n| the program also uses | bytes more |\n|---|---:|\n");
    for feature in FEATURES {
        row(&mut text, feature, bytes(Some(feature), STM32F405)? - least)?;
    }
    Ok(text)
}

fn row(text: &mut String, name: &str, bytes: i64) -> Result<()> {
    Ok(writeln!(text, "| {name} | {bytes} |")?)
}

/// The flash of `sized` with this feature.
fn bytes(feature: Option<&str>, board: Board) -> Result<i64> {
    let image = Image::find("sized")?;
    let elf = image.build_with(board, Profile::Release, feature.map(|feature| ("TRIMTAB_SIZED", feature)))?;
    let Sizes { text, rodata, data, .. } = Sizes::of(&elf)?;
    Ok((text + rodata + data) as i64)
}
