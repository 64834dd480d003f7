//! Tests of the whole report: synthetic runs in, files out.

#[path = "../../../tests/synthetic/mod.rs"]
mod synthetic;

use std::fs;
use std::path::PathBuf;

use roxmltree::{Document, ParsingOptions};
use synthetic::{FULL, Size};

use super::*;
use crate::bench::report::verdict::Verdict;
use crate::bench::yardstick::Field;

/// A folder for one test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trimtab-report-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(name: &str, size: Size) -> Self {
        let folder = Self::new(name);
        synthetic::write(&folder.0, size);
        folder
    }

    fn runs(&self) -> Result<Runs, String> {
        Runs::read(std::slice::from_ref(&self.0)).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const SMALL: Size = Size { methods: 10, problems: 9, seeds: 2, budget: 12, masked: true };

fn parse(text: &str) -> Document<'_> {
    Document::parse_with_options(text, ParsingOptions { allow_dtd: true, ..Default::default() }).unwrap()
}

#[test]
fn every_figure_and_table_is_there_and_parses() {
    let folder = Folder::with("page", SMALL);
    let out = folder.0.join("out");
    let path =
        write(std::slice::from_ref(&folder.0), &out, "trimtab", "trimtab bench --out x; trimtab report x").unwrap();
    let html = fs::read_to_string(path).unwrap();
    let document = parse(&html);
    let all = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "no id is there twice");
    // Five problems with a known optimum have four figures, four without have two, one of them on
    // test data; time and Lemma 1 are for all.
    let figures: Vec<&str> = all("figure").map(|node| node.attribute("id").unwrap()).collect();
    assert_eq!(figures.len(), 5 * 4 + 4 * 2 + 2);
    for name in [
        "thumbs-up-best",
        "seesaw-regret",
        "bqp-solved",
        "ising-lambda-1e-4-cumulative",
        "sparse-regression-test",
        "seconds",
        "lemma",
    ] {
        assert!(figures.contains(&name), "{name} in {figures:?}");
    }
    for figure in all("figure") {
        let panels = figure.descendants().filter(|node| node.attribute("role") == Some("img"));
        assert_eq!(panels.clone().count(), 2, "{:?}", figure.attribute("id"));
        for panel in panels {
            let said = |name| panel.children().find(|node| node.has_tag_name(name)).and_then(|node| node.text());
            assert!(
                said("title").is_some_and(|text| text.len() > 9) && said("desc").is_some_and(|text| text.len() > 9)
            );
        }
    }
    let tables: Vec<&str> = all("table").map(|node| node.attribute("id").unwrap()).collect();
    for name in [
        "ratios",
        "ratios-by-group",
        "ranking",
        "pairwise",
        "finals",
        "evaluations",
        "test-errors",
        "seconds-table",
        "ising-table",
    ] {
        assert!(tables.contains(&name), "{name} in {tables:?}");
    }
    for (name, _, _) in synthetic::METHODS {
        assert!(all("button").any(|node| node.attribute("data-toggle") == Some(name)), "{name}");
    }
    // The files beside the page.
    for name in figures {
        let text = fs::read_to_string(out.join("figures").join(format!("{name}.svg"))).unwrap();
        let picture = parse(&text);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
        assert!(picture.descendants().filter(|node| node.has_tag_name("path")).count() > 3, "{name}");
    }
    assert!(!html.contains("NaN"), "a number is NaN");
    let markdown = fs::read_to_string(out.join("tables.md")).unwrap();
    assert_eq!(markdown.matches("trimtab bench --out x; trimtab report x").count(), markdown.matches("\n## ").count());
    // The page loads nothing from elsewhere.
    for word in ["http-equiv", "xmlns", "src=", "@import", "url("] {
        let is_known = ["http-equiv", "xmlns"].contains(&word);
        assert_eq!(html.contains(word), is_known, "{word}");
    }
}

#[test]
fn runs_are_in_the_order_of_the_paper_and_merged() {
    let folder = Folder::with("merge", Size { problems: 3, seeds: 2, budget: 5, ..SMALL });
    let twin = Folder::with("twin", Size { problems: 3, seeds: 3, budget: 5, ..SMALL });
    let both = [folder.0.clone(), twin.0.clone(), folder.0.clone()];
    let runs = Runs::read(&both).unwrap();
    assert_eq!(runs.count(), 3 * 10 * 3 * 2);
    assert_eq!(runs.methods[0].0, "trimtab");
    assert_eq!(runs.seeds(), (3, 3));
    // The same run with another value is an error that names both.
    let path = twin.0.join("bqp").join("random-1.jsonl");
    let other = synthetic::run((2, 9), 1, false, 4).join("\n");
    fs::write(&path, other).unwrap();
    let message = Runs::read(&both).unwrap_err().to_string();
    assert!(message.contains(&path.display().to_string()), "{message}");
    assert!(message.contains(&folder.0.join("bqp").join("random-1.jsonl").display().to_string()), "{message}");
}

#[test]
fn nothing_to_report_says_what_to_do() {
    let folder = Folder::new("empty");
    let name = folder.0.display();
    assert_eq!(folder.runs().unwrap_err(), format!("no runs in {name}; run `trimtab bench --out {name}` first"));
    let missing = folder.0.join("nowhere");
    let message = Runs::read(&[missing]).unwrap_err().to_string();
    assert!(message.contains("nowhere") && message.contains("trimtab bench --out"), "{message}");
    // The error on a broken line names its file and number.
    fs::write(folder.0.join("broken.jsonl"), "{\"problem\":1}\n").unwrap();
    let message = folder.runs().unwrap_err();
    assert!(message.contains("broken.jsonl, line 1: "), "{message}");
}

#[test]
fn one_seed_one_method_and_one_evaluation_are_enough() {
    let one = Size { methods: 1, problems: 1, seeds: 1, budget: 1, masked: false };
    let sizes = [one, Size { methods: 2, problems: 9, budget: 2, seeds: 2, ..one }];
    for (i, size) in sizes.into_iter().enumerate() {
        let folder = Folder::with(&format!("one-{i}"), size);
        let path = write(std::slice::from_ref(&folder.0), &folder.0, "trimtab", "x").unwrap();
        let html = fs::read_to_string(path).unwrap();
        parse(&html);
        assert!(!html.contains("NaN"), "{size:?}");
    }
}

#[test]
fn wins_and_losses_are_said_plainly() {
    let judge = |folder: &Folder, reference: &str| {
        let runs = folder.runs().unwrap();
        let traces = runs.traces();
        Verdict::of(&runs, &Field::new(&traces), reference)
    };
    // Unmasked, cbo-lookup is faster in the synthetic runs, and random search slower.
    let size = Size { methods: 10, problems: 2, budget: 30, seeds: 14, masked: false };
    let folder = Folder::with("losses", size);
    let verdict = judge(&folder, "trimtab");
    assert_eq!(verdict.compared, 2 * 9);
    let names = |findings: &[verdict::Finding]| -> Vec<String> { findings.iter().map(|f| f.rival.clone()).collect() };
    assert!(names(&verdict.worse).contains(&"cbo-lookup".into()), "{:?}", verdict.worse);
    assert!(names(&verdict.better).contains(&"random".into()), "{:?}", verdict.better);
    let (better, worse) = (verdict.better.len(), verdict.worse.len());
    let said = format!("it is significantly better in {better} and significantly worse in {worse}.");
    assert!(verdict.statement().contains(&said), "{}", verdict.statement());
    assert!(verdict.statement().contains("significantly more than 1 (cbo-lookup)"), "{}", verdict.statement());
    let first = &verdict.worse[0];
    assert!(verdict.of_problem(&first.problem)[0].starts_with(&format!("trimtab loses to {}", first.rival)));
    // Seen from the other side.
    let other = judge(&folder, "cbo-lookup");
    assert!(other.statement().starts_with("Over all problems cbo-lookup needs") && other.worse.is_empty());
    // The masked and the unmasked run of an instance are one difference: cbo-lookup is faster on
    // one and slower on the other.
    let both = judge(&Folder::with("both", Size { methods: 2, masked: true, ..size }), "trimtab");
    assert!(both.worse.is_empty(), "{:?}", both.worse);
    // Four seeds are too few to tell.
    let few = judge(&Folder::with("few", Size { seeds: 4, budget: 12, problems: 2, methods: 3, ..FULL }), "trimtab");
    assert!(few.worse.is_empty() && few.statement().contains("4 of the 4 have fewer than 8 seeds"), "{few:?}");
    // Level is claimed only where no mean is behind either.
    let level = Verdict { compared: 3, ..Verdict::default() };
    assert!(level.statement().contains("Its mean is behind in none"));
    let behind = Verdict { behind: vec![first.clone()], ..level };
    assert!(behind.statement().contains("In 1 its mean is behind") && !behind.statement().contains("behind in none"));
}

#[test]
fn a_reference_must_have_runs() {
    let folder = Folder::with("reference", Size { methods: 2, problems: 2, seeds: 2, budget: 8, masked: true });
    let all = std::slice::from_ref(&folder.0);
    let message = write(all, &folder.0, "smac", "x").unwrap_err().to_string();
    assert_eq!(message, "there are no runs of `smac`; --reference must be one of trimtab, cbo-lookup");
    write(all, &folder.0, "cbo-lookup", "x").unwrap();
    let text = fs::read_to_string(folder.0.join("tables.md")).unwrap();
    assert!(text.contains("## Evaluations to target, relative to cbo-lookup"), "{text}");
}

/// Noise and failures as `trimtab bench` writes them: the first two measurements failed.
#[test]
fn noise_and_failures_have_their_tables() {
    let folder = Folder::new("noise");
    for (m, seed) in (0..2).flat_map(|m| (0..2).map(move |seed| (m, seed))) {
        let mut best = f64::INFINITY;
        let mut text = String::new();
        for (i, line) in synthetic::run((0, m), seed, false, 10).iter().enumerate() {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["spread"] = 0.5.into();
            if i < 2 {
                record["failed"] = true.into();
                (record["value"], record["best"]) = Default::default();
            } else {
                best = best.min(record["value"].as_f64().unwrap());
                record["best"] = best.into();
                record["told"] = record["value"].clone();
            }
            if i == 9 {
                (record["recommended"], record["believed_mean"]) = (best.into(), best.into());
                record["believed_sd"] = 0.1.into();
            }
            text += &format!("{record}\n");
        }
        fs::write(folder.0.join(format!("{m}-{seed}.jsonl")), text).unwrap();
    }
    let path = write(std::slice::from_ref(&folder.0), &folder.0, "trimtab", "x").unwrap();
    let html = fs::read_to_string(path).unwrap();
    parse(&html);
    assert!(!html.contains("NaN") && !html.contains(">inf"));
    let text = fs::read_to_string(folder.0.join("tables.md")).unwrap();
    assert!(text.contains("## Recommendations under noise") && text.contains("| 100 % |"), "{text}");
    assert!(text.contains("## Failures") && text.contains("**2.000 ± 0**"), "{text}");
    let picture = fs::read_to_string(folder.0.join("figures/thumbs-up-best.svg")).unwrap();
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
    // Regret is summed over measurements that have one.
    assert!(!html.contains("thumbs-up-cumulative") && html.contains("thumbs-up-regret"));
}
