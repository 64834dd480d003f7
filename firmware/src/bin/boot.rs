//! Counts what a boot costs: opening an empty flash, and replaying a log of 64 records.
//!
//! The tuner is the reference one (24 relays, 64 observations, 256 candidates per ask), its flash is
//! RAM. A replayed record is a `tell`, fits included: they start from the hyper-parameters of the fit
//! before, so none can be left out without another result.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use defmt::{error, info};
use static_cell::ConstStaticCell;
use trimtab::{Config, Error};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::{Layout, digest};
use trimtab_embedded::persistent::{Persistent, Stored, Task};
use trimtab_firmware::device::{self, Timer};
use trimtab_firmware::relays::{OBSERVATIONS, RelayTuner, cost, space};

const PAGE: usize = 4096;
static FLASH: ConstStaticCell<RamFlash<3, PAGE, 4>> = ConstStaticCell::new(RamFlash::new());
/// The tuner before and after the reset.
static FIRST: ConstStaticCell<RelayTuner> = ConstStaticCell::new(RelayTuner::new());
static SECOND: ConstStaticCell<RelayTuner> = ConstStaticCell::new(RelayTuner::new());

fn run() -> Result<bool, Error> {
    let flash = FLASH.take();
    let timer = Timer::start();
    let task = Task { space: space()?, config: Config::default(), seed: 1, meaning: 0 };
    let layout = Layout { range: 0..3 * PAGE as u32, records: OBSERVATIONS as u16 };

    let (opened, count) = timer.count(|| Persistent::open(FIRST.take(), &task, &mut *flash, layout.clone()));
    info!("an empty flash: {=u32} {=str}", count, timer.unit());
    let (mut kept, _) = opened?;
    let mut stored = Stored::Yes;
    for _ in 0..OBSERVATIONS {
        let c = kept.ask()?.combination;
        stored = kept.tell(&c, cost(&c))?;
    }
    let before = digest(kept.tuner());
    let (turned, count) = timer.count(|| kept.prepare(&mut || ()));
    info!("a page turn that drops nothing: {=u32} {=str}", count, timer.unit());
    if (stored, turned) != (Stored::PageFull, Stored::Yes) {
        error!("{} {}", stored, turned);
        return Ok(false);
    }
    drop(kept);
    let mut feeds = 0;
    let feed = &mut || feeds += 1;
    let (opened, count) = timer.count(|| Persistent::open_with(SECOND.take(), &task, flash, layout, feed));
    let (kept, boot) = opened?;
    info!("{=u32} records: {=u32} {=str}, the watchdog fed {=u32} times", boot.records, count, timer.unit(), feeds);
    Ok(digest(kept.tuner()) == before)
}

#[entry]
fn main() -> ! {
    match run() {
        Ok(is_same) => device::exit(is_same),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}
