//! Links only if nothing in core can panic: its panic handler calls a function that does not exist.
//!
//! The image calls every public function of core with arguments that the compiler knows nothing of.
//! A panic that it cannot rule out stays in the image, and the linker reports
//! `a_panic_can_be_reached` as undefined. This is checked at opt-level 3, "s" and "z", because the
//! proof depends on the optimizer.
//!
//! With the feature `unchecked-index` the image makes none of these calls, only one index without a
//! check. It must not link, which shows that the check can fail.
//!
//! To find the panic, link with `RUSTFLAGS=-Clink-arg=--defsym=a_panic_can_be_reached=0` and look
//! in a disassembly for callers of `core::panicking`.
//!
//! Left out are things that only tests and logs use: `Debug` of types with floats, because the
//! standard library's float formatting can panic, and defmt's `Format`. Texts of errors are
//! included.
//!
//! **Choices**
//! - The library of this package is not used, because its panic handler prints.
//! - The image also runs: it makes the same calls with random numbers, NaN among them, and exits
//!   with 0.
//!
//! | file | calls |
//! |---|---|
//! | `algebra` | numbers, matrices and their factors |
//! | `surrogate` | the Gaussian process, its hyper-parameters, the acquisition, and the search of a box |
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
    if cfg!(feature = "unchecked-index") {
        opaque::keep([1, 2, 3][opaque.size()]);
    } else {
        call_all(&opaque);
    }
    semihosting::process::exit(0)
}

fn call_all(opaque: &Opaque) {
    for _ in 0..20 {
        algebra::call_all(opaque);
        surrogate::call_all(opaque);
        spaces::call_all(opaque);
        recovery::call_all(opaque);
    }
    tuners::call_all(opaque);
}
