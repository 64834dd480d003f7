//! The antenna demo: tune, show, report, draw.

mod args;
pub(crate) mod bench;
mod json;
mod live;
mod picture;
mod run;
mod summary;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use trimtab_firmware::antenna::Network;

pub(crate) use args::{AntennaArgs, BenchArgs};

use crate::error::Error;
use crate::terminal;

/// About the settling time of a small relay; without it a run is over before anyone sees it.
const LIVE_SETTLE_MS: u64 = 15;

/// Tunes the antenna that the arguments describe.
pub(crate) fn run(args: &AntennaArgs) -> Result<(), Error> {
    let network = Network::new(args.load.resistance, args.load.reactance, args.frequency.0)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let settings =
        run::Settings { network, noise: args.measuring.noise, seed: args.seed, budget: args.measuring.budget };
    let mut view = live::View::new(&settings, args.output.quiet);
    let settle = Duration::from_millis(args.settle.unwrap_or(if view.is_live() { LIVE_SETTLE_MS } else { 0 }));
    let run = run::tune(&settings, |now, best| {
        view.show(now, best);
        thread::sleep(settle);
    })?;
    view.finish();

    // Print the result even if the picture cannot be written.
    let picture = (!args.no_svg).then_some(args.svg.as_path());
    let drawn = picture.map_or(Ok(()), |path| write(path, &picture::draw(&run)));
    let shown = picture.filter(|_| drawn.is_ok());
    terminal::print(&match (args.output.json, args.output.quiet) {
        (true, _) => json::text(&run, shown)?,
        (false, true) => summary::line(&run),
        (false, false) => summary::text(&run, shown),
    })?;
    drawn
}

/// Writes a file, and creates its folder.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text)).map_err(|error| {
        let path = path.display();
        Error::Failed(format!(
            "cannot write the picture to {path}: {error}; name another file with --svg FILE, or none with --no-svg"
        ))
    })
}
