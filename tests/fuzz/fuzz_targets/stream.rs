#![no_main]

#[path = "../src/chip.rs"]
mod chip;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chip::stream(bytes));
