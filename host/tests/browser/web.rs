//! The page that runs the tuner: it repeats a chip's run to the bit, works from the keyboard and on a
//! phone, and says what is wrong with a log.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::chromium::Chromium;
use crate::common::Folder;

/// Built once for all tests here; `cargo xtask web` fails if the folder is too large.
static PAGE: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    assert!(Command::new(cargo).args(["xtask", "web"]).current_dir(root).status().unwrap().success());
    root.join("target/web/index.html")
});

/// The stream of the chip, as a log.
fn chip() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/antenna.log")
}

fn open(name: &str, width: u32, is_dark: bool) -> (Folder, Chromium) {
    let folder = Folder::new(name);
    let mut browser = Chromium::start(&folder.0);
    browser.screen(width, is_dark);
    browser.open(&PAGE);
    says(&mut browser, "#status", "Ready");
    (folder, browser)
}

/// Waits until the text of an element contains these words, and returns it.
fn says(browser: &mut Chromium, selector: &str, words: &str) -> String {
    let script = format!(
        "new Promise((done) => {{ const begin = Date.now(); (function look() {{ \
         const text = document.querySelector({selector:?}).textContent; \
         text.includes({words:?}) || Date.now() - begin > 60000 ? done(text) : setTimeout(look, 30); }})(); }})"
    );
    let text = browser.value(&script).as_str().unwrap().to_string();
    assert!(text.contains(words), "{selector} says {text:?} instead of {words:?}");
    text
}

fn text(browser: &mut Chromium, selector: &str) -> String {
    browser.value(&format!("document.querySelector({selector:?}).textContent")).as_str().unwrap().into()
}

#[test]
fn a_run_is_that_of_the_chip_and_finds_its_best() {
    let (_folder, mut browser) = open("web-bits", 1280, false);
    browser.value("document.querySelector('#speed').value = '1000'");
    browser.click("#run");
    says(&mut browser, "#status", "120 measured");
    let facts = text(&mut browser, "#facts");
    // What the chip's log says of its first run.
    assert!(facts.contains("best foundSWR 1.021: 3220 nH, 294 pF on the source side"), "{facts}");
    let (here, chip) = (text(&mut browser, "#here"), text(&mut browser, "#chip"));
    assert!(here == chip && here.len() == 16, "{here} {chip}");
    says(&mut browser, "#agreement", "Equal after 120 proposals");
    browser.click("#compare");
    says(&mut browser, "#agreement", "160 of 160 proposals are the same to the bit");
    assert_eq!(browser.value("document.querySelectorAll('#compared tbody tr').length"), 160);
    // Another seed is another run, and the page says so.
    browser.value("$('seed').value = 2; $('seed').onchange()");
    says(&mut browser, "#status", "Ready");
    browser.click("#step");
    says(&mut browser, "#agreement", "They differ");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_keyboard_is_enough() {
    let (_folder, mut browser) = open("web-keys", 1280, false);
    let to = |browser: &mut Chromium, id: &str| {
        for _ in 0..80 {
            browser.press("Tab", 9);
            if browser.value("document.activeElement.id") == id {
                return;
            }
        }
        panic!("Tab does not reach {id}");
    };
    to(&mut browser, "step");
    browser.press_enter();
    says(&mut browser, "#status", "1 measured");
    browser.value("document.querySelector('#speed').value = '1000'");
    browser.value("document.activeElement.blur()");
    to(&mut browser, "run");
    browser.press_enter();
    says(&mut browser, "#status", "120 measured");
    // The antenna moves by arrow keys, and the tuner notices.
    to(&mut browser, "handle");
    // What has the focus shows it, and an outline in the chart's units would cover the chart.
    let style = "(({outlineStyle, stroke}) => [outlineStyle, stroke])(getComputedStyle(document.activeElement))";
    assert_eq!(browser.value(style), json!(["none", "rgb(27, 31, 36)"]));
    browser.press("ArrowLeft", 37);
    says(&mut browser, "#status", "It tunes again");
    assert!(browser.value("document.querySelector('#handle').getAttribute('aria-valuetext')").is_string());
    to(&mut browser, "measure");
    browser.press_enter();
    says(&mut browser, "#belief", "1 told.");
    // Every control has a name.
    let nameless = "[...document.querySelectorAll('input, select, button, [tabindex]')].filter((e) => \
        !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map((e) => e.outerHTML)";
    assert_eq!(browser.value(nameless), json!([]));
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn it_fits_a_phone_in_dark_and_light() {
    for (width, is_dark) in [(390, false), (390, true), (1280, true)] {
        let (_folder, mut browser) = open("web-phone", width, is_dark);
        browser.click("#step");
        says(&mut browser, "#status", "1 measured");
        for _ in 0..3 {
            browser.click("#measure");
        }
        says(&mut browser, "#belief", "3 told.");
        browser.click("#example");
        says(&mut browser, "#replayed", "all 40 proposals match to the bit");
        let paper = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(paper, if is_dark { "rgb(13, 17, 23)" } else { "rgb(255, 255, 255)" });
        assert_eq!(browser.value("document.documentElement.scrollWidth"), width);
        let outside: Value = browser.value(
            "[...document.querySelectorAll('main *, aside *')].filter((e) => !e.closest('.scroll, svg')) \
             .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))",
        );
        assert_eq!(outside, json!([]), "at {width}");
        assert_eq!(browser.complaints(), [""; 0]);
    }
}

#[test]
fn a_broken_log_gives_a_message_and_a_sound_one_a_picture() {
    let (folder, mut browser) = open("web-logs", 1280, false);
    let sound = std::fs::read(chip()).unwrap();
    let mut torn = sound.clone();
    torn[3000] ^= 1;
    for (name, bytes, words) in [
        ("notes.txt", &b"no log at all"[..], "notes.txt: the file contains no frame of a chip"),
        ("empty.log", b"", "empty.log: the file contains no frame of a chip"),
        ("run.jsonl", b"{\"trimtab\":\"0.1.0\"}\n", "run.jsonl: line 1 is damaged"),
        ("torn.log", &torn, "1 frame is missing"),
        ("run.log", &sound, "all 120 proposals match to the bit"),
    ] {
        let path = folder.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        browser.choose("#file", &path);
        says(&mut browser, "#replayed", words);
        let pictures = browser.value("document.querySelectorAll('#replayed img').length");
        assert_eq!(pictures, if name.contains("torn") || name == "run.log" { 2 } else { 0 }, "{name}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_log_of_tune_is_asked_again_and_reported() {
    let (folder, mut browser) = open("web-tune", 390, true);
    let knobs = ["--knob", "opt=O1,*O2,O3", "--knob", "unroll=1,2,4,8", "--knob", "block=16..128:16"];
    let command = "test {opt} != O1 || exit 3; echo $(( {unroll} * 3 + ({block} - 64) * ({block} - 64) / 100 ))";
    let rest = ["--start", "unroll=8", "--budget", "30", "--log", "run.jsonl", "--shell", "--", command];
    folder.stdout(&[&["tune"], &knobs[..], &rest].concat());
    let path = folder.0.join("run.jsonl");
    browser.choose("#file", &path);
    // The start is the user's choice.
    says(&mut browser, "#replayed", "29 of 30 asks match to the bit");
    says(&mut browser, "#replayed", "Best 3");
    // As tall as what it shows: the page scrolls, not the frame.
    let shown = "new Promise((done) => { (function look() { const frame = document.querySelector('#replayed iframe'); \
        frame.style.height ? done([frame.contentDocument.body.textContent, \
        frame.contentDocument.querySelectorAll('svg').length, frame.contentDocument.documentElement.scrollHeight - \
        frame.clientHeight, frame.contentDocument.documentElement.scrollWidth - frame.clientWidth]) \
        : setTimeout(look, 30); })(); })";
    let shown = browser.value(shown);
    let text = shown[0].as_str().unwrap();
    for words in
        ["Report of a tuning run", "What each knob does", "Levels that always failed", "30 measurements in order"]
    {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
    assert!(shown[1].as_u64().unwrap() > 4, "{} pictures", shown[1]);
    assert_eq!((&shown[2], &shown[3]), (&json!(0), &json!(0)));
    assert_eq!(browser.value("document.documentElement.scrollWidth"), 390);
    // A changed digit, a line left out, and a run that is too large for a page.
    let log = std::fs::read_to_string(&path).unwrap();
    let short: Vec<&str> = log.lines().enumerate().filter(|(i, _)| *i != 7).map(|(_, line)| line).collect();
    let large = ["tune", "--knob", "x=1..200", "--budget", "1", "--log", "large.jsonl", "--", "echo", "{x}"];
    let many: Vec<String> = (0..70).map(|i| format!("k{i}=1,2")).collect();
    let many: Vec<&str> = many.iter().flat_map(|knob| ["--knob", knob.as_str()]).collect();
    folder.stdout(&[&large[..1], &many, &large[1..]].concat());
    for (name, text, words) in [
        ("changed.jsonl", log.replacen("\"value\":", "\"value\":1", 1), "line 3 is damaged: its checksum is wrong"),
        ("short.jsonl", short.join("\n") + "\n", "no ask with the id 4 is pending"),
        ("large.jsonl", std::fs::read_to_string(folder.0.join("large.jsonl")).unwrap(), "at most 64"),
    ] {
        std::fs::write(folder.0.join(name), text).unwrap();
        browser.choose("#file", &folder.0.join(name));
        says(&mut browser, "#replayed", &format!("{name}: "));
        says(&mut browser, "#replayed", words);
        assert_eq!(browser.value("document.querySelectorAll('#replayed iframe').length"), 0, "{name}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn little_motion_is_respected() {
    let (_folder, mut browser) = open("web-calm", 1280, false);
    let mut redraws = |is_calm: bool| {
        browser.calm_screen(1280, false, is_calm);
        browser.open(&PAGE);
        says(&mut browser, "#status", "Ready");
        browser.value("$('budget').value = 40; $('budget').onchange()");
        says(&mut browser, "#status", "Ready");
        browser.value("window.count = 0; new MutationObserver(() => count++).observe($('curve'), {childList: true})");
        browser.click("#run");
        says(&mut browser, "#status", "40 measured");
        assert_eq!(browser.value("document.getAnimations().length"), 0);
        browser.value("count").as_u64().unwrap()
    };
    let (calm, usual) = (redraws(true), redraws(false));
    // Fifteen measurements per second, shown twice a second or one by one.
    assert!(calm <= 10 && usual >= 40, "{calm} {usual}");
}

#[test]
fn the_lines_of_the_legend_differ_in_colour() {
    for is_dark in [false, true] {
        let (_folder, mut browser) = open("web-legend", 1280, is_dark);
        let colours = browser.value(
            "[...document.querySelectorAll('.swatch')].map((e) => \
             getComputedStyle(e).color.match(/\\d+/g).map(Number))",
        );
        let colours: Vec<Vec<i64>> = serde_json::from_value(colours).unwrap();
        assert_eq!(colours.len(), 4);
        for (i, a) in colours.iter().enumerate() {
            for b in &colours[..i] {
                let apart: i64 = a.iter().zip(b).map(|(a, b)| (a - b).pow(2)).sum();
                assert!(apart > 90 * 90, "{a:?} and {b:?}, dark: {is_dark}");
            }
        }
    }
}
