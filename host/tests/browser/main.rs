//! Our pages in a real browser. The report: it says nothing on the console, asks the network for
//! nothing, sorts, hides, and fits a phone. The page that runs the tuner: see [`web`].
//!
//! `cargo test -p trimtab-host --features browser --test browser` needs chromium (`CHROMIUM` names
//! another program).

mod chromium;
#[path = "../common/mod.rs"]
mod common;
#[path = "../synthetic/mod.rs"]
mod synthetic;
mod web;

use std::path::PathBuf;

use chromium::Chromium;
use common::Folder;
use serde_json::{Value, json};
use synthetic::{FULL, Size};

/// A report of made-up runs, and a browser.
fn open(name: &str, size: Size) -> (Folder, PathBuf, Chromium) {
    let folder = Folder::new(name);
    synthetic::write(&folder.0.join("runs"), size);
    let printed = folder.stdout(&["report", "runs"]);
    assert_eq!(printed.trim(), "runs/report.html");
    let page = folder.0.join("runs/report.html");
    let browser = Chromium::start(&folder.0);
    (folder, page, browser)
}

const SIZE: Size = Size { seeds: 5, budget: 40, ..FULL };

/// Texts of a picture that leave it or lie on each other, by name.
const CLASHES: &str = r#"(() => {
    const found = [];
    for (const svg of document.querySelectorAll("svg[role=img]")) {
        const frame = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
        texts.forEach(([a, r], i) => {
            if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1 || r.bottom > frame.bottom + 1)
                found.push(svg.querySelector("title").textContent + ": " + a + " leaves the picture");
            texts.slice(i + 1).forEach(([b, s]) => {
                const across = Math.min(r.right, s.right) - Math.max(r.left, s.left);
                const down = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
                // Boxes are higher than letters.
                if (across > 0.5 && down > 4 * frame.width / svg.viewBox.baseVal.width)
                    found.push(svg.querySelector("title").textContent + ": " + a + " on " + b);
            });
        });
    }
    return found;
})()"#;

/// Figures of the page: per problem, of the test error where there is one, of all problems, of Lemma 1.
const FIGURES: usize = 5 * 4 + 4 + 4 + 2;

#[test]
fn the_page_is_quiet_and_whole() {
    let (_folder, page, mut browser) = open("browser-whole", SIZE);
    for (width, is_dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
        browser.screen(width, is_dark);
        browser.open(&page);
        assert_eq!(browser.complaints(), [""; 0], "{width}");
        let paper = browser.value("getComputedStyle(document.body).backgroundColor");
        assert_eq!(paper, if is_dark { "rgb(13, 17, 23)" } else { "rgb(255, 255, 255)" });
        // The page does not scroll sideways; wide parts scroll in their own boxes.
        assert_eq!(browser.value("document.documentElement.scrollWidth"), width, "{width} is too narrow");
        let outside = "[...document.querySelectorAll('main *, aside *')].filter((e) => !e.closest('.scroll, pre, svg'))
            .filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))";
        assert_eq!(browser.value(outside), json!([]));
        let panels = browser.value(
            "[...document.querySelectorAll('.panels svg')].map((e) => e.getBoundingClientRect()).map((r) => \
             [r.width, r.height])",
        );
        let panels = panels.as_array().unwrap();
        assert_eq!(panels.len(), 2 * FIGURES);
        for size in panels {
            assert!(size[0].as_f64().unwrap() > 300.0 && size[1].as_f64().unwrap() > 150.0, "{size} at {width}");
        }
        assert_eq!(browser.value(CLASHES), json!([]), "at {width}");
    }
}

#[test]
fn figures_stand_alone() {
    let (_folder, page, mut browser) = open("browser-figures", SIZE);
    browser.screen(1280, false);
    let mut count = 0;
    for entry in std::fs::read_dir(page.with_file_name("figures")).unwrap() {
        let path = entry.unwrap().path();
        browser.open(&path);
        assert_eq!(browser.complaints(), [""; 0], "{}", path.display());
        assert_eq!(browser.value(CLASHES), json!([]), "{}", path.display());
        let lines = browser.value(
            "[...document.querySelectorAll('.line')].filter((e) => getComputedStyle(e).stroke === 'none').length",
        );
        assert_eq!(lines, 0, "{} has lines without colour", path.display());
        count += 1;
    }
    assert_eq!(count, FIGURES);
}

/// A column of a table as it is shown, top to bottom.
fn column(browser: &mut Chromium, table: &str, place: usize) -> Vec<Value> {
    let cells = format!("[...document.querySelectorAll('#{table} tbody tr')].map((r) => r.cells[{place}])");
    let script = format!("{cells}.map((c) => c.dataset.key === undefined ? c.textContent : Number(c.dataset.key))");
    browser.value(&script).as_array().unwrap().clone()
}

#[test]
fn tables_sort_when_a_header_is_clicked() {
    let (_folder, page, mut browser) = open("browser-sort", SIZE);
    for width in [1280, 390] {
        browser.screen(width, false);
        browser.open(&page);
        // The median rank column has numbers, the first has names.
        for (table, place, head) in [("ranking", 4, 5), ("seconds-table", 1, 2), ("finals", 2, 3)] {
            let numbers = |browser: &mut Chromium| -> Vec<f64> {
                column(browser, table, place).iter().map(|value| value.as_f64().unwrap()).collect()
            };
            let header = format!("#{table} thead th:nth-child({head})");
            let mut sorted = numbers(&mut browser);
            sorted.sort_by(f64::total_cmp);
            browser.click(&format!("{header} button"));
            assert_eq!(numbers(&mut browser), sorted, "{table} at {width}");
            let state = format!("document.querySelector('{header}').getAttribute('aria-sort')");
            assert_eq!(browser.value(&state), "ascending");
            browser.click(&format!("{header} button"));
            sorted.reverse();
            assert_eq!(numbers(&mut browser), sorted, "{table} at {width}");
            assert_eq!(browser.value(&state), "descending");
        }
        browser.click("#ranking thead th:first-child button");
        let names = column(&mut browser, "ranking", 0);
        assert_eq!((names[0].as_str(), names[9].as_str()), (Some("annealing"), Some("trimtab")));
        assert_eq!(browser.value("document.querySelectorAll('#ranking [aria-sort=ascending]').length"), 1);
        // From the keyboard too.
        browser.value("document.querySelector('#ranking thead th:first-child button').focus()");
        browser.press_enter();
        assert_eq!(column(&mut browser, "ranking", 0)[0], "trimtab");
        assert_eq!(browser.complaints(), [""; 0]);
    }
}

#[test]
fn the_legend_hides_a_method_in_every_figure() {
    let (_folder, page, mut browser) = open("browser-toggle", SIZE);
    let shown = |browser: &mut Chromium, name: &str| {
        let script = format!(
            "[...document.querySelectorAll('[data-method=\"{name}\"]')].filter((e) => getComputedStyle(e).display \
             !== 'none').length"
        );
        browser.value(&script).as_u64().unwrap()
    };
    for width in [1280, 390] {
        browser.screen(width, false);
        browser.open(&page);
        // Every panel but those of Lemma 1.
        let panels = 2 * (FIGURES as u64 - 1);
        assert_eq!((shown(&mut browser, "random"), shown(&mut browser, "trimtab")), (panels, panels));
        let button = "[data-toggle=\"random\"]";
        browser.click(button);
        assert_eq!((shown(&mut browser, "random"), shown(&mut browser, "trimtab")), (0, panels));
        assert_eq!(
            browser.value("document.querySelector('[data-toggle=random]').getAttribute('aria-pressed')"),
            "false"
        );
        // Nothing stays dim once the pointer is gone.
        assert_eq!(browser.value("document.querySelectorAll('.dim').length"), 0);
        browser.click(button);
        assert_eq!(shown(&mut browser, "random"), panels);
        browser.click("[data-all=\"false\"]");
        assert_eq!((shown(&mut browser, "random"), shown(&mut browser, "trimtab")), (0, 0));
        browser.click("[data-all=\"true\"]");
        assert_eq!((shown(&mut browser, "random"), shown(&mut browser, "trimtab")), (panels, panels));
        assert_eq!(browser.complaints(), [""; 0]);
    }
}
