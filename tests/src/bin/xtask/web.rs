//! `cargo xtask web`: the page that runs the tuner in a browser, as one static folder.
//!
//! **Choices**
//! - The module and the worker are texts within a script: a page that is opened from disk may not
//!   load other files, and so it works from there too.
//! - The module is compressed, which more than makes up for base64; every browser since 2023 unpacks it.
//! - The style sheet begins with that of the reports.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use miniz_oxide::deflate::compress_to_vec_zlib;
use trimtab_tests::root;
use trimtab_tests::workspace::cargo;

/// Most bytes of the whole folder.
const MOST_BYTES: u64 = 600_000;
const TARGET: &str = "wasm32-unknown-unknown";
/// Copied as they are.
const FILES: [&str; 5] = ["index.html", "draw.js", "antenna.js", "logs.js", "hand.js"];

/// Builds the folder and returns its path.
pub(crate) fn run() -> Result<PathBuf> {
    let mut build = cargo();
    // As a module alone: a crate that is also a library is not optimized as a whole.
    build.args(["rustc", "--quiet", "--package", "trimtab-web", "--lib", "--crate-type", "cdylib"]);
    build.args(["--profile", "web", "--target", TARGET]);
    // A tuner lies on the stack before it is boxed; by default a module has one megabyte.
    build.args(["--", "-C", "link-arg=-zstack-size=8388608"]);
    let hint = format!("the module did not build; is the target there? rustup target add {TARGET}");
    ensure!(build.status()?.success(), hint);
    let module = root().join(format!("target/{TARGET}/web/trimtab_web.wasm"));
    let module = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    let (page, folder) = (root().join("host/web/page"), root().join("target/web"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    for file in FILES {
        fs::copy(page.join(file), folder.join(file)).with_context(|| format!("cannot copy {file}"))?;
    }
    let style = fs::read_to_string(root().join("host/src/draw/page.css"))? + &fs::read_to_string(page.join("web.css"))?;
    fs::write(folder.join("style.css"), style)?;
    let worker = serde_json::to_string(&fs::read_to_string(page.join("worker.js"))?)?;
    fs::write(
        folder.join("module.js"),
        format!("const MODULE = \"{}\";\nconst WORKER = {worker};\n", base64(&compress_to_vec_zlib(&module, 9))),
    )?;
    let mut bytes = 0;
    for entry in fs::read_dir(&folder)? {
        bytes += entry?.metadata()?.len();
    }
    ensure!(bytes <= MOST_BYTES, "the page has {bytes} bytes, more than {MOST_BYTES}");
    println!("{}: {bytes} bytes in all", folder.join("index.html").display());
    Ok(folder)
}

/// Bytes as text (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
