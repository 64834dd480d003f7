//! The rp2040-hal program, unchanged, in rp2040js: its relays, ADC, flash and watchdog, against the PC.
//!
//! All lines of parity take two minutes: `cargo test -p trimtab-tests --features qemu --test rp2040 -- --ignored`.

use std::path::PathBuf;

use trimtab::{Config, Knob, Space};
use trimtab_firmware::parity;
use trimtab_tests::golden;
use trimtab_tests::hal::PROGRAMS;
use trimtab_tests::rp2040::{Boot, run};

fn image(name: &str) -> PathBuf {
    let program = PROGRAMS.iter().find(|program| program.chip == "rp2040").unwrap();
    program.build().unwrap().with_file_name(name)
}

fn parity_of_this_machine() -> Vec<String> {
    let (mut lines, mut tuners) = (Vec::new(), Box::new(parity::Tuners::new()));
    parity::run(&mut tuners, &mut |line| lines.push(line.to_string())).unwrap();
    lines
}

#[test]
fn the_first_lines_of_parity_are_those_of_this_machine() {
    let boots = run(&image("parity"), r#"{"boots": [{}], "most": 6e8}"#).unwrap();
    let lines = &boots[0].lines;
    assert!(lines.len() >= 40, "only {} lines", lines.len());
    assert_eq!(golden::first_difference(&parity_of_this_machine()[..lines.len()], lines), None);
}

#[test]
#[ignore = "takes two minutes of processor time"]
fn all_lines_of_parity_are_those_of_this_machine() {
    let boots = run(&image("parity"), r#"{"boots": [{}], "most": 8e9}"#).unwrap();
    assert_eq!(golden::first_difference(&parity_of_this_machine(), &boots[0].lines), None);
}

const KNOBS: [Knob; 8] = [Knob::nominal(2); 8];
type Tuner = trimtab::tuner!(KNOBS, observations: 32, rows: 32);

/// The run on this machine: the lines of the log, and the relays of each measurement. The cost is that
/// of the script.
fn here(hangs: Option<u8>) -> (Vec<String>, Vec<u8>) {
    let mut tuner = Box::new(Tuner::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 1).unwrap();
    let (mut lines, mut relays) = (Vec::new(), Vec::new());
    for t in 1..=32 {
        let c = tuner.ask().unwrap().combination;
        let on = c.levels().iter().rev().fold(0, |byte, level| 2 * byte + *level as u8);
        let sum: i32 = c.levels().iter().zip([820, 410, 205, 102, 51, 26, 13, 6]).map(|(b, w)| i32::from(*b) * w).sum();
        let cost = (sum - 1000).abs() as f32;
        relays.push(on);
        let event = match hangs == Some(on) {
            true => tuner.tell_failed(&c).map(|()| None),
            false => tuner.tell(&c, cost).map(|()| Some(cost)),
        };
        if let Some(cost) = event.unwrap() {
            lines.push(format!("info  {t} of 32: {:?} Told({cost:?})", c.levels()));
        }
    }
    let best = tuner.best_observed().unwrap();
    let (c, value) = (best.combination, best.value);
    lines.push(format!("info  best: {:?} {value:?}", c.levels()));
    (lines, relays)
}

/// The lines about measurements of all boots, and the best, in the form of `here`.
fn measured(boots: &[Boot]) -> Vec<String> {
    let all = boots.iter().flat_map(|boot| &boot.lines);
    let kept = all.filter(|line| line.contains(" of 32: ") || line.contains("best: "));
    kept.map(|line| match line.split_once("Observation { combination: ") {
        // defmt writes the whole observation.
        Some((start, rest)) => {
            let (c, rest) = rest.split_once(", value: ").unwrap();
            format!("{start}{c} {}", rest.split(',').next().unwrap())
        }
        None => line.clone(),
    })
    .collect()
}

#[test]
fn the_relays_are_tuned_as_on_this_machine() {
    let boots = run(&image("tune-rp2040"), r#"{"boots": [{}], "most": 1e9}"#).unwrap();
    let (lines, relays) = here(None);
    assert_eq!(golden::first_difference(&lines, &measured(&boots)), None, "{:#?}", boots[0].lines);
    assert_eq!((&boots[0].relays, boots[0].end.as_str()), (&relays, "asleep"));
}

/// Cuts within the erase and header of the first page and within records, each left undone, half done
/// and done.
#[test]
fn power_cuts_change_no_measurement() {
    let cuts = r#"{"boots": [{"cut": 0, "damage": "half"}, {"cut": 1, "damage": "half"}, {"cut": 6, "damage": "half"},
        {"cut": 5, "damage": "nothing"}, {"cut": 9, "damage": "all"}, {}], "most": 1e9}"#;
    let boots = run(&image("tune-rp2040"), cuts).unwrap();
    let ends: Vec<&str> = boots.iter().map(|boot| boot.end.as_str()).collect();
    assert_eq!(ends, ["cut", "cut", "cut", "cut", "cut", "asleep"]);
    let (expected, relays) = here(None);
    // A record that was cut off is measured again; one that was written but not reported is not logged.
    let got = measured(&boots);
    let missing: Vec<_> = expected.iter().filter(|line| !got.contains(line)).collect();
    assert!(missing.len() <= 1 && got.iter().all(|line| expected.contains(line)), "{got:#?}");
    let all: Vec<u8> = boots.iter().flat_map(|boot| boot.relays.clone()).collect();
    let repeated = all.len() - relays.len();
    assert!((1..=3).contains(&repeated), "{repeated} measurements were repeated");
    let mut once = all;
    once.dedup();
    assert_eq!(once, relays, "in the same order");
}

#[test]
fn a_measurement_that_hangs_is_bitten_and_given_up() {
    let hangs = here(None).1[9];
    let scenario = format!(r#"{{"boots": [{{}}, {{}}], "hangs": {hangs}, "most": 1e9}}"#);
    let boots = run(&image("tune-rp2040"), &scenario).unwrap();
    assert_eq!((boots[0].end.as_str(), boots[1].end.as_str()), ("bitten", "asleep"));
    assert_eq!(boots[0].relays.last(), Some(&hangs));
    assert!(boots[1].lines.iter().any(|line| line.contains("it hung: Some(")), "{:#?}", boots[1].lines);
    assert!(!boots[1].relays.contains(&hangs), "it is not measured again");
    assert_eq!(golden::first_difference(&here(Some(hangs)).0, &measured(&boots)), None);
}
