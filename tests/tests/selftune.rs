//! The chip tunes its own code in QEMU: its log is consistent, and the same every time.

use std::sync::LazyLock;
use std::time::Duration;

use trimtab_tests::image::{Image, Profile};
use trimtab_tests::qemu;

/// Measurements of the image, all in its log.
const BUDGET: usize = 50;

static LOG: LazyLock<Vec<String>> = LazyLock::new(run);

fn run() -> Vec<String> {
    let elf = Image::find("selftune").and_then(|image| image.build(Profile::Release)).unwrap();
    qemu::run(&elf, Duration::from_secs(300), &mut |_| ()).and_then(qemu::Run::success).unwrap()
}

/// The rest of the only line that contains a text.
fn after(text: &str) -> &'static str {
    let found: Vec<_> = LOG.iter().filter_map(|line| line.split_once(text)).collect();
    let [(_, rest)] = found[..] else { panic!("{} lines with `{text}`: {:#?}", found.len(), *LOG) };
    rest
}

/// The number before a text.
fn number(line: &str, text: &str) -> f64 {
    let word = line.split_once(text).and_then(|(before, _)| before.split(' ').next_back());
    word.and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no number before `{text}` in `{line}`"))
}

/// A setting in words and its cost.
fn priced(line: &'static str) -> (&'static str, u32) {
    let (setting, cost) = line.rsplit_once(": ").unwrap();
    (setting, cost.trim_end_matches(" instructions").parse().unwrap())
}

#[test]
fn every_result_is_right() {
    assert!(LOG.iter().all(|line| line.starts_with("info ")), "{:#?}", *LOG);
    assert_eq!(after("608 of 608 ways to write it "), "give the right result");
}

#[test]
fn the_chip_finds_quick_code() {
    let measured: Vec<_> = (1..=BUDGET).map(|i| priced(after(&format!(" {i} of {BUDGET}: ")))).collect();
    let titles = ["as first written down: ", "best found: ", "best there is: "];
    let [plain, found, best] = titles.map(|title| priced(after(title)));

    // The plain filter is measured first and costs the same when counted again. The result is the
    // cheapest measured.
    assert_eq!(measured[0], plain);
    assert_eq!(measured.iter().map(|(_, cost)| *cost).min(), Some(found.1));
    assert!(measured.contains(&found) && best.1 <= found.1);
    // 4096 products: the plain filter takes at least four instructions per product (two loads, the
    // product, a jump), and no instruction computes more than two products.
    assert!(plain.1 > 4 * 4096 && best.1 > 4096 / 2, "{plain:?} {best:?}");

    let line = LOG.iter().find(|line| line.contains(" times as fast as first written down")).unwrap();
    let (speed_up, ratio) = (number(line, " times as fast"), number(line, " times the best there is"));
    // The log has three decimals, in f32.
    let is_close = |a: f64, b: f64| (a - b).abs() < 6e-4;
    assert!(speed_up > 2.0 && is_close(speed_up, f64::from(plain.1) / f64::from(found.1)), "{line}");
    assert!(ratio <= 1.05 && is_close(ratio, f64::from(found.1) / f64::from(best.1)), "{line}");
}

#[test]
fn other_seeds_find_it_too_and_random_search_does_not() {
    let [tuned, random] = ["by trimtab, 16 seeds: ", "at random, 16 seeds: "].map(after);
    let [tuned, random] = [tuned, random].map(|line| {
        let [best, close] = [" found the best", " came within 5 %"].map(|text| number(line, text));
        let mean = number(line, " and worst");
        (best, close, mean)
    });
    assert!(tuned.0 >= 8.0 && tuned.1 >= 14.0, "{tuned:?}");
    assert!(tuned.0 > random.0 && tuned.1 > random.1 && tuned.2 < random.2, "{tuned:?} {random:?}");
}

#[test]
fn a_run_is_the_same_every_time() {
    assert_eq!(*LOG, run());
}
