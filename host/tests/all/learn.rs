//! `trimtab learn` end to end: boards of one design, from their logs to the next board.

#![cfg(unix)]

use std::fs;

use crate::common::{Folder, text};

const KNOBS: [&str; 6] = ["--knob", "a=0..11", "--knob", "b=0..11", "--knob", "mode=p,q,r"];
/// A bowl whose bottom moves from board to board; `p` is the best mode. $4 is the board.
const COST: &str = "echo $(( (10*$1 - 50 - 3*$4) * (10*$1 - 50 - 3*$4) + (10*$2 - 80 + 2*$4) * (10*$2 - 80 + 2*$4) / 2 \
                    + $(test $3 = p && echo 0 || echo 200) ))";

/// Tunes one board with these options.
fn tune(folder: &Folder, board: &str, options: &[&str]) -> std::process::Output {
    let command = COST.replace("$1", "{a}").replace("$2", "{b}").replace("$3", "{mode}").replace("$4", board);
    let words = [&["tune", "--quiet", "--shell", "--seed", board], &KNOBS[..], options, &["--", &command]].concat();
    folder.run(&words)
}

fn boards(folder: &Folder, count: usize) -> Vec<String> {
    let names: Vec<String> = (1..=count).map(|board| format!("{board}.jsonl")).collect();
    for (board, name) in (1..).zip(&names) {
        let done = tune(folder, &board.to_string(), &["--budget", "24", "--log", name]);
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    names
}

fn refused(folder: &Folder, words: &[&str], wanted: &str) {
    let done = folder.run(words);
    let said = text(&done.stderr);
    assert!(!done.status.success() && said.contains(wanted), "{words:?}: {said}");
}

#[test]
fn boards_teach_the_next_one() {
    let folder = Folder::new("learn");
    let names = boards(&folder, 6);
    let logs: Vec<&str> = names.iter().map(String::as_str).collect();
    let said = folder.stdout(&[&["learn", "--out", "prior.bin", "--rust", "prior.rs"], &logs[..5]].concat());
    assert!(said.contains("boards    5;") && said.contains("next      a next board needs about"), "{said}");
    assert!(fs::metadata(folder.0.join("prior.bin")).unwrap().len() <= 2048);
    let page = fs::read_to_string(folder.0.join("prior.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("mode") && page.ends_with("</html>\n"));
    assert!(fs::read_to_string(folder.0.join("prior.rs")).unwrap().contains("pub static PRIOR: [u8; "));

    // The next board: its first measurement is the fleet's best, and the log goes on without the file.
    let done = tune(&folder, "6", &["--budget", "6", "--prior", "prior.bin", "--log", "next.jsonl"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let log = fs::read_to_string(folder.0.join("next.jsonl")).unwrap();
    assert!(log.lines().next().unwrap().contains("\"prior\":\"54545032"), "{log}");
    let best = said.lines().find_map(|line| line.strip_prefix("first     a=")).unwrap();
    let levels: Vec<&str> = best.split([',', '=']).collect();
    let asked = format!("\"a\":{},\"b\":{},", levels[0], levels[2]);
    assert!(log.lines().nth(1).unwrap().contains(&asked), "{log} {best}");
    let more = tune(&folder, "6", &["--budget", "8", "--prior", "prior.bin", "--log", "next.jsonl"]);
    assert!(more.status.success(), "{}", text(&more.stderr));
    refused_run(&tune(&folder, "6", &["--budget", "9", "--log", "next.jsonl"]), "--prior was a prior of 5 boards");
    fs::remove_file(folder.0.join("prior.bin")).unwrap();
    assert!(folder.run(&["report", "next.jsonl"]).status.success());

    // A board is added without the old logs, and what was learned is the same in any order.
    let added = folder.stdout(&["learn", "--add", "prior.bin", "--out", "six.bin", logs[5], "--quiet"]);
    assert!(added.contains("six.bin"), "{added}");
    refused(&folder, &["learn", "--add", "other.bin", logs[5]], "other.fleet");
}

fn refused_run(done: &std::process::Output, wanted: &str) {
    let said = text(&done.stderr);
    assert!(!done.status.success() && said.contains(wanted), "{said}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = Folder::new("learn_refused");
    let names = boards(&folder, 2);
    let (one, two) = (names[0].as_str(), names[1].as_str());
    let out = ["--out", "prior.bin"];
    let learn = |logs: &[&'static str]| [&["learn"], &out[..], logs].concat();
    let other = ["tune", "--quiet", "--knob", "a=0..9", "--budget", "6", "--log", "other.jsonl", "--", "echo", "{a}"];
    assert!(folder.run(&other).status.success());
    refused(&folder, &learn(&["1.jsonl", "other.jsonl"]), "one has 3 knobs, the other 1");
    refused(&folder, &learn(&["1.jsonl", "1.jsonl"]), "hold the same measurements");
    let whole = fs::read(folder.0.join(two)).unwrap();
    fs::write(folder.0.join("short.jsonl"), &whole[..whole.len() * 9 / 10]).unwrap();
    let said = folder.stdout(&["learn", "--out", "prior.bin", one, "short.jsonl"]);
    assert!(said.contains("short.jsonl: its end is missing"), "{said}");
    let mut changed = whole.clone();
    let place = changed.windows(7).position(|word| word == b"\"value\"").unwrap() + 8;
    changed[place] ^= 1;
    fs::write(folder.0.join("changed.jsonl"), changed).unwrap();
    refused(&folder, &learn(&["1.jsonl", "changed.jsonl"]), "is damaged");
    fs::write(folder.0.join("text.txt"), "nothing of the kind").unwrap();
    refused(&folder, &learn(&["text.txt"]), "it is no log");
    let alone = folder.stdout(&["learn", "--out", "alone.bin", one]);
    assert!(alone.contains("one board cannot say"), "{alone}");
    refused(&folder, &["learn", "--out", one, one, two], "would be overwritten");
    let foreign = ["tune", "--knob", "a=0..9", "--prior", "alone.bin", "--", "echo", "{a}"];
    refused(&folder, &foreign, "the prior was learned on other knobs");
    fs::write(folder.0.join("torn.bin"), &fs::read(folder.0.join("alone.bin")).unwrap()[..99]).unwrap();
    refused(&folder, &["tune", "--knob", "a=0..9", "--prior", "torn.bin", "--", "echo", "{a}"], "but 99 are there");
}

/// The journal of a chip, copied from its flash: learned from with its layout, refused without it or with
/// another one.
///
/// promise: trimtab learn | a copy of a chip's flash without its layout, or with another | refused, and the options are named
#[test]
fn a_copy_of_a_flash_is_a_log() {
    use embedded_storage::nor_flash::ReadNorFlash;
    use trimtab::{Config, Knob, Space};
    use trimtab_embedded::flash::RamFlash;
    use trimtab_embedded::journal::Layout;
    use trimtab_embedded::persistent::{Persistent, Task};

    const KNOBS: [Knob; 2] = [Knob::nominal(3), Knob::ranked(8)];
    type Two = trimtab::tuner!(KNOBS, observations: 24, rows: 24);
    let folder = Folder::new("learn_flash");
    let space = "[knobs]\nmode = \"p,q,r\"\ngain = \"ranked:0,1,2,3,4,5,6,7\"\n";
    fs::write(folder.0.join("space.toml"), space).unwrap();
    for board in 0..3u8 {
        let mut flash = Box::new(RamFlash::<2, 1024, 8>::new());
        let task =
            Task { space: Space::new(&KNOBS).unwrap(), config: Config::default(), seed: board.into(), meaning: 0 };
        let mut tuner = Box::new(Two::new());
        let layout = Layout { range: 0..2048, records: 20 };
        let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut *flash, layout).unwrap();
        for _ in 0..14 {
            let c = kept.ask().unwrap().combination;
            let [mode, gain] = [c.levels()[0], c.levels()[1]].map(f32::from);
            if mode == 2.0 {
                kept.tell_failed(&c).unwrap();
            } else {
                kept.tell(&c, mode + (gain - 5.0 - 0.3 * f32::from(board)).powi(2)).unwrap();
            }
        }
        let mut bytes = vec![0; 2048];
        flash.read(0, &mut bytes).unwrap();
        fs::write(folder.0.join(format!("{board}.bin")), bytes).unwrap();
    }
    let learn = ["learn", "0.bin", "1.bin", "2.bin", "--out", "prior.bin"];
    let layout = ["--flash-page", "1024", "--flash-word", "8", "--flash-records", "20", "--space", "space.toml"];
    let goal = ["--goal", "minimise"];
    let said = folder.stdout(&[&learn[..], &layout, &goal].concat());
    assert!(said.contains("boards    3;") && said.contains("failed") && said.contains("first     mode="), "{said}");
    refused(&folder, &learn, "it is a copy of a chip's flash; say how it is laid out: --flash-page");
    refused(&folder, &[&learn[..], &layout].concat(), "--goal");
    let other = |from: &str, to: &'static str| {
        let words = [&learn[..], &layout, &goal].concat();
        words.into_iter().map(|word| if word == from { to } else { word }).collect::<Vec<_>>()
    };
    refused(&folder, &other("1024", "768"), "check --flash-page");
    refused(&folder, &other("8", "4"), "check --flash-page");
    fs::write(folder.0.join("other.toml"), "[knobs]\nmode = \"p,q\"\ngain = \"ranked:0,1,2,3,4,5,6,7\"\n").unwrap();
    refused(&folder, &other("space.toml", "other.toml"), "of other knobs; check --space");
}
