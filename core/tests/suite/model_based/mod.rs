//! Random sequences of all calls of a tuner, against a reference that knows only what the
//! documentation promises.
//!
//! Spaces have 1 to 40 combinations and tuners room for 1 to 12 observations, so everything is soon
//! full, known or exhausted. After every call the visible state of the tuner is compared with the
//! reference. A refused call must leave every bit unchanged, an ask in slices must equal a whole
//! one, the log must rebuild the tuner, and nothing may be allocated.
//!
//! A failure prints its seed and its last calls. To run one seed:
//! `TRIMTAB_SEED=7 cargo test -p trimtab --test suite model_based`.

mod allocations;
mod audit;
mod draw;
mod reference;
mod run;

use std::collections::BTreeMap;

use draw::Draw;
use run::Run;
use trimtab::sizes::triangle;

/// Number of sequences, and of calls per sequence.
const SEQUENCES: u64 = 2500;
const CALLS: usize = 60;

/// Events that must occur in all of them together, each at least [`OFTEN`] times; otherwise the
/// draws miss them.
const EXPECTED: [&str; 24] = [
    "Init(TooManyFeatures",
    "Ask(Uninitialised)",
    "Ask(TooManyPending",
    "Ask(NotBegun)",
    "Ask(NoMap)",
    "Ask(Exhausted)",
    "Tell(NonFinite)",
    "Tell(Foreign)",
    "Tell(Infeasible)",
    "Tell(Full)",
    "Enqueue(Foreign)",
    "Enqueue(Infeasible)",
    "Enqueue(Known)",
    "Enqueue(Full",
    "Space(WrongLength",
    "Space(NoSuchLevel",
    "not yet",
    "asked again",
    "chosen while others are pending",
    "told again",
    "forgotten",
    "cancelled",
    "refused while asking",
    "rebuilt",
];
const OFTEN: usize = 25;

/// Number of occurrences per event.
type Seen = BTreeMap<String, usize>;

/// One sequence, in a tuner with room for `M` features and `D` dimensions, which are too few for
/// some spaces.
fn run<const M: usize, const D: usize, const T: usize, const L: usize, const P: usize>(seed: u64) -> Seen {
    let mut draw = Draw::new(seed);
    let mut run = Run::<M, D, T, L, P>::new(seed);
    for _ in 0..CALLS {
        let call = draw.call(&run);
        run.apply(call, &mut draw);
        run.audit(&mut draw);
    }
    run.rebuild();
    std::mem::take(&mut run.seen)
}

macro_rules! sizes {
    ($([$m:expr, $d:expr, $t:expr, $l:expr]),* $(,)?) => {
        [$(run::<$m, $d, $t, $l, { triangle($t) }> as fn(u64) -> Seen),*]
    };
}

/// M, D, T and L: with a random map and without one (D = 0), few observations, tables shorter and
/// longer than the space.
const SIZES: [fn(u64) -> Seen; 9] = sizes![
    [16, 0, 1, 1],
    [40, 3, 1, 8],
    [3, 0, 2, 40],
    [12, 2, 3, 16],
    [40, 0, 4, 2],
    [40, 6, 6, 64],
    [12, 0, 5, 40],
    [40, 0, 9, 8],
    [40, 4, 12, 40],
];

#[test]
fn every_sequence_matches_the_reference() {
    let one = |seed: u64| SIZES[(seed % SIZES.len() as u64) as usize](seed);
    if let Ok(seed) = std::env::var("TRIMTAB_SEED") {
        println!("{:#?}", one(seed.parse().expect("TRIMTAB_SEED is a number")));
        return;
    }
    let mut seen = Seen::new();
    for (what, count) in (0..SEQUENCES).flat_map(one) {
        *seen.entry(what).or_default() += count;
    }
    let seldom: Vec<_> = EXPECTED.iter().filter(|what| seen.get(**what).is_none_or(|count| *count < OFTEN)).collect();
    assert!(seldom.is_empty(), "not seen often enough: {seldom:?} in {seen:#?}");
}
