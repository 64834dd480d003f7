//! Same seed, same bits: a run is the same on this machine and on every processor, with and without
//! optimization.
//!
//! The golden trace ties the sides together. This machine is compared with it in the profile of the
//! test (`cargo xtask test` does both), and every other machine, in QEMU or in an interpreter, with
//! this one in both of its profiles. A change of the trace is worth a line in the changelog.

use trimtab_firmware::parity;
use trimtab_tests::golden;

/// The trace of this machine.
fn host() -> Vec<String> {
    let mut lines = Vec::new();
    let mut tuners = Box::new(parity::Tuners::new());
    parity::run(&mut tuners, &mut |line| lines.push(line.to_string())).expect("the runs have valid input");
    lines
}

#[test]
fn this_machine_repeats_the_golden_trace() {
    let lines = host();
    assert!(lines.iter().any(|line| line == "whole exhausted"), "the small space was not searched to its end");
    golden::check("parity.txt", &lines.join("\n"));
}

#[test]
fn a_tuner_used_before_is_as_good_as_new() {
    let mut tuners = Box::new(parity::Tuners::new());
    let mut trace = || {
        let mut lines = Vec::new();
        parity::run(&mut tuners, &mut |line| lines.push(line.to_string())).expect("the runs have valid input");
        lines
    };
    let (first, second) = (trace(), trace());
    assert_eq!(golden::first_difference(&first, &second), None);
}

/// Compares the trace of another machine with this one's.
#[cfg(feature = "qemu")]
#[track_caller]
fn agrees(machine: &str, lines: &[String]) {
    if let Some(difference) = golden::first_difference(&host(), lines) {
        panic!("this machine (expected) and {machine} (got) differ at {difference}");
    }
}

/// Needs QEMU and the targets of its machines: `cargo xtask test` turns it on.
#[cfg(feature = "qemu")]
mod chip {
    use std::time::Duration;

    use trimtab_tests::board::{Board, STM32F405};
    use trimtab_tests::image::{Image, Profile};
    use trimtab_tests::machine::{MACHINES, MICROBIT, MPS2_AN385, MPS2_AN505, RISCV32_VIRT, STM32F405_SOFT};
    use trimtab_tests::qemu::Session;

    fn agrees(board: Board, profile: Profile) {
        let elf = Image::find("parity").and_then(|image| image.build_for(board, profile)).unwrap();
        // Without optimization and floating-point unit a run takes a minute on a busy machine.
        let session = Session { board, limit: Duration::from_secs(900), ..Session::default() };
        let lines = session.run(&elf, &mut |_| ()).and_then(|run| run.success()).unwrap();
        super::agrees(&format!("{}, {}, {profile:?}", board.target, board.name), &lines);
    }

    /// Two tests per machine, and one that no machine is left out.
    macro_rules! machines {
        ($($processor:ident: $board:expr),* $(,)?) => {
            $(mod $processor {
                use super::*;

                #[test]
                fn without_optimization() {
                    agrees($board, Profile::Debug);
                }

                #[test]
                fn as_flashed() {
                    agrees($board, Profile::Release);
                }
            })*

            #[test]
            fn all_machines_are_here() {
                assert_eq!(MACHINES.as_slice(), [$($board),*]);
            }
        };
    }

    machines! {
        cortex_m0: MICROBIT,
        cortex_m3: MPS2_AN385,
        cortex_m4: STM32F405_SOFT,
        cortex_m4f: STM32F405,
        cortex_m33: MPS2_AN505,
        riscv: RISCV32_VIRT,
    }
}

/// Needs the target of WebAssembly: `cargo xtask test` turns it on.
#[cfg(feature = "wasm")]
mod webassembly {
    use trimtab_tests::image::{Image, Profile};
    use trimtab_tests::machine::WASM;
    use trimtab_tests::wasm;

    fn agrees(profile: Profile) {
        let module = Image::find("parity_wasm").and_then(|image| image.build_for(WASM, profile)).unwrap();
        super::agrees(&format!("{}, {profile:?}", WASM.target), &wasm::run(&module).unwrap());
    }

    #[test]
    fn without_optimization() {
        agrees(Profile::Debug);
    }

    #[test]
    fn as_published() {
        agrees(Profile::Release);
    }
}
