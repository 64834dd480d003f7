//! What the tuner may take of a small chip. The numbers are those that `cargo xtask cost` prints.

use std::sync::LazyLock;

use trimtab_tests::cost::Report;

/// Bytes of the tuner for 24 relays, 64 observations, 256 rows, 8 dimensions.
const STATE: u64 = 24 * 1024;
/// Bytes of code and constants of the smallest image with a working tuner. The target is 12 KB; this keeps what is reached.
const FLASH: u64 = 20 * 1024;
/// Instructions of a proposal with all 64 observations there.
const PROPOSAL: u64 = 5_000_000;
/// Instructions of the dearest proposal of a whole run: how much is pruned differs from one to the next.
const DEAREST_PROPOSAL: u64 = 6_000_000;
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
    let case = REPORT.case("relays").unwrap();
    let last = case.steps.iter().find(|step| step.t == 64).unwrap();
    assert!(last.ask <= PROPOSAL, "{} instructions at t = 64, the budget is {PROPOSAL}", last.ask);
    let dearest = case.dearest_ask().unwrap();
    let (ask, t) = (dearest.ask, dearest.t);
    assert!(ask <= DEAREST_PROPOSAL, "{ask} instructions at t = {t}, the budget is {DEAREST_PROPOSAL}");
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
