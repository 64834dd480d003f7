//! Progress: a moving picture on a terminal, plain lines elsewhere.
//!
//! ```text
//! ███████████████████╸                    58/120  SWR now 4.31  best 1.004
//! now   L ●○○●●○○ 1520 nH  C ○○○○○○○ 5 pF  load side
//! best  L ○●○●●●○ 3770 nH  C ○●●●○○● 1174 pF  load side
//! ```
//!
//! Progress goes to standard error, so that standard output holds only the result. Plain lines come
//! only when the best changes, to keep logs short.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trimtab::{Combination, Level};
use trimtab_firmware::antenna::{Parts, RELAYS};

use super::run::{Settings, Step};
use crate::draw::quantity::{Frequency, Load, swr_text};
use crate::terminal;

/// Shows a run.
pub(crate) enum View {
    Nothing,
    Lines { budget: usize },
    Bar(ProgressBar),
}

impl View {
    /// The view that fits standard error.
    pub(crate) fn new(settings: &Settings, is_quiet: bool) -> Self {
        let budget = settings.budget;
        if is_quiet {
            return Self::Nothing;
        }
        let network = &settings.network;
        let (load, frequency) = (Load::of(network), Frequency(network.frequency()));
        let headline =
            format!("Tuning {load} Ω at {frequency}, SWR {} when left alone", swr_text(network.unmatched_swr()));
        terminal::note(&headline);
        if terminal::is_live() { Self::Bar(bar(budget as u64)) } else { Self::Lines { budget } }
    }

    /// Whether somebody watches.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Bar(_))
    }

    /// Shows one step and the best so far.
    pub(crate) fn show(&mut self, now: &Step, best: &Step) {
        match self {
            Self::Nothing => {}
            Self::Lines { budget } if now.number == best.number => {
                let (number, swr) = (now.number, swr_text(now.swr));
                terminal::note(&format!("{number:>3} of {budget}: SWR {swr:>5}  {}", relays(&now.combination)));
            }
            Self::Lines { .. } => {}
            Self::Bar(bar) => {
                bar.set_position(now.number as u64);
                let (now_swr, best_swr) = (swr_text(now.swr), swr_text(best.swr));
                bar.set_prefix(format!("SWR now {now_swr:<5} best {best_swr:<5}"));
                let (now, best) = (relays(&now.combination), relays(&best.combination));
                bar.set_message(format!("now   {now}\nbest  {best}"));
            }
        }
    }

    /// Clears the moving picture.
    pub(crate) fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// A progress bar on standard error, with colour if welcome.
pub(crate) fn bar(length: u64) -> ProgressBar {
    let colour = if terminal::has_colour() { ".cyan" } else { "" };
    let template = format!("{{bar:30{colour}}} {{pos:>3}}/{{len}}  {{prefix}}\n{{msg}}");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
        .with_style(style.progress_chars("█▉▊▋▌▍▎▏░"))
}

/// The relays of a state and the sum of their parts.
pub(crate) fn relays(c: &Combination<3>) -> String {
    let parts = Parts::of(c);
    format!(
        "L {} {:>4} nH  C {} {:>4} pF  {}",
        lamps(parts.inductor_code),
        parts.inductance_nh,
        lamps(parts.capacitor_code),
        parts.capacitance_pf,
        parts.topology
    )
}

/// One lamp per relay, the smallest part first.
fn lamps(code: Level) -> String {
    (0..RELAYS).map(|relay| if code >> relay & 1 == 1 { '●' } else { '○' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trimtab_firmware::antenna::space;

    #[test]
    fn relays_show_the_code_and_its_sum() {
        let c = space().combination(&[0b0000101, 0b1000000, 1]).unwrap();
        assert_eq!(relays(&c), "L ●○●○○○○  290 nH  C ○○○○○○● 1005 pF  source side");
    }
}
