//! The example of the documentation, and the page of a log.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Folder, text};
use serde_json::{Value, json};

use super::{COST, events, lines, run, script};

/// The blocks of a language in the documentation; of `sh`, the scripts.
fn blocks(language: &str) -> Vec<String> {
    let docs = include_str!("../../../docs/tune.md");
    let fence = format!("```{language}\n");
    let blocks = docs.split(&fence).skip(1).map(|part| part.split("```").next().unwrap().to_string());
    blocks.filter(|block| language != "sh" || block.starts_with("#!")).collect()
}

#[test]
fn the_example_of_the_documentation_works() {
    let folder = Folder::new("tune-docs");
    fs::write(folder.0.join("multiply.c"), &blocks("c")[0]).unwrap();
    fs::write(folder.0.join("measure.sh"), &blocks("sh")[0]).unwrap();
    fs::set_permissions(folder.0.join("measure.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for block in blocks("console").iter().filter(|block| !block.contains("noisy.sh") && !block.contains("factor.sh")) {
        let words: Vec<&str> = block.split_whitespace().collect();
        assert_eq!(words[0], "trimtab");
        let output = folder.run(&words[1..]);
        assert!(output.status.success(), "{block}: {}", text(&output.stderr));
    }
    let lines = lines(&folder, "run.jsonl");
    assert_eq!((events(&lines, "tell"), events(&lines, "failed")), (24, 0));
    assert_eq!(lines[1]["config"], json!({"opt": "O2", "unroll": "no", "block": 64}));
    assert!(fs::read_to_string(folder.0.join("run.html")).unwrap().contains("What each knob does"));
}

/// The noise of the example is a fixed sequence, so the documentation shows the result to the digit.
#[test]
fn the_noisy_example_of_the_documentation_is_what_comes_out() {
    let folder = Folder::new("tune-docs-noise");
    script(&folder, "noisy.sh", &blocks("sh")[1]);
    let docs = include_str!("../../../docs/tune.md");
    let noisy: Vec<String> = blocks("console").into_iter().filter(|block| block.contains("noisy.sh")).collect();
    assert_eq!(noisy.len(), 2);
    for block in noisy {
        let (before, command) = block.trim_end().split_once('\n').unwrap();
        assert_eq!(before, "echo 1 > count");
        fs::write(folder.0.join("count"), "1\n").unwrap();
        let words: Vec<&str> = command.split_whitespace().collect();
        let shown: String = folder.stdout(&words[1..]).lines().map(|line| format!("    {line}\n")).collect();
        assert!(docs.contains(&format!("{block}```\n\n{shown}\n")), "{command}\n{shown}");
    }
}

/// promise: trimtab tune --only-if | combinations that differ only in knobs that do not matter | measured once, shown as idle
#[test]
fn the_example_with_an_idle_knob_is_what_comes_out() {
    let folder = Folder::new("tune-docs-idle");
    script(&folder, "factor.sh", &blocks("sh")[2]);
    let docs = include_str!("../../../docs/tune.md");
    let block = blocks("console").into_iter().find(|block| block.contains("factor.sh")).unwrap();
    let words: Vec<&str> = block.split_whitespace().skip(1).collect();
    let shown: String = folder.stdout(&words).lines().map(|line| format!("    {line}\n")).collect();
    assert!(docs.contains(&format!("{block}```\n\n{shown}\n")), "{block}\n{shown}");
    // The same with a log, which goes on, and as a table and back.
    let logged = [&words[..1], &["--log", "run.jsonl"], &words[1..]].concat();
    for _ in 0..2 {
        assert!(folder.stdout(&logged).contains("measured  15: every combination there is"));
    }
    let lines = lines(&folder, "run.jsonl");
    assert!(lines.iter().any(|line| line["config"] == json!({"unroll": "off", "factor": null, "opt": "O2"})));
    let table = folder.stdout(&["export", "run.jsonl", "--csv"]);
    assert!(table.lines().any(|line| line.starts_with("off,,O3,11,")), "{table}");
    fs::write(folder.0.join("runs.csv"), &table).unwrap();
    let imported = [&words[..1], &["--import", "runs.csv"], &words[1..]].concat();
    assert!(folder.stdout(&imported).contains("best      1"));
    fs::write(folder.0.join("bad.csv"), table.replace("on,8,O2", "on,,O2")).unwrap();
    let bad = [&words[..1], &["--import", "bad.csv"], &words[1..]].concat();
    assert!(text(&folder.run(&bad).stderr).contains("the level of `factor` is empty, but the knob matters here"));
    assert!(page(&folder, "run.jsonl").contains("unroll=off,opt=O2"));
}

/// The page of a log, which must be well-formed and load nothing.
fn page(folder: &Folder, log: &str) -> String {
    let path = folder.stdout(&["report", log]);
    let html = fs::read_to_string(folder.0.join(path.trim())).unwrap();
    let text = html.strip_prefix("<!DOCTYPE html>\n").unwrap();
    roxmltree::Document::parse(text).unwrap();
    for outside in ["http://", "https://", "<script", "NaN", "src="] {
        // A link is followed only by those who click on it.
        let text = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").replace("<a href=\"https://", "");
        let count = text.matches(outside).count();
        assert_eq!(count, 0, "{outside} in the page of {log}");
    }
    html
}

/// promise: trimtab report | a finished log | one page with what mattered
#[test]
fn the_report_shows_what_was_learned() {
    let folder = Folder::new("tune-report");
    script(&folder, "measure.sh", &format!("{COST}\n[ $2$1 != 8O1 ] || {{ echo '<b>no</b>' >&2; exit 3; }}"));
    let options = ["--budget", "40", "--quiet", "--start", "opt=O1,unroll=8,block=16,idle=&b", "--log", "run.jsonl"];
    let extra = [&options[..], &["--knob", "idle=<a>,&b"]].concat();
    assert!(run(&folder, &extra).status.success());
    let html = page(&folder, "run.jsonl");
    for words in [
        "By observation: <strong>",
        "opt=O3,unroll=4,block=96",
        "What each knob does",
        "Knobs that interact",
        "values came within two standard deviations",
        "exit code 3",
        "<th scope=\"row\">&lt;b&gt;no&lt;/b&gt;</th>",
        "idle=&lt;a&gt;",
    ] {
        assert!(html.contains(words), "no {words}");
    }
    // Every value is a dot in the progress; all but the first have a dot among the predictions,
    // too.
    assert_eq!(html.matches("class=\"lost\"").count() + html.matches(": expected ").count(), 40);
    // The least important knob comes last.
    let table = html.split("Importance").nth(1).unwrap().split("</table>").next().unwrap();
    let knobs: Vec<&str> =
        table.split("<th scope=\"row\">").skip(1).map(|row| row.split('<').next().unwrap()).collect();
    assert_eq!((knobs.len(), knobs[3]), (4, "idle"), "{knobs:?}");
    // In another directory, and never over the log.
    assert_eq!(folder.stdout(&["report", "run.jsonl", "--out", "pages"]).trim(), "pages/run.html");
    fs::copy(folder.0.join("run.jsonl"), folder.0.join("log.html")).unwrap();
    assert_eq!(folder.run(&["report", "log.html"]).status.code(), Some(2));
    // A log that is being written, torn anywhere, or of another kind.
    let bytes = fs::read(folder.0.join("run.jsonl")).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == b'\n').collect();
    for length in [ends[0] + 1, ends[0] + 9, ends[1] + 1, ends[2] + 1, ends[4] + 1, ends[6] + 20, bytes.len() - 3] {
        fs::write(folder.0.join("part.jsonl"), &bytes[..length]).unwrap();
        page(&folder, "part.jsonl");
    }
    fs::write(folder.0.join("notes.txt"), "notes\n").unwrap();
    let output = folder.run(&["report", "notes.txt"]);
    assert!(output.status.code() == Some(1) && text(&output.stderr).contains("not a log of trimtab tune"));
    // Nothing but failures, and values that are all the same.
    folder.run(&["tune", "--knob", "x=1..9", "--quiet", "--log", "bad.jsonl", "--", "false"]);
    assert!(page(&folder, "bad.jsonl").contains("Nothing was measured with success"));
    folder.run(&["tune", "--knob", "x=1..9", "--knob", "y=-1,0", "--quiet", "--log", "flat.jsonl", "--", "echo", "-5"]);
    page(&folder, "flat.jsonl");
    folder.run(&["tune", "--knob", "x=1,2", "--quiet", "--maximize", "--log", "two.jsonl", "--", "echo", "{x}e30"]);
    page(&folder, "two.jsonl");
}

/// promise: trimtab report | failures | grouped by what they said, with the levels they have in common
#[test]
fn the_report_explains_failures() {
    let folder = Folder::new("tune-report-failures");
    let body = "[ $1 != Os ] || { echo one >&2; echo 'cc: no Os here' >&2; exit 1; }";
    script(&folder, "measure.sh", &format!("{body}\n[ $2 != 8 ] || {{ echo 'out of memory' >&2; exit 2; }}\n{COST}"));
    let start = ["opt=Os,unroll=1", "opt=Os,unroll=2", "opt=Os,unroll=4", "opt=O1,unroll=8", "opt=O2,unroll=8"];
    let starts = start.iter().flat_map(|start| ["--start", start]).collect::<Vec<_>>();
    assert!(run(&folder, &[&["--budget", "30", "--log", "run.jsonl"], &starts[..]].concat()).status.success());
    let html = page(&folder, "run.jsonl");
    let failed = lines(&folder, "run.jsonl");
    let count =
        |what: &str| failed.iter().filter(|line| line["stderr"].as_str().is_some_and(|s| s.contains(what))).count();
    let (flag, memory) = (count("no Os"), count("memory"));
    let group = |reason: &str| {
        let row = html.split(&format!("<th scope=\"row\">{reason}</th>")).nth(1);
        row.unwrap_or_else(|| panic!("no row {reason}")).split("</tr>").next().unwrap().to_string()
    };
    for (reason, count, level) in [("cc: no Os here", flag, "opt=Os"), ("out of memory", memory, "unroll=8")] {
        let row = group(reason);
        assert!(row.starts_with(&format!("<td>{count}</td>")), "{row}");
        assert!(row.contains(&format!(">{level} (always; it never succeeded)")), "{row}");
        // Of a level, whatever its failures said.
        let (knob, value) = level.split_once('=').unwrap();
        let has =
            |line: &&Value| line["event"] == "failed" && line["config"][knob].to_string().trim_matches('"') == value;
        let of_level = failed.iter().filter(has).count();
        assert!(
            of_level >= count
                && html.contains(&format!("<th scope=\"row\">{level}</th><td>{of_level} of {of_level}</td>"))
        );
    }
    assert!(html.contains(&format!("Os: failed {flag} of {flag} times")));
    // And no cost of it.
    assert_eq!(html.matches("<title>Os: ").count(), 1);
}
