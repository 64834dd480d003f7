//! Counts the cost of a piece of work: cycles on a chip, instructions in QEMU.
//!
//! A Cortex-M3 or larger has a cycle counter (DWT), which does not count in QEMU. There a timer of
//! the machine stands in. It ticks by QEMU's virtual time, and with `-icount shift=0` an
//! instruction takes exactly one nanosecond of that. **So QEMU counts instructions, not cycles**:
//! on silicon a division or a branch takes several cycles. [`Timer::unit`] says which one it is.
//!
//! | register | address | purpose |
//! |---|---|---|
//! | DEMCR | 0xE000_EDFC | bit 24 powers the cycle counter |
//! | DWT_CTRL | 0xE000_1000 | bit 0 starts it |
//! | DWT_CYCCNT | 0xE000_1004 | the count, 32 bits |
//! | RCC_APB1ENR | 0x4002_3840 | bit 0 clocks timer 2 of the STM32F405 |
//! | TIM2_CR1 | 0x4000_0000 | bit 0 starts it |
//! | TIM2_EGR | 0x4000_0014 | bit 0 applies prescaler and reload value at once |
//! | TIM2_CNT | 0x4000_0024 | the count, 32 bits; QEMU ticks it once per nanosecond |
//! | TIM2_PSC | 0x4000_0028 | prescaler: 0 divides by one |
//! | TIM2_ARR | 0x4000_002C | reload value: the last u32 |
//! | FPGAIO_COUNTER | 0x4002_8018 | on an MPS2, counts by itself at 25 MHz, every 40 nanoseconds |
//!
//! (ARMv7-M manual DDI 0403, C1.6.5 and C1.8; STM32F405 manual RM0090, sections 7.3.13 and 18.4;
//! Arm application note AN386, FPGA system control.)
//!
//! **Choices**
//! - The counter is found at the start, not chosen by a feature, so the image tried in QEMU is the
//!   one that is flashed.
//! - Ten registers do not need a peripheral-access crate. The addresses are here and nowhere else.

use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{Ordering, compiler_fence};

const DEMCR: *mut u32 = ptr::without_provenance_mut(0xE000_EDFC);
const DWT_CTRL: *mut u32 = ptr::without_provenance_mut(0xE000_1000);
const DWT_CYCCNT: *mut u32 = ptr::without_provenance_mut(0xE000_1004);

/// A running timer.
pub struct Timer {
    counter: Counter,
    overhead: u32,
}

/// Something that counts up.
#[derive(Clone, Copy)]
struct Counter {
    address: *const u32,
    /// Units per tick.
    scale: u32,
    unit: &'static str,
}

impl Timer {
    /// Starts the timer and measures the cost of reading it.
    pub fn start() -> Self {
        let counter = Counter::cycles().or_else(Counter::instructions);
        let counter = counter.expect("neither a cycle counter nor a timer that QEMU emulates on this board");
        let mut timer = Self { counter, overhead: 0 };
        timer.overhead = timer.count(|| ()).1;
        timer
    }

    /// The unit: `cycles`, or `instructions` in QEMU.
    pub fn unit(&self) -> &'static str {
        self.counter.unit
    }

    /// Whether this is QEMU, where settings that only change the pace of the hardware change no
    /// count.
    pub fn is_emulated(&self) -> bool {
        self.counter.address != DWT_CYCCNT
    }

    /// Does the work and counts its cost, without the cost of counting. Valid up to 2³² − 1.
    // Never inlined, so that the overhead is the same at every call.
    #[inline(never)]
    pub fn count<R>(&self, work: impl FnOnce() -> R) -> (R, u32) {
        let begin = self.counter.now();
        let result = black_box(work());
        let end = self.counter.now();
        let ticks = end.wrapping_sub(begin);
        (result, ticks.wrapping_mul(self.counter.scale).saturating_sub(self.overhead))
    }
}

impl Counter {
    /// The core's own counter, if it counts.
    fn cycles() -> Option<Self> {
        // SAFETY: the addresses are those of the table above, aligned and present on every
        // Cortex-M3 and larger; QEMU reads zero there. No other code uses them.
        unsafe {
            DEMCR.write_volatile(DEMCR.read_volatile() | 1 << 24);
            DWT_CTRL.write_volatile(DWT_CTRL.read_volatile() | 1);
        }
        let counter = Self { address: DWT_CYCCNT, scale: 1, unit: "cycles" };
        (counter.now() != counter.now()).then_some(counter)
    }

    /// Timer 2 of the STM32F405, as QEMU emulates it.
    #[cfg(feature = "stm32f405")]
    fn instructions() -> Option<Self> {
        const RCC_APB1ENR: *mut u32 = ptr::without_provenance_mut(0x4002_3840);
        const TIM2_CR1: *mut u32 = ptr::without_provenance_mut(0x4000_0000);
        const TIM2_EGR: *mut u32 = ptr::without_provenance_mut(0x4000_0014);
        const TIM2_CNT: *mut u32 = ptr::without_provenance_mut(0x4000_0024);
        const TIM2_PSC: *mut u32 = ptr::without_provenance_mut(0x4000_0028);
        const TIM2_ARR: *mut u32 = ptr::without_provenance_mut(0x4000_002C);
        // SAFETY: the addresses are those of the table above, aligned and present on this chip, and
        // this is the only code that names them.
        unsafe {
            RCC_APB1ENR.write_volatile(RCC_APB1ENR.read_volatile() | 1);
            TIM2_PSC.write_volatile(0);
            TIM2_ARR.write_volatile(u32::MAX);
            TIM2_EGR.write_volatile(1);
            TIM2_CR1.write_volatile(1);
        }
        Some(Self { address: TIM2_CNT, scale: 1, unit: "instructions" })
    }

    /// The counter of the MPS2's board, in steps of 40 instructions.
    #[cfg(feature = "mps2-an386")]
    fn instructions() -> Option<Self> {
        const FPGAIO_COUNTER: *const u32 = ptr::without_provenance(0x4002_8018);
        Some(Self { address: FPGAIO_COUNTER, scale: 40, unit: "instructions" })
    }

    /// No other board is emulated.
    #[cfg(not(any(feature = "stm32f405", feature = "mps2-an386")))]
    fn instructions() -> Option<Self> {
        None
    }

    /// The count. The compiler may move nothing across.
    #[inline(always)]
    fn now(self) -> u32 {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the address is from the table above, aligned and present on this board.
        let count = unsafe { self.address.read_volatile() };
        compiler_fence(Ordering::SeqCst);
        count
    }
}
