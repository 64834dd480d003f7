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
        ("run.jsonl", b"{\"trimtab\":\"0.1.0\"}\n", "this is a log of trimtab tune"),
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
