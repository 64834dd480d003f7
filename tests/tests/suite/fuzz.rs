//! The fuzz targets without a fuzzer, and that the fuzz package is whole.
//!
//! The targets of the command are in `host/src/fuzz.rs`, with a test of their own.

#[path = "../../fuzz/src/chip.rs"]
mod chip;
#[path = "../../fuzz/src/smoke.rs"]
mod smoke;

use std::fs;

use chip::{Flash, LAYOUT, PAGE, TARGETS, Three, task};
use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab::{Event, Record};
use trimtab_embedded::persistent::Persistent;
use trimtab_embedded::telemetry::{Frame, Proposed, wire};
use trimtab_tests::{golden, root};

#[test]
fn no_bytes_make_a_chip_panic() {
    for (name, target) in TARGETS {
        smoke::run(name, target, 1500);
    }
}

/// A corpus of sound files: fuzzers find the damaged ones. `TRIMTAB_REWRITE=1` writes it anew after
/// a change of a format.
#[test]
fn the_corpus_has_the_present_formats() {
    let mut tuner = Three::new();
    let (mut flash, task) = (Flash::new(), task());
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, LAYOUT).unwrap();
    let (mut stream, mut record) = (Vec::new(), Vec::new());
    let (mut plain, mut stuffed) = ([0; 128], [0; 128]);
    for number in 0..8 {
        let asked = kept.ask().unwrap();
        let event = if number == 2 { Event::Failed } else { Event::Told(number as f32) };
        let own = Record::new(&asked.combination, event);
        kept.replay(&own).unwrap();
        record = own.to_bytes(&mut [0; Record::<3>::MOST_BYTES]).unwrap().to_vec();
        let levels = asked.combination.levels();
        let proposed = Proposed { levels: levels.into(), mean: asked.mean, std_dev: asked.std_dev, score: asked.score };
        let frame = Frame::Measured { proposed, event };
        stream.extend_from_slice(wire::encode(number, &frame, &mut plain, &mut stuffed).unwrap());
    }
    drop(kept);
    let mut cells = vec![0; 3 * PAGE];
    flash.read(0, &mut cells).unwrap();
    for (name, bytes) in [("record", record), ("journal", cells), ("stream", stream)] {
        let path = root().join("tests/fuzz/corpus").join(name).join("sound");
        if std::env::var_os(golden::REWRITE).is_some_and(|value| !value.is_empty()) {
            fs::write(&path, &bytes).unwrap();
        }
        // Of a journal only the length: its contents are the model's choice.
        let is_same = |found: &[u8]| if name == "record" { found.len() == bytes.len() } else { !found.is_empty() };
        let found = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(is_same(&found), "{}: run this test with {}=1", path.display(), golden::REWRITE);
    }
}

/// The fuzz package is outside the workspace, so nothing else notices what it lacks.
#[test]
fn the_fuzz_package_has_every_target_and_dependency() {
    let manifest = fs::read_to_string(root().join("tests/fuzz/Cargo.toml")).unwrap();
    let host = fs::read_to_string(root().join("host/Cargo.toml")).unwrap();
    let section = |name: &str| host.split_once(name).unwrap().1.split("\n[").next().unwrap().to_string();
    for section in [section("\n[dependencies]\n"), section("cfg(unix)'.dependencies]\n")] {
        for line in section.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')) {
            let name = line.split_once(" = ").unwrap().0;
            assert!(manifest.contains(&format!("\n{name} = ")), "tests/fuzz/Cargo.toml lacks {name} of host");
        }
    }
    let source = fs::read_to_string(root().join("host/src/fuzz.rs")).unwrap();
    let names = source.split_once("TARGETS").unwrap().1.split_once(';').unwrap().1.split_once(';').unwrap().0;
    let of_host = names.split('"').skip(1).step_by(2).map(String::from);
    let names: Vec<String> = TARGETS.iter().map(|(name, _)| name.to_string()).chain(of_host).collect();
    assert_eq!(names.len(), 9, "{names:?}");
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "tests/fuzz/Cargo.toml lacks the target {name}");
        assert!(root().join("tests/fuzz/corpus").join(&name).is_dir(), "no corpus for {name}");
    }
}
