//! Resets itself every few measurements, with its log in the flash controller of a microbit.
//!
//! Prints a line per boot and at the end the tuner's digest, which the PC repeats without a reset. A
//! word that is written twice, or a page that is not erased, would show in it.
#![no_std]
#![no_main]

use cortex_m::peripheral::SCB;
use static_cell::ConstStaticCell;
use trimtab::{Error, Event, Record};
use trimtab_embedded::journal::{Layout, digest};
use trimtab_embedded::journal_range;
use trimtab_embedded::persistent::{Persistent, Stored};
use trimtab_firmware::demo::resets::{BETWEEN, BUDGET, RECORDS, ResetTuner, measure, task};
use trimtab_firmware::device::{self, Console, Nvmc, entry};

static TUNER: ConstStaticCell<ResetTuner> = ConstStaticCell::new(ResetTuner::new());

/// Runs until the next reset. Returns whether the budget is spent.
fn run(console: &mut Console) -> Result<bool, Error> {
    let layout = Layout { range: journal_range!(), records: RECORDS };
    let flash = Nvmc::new(layout.range.end as usize);
    let (mut kept, boot) = Persistent::open(TUNER.take(), &task()?, flash, layout)?;
    console.print(format_args!("boot: {} records, {} damaged, {:?}", boot.records, boot.damaged, boot.trouble));
    for _ in 0..BETWEEN {
        if kept.total() >= BUDGET {
            break;
        }
        let c = kept.ask()?.combination;
        let event = measure(&c).map_or(Event::Failed, Event::Told);
        if let Stored::No(trouble) = kept.replay(&Record::new(&c, event))? {
            console.print(format_args!("not stored: {trouble}"));
            device::exit(false);
        }
    }
    kept.prepare(&mut || ());
    console.print(format_args!("{} of {BUDGET}: {:016x}", kept.total(), digest(kept.tuner())));
    Ok(kept.total() >= BUDGET)
}

#[entry]
fn main() -> ! {
    let Ok(mut console) = Console::open() else { device::exit(false) };
    match run(&mut console) {
        Ok(true) => device::exit(true),
        Ok(false) => SCB::sys_reset(),
        Err(error) => {
            console.print(format_args!("error: {error}"));
            device::exit(false)
        }
    }
}
