//! Runs a WebAssembly module in an interpreter and reads its lines.
//!
//! The module imports `host.print(text, length)`, which takes a line of UTF-8 without its end, and
//! exports `main` and its memory, as every Rust program does.
//!
//! **Choices**
//! - The interpreter is a crate (wasmi), so nothing has to be installed.
//! - An instruction costs a unit of fuel, so a module that hangs stops at the same instruction
//!   every time.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use wasmi::{Caller, Config, Engine, Error, Linker, Module, Store};

/// Far more than the parity runs need without optimization.
const FUEL: u64 = 100_000_000_000;

/// Runs a module to its end and returns its lines.
pub fn run(module: &Path) -> Result<Vec<String>> {
    let bytes = fs::read(module).with_context(|| format!("cannot read {}", module.display()))?;
    let mut config = Config::default();
    config.consume_fuel(true);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, &bytes)?;
    let mut store = Store::new(&engine, Vec::new());
    store.set_fuel(FUEL)?;
    let mut linker = Linker::new(&engine);
    linker.func_wrap("host", "print", print)?;
    let instance = linker.instantiate_and_start(&mut store, &module)?;
    // As in C: the number of arguments and their address. There are none.
    let main = instance.get_typed_func::<(i32, i32), i32>(&store, "main")?;
    let code = main.call(&mut store, (0, 0)).context("the module did not run to its end")?;
    ensure!(code == 0, "the module ended with exit code {code}");
    Ok(store.into_data())
}

fn print(mut caller: Caller<'_, Vec<String>>, text: u32, length: u32) -> Result<(), Error> {
    let memory = caller.get_export("memory").and_then(|export| export.into_memory());
    let memory = memory.ok_or_else(|| Error::new("the module exports no memory"))?;
    let (bytes, lines) = memory.data_and_store_mut(&mut caller);
    let line = bytes.get(text as usize..).and_then(|bytes| bytes.get(..length as usize));
    let line = line.ok_or_else(|| Error::new("the line is not within the module's memory"))?;
    lines.push(String::from_utf8_lossy(line).into());
    Ok(())
}
