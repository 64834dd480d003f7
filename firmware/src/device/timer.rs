//! Counts instructions with timer 2 of the STM32F405, as QEMU emulates it.
//!
//! QEMU's timer ticks once a nanosecond of its virtual time, and with `-icount shift=0` an instruction takes exactly
//! one nanosecond: one tick an instruction, the same in every run. **These are instructions, not cycles**: on
//! silicon a division or a branch takes several, and the timer runs at the bus clock.
//!
//! | register | address | what for |
//! |---|---|---|
//! | RCC_APB1ENR | 0x4002_3840 | bit 0 gives the timer a clock |
//! | TIM2_CR1 | 0x4000_0000 | bit 0 starts it |
//! | TIM2_EGR | 0x4000_0014 | bit 0 takes the prescaler and the end over at once |
//! | TIM2_CNT | 0x4000_0024 | the count, 32 bits |
//! | TIM2_PSC | 0x4000_0028 | prescaler: 0 divides by one |
//! | TIM2_ARR | 0x4000_002C | where it starts over: the last u32 |
//!
//! (STM32F405 reference manual RM0090, sections 7.3.13 and 18.4.)
//!
//! **Choices.** Six registers do not need a peripheral-access crate; the addresses are here and nowhere else.
//! The core's own cycle counter (DWT) does not count in QEMU.

use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{Ordering, compiler_fence};

const RCC_APB1ENR: *mut u32 = ptr::without_provenance_mut(0x4002_3840);
const TIM2_CR1: *mut u32 = ptr::without_provenance_mut(0x4000_0000);
const TIM2_EGR: *mut u32 = ptr::without_provenance_mut(0x4000_0014);
const TIM2_CNT: *mut u32 = ptr::without_provenance_mut(0x4000_0024);
const TIM2_PSC: *mut u32 = ptr::without_provenance_mut(0x4000_0028);
const TIM2_ARR: *mut u32 = ptr::without_provenance_mut(0x4000_002C);

/// A running timer.
pub struct Timer {
    overhead: u32,
}

impl Timer {
    /// Starts the timer and measures what reading it costs.
    pub fn start() -> Self {
        // SAFETY: the addresses are those of the table above, aligned, always there on this chip, and read or
        // written by nobody else: the image has one thread, no interrupt, and this is the only code that names them.
        unsafe {
            RCC_APB1ENR.write_volatile(RCC_APB1ENR.read_volatile() | 1);
            TIM2_PSC.write_volatile(0);
            TIM2_ARR.write_volatile(u32::MAX);
            TIM2_EGR.write_volatile(1);
            TIM2_CR1.write_volatile(1);
        }
        let mut timer = Self { overhead: 0 };
        timer.overhead = timer.count(|| ()).1;
        timer
    }

    /// Does the work and counts its instructions, less those of the counting. Right up to 2³² − 1.
    // Never inlined: the overhead is then the same wherever it is called.
    #[inline(never)]
    pub fn count<R>(&self, work: impl FnOnce() -> R) -> (R, u32) {
        let begin = now();
        let result = black_box(work());
        let end = now();
        (result, end.wrapping_sub(begin).saturating_sub(self.overhead))
    }
}

/// The count, with the compiler told to move nothing across.
fn now() -> u32 {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as in `Timer::start`.
    let count = unsafe { TIM2_CNT.read_volatile() };
    compiler_fence(Ordering::SeqCst);
    count
}
