//! Runs into an undefined instruction, to show that a hard fault ends with a failure and says where.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use trimtab_firmware as _;

#[entry]
fn main() -> ! {
    cortex_m::asm::udf()
}
