//! Counts the allocations of a thread, to check that a tuner makes none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: forwards everything to the system's allocator. Counting touches a thread-local that needs
// no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise is the one that the system's allocator needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Runs `work` and panics if it allocates.
#[track_caller]
pub(crate) fn none<R>(work: impl FnOnce() -> R) -> R {
    let before = COUNT.get();
    let result = work();
    assert_eq!(COUNT.get(), before, "the tuner allocated");
    result
}

#[test]
#[should_panic(expected = "the tuner allocated")]
fn an_allocation_is_noticed() {
    none(|| std::hint::black_box(Box::new(1)));
}
