//! A watchdog made of SysTick, the timer that every Cortex-M and QEMU have.
//!
//! **Choices**
//! - A reset keeps RAM, so the [`Mark`] lies in `.uninit`, where the start-up code writes nothing.
//! - It bites through an interrupt: code that masks interrupts escapes it. A product takes the
//!   watchdog peripheral of its chip, behind the same [`Watchdog`] trait.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{SCB, SYST};

use trimtab_embedded::watchdog::{Mark, Watchdog};

/// The words of the mark. Start-up does not load these values: a reset keeps them, power-up makes
/// them random.
// Unsafe because a section can break an image; `.uninit` is cortex-m-rt's section for this purpose.
#[unsafe(link_section = ".uninit.watchdog")]
static MARK: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];

/// Ticks until it bites, 0 while disarmed; and the number of the measurement.
static LEFT: AtomicU32 = AtomicU32::new(0);
static MEASUREMENT: AtomicU32 = AtomicU32::new(0);

fn keep(mark: Mark) {
    MARK.iter().zip(mark.words()).for_each(|(kept, word)| kept.store(word, Relaxed));
}

/// SysTick as a watchdog. The image forwards its interrupt:
/// `#[exception] fn SysTick() { TickWatchdog::tick() }`.
pub struct TickWatchdog {
    ticks: u32,
}

impl TickWatchdog {
    /// Bites `ticks` ticks after it was armed, of `cycles` clock cycles each (at most 2²⁴).
    pub fn start(mut timer: SYST, cycles: u32, ticks: u32) -> Self {
        timer.set_clock_source(SystClkSource::Core);
        timer.set_reload(cycles.saturating_sub(1));
        timer.clear_current();
        timer.enable_interrupt();
        timer.enable_counter();
        Self { ticks }
    }

    /// Call it from the interrupt.
    pub fn tick() {
        match LEFT.load(Relaxed) {
            0 => {}
            1 => {
                let mut mark = Mark::CLEAR;
                mark.set(MEASUREMENT.load(Relaxed));
                keep(mark);
                SCB::sys_reset();
            }
            left => LEFT.store(left - 1, Relaxed),
        }
    }
}

impl Watchdog for TickWatchdog {
    fn bitten(&mut self) -> Option<u32> {
        let mut mark = Mark::of([0, 1, 2].map(|i: usize| MARK[i].load(Relaxed)));
        let measurement = mark.take();
        keep(mark);
        measurement
    }

    fn arm(&mut self, measurement: u32) {
        MEASUREMENT.store(measurement, Relaxed);
        LEFT.store(self.ticks, Relaxed);
    }

    fn disarm(&mut self) {
        LEFT.store(0, Relaxed);
    }
}
