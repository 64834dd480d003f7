//! Prints fixed runs as bits, to compare with the same runs on a PC.
#![no_std]
#![no_main]

use static_cell::ConstStaticCell;
use trimtab_firmware::device::{self, Console, entry};
use trimtab_firmware::parity::{self, Tuners};

static TUNERS: ConstStaticCell<Tuners> = ConstStaticCell::new(Tuners::new());

#[entry]
fn main() -> ! {
    let Ok(mut console) = Console::open() else { device::exit(false) };
    let result = parity::run(TUNERS.take(), &mut |line| console.print(line));
    if let Err(error) = result {
        console.print(format_args!("error: {error}"));
    }
    device::exit(result.is_ok())
}
