//! Counts the instructions of `ask` and `tell`, observation by observation.
//!
//! Prints lines of words that `cargo xtask cost` turns into a table:
//!
//! | line | meaning |
//! |---|---|
//! | `state CASE K T L D BYTES` | sizes by their letters, and what the tuner takes |
//! | `step CASE T TELL ASK` | instructions of the tell that brings observation T, and of the ask after it |
//! | `stack BYTES` | most stack used by all of it, printing included |
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Space, Tuner};
use trimtab_firmware::antenna::{self, AntennaTuner, Network};
use trimtab_firmware::device::{self, Console, Timer};
use trimtab_firmware::relays::{self, OBSERVATIONS, RelayTuner};

static RELAYS: ConstStaticCell<RelayTuner> = ConstStaticCell::new(RelayTuner::new());
static ANTENNA: ConstStaticCell<AntennaTuner> = ConstStaticCell::new(AntennaTuner::new());

#[entry]
fn main() -> ! {
    let Ok(mut console) = Console::open() else { device::exit(false) };
    let result = measure(&mut console);
    match result {
        Ok(()) => console.print(format_args!("stack {}", device::most_stack())),
        Err(error) => console.print(format_args!("error: {error}")),
    }
    device::exit(result.is_ok())
}

fn measure(console: &mut Console) -> Result<(), Error> {
    let timer = Timer::start();
    run("relays", RELAYS.take(), relays::space()?, relays::cost, &timer, console)?;
    let network = Network::default();
    run("antenna", ANTENNA.take(), antenna::space(), |c| network.cost(c), &timer, console)
}

fn run<const K: usize, const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(
    case: &str,
    tuner: &mut Tuner<K, M, D, T, L, P>,
    space: Space<K>,
    cost: impl Fn(&Combination<K>) -> f32,
    timer: &Timer,
    console: &mut Console,
) -> Result<(), Error> {
    console.print(format_args!("state {case} {K} {T} {L} {D} {}", size_of_val(tuner)));
    tuner.init(space, Config::default(), 1)?;
    let mut c = tuner.ask()?.combination;
    for t in 1..=OBSERVATIONS {
        let y = cost(&c);
        let (told, tell) = timer.count(|| tuner.tell(&c, y));
        told?;
        let (asked, ask) = timer.count(|| tuner.ask());
        c = asked?.combination;
        console.print(format_args!("step {case} {t} {tell} {ask}"));
    }
    Ok(())
}
