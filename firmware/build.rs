//! Tells the linker how to lay out an image for the chosen board. Does nothing for a PC.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Features of which every image needs at least one.
const IMAGE: [&str; 3] = ["semihosting-exit", "panic-free", "log"];

fn main() {
    for input in ["build.rs", "boards", "../memory.x"] {
        println!("cargo::rerun-if-changed={input}");
    }
    println!("cargo::rustc-check-cfg=cfg(has_smlad)");
    // Stable Rust does not tell whether a target has the DSP instructions; thumbv7em always does.
    if env::var("TARGET").is_ok_and(|target| target.starts_with("thumbv7em-")) {
        println!("cargo::rustc-cfg=has_smlad");
    }
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("none") {
        return;
    }
    if let Err(error) = lay_out() {
        println!("cargo::error={error}");
    }
}

fn lay_out() -> Result<(), Box<dyn std::error::Error>> {
    // Library users supply their own linker script.
    if !IMAGE.into_iter().any(is_on) {
        return Ok(());
    }
    match [is_on("semihosting"), is_on("rtt")] {
        [true, true] => return Err("two channels for the log: choose --features semihosting or --features rtt".into()),
        [false, false] if is_on("log") => {
            return Err(
                "no channel for the log: add --features semihosting for QEMU or --features rtt for a board".into()
            );
        }
        _ => {}
    }
    let layout = board()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::copy(layout, out.join("board.x"))?;
    println!("cargo::rustc-link-search={}", out.display());
    // Without --nmagic the linker aligns sections to pages, which a chip does not have.
    println!("cargo::rustc-link-arg=--nmagic");
    println!("cargo::rustc-link-arg=-Tlink.x");
    if is_on("log") {
        println!("cargo::rustc-link-arg=-Tdefmt.x");
    }
    Ok(())
}

/// The layout of the chosen board. A board is a file in `boards/` and a feature of that name.
fn board() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let mut layouts =
        fs::read_dir("boards")?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    layouts.sort();
    let names: Vec<&str> = layouts.iter().map(|layout| name(layout)).collect();
    match layouts.iter().filter(|layout| is_on(name(layout))).collect::<Vec<_>>()[..] {
        [layout] => Ok(layout.clone()),
        ref on => {
            Err(format!("{} boards chosen: choose one with --features, of {}", on.len(), names.join(", ")).into())
        }
    }
}

fn name(layout: &Path) -> &str {
    layout.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn is_on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase().replace('-', "_"))).is_some()
}
