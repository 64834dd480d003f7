//! The result in words.

use std::path::Path;
use std::time::Duration;

use trimtab_firmware::antenna::{self, swr_of_cost};

use super::live::relays;
use super::run::Run;
use crate::draw::quantity::swr_text;

/// The whole result.
pub(crate) fn text(run: &Run, picture: Option<&Path>) -> String {
    let Some(best) = run.best() else { return String::new() };
    let optimum = run.optimum_swr();
    let (measured, states) = (run.steps.len(), antenna::space().cardinality());
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &format!("{name:<9} {value}\n");
    row("found", format!("SWR {:<6} {}", swr_text(best.swr), relays(&best.combination)));
    if run.settings.noise > 0.0 {
        row("", format!("SWR {:<6} is what the bridge showed there", swr_text(swr_of_cost(best.cost))));
    }
    row("optimum", format!("SWR {:<6} {}", swr_text(optimum), relays(&run.optimum)));
    row("", format!("by brute force over all {states} states; found is {:.3} times it", best.swr / optimum));
    let share = 100.0 * measured as f64 / states as f64;
    row("measured", format!("{measured} of {states} states ({share:.2} %), the best was number {}", best.number));
    row(
        "tuner",
        format!("{} bytes, {} per ask, {} per tell", Run::TUNER_BYTES, mean(run, run.asking), mean(run, run.telling)),
    );
    if let Some(path) = picture {
        row("picture", path.display().to_string());
    }
    text
}

/// The result in one line.
pub(crate) fn line(run: &Run) -> String {
    run.best().map_or_else(String::new, |best| format!("SWR {}  {}\n", swr_text(best.swr), relays(&best.combination)))
}

/// A mean time in milliseconds.
fn mean(run: &Run, total: Duration) -> String {
    format!("{:.2} ms", 1e3 * total.as_secs_f64() / run.steps.len().max(1) as f64)
}
