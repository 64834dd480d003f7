//! Tunes below a control loop with a deadline: two interrupts with priorities, as in RTIC.
//!
//! | who | priority | work |
//! |---|---|---|
//! | SysTick | high | the control loop, once per period; applies and measures the tuner's request; then pends PendSV |
//! | PendSV | lowest | one slice of an ask, or a tell, per period; SysTick interrupts it at any time |
//! | main | none | sleeps |
//!
//! Exit code 0 means that every proposal is, bit for bit, the one that a single `ask` gives, and
//! the control loop was never later than [`LATEST`].
//!
//! **Choices**
//! - The two share a request and a reply, each accessed in a short critical section. The tuner
//!   belongs to PendSV alone, so no lock is held while it works.
//! - Slices keep PendSV within its period, so interrupts with a priority in between do not wait
//!   either. Only a `tell` that refits the model takes several periods, and SysTick goes on
//!   meanwhile.
#![no_std]
#![no_main]

use core::cell::{Cell, RefCell};

use cortex_m::interrupt::{self, Mutex};
use cortex_m::peripheral::scb::SystemHandler;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};
use cortex_m_rt::{entry, exception};
use defmt::{error, info};
use heapless::Vec;
use static_cell::ConstStaticCell;
use trimtab::{Combination, Config, Error, Proposal, Tuner};
use trimtab_firmware::device;
use trimtab_firmware::relays::{KNOBS, RELAYS, cost, space};

/// Ticks of the core's clock from one turn of the control loop to the next.
const PERIOD: u32 = 16_800;
/// Ticks that the control loop may be late: a hundredth of the period.
const LATEST: u32 = PERIOD / 100;
/// Candidates per slice.
const SLICE: u16 = 4;
const MEASUREMENTS: usize = 24;
const SEED: u64 = 1;

type SmallTuner = trimtab::tuner!(KNOBS, observations: MEASUREMENTS, rows: 64);

static TUNER: ConstStaticCell<SmallTuner> = ConstStaticCell::new(Tuner::new());
static WHOLE: ConstStaticCell<SmallTuner> = ConstStaticCell::new(Tuner::new());

/// The combination that the tuner wants measured.
static REQUEST: Mutex<Cell<Option<Combination<RELAYS>>>> = Mutex::new(Cell::new(None));
/// Its value.
static REPLY: Mutex<Cell<Option<f32>>> = Mutex::new(Cell::new(None));
/// Statistics of the control loop.
static CONTROL: Mutex<Cell<Control>> = Mutex::new(Cell::new(Control { turns: 0, latest: 0 }));
/// The proposals, and the result at the end.
static PROPOSALS: Mutex<RefCell<Vec<Proposal<RELAYS>, MEASUREMENTS>>> = Mutex::new(RefCell::new(Vec::new()));
static ENDED: Mutex<Cell<Option<Result<(), Error>>>> = Mutex::new(Cell::new(None));

#[derive(Clone, Copy)]
struct Control {
    turns: u32,
    /// Most ticks between the interrupt's time and its first instruction.
    latest: u32,
}

/// The state of the tuner.
#[derive(Clone, Copy)]
enum Phase {
    Start,
    Asking,
    Measuring(Combination<RELAYS>),
    Done,
}

#[entry]
fn main() -> ! {
    let Some(mut core) = cortex_m::Peripherals::take() else { device::exit(false) };
    // SAFETY: critical sections mask every interrupt, so none relies on priorities.
    unsafe { core.SCB.set_priority(SystemHandler::PendSV, 0xFF) };
    core.SYST.set_clock_source(SystClkSource::Core);
    core.SYST.set_reload(PERIOD - 1);
    core.SYST.clear_current();
    core.SYST.enable_counter();
    core.SYST.enable_interrupt();
    let ended = loop {
        cortex_m::asm::wfi();
        if let Some(ended) = interrupt::free(|cs| ENDED.borrow(cs).take()) {
            break ended;
        }
    };
    core.SYST.disable_interrupt();
    match ended.and_then(|()| check()) {
        Ok(is_good) => device::exit(is_good),
        Err(error) => {
            error!("{}", error);
            device::exit(false)
        }
    }
}

/// The control loop.
#[exception]
fn SysTick() {
    static mut SETTLING: Option<Combination<RELAYS>> = None;
    let late = (PERIOD - SYST::get_current()) % PERIOD;
    interrupt::free(|cs| {
        // Here: read the sensors, drive the actuators.
        let Control { turns, latest } = CONTROL.borrow(cs).get();
        CONTROL.borrow(cs).set(Control { turns: turns + 1, latest: late.max(latest) });
        // The combination applied a period ago has settled by now.
        if let Some(c) = SETTLING.take() {
            REPLY.borrow(cs).set(Some(cost(&c)));
        }
        *SETTLING = REQUEST.borrow(cs).take();
    });
    SCB::set_pendsv();
}

/// The tuner, one slice at a time.
#[exception]
fn PendSV() {
    static mut OWN: Option<&'static mut SmallTuner> = None;
    static mut PHASE: Phase = Phase::Start;
    let tuner = OWN.get_or_insert_with(|| TUNER.take());
    match turn(tuner, *PHASE) {
        Ok(next) => *PHASE = next,
        Err(error) => {
            *PHASE = Phase::Done;
            interrupt::free(|cs| ENDED.borrow(cs).set(Some(Err(error))));
        }
    }
}

/// Does one slice of the tuner's work. Returns the next state.
fn turn(tuner: &mut SmallTuner, phase: Phase) -> Result<Phase, Error> {
    match phase {
        Phase::Start => {
            tuner.init(space()?, Config::default(), SEED)?;
            tuner.ask_begin()?;
            Ok(Phase::Asking)
        }
        Phase::Asking => {
            let Some(proposal) = tuner.ask_step(SLICE)? else { return Ok(Phase::Asking) };
            interrupt::free(|cs| {
                REQUEST.borrow(cs).set(Some(proposal.combination));
                // There is room for all measurements.
                let _ = PROPOSALS.borrow(cs).borrow_mut().push(proposal);
            });
            Ok(Phase::Measuring(proposal.combination))
        }
        Phase::Measuring(c) => {
            let Some(value) = interrupt::free(|cs| REPLY.borrow(cs).take()) else { return Ok(phase) };
            tuner.tell(&c, value)?;
            if tuner.len() == MEASUREMENTS {
                interrupt::free(|cs| ENDED.borrow(cs).set(Some(Ok(()))));
                return Ok(Phase::Done);
            }
            tuner.ask_begin()?;
            Ok(Phase::Asking)
        }
        Phase::Done => Ok(Phase::Done),
    }
}

/// Whether `ask` proposes the same, and the control loop was in time.
fn check() -> Result<bool, Error> {
    let (proposals, control) = interrupt::free(|cs| (PROPOSALS.borrow(cs).take(), CONTROL.borrow(cs).get()));
    let tuner = WHOLE.take();
    tuner.init(space()?, Config::default(), SEED)?;
    for (t, proposal) in proposals.iter().enumerate() {
        if tuner.ask()? != *proposal {
            error!("measurement {=usize}: ask_step and ask differ", t + 1);
            return Ok(false);
        }
        tuner.tell(&proposal.combination, cost(&proposal.combination))?;
    }
    info!("{=usize} proposals, the same bits by ask_step and by ask", proposals.len());
    info!("turns of the control loop: {=u32}", control.turns);
    info!("at most {=u32} ticks late, of a period of {=u32}", control.latest, PERIOD);
    Ok(proposals.len() == MEASUREMENTS && control.latest <= LATEST)
}
