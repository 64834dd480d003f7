//! `cargo xtask flash BOARD IMAGE`: builds an image for a board, flashes it with probe-rs and shows
//! its log.
//!
//! The project's checks have no hardware: they build the image of every board and stop there.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use trimtab_tests::board::{BOARDS, Board, Channel, names};
use trimtab_tests::image::{Image, Profile, list};

/// How to get probe-rs.
const HOW_TO_GET: &str = "\
probe-rs is not installed (no `probe-rs` on the path). Get it with:

  Linux, macOS     curl -LsSf https://github.com/probe-rs/probe-rs/releases/latest/download/probe-rs-tools-installer.sh | sh
  from source      cargo install probe-rs-tools --locked

https://probe.rs has the rest, above all the rules that let you use the probe without being root.";

/// The image and its board.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    board: Board,
    chip: &'static str,
    image: String,
}

impl Request {
    pub(crate) fn parse(words: &[&str]) -> Result<Self> {
        let [board, image] = words else {
            bail!(
                "write `cargo xtask flash BOARD IMAGE`. Boards: {}. Images:\n\n{}",
                names(&flashable()),
                list(&Image::all()?)
            );
        };
        let board = Board::find(board)?;
        let chip = board
            .probe
            .with_context(|| format!("{} is only a machine of QEMU; boards are {}", board.name, names(&flashable())))?;
        Ok(Self { board, chip, image: image.to_string() })
    }
}

/// The boards that exist as hardware.
fn flashable() -> Vec<Board> {
    BOARDS.iter().copied().filter(|board| board.probe.is_some()).collect()
}

pub(crate) fn run(request: &Request) -> Result<ExitCode> {
    // If probe-rs is missing, say so before a build that takes minutes.
    ensure!(Command::new("probe-rs").arg("--version").output().is_ok(), HOW_TO_GET);
    let elf = Image::find(&request.image)?.build_over(request.board, Channel::Rtt, Profile::Release)?;
    println!("$ probe-rs run --chip {} {}", request.chip, elf.display());
    let status = Command::new("probe-rs").args(["run", "--chip", request.chip]).arg(&elf).status();
    match status.context("cannot start probe-rs")?.success() {
        true => Ok(ExitCode::SUCCESS),
        false => bail!("{} did not end with success on the {}", request.image, request.board.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_bad_ones_say_what_to_write() {
        let request = Request::parse(&["nrf52840", "fetch"]).unwrap();
        assert_eq!((request.board.name, request.chip, request.image.as_str()), ("nrf52840", "nRF52840_xxAA", "fetch"));
        for (words, says) in [
            (&["nrf52840"][..], "write `cargo xtask flash BOARD IMAGE`. Boards: stm32f405, "),
            (&["arduino", "fetch"], "no board `arduino`, only stm32f405, "),
            (&["mps2-an386", "fetch"], "only a machine of QEMU; boards are stm32f405, "),
        ] {
            let error = Request::parse(words).unwrap_err().to_string();
            assert!(error.contains(says), "{words:?}: {error}");
        }
    }
}
