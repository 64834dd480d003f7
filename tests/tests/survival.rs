//! The fault rig in QEMU: power cuts, relays that hang, an antenna that moves, bad flash.
//!
//! A power cut ends QEMU in the middle of a flash operation. The flash is a file, and running the
//! image again is the next boot. Each end state is compared with the same run on this machine, so
//! bits agree between cut and uncut, and between chip and PC. `power_cuts` cuts every operation;
//! this is a sample.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use trimtab::{Event, Record};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::{Entry, Journal, Layout, digest};
use trimtab_embedded::persistent::Persistent;
use trimtab_embedded::telemetry::check;
use trimtab_firmware::antenna::{AntennaTuner, Network, space, task};
use trimtab_tests::image::{Image, Profile};
use trimtab_tests::qemu::{Run, Session};

static ELF: LazyLock<PathBuf> =
    LazyLock::new(|| Image::find("survival").and_then(|image| image.build(Profile::Release)).unwrap());

/// The exit code of a power cut.
const CUT: Option<i32> = Some(3);
const BYTES: usize = 5 * 1024;
/// Thirty measurements, in pages so short that the first is dropped.
const SHORT: &str = "budget 30\nstay\nrecords 6\n";

/// A chip on the desk: a folder with its flash, removed at the end of the test.
struct Chip(PathBuf);

impl Chip {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("survival-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// One boot.
    fn boot(&self, scenario: &str) -> Run {
        fs::write(self.0.join("scenario.txt"), scenario).unwrap();
        let (folder, uart) = (Some(self.0.as_path()), self.0.join("uart"));
        let limit = Duration::from_secs(120);
        let session = Session { folder, uart: Some(&uart), limit, ..Session::default() };
        session.run(&ELF, &mut |_| ()).unwrap()
    }

    /// Repeats the stream of the last boot, bit by bit. Returns the number of proposals.
    fn proposals(&self) -> u32 {
        let stream = fs::read(self.0.join("uart")).unwrap();
        let checked = check(&mut Box::new(AntennaTuner::new()), &space(), &stream).unwrap();
        assert_eq!((checked.unchecked, checked.lost, checked.garbled), (0, 0, 0), "{checked:?}");
        checked.proposals
    }

    fn flash(&self) -> PathBuf {
        self.0.join("flash.bin")
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.flash()).unwrap();
        change(&mut bytes);
        fs::write(self.flash(), bytes).unwrap();
    }
}

impl Drop for Chip {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The digest of the last end state in the log.
fn state(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{run:#?}");
    run.lines.iter().rev().find_map(|line| line.split("state: ").nth(1)).unwrap().into()
}

fn measured(run: &Run) -> usize {
    run.lines.iter().filter(|line| line.contains(": inductors ") && line.contains(" of ")).count()
}

fn says(run: &Run, text: &str) -> bool {
    run.lines.iter().any(|line| line.contains(text))
}

/// The digest of the same run on this machine, without a cut: `first` measurements, then a restart
/// and `again` more with the moved antenna.
fn here(records: u16, first: u32, again: u32) -> String {
    let (mut flash, mut tuner) = (RamFlash::<5, 1024, 4>::new(), Box::new(AntennaTuner::new()));
    let layout = Layout { range: 0..BYTES as u32, records };
    let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, layout).unwrap();
    for (network, until) in [(Network::SHORT_WIRE, first), (Network::MOVED_WIRE, first + 1 + again)] {
        if kept.total() == first && again > 0 {
            kept.restart();
        }
        while kept.total() < until && (until == first || again > 0) {
            let c = kept.ask().unwrap().combination;
            kept.tell(&c, network.cost(&c)).unwrap();
        }
    }
    // The image erases a full page at once.
    kept.prepare(&mut || ());
    format!("{:016x}", digest(kept.tuner()))
}

/// The run has 49 operations: erase and header, six records, and so on; the last nine carry the six
/// records of the oldest page over and drop it.
#[test]
fn a_cut_run_ends_as_it_does_here() {
    let expected = here(6, 30, 0);
    assert_eq!(state(&Chip::new("uncut").boot(SHORT)), expected);
    let cuts = [
        "0 half",
        "1 random",
        "2 all",
        "2 half",
        "8 random",
        "9 most",
        "13 half",
        "24 nothing",
        "32 most",
        "40 random",
        "41 half",
        "46 half",
        "47 random",
        "48 half",
    ];
    for cut in cuts {
        let chip = Chip::new("cut");
        let first = chip.boot(&format!("{SHORT}cut {cut}\n"));
        assert_eq!(first.code, CUT, "{first:#?}");
        let second = chip.boot(SHORT);
        assert_eq!(state(&second), expected, "cut {cut}");
        assert_eq!(chip.proposals() as usize, measured(&second), "cut {cut}");
        let measured = measured(&first) + measured(&second);
        assert!((29..=31).contains(&measured), "cut {cut}: {measured} measurements");
    }
}

#[test]
fn cut_after_cut_it_gets_there() {
    let chip = Chip::new("cuts");
    for (boot, damage) in ["half", "random", "most", "nothing", "half", "all"].into_iter().enumerate() {
        // A boot marks its first measurement, and may turn a page before it.
        let run = chip.boot(&format!("{SHORT}cut {} {damage}\n", 3 + boot % 4));
        assert_eq!(run.code, CUT, "{run:#?}");
    }
    let last = chip.boot(SHORT);
    assert!(says(&last, "flash: a log, "), "{last:#?}");
    assert_eq!(state(&last), here(6, 30, 0));
    // Once more: the budget is spent, nothing is measured.
    let again = chip.boot(SHORT);
    assert_eq!((measured(&again), state(&again)), (0, here(6, 30, 0)));
}

#[test]
fn a_full_flash_drops_its_oldest_page_and_says_so() {
    let chip = Chip::new("full");
    let run = chip.boot(SHORT);
    let full = "the flash was full: the oldest page is dropped, 30 outcomes kept";
    assert_eq!(run.lines.iter().filter(|line| line.contains(full)).count(), 1, "{run:#?}");
    assert_eq!(fs::metadata(chip.flash()).unwrap().len(), BYTES as u64);
}

/// Some relays never settle: the watchdog resets the chip, and for the next boot they have failed.
#[test]
fn relays_that_hang_count_as_failed() {
    let chip = Chip::new("stick");
    let scenario = "budget 60\nstay\nstick\n";
    let run = chip.boot(scenario);
    let code = |line: &str, bank: &str| {
        line.split(bank).nth(1).and_then(|rest| u8::from_str_radix(rest.get(1..8)?, 2).ok()).unwrap()
    };
    let failed: Vec<_> = run.lines.iter().filter(|line| line.contains("a reset by the watchdog")).collect();
    assert!(!failed.is_empty() && run.code == Some(0), "{run:#?}");
    assert_eq!(chip.proposals() as usize, measured(&run));
    // After each reset the boot finds the log, and no hanging state has a value.
    let boots = run.lines.iter().filter(|line| line.contains("flash: a log, ")).count();
    assert_eq!((boots, measured(&run)), (failed.len(), 60 - failed.len()));
    for line in failed {
        let both = code(line, "inductors") & code(line, "capacitors");
        assert_eq!(both & 0b110_0000, 0b110_0000, "{line}");
    }
    // A power cut in between changes nothing.
    let cut = Chip::new("stick-cut");
    let first = cut.boot(&format!("{scenario}cut 5 half\n"));
    assert_eq!(first.code, CUT, "{first:#?}");
    assert_eq!(state(&cut.boot(scenario)), state(&run));
}

/// The rig notices that the antenna has moved and tries the best states first. A power cut in any
/// part of this changes nothing.
#[test]
fn an_antenna_that_moves_is_tuned_again() {
    let scenario = "budget 50\nagain 30\n";
    let chip = Chip::new("move");
    let run = chip.boot(scenario);
    assert!(says(&run, "the antenna moves") && says(&run, "the best state had SWR"), "{run:#?}");
    let expected = here(40, 50, 30);
    assert_eq!(state(&run), expected);
    assert_eq!(chip.proposals(), 80);
    // Two operations for each of two pages, forty records and ten; number 54 is the restart.
    for cut in ["54 half", "54 all", "57 random"] {
        let chip = Chip::new("move-cut");
        assert_eq!(chip.boot(&format!("{scenario}cut {cut}\n")).code, CUT);
        let run = chip.boot(scenario);
        assert_eq!(state(&run), expected, "cut {cut}");
        assert_eq!(chip.proposals() as usize, measured(&run), "cut {cut}");
    }
    // An antenna that stays needs nothing.
    let chip = Chip::new("stay");
    let run = chip.boot("budget 30\nmove 35 -120\n");
    assert!(run.code == Some(0) && says(&run, "still good: nothing to do") && measured(&run) == 30, "{run:#?}");
}

#[test]
fn bad_flash_is_reported_and_used_as_far_as_possible() {
    let plain = "budget 30\nstay\n";
    let expected = here(40, 30, 0);
    let chip = Chip::new("flash");
    // A flipped bit in the 29th record: it is left out, and one more is measured.
    assert_eq!(state(&chip.boot(plain)), expected);
    chip.change(|bytes| bytes[28 + 28 * 20 + 6] ^= 0x10);
    let run = chip.boot(plain);
    assert!(says(&run, "a log, 29 outcomes are known") && says(&run, "1 damaged records are left out"), "{run:#?}");
    assert_eq!((run.code, measured(&run)), (Some(0), 1), "{run:#?}");

    // Another version, another tuner, noise: a fresh start with the same end.
    chip.change(|bytes| bytes[4..8].copy_from_slice(&[9, 0, !9, !0]));
    let run = chip.boot(plain);
    assert!(says(&run, "a log of version 9") && measured(&run) == 30, "{run:#?}");
    assert_eq!(state(&run), expected);

    let mut other = RamFlash::<5, 1024, 4>::new();
    let (mut journal, _) =
        Journal::<_, 3>::open(&mut other, Layout { range: 0..BYTES as u32, records: 40 }, 1).unwrap();
    let c = space().at(0).unwrap();
    journal.append(&Entry::Record(Record::new(&c, Event::Told(0.0)))).unwrap();
    chip.change(|bytes| embedded_storage::nor_flash::ReadNorFlash::read(&mut other, 0, bytes).unwrap());
    let run = chip.boot(plain);
    assert!(says(&run, "the log of another tuner") && measured(&run) == 30, "{run:#?}");
    assert_eq!(state(&run), expected);

    chip.change(|bytes| bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i * 31 % 251) as u8));
    let run = chip.boot(plain);
    assert!(says(&run, "no readable page") && measured(&run) == 30, "{run:#?}");
    assert_eq!(state(&run), expected);

    chip.change(|bytes| bytes.truncate(100));
    let run = chip.boot(plain);
    assert!(says(&run, "a log, 3 outcomes are known"), "{run:#?}");
    assert_eq!(state(&run), expected);
}

#[test]
fn a_bad_scenario_is_an_error_with_its_line() {
    let run = Chip::new("scenario").boot("budget 30\nrain\n");
    assert!(run.code == Some(1) && says(&run, "scenario.txt, line 2"), "{run:#?}");
}

#[test]
fn a_folder_without_a_scenario_is_an_error_that_says_what_to_write() {
    let chip = Chip::new("empty");
    let session = Session { folder: Some(&chip.0), limit: Duration::from_secs(120), ..Session::default() };
    let run = session.run(&ELF, &mut |_| ()).unwrap();
    assert!(run.code == Some(1) && says(&run, "no scenario.txt: write one"), "{run:#?}");
    assert!(!chip.flash().exists());
}
