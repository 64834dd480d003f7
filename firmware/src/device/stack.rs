//! How deep the stack has been.
//!
//! cortex-m-rt fills the memory between the statics and the end of RAM with a pattern before `main` (feature
//! `paint-stack`). The stack grows down from the end, so the lowest word without the pattern is the deepest it was.

use core::ptr;

use cortex_m::register::msp;

unsafe extern "C" {
    /// Where the stack starts: one past the last word of RAM. A linker symbol: only its address means something.
    static _stack_start: u32;
    /// Where the statics end.
    static mut _stack_end: u32;
}

/// How far below the stack in use painting stops: more than the frames of what paints.
const MARGIN: usize = 256;

/// Most bytes of stack in use at any time since reset.
pub fn most_stack() -> usize {
    let (low, high) = (&raw const _stack_end, &raw const _stack_start);
    let words = (high as usize - low as usize) / size_of::<u32>();
    // SAFETY: low..high is RAM that no static lives in, aligned to words by cortex-m-rt's linker script; reads are
    // volatile because the upper part is the stack in use.
    let clean = (0..words).take_while(|i| unsafe { ptr::read_volatile(low.add(*i)) } == cortex_m_rt::STACK_PAINT_VALUE);
    (words - clean.count()) * size_of::<u32>()
}

/// Paints the free part of the stack anew and says how many bytes are in use: [`most_stack`] less these is then what was
/// needed since.
#[inline(never)]
pub fn repaint() -> usize {
    let (low, high) = (&raw mut _stack_end, &raw const _stack_start);
    let used = high as usize - msp::read() as usize;
    let free = (high as usize - low as usize).saturating_sub(used + MARGIN) / size_of::<u32>();
    // SAFETY: these words lie above the statics and at least `MARGIN` bytes below the stack pointer, so nothing lives in them: the image
    // has one thread and no interrupt.
    (0..free).for_each(|i| unsafe { ptr::write_volatile(low.add(i), cortex_m_rt::STACK_PAINT_VALUE) });
    used
}
