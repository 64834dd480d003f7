//! The independent watchdog of an STM32F4: bites whatever the processor does. Built for the boards that have it, never run: QEMU does not.
//!
//! | register | address | what for |
//! |---|---|---|
//! | IWDG_KR | 0x4000_3000 | 0xCCCC starts it, 0x5555 unlocks the next two, 0xAAAA feeds it |
//! | IWDG_PR | 0x4000_3004 | prescaler: 3 divides its 32 kHz by 32 |
//! | IWDG_RLR | 0x4000_3008 | ticks until it bites, at most 4095 |
//! | RCC_CSR | 0x4002_3874 | bit 29: the last reset was its own; bit 24 forgets that |
//!
//! (STM32F405 reference manual RM0090, sections 7.3.21 and 21.4; the same on the STM32F411 and F446.)
//!
//! **Choices.** Once started it cannot be stopped: between measurements it is fed, and a proposal, a rebuilding of the tuner and a flash erase must
//! each take less than about four seconds. Starting it with the first measurement leaves a boot the time to replay its log.

use core::ptr;

use super::{Mark, Watchdog, keep, take_mark};

const IWDG_KR: *mut u32 = ptr::without_provenance_mut(0x4000_3000);
const IWDG_PR: *mut u32 = ptr::without_provenance_mut(0x4000_3004);
const IWDG_RLR: *mut u32 = ptr::without_provenance_mut(0x4000_3008);
const RCC_CSR: *mut u32 = ptr::without_provenance_mut(0x4002_3874);

const START: u32 = 0xCCCC;
const UNLOCK: u32 = 0x5555;
const FEED: u32 = 0xAAAA;
const BY_32: u32 = 3;
const MOST_TICKS: u32 = 4095;
const WAS_CAUSE: u32 = 1 << 29;
const FORGET_CAUSE: u32 = 1 << 24;

/// The independent watchdog. There is one: whoever makes two has the same twice.
#[derive(Default)]
pub struct IndependentWatchdog {
    is_running: bool,
}

impl IndependentWatchdog {
    /// Not running yet: the first measurement starts it.
    pub const fn new() -> Self {
        Self { is_running: false }
    }

    /// Four more seconds.
    pub fn feed(&mut self) {
        if self.is_running {
            // SAFETY: the address is that of the table above, aligned, always there on these chips; the write has no
            // effect on memory.
            unsafe { IWDG_KR.write_volatile(FEED) };
        }
    }
}

impl Watchdog for IndependentWatchdog {
    fn bitten(&mut self) -> Option<u32> {
        // SAFETY: as in `feed`. Other causes are forgotten too; this is the only code that asks.
        let was_cause = unsafe {
            let causes = RCC_CSR.read_volatile();
            RCC_CSR.write_volatile(causes | FORGET_CAUSE);
            causes & WAS_CAUSE != 0
        };
        take_mark().filter(|_| was_cause)
    }

    fn arm(&mut self, measurement: u32) {
        let mut mark = Mark::CLEAR;
        mark.set(measurement);
        keep(mark);
        if !self.is_running {
            // SAFETY: as in `feed`.
            unsafe {
                IWDG_KR.write_volatile(START);
                IWDG_KR.write_volatile(UNLOCK);
                IWDG_PR.write_volatile(BY_32);
                IWDG_RLR.write_volatile(MOST_TICKS);
            }
            self.is_running = true;
        }
        self.feed();
    }

    fn disarm(&mut self) {
        keep(Mark::CLEAR);
        self.feed();
    }
}
