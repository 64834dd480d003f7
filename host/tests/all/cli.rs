//! `trimtab` end to end: exit codes, messages and files.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::common::{Folder, text};
use serde_json::Value;
use trimtab_firmware::antenna::{AntennaTuner, Network, OBSERVATIONS, space};

fn levels(state: &Value) -> Vec<trimtab::Level> {
    state["levels"].as_array().unwrap().iter().map(|level| level.as_u64().unwrap() as trimtab::Level).collect()
}

#[test]
fn without_arguments_it_tunes_the_antenna_in_plain_lines() {
    let folder = Folder::new("plain");
    let output = folder.run(&[]);
    assert_eq!(output.status.code(), Some(0));
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(!out.contains('\u{1b}') && !err.contains('\u{1b}') && !err.contains('\r'), "escape codes in a pipe");
    for word in ["found", "optimum", "measured  120 of 32768 states", "picture   out/antenna.svg"] {
        assert!(out.contains(word), "no {word:?} in:\n{out}");
    }
    assert!(out.contains(&format!("{} bytes", size_of::<AntennaTuner>())));
    assert!(err.starts_with("Tuning 35-j120 Ω at 7.1 MHz, SWR 10.3") && err.contains("  1 of 120: SWR"), "{err}");
    assert!(folder.0.join("out/antenna.svg").exists());
    // The subcommand does the same.
    let named = text(&folder.run(&["antenna"]).stderr);
    assert_eq!(named, err);
}

#[test]
fn json_agrees_with_the_physics() {
    let folder = Folder::new("json");
    let words = ["--json", "--load", "12.5+j40", "--frequency", "14.1M", "--seed", "3", "--budget", "40"];
    let report = folder.json(&words);
    let network = Network::new(12.5, 40.0, 14.1e6).unwrap();
    let space = space();
    let measurements = report["measurements"].as_array().unwrap();
    assert_eq!(measurements.len(), 40);
    let mut seen = HashSet::new();
    let mut least = (f32::INFINITY, Vec::new());
    for measurement in measurements {
        let c = space.combination(&levels(measurement)).unwrap();
        let (cost, swr) = (network.cost(&c), network.swr(&c));
        assert_eq!(measurement["cost"].as_f64().unwrap() as f32, cost);
        assert_eq!(measurement["swr"].as_f64().unwrap() as f32, swr);
        assert!(seen.insert(space.index(&c)), "measured twice: {c:?}");
        if cost < least.0 {
            least = (cost, levels(measurement));
        }
    }
    assert_eq!((report["best"]["cost"].as_f64().unwrap() as f32, levels(&report["best"])), least);
    assert_eq!(levels(&report["optimum"]), network.optimum(&space).unwrap().levels());
    // Before the first observation the standard deviation is infinite, so null.
    assert!(measurements[0]["std_dev"].is_null() && measurements[39]["std_dev"].as_f64().unwrap() > 0.0);
    assert_eq!(report["picture"], "out/antenna.svg");
    assert_eq!(report["tuner_bytes"], size_of::<AntennaTuner>());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let folder = Folder::new("seed");
    let run = |seed: &str, noise: &str| {
        let mut report =
            folder.json(&["--json", "--no-svg", "--quiet", "--budget", "30", "--seed", seed, "--noise", noise]);
        for timed in ["seconds_per_ask", "seconds_per_tell"] {
            assert!(report[timed].take().as_f64().unwrap() >= 0.0);
        }
        report
    };
    assert_eq!(run("5", "0"), run("5", "0"));
    assert_eq!(run("5", "0.02"), run("5", "0.02"));
    assert_ne!(run("5", "0")["measurements"], run("6", "0")["measurements"]);
    // Noise changes the cost that the tuner is told, not the true SWR of the first state.
    let (exact, noisy) = (run("5", "0"), run("5", "0.02"));
    assert_eq!(exact["measurements"][0]["swr"], noisy["measurements"][0]["swr"]);
    assert_ne!(exact["measurements"][0]["cost"], noisy["measurements"][0]["cost"]);
}

#[test]
fn the_picture_is_well_formed_and_has_every_measurement() {
    let folder = Folder::new("picture");
    for budget in [1, 2, 7, 128] {
        folder.stdout(&["--quiet", "--budget", &budget.to_string(), "--svg", "new/folder/a.svg"]);
        let svg = fs::read_to_string(folder.0.join("new/folder/a.svg")).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let classed = |class: &'static str| {
            let has = move |node: &roxmltree::Node<'_, '_>| {
                node.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == class))
            };
            document.descendants().filter(has).count()
        };
        let titled = document.descendants().filter(|node| {
            node.has_tag_name("title") && node.text().is_some_and(|text| text.starts_with("measurement "))
        });
        assert_eq!(titled.count(), budget, "one point a measurement");
        // One in the data, one in the legend.
        assert_eq!((classed("star"), classed("ring")), (2, 2));
        // The line and its legend; the dashed line and its legend; one mark per measurement and
        // two in the legend.
        assert_eq!((classed("best"), classed("optimum"), classed("measured")), (2, 2, budget + 2));
        // Seven swatches in each: six bands as paths and one as background for each topology, and
        // the legend.
        assert!((0..7).all(|band| svg.matches(&format!("\"band{band}")).count() == 3));
        assert!(svg.contains("prefers-color-scheme: dark") && !svg.contains("NaN"));
        // Everything stays inside the picture.
        for node in document.descendants().filter(|node| node.has_tag_name("circle")) {
            let number = |name| node.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!((0.0..=960.0).contains(&number("cx")) && (0.0..=884.0).contains(&number("cy")));
        }
    }
}

#[test]
fn quiet_says_one_line() {
    let folder = Folder::new("quiet");
    let output = folder.run(&["--quiet", "--no-svg", "--budget", "10"]);
    let out = text(&output.stdout);
    assert!(out.starts_with("SWR ") && out.lines().count() == 1, "{out}");
    assert!(output.stderr.is_empty() && !folder.0.join("out").exists());
}

/// promise: trimtab | bad arguments | says what to write, exit code 2
#[test]
fn bad_arguments_say_what_to_write_and_exit_with_2() {
    let folder = Folder::new("usage");
    let most = OBSERVATIONS.to_string();
    let over = (OBSERVATIONS + 1).to_string();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--load", "abc"], &["--load", "no load", "35-j120"]),
        (&["--load", "0+j40"], &["resistance must be from", "35-j120"]),
        (&["--load", "-5+j40"], &["resistance must be from", "35-j120"]),
        (&["--load", "35+j1e9"], &["reactance must be from", "35-j120"]),
        (&["--load", ""], &["35-j120"]),
        (&["--frequency", "0"], &["1 kHz to 1 GHz", "7.1M"]),
        (&["--frequency", "7.1"], &["7.1 Hz", "7.1M"]),
        (&["--frequency", "fast"], &["no frequency", "7.1M"]),
        (&["--budget", "0"], &["from 1 to", &most]),
        (&["--budget", &over], &["from 1 to", &most]),
        (&["--budget", "-3"], &["from 1 to", &most]),
        (&["--noise", "-1"], &["from 0", "0.01"]),
        (&["--noise", "nan"], &["from 0", "0.01"]),
        (&["--seed", "x"], &["--seed"]),
        (&["--settle", "99999"], &["--settle", "10000"]),
        (&["--svg", "a.svg", "--no-svg"], &["cannot be used with"]),
        (&["--lode", "50"], &["--load"]),
        (&["tunes"], &["tunes"]),
        (&["antenna-bench", "--loads", "0"], &["1..=10000"]),
    ];
    for (words, expected) in cases {
        for subcommand in [&[][..], &["antenna"]] {
            if !subcommand.is_empty() && !words[0].starts_with("--") {
                continue;
            }
            let words = [subcommand, words].concat();
            let output = folder.run(&words);
            let err = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {err}");
            assert!(output.stdout.is_empty(), "{words:?}");
            assert!(expected.iter().all(|word| err.contains(word)), "{words:?} without {expected:?}: {err}");
        }
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "a refused command leaves no file");
}

/// promise: trimtab | the picture cannot be written | the result is still printed
#[test]
fn a_picture_that_cannot_be_written_does_not_lose_the_result() {
    let folder = Folder::new("unwritable");
    fs::write(folder.0.join("file"), "in the way").unwrap();
    let output = folder.run(&["--svg", "file/a.svg", "--budget", "5"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
    assert!(out.contains("found     SWR") && !out.contains("picture"), "{out}");
    assert!(err.contains("cannot write the picture to file/a.svg") && err.contains("--svg FILE"), "{err}");
    let output = folder.run(&["--json", "--svg", "file/a.svg", "--budget", "5"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && report["picture"].is_null() && report["best"]["swr"].is_f64());
}

/// promise: trimtab | the reader goes away | a quiet end
#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let folder = Folder::new("pipe");
    let words = ["--json", "--no-svg", "--budget", "20"];
    let mut child = folder.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The pipe closes before the result comes.
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
}

#[test]
fn the_comparison_has_a_row_a_method() {
    let folder = Folder::new("bench");
    let words = ["antenna-bench", "--loads", "2", "--seeds", "2", "--budget", "15"];
    let table = folder.stdout(&words);
    for method in ["trimtab ", "trimtab, log values", "local search", "random search"] {
        assert_eq!(table.lines().filter(|line| line.starts_with(method)).count(), 1, "{method} in:\n{table}");
    }
    assert!(
        table.contains("2 antennas × 2 seeds")
            && table.contains("best reachable SWR is below 1.5")
            && !table.contains('\u{1b}')
    );
    let report = folder.json(&[&words[..], &["--json"]].concat());
    let methods = report["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 4);
    assert!(methods.iter().all(|row| row["median_ratio"].as_f64().unwrap() >= 1.0));
    // Every run is listed, and the medians follow from them.
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4 * 2 * 2);
    for row in methods {
        let own = runs.iter().filter(|run| run["method"] == row["method"]);
        let mut ratios: Vec<f64> =
            own.map(|run| run["swr"].as_f64().unwrap() / run["best_swr"].as_f64().unwrap()).collect();
        ratios.sort_by(f64::total_cmp);
        let median = (ratios[1] + ratios[2]) / 2.0;
        assert!((row["median_ratio"].as_f64().unwrap() / median - 1.0).abs() < 1e-5);
    }
    // Threads finish in any order; the table does not show it.
    assert_eq!(folder.stdout(&words), table);
}

#[test]
fn help_teaches() {
    let folder = Folder::new("help");
    let help = folder.stdout(&["--help"]);
    for word in ["antenna-bench", "--load <R+jX>", "35-j120", "Examples:", "--json", "--no-svg"] {
        assert!(help.contains(word), "no {word} in:\n{help}");
    }
    // Line breaks depend on the width, so compare only the words.
    let help = folder.stdout(&["antenna-bench", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("kept only if the best reachable SWR is below 1.5"), "{help}");
    assert!(folder.stdout(&["--version"]).starts_with("trimtab "));
}
