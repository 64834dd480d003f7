//! The images run: they do their work, and one that fails says why and ends with a failure.

use std::fs;
use std::time::Duration;

use trimtab::{Event, Record};
use trimtab_embedded::flash::RamFlash;
use trimtab_embedded::journal::{Layout, digest};
use trimtab_embedded::persistent::Persistent;
use trimtab_firmware::demo::resets::{BETWEEN, BUDGET, RECORDS, ResetTuner, measure, task};
use trimtab_tests::image::{Image, Profile};
use trimtab_tests::machine::{MICROBIT, RISCV32_VIRT};
use trimtab_tests::qemu::{self, Run, Session};
use trimtab_tests::root;

fn run(name: &str) -> Run {
    let elf = Image::find(name).and_then(|image| image.build(Profile::Release)).unwrap();
    qemu::run(&elf, Duration::from_secs(300), &mut |_| ()).unwrap()
}

#[test]
fn antenna_is_tuned_and_logs_every_measurement() {
    let lines = run("antenna").success().unwrap();
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!((count(" of 120: "), count("the antenna moves"), count(" of 40: ")), (120, 1, 40), "{lines:#?}");
    assert_eq!(count("best there is: SWR"), 2, "{lines:#?}");
}

#[test]
fn fleet_tunes_three_boards_and_notices_the_strange_one() {
    let lines = run("fleet").success().unwrap();
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!((count("prior: InForce"), count("prior: GivenUp")), (3, 1), "{lines:#?}");
}

/// `cargo xtask cost` weighs the first two and traces the third, whose output would be in the way.
#[test]
fn images_that_are_measured_tune_in_silence() {
    for name in ["minimal", "sized", "profile"] {
        let run = run(name);
        assert_eq!((run.code, run.lines.len(), run.errors.as_str()), (Some(0), 0, ""), "{name}");
    }
}

#[test]
fn nearest_counts_every_kind_of_point() {
    let lines = run("nearest").success().unwrap();
    let counted = lines.iter().filter(|line| line.contains(" nodes (") && line.contains(" instructions (")).count();
    // Two maps, three kinds of points.
    assert_eq!((counted, lines.len()), (6, 7), "{lines:#?}");
}

#[test]
fn level_finds_the_best_by_exact_and_by_rough_functions() {
    let lines = run("level").success().unwrap();
    for name in ["sqrt", "ln"] {
        let line = lines.iter().find(|line| line.contains(&format!("{name}: "))).unwrap();
        let counts: Vec<u32> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(counts.len() == 2 && counts[1] < counts[0], "rough is no quicker: {line}");
    }
    // Nobody wrote a `Format`: `knobs!` logs the names, and a value without one as it is declared.
    let best = "is the best: FrontEnd { gain: 10, bias: -48, filter: Filter::Butterworth }";
    assert_eq!(lines.iter().filter(|line| line.contains(best)).count(), 2, "{lines:#?}");
}

/// What a boot costs, as `firmware/docs/survival.md` says it; a boot that replayed asks too would take
/// ten times as long.
#[test]
fn boot_replays_a_log_to_the_bit_at_a_known_cost() {
    let lines = run("boot").success().unwrap();
    let count = |label: &str| {
        let line = lines.iter().find_map(|line| line.split(label).nth(1)).unwrap();
        line.trim_start().split(' ').next().unwrap().parse::<u32>().unwrap()
    };
    let (empty, full) = (count("an empty flash: "), count("64 records: "));
    assert!(empty < 3_000_000 && (10_000_000..150_000_000).contains(&full), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("fed 64 times")), "{lines:#?}");
}

/// The journal on the flash controller of an nRF51, reset every seven measurements: the end is that of
/// a run on this machine without a reset.
#[test]
fn resets_cost_nothing_on_a_real_flash_controller() {
    let elf = Image::find("resets").and_then(|image| image.build_for(MICROBIT, Profile::Release)).unwrap();
    let session = Session { board: MICROBIT, limit: Duration::from_secs(300), ..Session::default() };
    let lines = session.run(&elf, &mut |_| ()).and_then(|run| run.success()).unwrap();
    let boots: Vec<_> = lines.iter().filter(|line| line.starts_with("boot: ")).collect();
    assert_eq!(boots.len(), 9, "60 measurements, seven per boot: {lines:#?}");
    // QEMU's new flash is all zeros, which counts as a page without anything readable until it is erased.
    let is_sound = |(boot, line): (usize, &&String)| {
        line.ends_with(if (1..4).contains(&boot) { "1 damaged, None" } else { "0 damaged, None" })
    };
    assert!(boots.iter().enumerate().all(is_sound), "{lines:#?}");

    let mut tuner = Box::new(ResetTuner::new());
    let layout = Layout { range: 0..4096, records: RECORDS };
    let flash = RamFlash::<4, 1024, 4>::new();
    let (mut kept, _) = Persistent::open(&mut tuner, &task().unwrap(), flash, layout).unwrap();
    let mut expected = Vec::new();
    while kept.total() < BUDGET {
        let c = kept.ask().unwrap().combination;
        kept.replay(&Record::new(&c, measure(&c).map_or(Event::Failed, Event::Told))).unwrap();
        if kept.total() % BETWEEN == 0 || kept.total() == BUDGET {
            kept.prepare(&mut || ());
            expected.push(format!("{} of {BUDGET}: {:016x}", kept.total(), digest(kept.tuner())));
        }
    }
    assert!(kept.rebuilds() > 0, "the ring was full");
    let got: Vec<_> = lines.into_iter().filter(|line| line.contains(" of ")).collect();
    assert_eq!(got, expected);
}

/// The 20 000 instructions that a tuner without a prior promises, for a board of the fleet, for one that gives the
/// prior up, and for 24 relays with the largest prior: every step of every case is counted.
#[test]
fn slices_under_a_prior_keep_the_promise() {
    let lines = run("slices_fleet").success().unwrap();
    let longest = |board: &str, call: &str| {
        let of_call = lines.iter().filter(|line| line.starts_with(&format!("slice {board} ")) && line.contains(call));
        let counts: Vec<_> = of_call.filter_map(|line| line.split(' ').next_back()?.parse::<u64>().ok()).collect();
        assert_eq!(counts.len(), 3, "{board}{call}: {lines:#?}");
        counts.into_iter().max().unwrap_or(0)
    };
    for board in ["fleet", "strange", "relays"] {
        for call in [" ask_begin ", " ask_step ", " tell_begin ", " tell_step "] {
            assert!((1_000..20_000).contains(&longest(board, call)), "{board}{call}: {lines:#?}");
        }
    }
}

/// So that no image is built only to see that it builds.
#[test]
fn every_image_is_run_by_a_test() {
    let paths = fs::read_dir(root().join("tests/tests")).unwrap().map(|entry| entry.unwrap().path());
    let tests: String = paths.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect();
    // The test `budget` runs all of `cost_…`.
    for image in Image::all().unwrap().iter().filter(|image| !image.name.starts_with("cost_")) {
        assert!(tests.contains(&format!("{:?}", image.name)), "no test runs {}", image.name);
    }
}

#[test]
fn a_panic_is_a_failure_with_its_reason() {
    let run = run("panic");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("examples/panic.rs") && run.errors.contains("on purpose, 42"), "{}", run.errors);
    assert!(run.success().unwrap_err().to_string().contains("exit code 1"));
}

#[test]
fn a_hard_fault_is_a_failure_with_its_place() {
    let run = run("hard_fault");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("hard fault at 0x08"), "{}", run.errors);
}

#[test]
fn an_exception_of_a_risc_v_is_a_failure_with_its_place() {
    let image = Image::find("hard_fault").unwrap();
    let elf = image.build_for(RISCV32_VIRT, Profile::Release).unwrap();
    let run = Session { board: RISCV32_VIRT, ..Session::default() }.run(&elf, &mut |_| ()).unwrap();
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("exception at 0x80"), "{}", run.errors);
}

#[test]
fn an_image_that_does_not_end_is_stopped() {
    let elf = Image::find("antenna").and_then(|image| image.build(Profile::Release)).unwrap();
    let error = qemu::run(&elf, Duration::ZERO, &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("did not end within 0 s"), "{error}");
}
