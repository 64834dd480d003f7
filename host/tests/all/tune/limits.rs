//! Where a run ends by itself, and what it warns of.

use std::fs;

use crate::common::{Folder, text};

use super::{events, lines, script};

/// promise: trimtab tune | --max-time | ends after the measurement under way, result as usual; the same command goes on
#[test]
fn the_time_is_a_limit() {
    let folder = Folder::new("tune-max-time");
    script(&folder, "m.sh", "sleep 0.2; echo $1");
    let words = |options: &[&'static str]| {
        [&["tune", "--knob", "n=1..9", "--noise", "none", "--log", "run.jsonl"], options, &["--", "./m.sh", "{n}"]]
            .concat()
    };
    let output = folder.run(&words(&["--max-time", "300ms"]));
    let out = text(&output.stdout);
    assert!(output.status.success() && out.starts_with("best      "), "{out}{}", text(&output.stderr));
    // The second began in time and ended later; a slow machine has time for one only.
    let done = lines(&folder, "run.jsonl").len() / 2;
    assert!((1..=2).contains(&done) && out.contains(&format!("\nmeasured  {done}; the time was up\n")), "{out}");
    assert_eq!(lines(&folder, "run.jsonl").len() % 2, 1, "nothing is left open");
    let report = folder.json(&words(&["--max-time", "1ms", "--json"]));
    assert_eq!((&report["time_up"], &report["stopped"]), (&true.into(), &false.into()));
    assert!(report["measured"].as_u64().unwrap() <= done as u64 + 1);
    assert!(folder.run(&words(&[])).status.success());
    assert_eq!(events(&lines(&folder, "run.jsonl"), "tell"), 9);
}

/// promise: trimtab tune | --until-settled | ends when more would gain little; the same command measures nothing more
#[test]
fn a_settled_run_ends() {
    let folder = Folder::new("tune-settled");
    script(&folder, "m.sh", "echo $(( ($1 - 40) * ($1 - 40) + 30 * ($2 - 7) * ($2 - 7) ))");
    let words = |options: &[&'static str]| {
        let knobs = ["tune", "--knob", "a=1..60", "--knob", "b=1..20", "--noise", "none", "--log", "run.jsonl"];
        [&knobs[..], options, &["--", "./m.sh", "{a}", "{b}"]].concat()
    };
    let output = folder.run(&words(&["--until-settled", "1%"]));
    let out = text(&output.stdout);
    assert!(output.status.success() && out.starts_with("best      0  (measurement "), "{out}{}", text(&output.stderr));
    let done = events(&lines(&folder, "run.jsonl"), "tell");
    assert!((26..80).contains(&done), "{done} of 100");
    assert!(out.contains(&format!("\nmeasured  {done}; settled: more would gain little\n")), "{out}");
    assert_eq!(events(&lines(&folder, "run.jsonl"), "ask"), done, "nothing is left open");
    let report = folder.json(&words(&["--until-settled", "1%", "--json"]));
    assert_eq!((&report["settled"], report["measured"].as_u64()), (&true.into(), Some(done as u64)));
    // Without the option the run goes on, with the asks of a run that never had it.
    assert!(folder.run(&words(&["--budget", "90"])).status.success());
    let resumed = lines(&folder, "run.jsonl");
    fs::remove_file(folder.0.join("run.jsonl")).unwrap();
    assert!(folder.run(&words(&["--budget", "90"])).status.success());
    assert_eq!(resumed[1..], lines(&folder, "run.jsonl")[1..]);
    let refused = folder.run(&words(&["--until-settled", "0"]));
    assert!(text(&refused.stderr).contains("write a share such as 1% or 0.01"), "{}", text(&refused.stderr));
}

/// With noise, a settled run compares its best before it ends, as at the end of a budget.
#[test]
fn a_settled_run_with_noise_compares_its_best() {
    let folder = Folder::new("tune-settled-noise");
    script(
        &folder,
        "m.sh",
        "n=$(cat n 2>/dev/null || echo 7); n=$(( (n * 1103 + 12345) % 65536 )); echo $n > n\n\
         echo $(( 40 * ($1 - 40) * ($1 - 40) + 900 * ($2 - 7) * ($2 - 7) + n % 500 ))",
    );
    let knobs = ["tune", "--knob", "a=1..60", "--knob", "b=1..20", "--log", "run.jsonl", "--json"];
    let words = [&knobs[..], &["--noise", "150", "--until-settled", "5%", "--", "./m.sh", "{a}", "{b}"]].concat();
    let report = folder.json(&words);
    assert_eq!(report["settled"], true, "{}", report["measured"]);
    assert!(report["repeats"].as_u64().unwrap() >= 6, "{}", report["repeats"]);
    let again = folder.json(&words);
    assert!(again["measured"].as_u64().unwrap() <= 100);
    let log = lines(&folder, "run.jsonl");
    assert_eq!(events(&log, "ask"), events(&log, "tell"));
}

/// promise: trimtab tune | every measurement fails | ends after ten, with the reason
#[test]
fn nothing_but_failures_ends_it() {
    let folder = Folder::new("tune-give-up");
    script(&folder, "m.sh", "[ -e fixed ] && exec echo $1; echo first >&2; echo 'cc: no such flag' >&2; exit 2");
    let words = |options: &[&'static str]| {
        [&["tune", "--knob", "n=1..200", "--log", "run.jsonl"], options, &["--", "./m.sh", "{n}"]].concat()
    };
    let output = folder.run(&words(&[]));
    let err = text(&output.stderr);
    assert_eq!((output.status.code(), events(&lines(&folder, "run.jsonl"), "failed")), (Some(1), 10));
    assert!(err.contains("every measurement failed, 10 of 10: exit code 2: cc: no such flag; "), "{err}");
    assert!(err.contains("correct the command, or see --give-up"), "{err}");
    // The same command goes on and gives up again, and with another number later.
    assert_eq!(folder.run(&words(&["--give-up", "3"])).status.code(), Some(1));
    assert_eq!(events(&lines(&folder, "run.jsonl"), "failed"), 13);
    assert_eq!(folder.run(&words(&["--give-up", "0", "--budget", "40"])).status.code(), Some(1));
    assert_eq!(events(&lines(&folder, "run.jsonl"), "failed"), 40);
    // One success, and failures no longer end it.
    fs::write(folder.0.join("fixed"), "").unwrap();
    assert!(folder.run(&words(&["--budget", "41"])).status.success());
    fs::remove_file(folder.0.join("fixed")).unwrap();
    assert!(folder.run(&words(&["--budget", "55"])).status.success());
    let lines = lines(&folder, "run.jsonl");
    assert_eq!((events(&lines, "tell"), events(&lines, "failed")), (1, 54));
}

#[test]
fn what_looks_wrong_is_said() {
    let folder = Folder::new("tune-warnings");
    script(&folder, "env.sh", "echo $TRIMTAB_A$TRIMTAB_B");
    script(&folder, "other.sh", "echo $1");
    let err = |words: &[&str]| {
        let knobs = ["tune", "--knob", "a=1,2,3", "--knob", "b=1..6", "--noise", "none", "--budget", "8", "--"];
        let output = folder.run(&[&knobs[..], words].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let neither = err(&["./other.sh", "7"]);
    assert!(neither.contains("warning: the knobs `a`, `b` are not in the command; write {a} where"), "{neither}");
    assert!(neither.contains("unless the program reads TRIMTAB_A\n"), "{neither}");
    assert_eq!(neither.matches("warning: all 5 values so far are 7; does the command use").count(), 1, "{neither}");
    let one = err(&["./other.sh", "{a}"]);
    assert!(one.contains("warning: the knob `b` is not in the command; write {b} where"), "{one}");
    for fine in [&["./other.sh", "{a}{b}"][..], &["./env.sh"], &["sh", "./env.sh"], &["sh", "-c", "echo $TRIMTAB_A"]] {
        let err = err(fine);
        assert!(!err.contains("warning"), "{err}");
    }
}
