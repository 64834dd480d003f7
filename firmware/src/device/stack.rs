//! How deep the stack has been.
//!
//! cortex-m-rt fills the memory between the statics and the end of RAM with a pattern before `main` (feature
//! `paint-stack`). The stack grows down from the end, so the lowest word without the pattern is the deepest it was.

use core::ptr;

unsafe extern "C" {
    /// Where the stack starts: one past the last word of RAM. A linker symbol: only its address means something.
    static _stack_start: u32;
    /// Where the statics end.
    static _stack_end: u32;
}

/// Most bytes of stack in use at any time since reset.
pub fn most_stack() -> usize {
    let (low, high) = (&raw const _stack_end, &raw const _stack_start);
    let words = (high as usize - low as usize) / size_of::<u32>();
    // SAFETY: low..high is RAM that no static lives in, aligned to words by cortex-m-rt's linker script; reads are
    // volatile because the upper part is the stack in use.
    let clean = (0..words).take_while(|i| unsafe { ptr::read_volatile(low.add(*i)) } == cortex_m_rt::STACK_PAINT_VALUE);
    (words - clean.count()) * size_of::<u32>()
}
