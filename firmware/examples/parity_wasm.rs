//! The parity runs as a WebAssembly module, whose host prints the lines.

use std::process::ExitCode;

use trimtab_firmware::parity::{self, Tuners};

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Takes a line of UTF-8 without its end.
    safe fn print(text: *const u8, length: usize);
}

fn main() -> ExitCode {
    let mut tuners = Box::new(Tuners::new());
    let result = parity::run(&mut tuners, &mut |line| {
        let line = line.to_string();
        print(line.as_ptr(), line.len());
    });
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
