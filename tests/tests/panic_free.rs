//! No panic can be reached in core: an image whose panic handler calls a missing function links,
//! and with one unchecked index it does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use trimtab_tests::image::{Image, Profile};
use trimtab_tests::{qemu, root};

/// The proof depends on the optimizer.
const LEVELS: [&str; 3] = ["3", "'s'", "'z'"];

/// The linker's message about the function that the panic handler calls.
const UNDEFINED: &str = "undefined symbol: a_panic_can_be_reached";

/// All builds share a file: one at a time, and none while it runs.
static FILE: Mutex<()> = Mutex::new(());

/// Tries to build the image with these features at this opt-level.
fn build(features: &str, level: &str) -> Output {
    let _alone = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Image::find("panic_free").unwrap().build_command(Profile::Release);
    command.args([
        "--features",
        features,
        "--config",
        &format!("profile.{}.opt-level={level}", Profile::Release.name()),
    ]);
    command.output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into()
}

#[test]
fn no_panic_is_linked_at_any_level() {
    for level in LEVELS {
        let output = build("panic-free", level);
        let errors = errors(&output);
        assert!(output.status.success(), "opt-level {level}: a panic can be reached, or the build failed\n{errors}");
    }
}

#[test]
fn an_unchecked_index_is_noticed_at_every_level() {
    for level in LEVELS {
        let output = build("unchecked-index", level);
        let errors = errors(&output);
        assert!(!output.status.success(), "opt-level {level}: it links although it can panic");
        let undefined: Vec<_> = errors.lines().filter(|line| line.contains("undefined symbol")).collect();
        assert!(undefined.len() == 1 && undefined[0].ends_with(UNDEFINED), "opt-level {level}: {errors}");
    }
}

/// The same calls at run time.
#[test]
fn the_image_also_runs() {
    let _alone = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let elf = Image::find("panic_free").and_then(|image| image.build(Profile::Release)).unwrap();
    qemu::run(&elf, Duration::from_secs(300), &mut |_| ()).unwrap().success().unwrap();
}

/// A new public function must be called in the image.
#[test]
fn every_public_function_is_called() {
    let image = sources(&root().join("firmware/src/bin/panic_free"));
    // defmt's `Format` is not part of the proof, as the image's head says: what it calls is not either.
    let format = fs::read_to_string(root().join("core/src/space/log.rs")).unwrap();
    let core = sources(&root().join("core/src")).replace(&format, "");
    let is_called = |name: &str| {
        let mut places = image.match_indices(name).map(|(at, _)| (&image[..at], &image[at + name.len()..]));
        places.any(|(before, after)| !before.ends_with(is_of_a_name) && after.starts_with(['(', ':']))
    };
    let names: Vec<_> = core.lines().filter_map(public_function).collect();
    assert!(names.len() > 100, "core has {} public functions", names.len());
    let missing: Vec<_> = names.into_iter().filter(|name| !is_called(name)).collect();
    assert!(missing.is_empty(), "call these in firmware/src/bin/panic_free as well: {missing:?}");
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The name of the public function that a line declares, if any.
fn public_function(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const ").unwrap_or(rest).strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

/// All source files below a folder, concatenated.
fn sources(folder: &Path) -> String {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false => fs::read_to_string(path).unwrap(),
    };
    paths.map(read).collect()
}
