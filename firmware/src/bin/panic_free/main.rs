//! Links only if nothing in core can panic: its panic handler calls a function that does not exist.
//!
//! Every public function of core is called with arguments that the compiler knows nothing of, so what it cannot prove to be
//! without panic stays in the image, and the linker says that `a_panic_can_be_reached` is undefined. Checked at
//! opt-level 3, "s" and "z", because what can be proved depends on it. The feature `unchecked-index` adds one
//! index without a check, and then the image must not link: that shows that the check can fail.
//!
//! Who panics is seen in an image that links all the same: `RUSTFLAGS=-Clink-arg=--defsym=a_panic_can_be_reached=0`, and then
//! in a disassembly who calls `core::panicking`.
//!
//! Left out is what only tests and logs use: `Debug` of what holds floats, because the standard library's own digits of a float can
//! panic, and the `Format` of defmt. Texts of errors are in.
//!
//! **Choices.** The library of this package is not used, because its panic handler prints. The image also runs: it then makes the same
//! calls with numbers drawn at random, not-a-numbers among them, and ends with exit code 0.
//!
//! | file | what it calls |
//! |---|---|
//! | `algebra` | numbers, matrices and their factors |
//! | `surrogate` | the process, its hyper-parameters, the acquisition, and the search of a box |
//! | `spaces` | knobs, spaces, encodings, tables, records |
//! | `recovery` | random maps, and the ways back from a point to a combination |
//! | `tuners` | the tuner, with every choice of its configuration |
#![no_std]
#![no_main]

mod algebra;
mod opaque;
mod recovery;
mod spaces;
mod surrogate;
mod tuners;

use core::panic::PanicInfo;

use cortex_m_rt::entry;
use opaque::Opaque;

unsafe extern "C" {
    /// Defined nowhere.
    safe fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    a_panic_can_be_reached()
}

#[entry]
fn main() -> ! {
    let opaque = Opaque::new();
    for _ in 0..20 {
        algebra::call_all(&opaque);
        surrogate::call_all(&opaque);
        spaces::call_all(&opaque);
        recovery::call_all(&opaque);
    }
    tuners::call_all(&opaque);
    #[cfg(feature = "unchecked-index")]
    opaque::keep([1, 2, 3][opaque.size()]);
    semihosting::process::exit(0)
}
