//! Panics, to show that a panic ends with a failure and says why.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use trimtab_firmware as _;

#[entry]
fn main() -> ! {
    panic!("on purpose, {}", 42)
}
