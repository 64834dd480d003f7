//! Same seed, same bits: a run is the same on this machine and on the chip, with and without optimization.
//!
//! The golden trace ties the sides together: this machine is compared with it in the profile the test is built in
//! (`cargo xtask test` does both), and the chip, in QEMU, in both of its profiles. A change of the trace is
//! a change worth a line in the changelog.

use trimtab_firmware::parity;
use trimtab_tests::golden;

/// The trace of this machine.
fn host() -> Vec<String> {
    let mut lines = Vec::new();
    let mut tuners = Box::new(parity::Tuners::new());
    parity::run(&mut tuners, &mut |line| lines.push(line.to_string())).expect("the runs are made of valid input");
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
        parity::run(&mut tuners, &mut |line| lines.push(line.to_string())).expect("the runs are made of valid input");
        lines
    };
    let (first, second) = (trace(), trace());
    assert_eq!(golden::first_difference(&first, &second), None);
}

/// Needs QEMU and the chip's target: `cargo xtask test` turns it on.
#[cfg(feature = "qemu")]
mod chip {
    use std::time::Duration;

    use trimtab_tests::image::{Image, Profile};
    use trimtab_tests::{golden, qemu};

    fn agrees(profile: Profile) {
        let elf = Image::find("parity").and_then(|image| image.build(profile)).unwrap();
        let run = qemu::run(&elf, Duration::from_secs(300), &mut |_| ()).unwrap();
        let lines = run.success().unwrap();
        if let Some(difference) = golden::first_difference(&super::host(), &lines) {
            panic!("this machine (expected) and the chip (got, {profile:?}) differ at {difference}");
        }
    }

    #[test]
    fn without_optimization() {
        agrees(Profile::Debug);
    }

    #[test]
    fn as_flashed() {
        agrees(Profile::Release);
    }
}
