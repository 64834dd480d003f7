//! The peak of the stack.
//!
//! cortex-m-rt fills the memory between the statics and the end of RAM with a pattern before `main`
//! (feature `paint-stack`). The stack grows down from the end, so its peak is the lowest word
//! without the pattern.

use core::ptr;

use cortex_m::register::msp;

unsafe extern "C" {
    /// The start of the stack, one past the last word of RAM. A linker symbol: only its address
    /// counts.
    static _stack_start: u32;
    /// The end of the statics.
    static mut _stack_end: u32;
}

/// Bytes below the stack pointer that stay unpainted: more than the frames of the painter.
const MARGIN: usize = 256;

/// Peak of the stack in bytes since reset or [`repaint`].
pub fn most_stack() -> usize {
    let (low, high) = (&raw const _stack_end, &raw const _stack_start);
    let words = (high as usize - low as usize) / size_of::<u32>();
    // SAFETY: low..high is RAM without statics, aligned to words by cortex-m-rt's linker script.
    // Reads are volatile because the upper part is the stack in use.
    let clean = (0..words).take_while(|i| unsafe { ptr::read_volatile(low.add(*i)) } == cortex_m_rt::STACK_PAINT_VALUE);
    (words - clean.count()) * size_of::<u32>()
}

/// Repaints the free part of the stack and returns the bytes in use. After a
/// run, [`most_stack`] minus these is what the run needed.
#[inline(never)]
pub fn repaint() -> usize {
    let (low, high) = (&raw mut _stack_end, &raw const _stack_start);
    let used = high as usize - msp::read() as usize;
    let free = (high as usize - low as usize).saturating_sub(used + MARGIN) / size_of::<u32>();
    // SAFETY: these words lie above the statics and at least `MARGIN` bytes below the stack
    // pointer, so nothing lives in them: the image has one thread and no interrupt.
    (0..free).for_each(|i| unsafe { ptr::write_volatile(low.add(i), cortex_m_rt::STACK_PAINT_VALUE) });
    used
}
