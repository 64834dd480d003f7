//! Panics, to test that a panic ends with a failure and its message.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use trimtab_firmware as _;

#[entry]
fn main() -> ! {
    panic!("on purpose, {}", 42)
}
