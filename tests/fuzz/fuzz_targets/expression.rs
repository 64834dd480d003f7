#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| trimtab_host::fuzz::expression(bytes));
