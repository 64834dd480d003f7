//! Random sequences of every call of a tuner, against a reference that knows only what the documentation promises.
//!
//! Spaces of 1 to 40 combinations and stores of 1 to 12 observations, so that everything is soon full, known or exhausted. After every
//! call all that can be seen of the tuner is compared with the reference; a call that is refused must leave every bit
//! as it was; an ask in slices must be the ask in one go; the log must rebuild the tuner; nothing may be allocated.
//!
//! A failure prints its seed and its last calls. One seed alone: `TRIMTAB_SEED=7 cargo test -p trimtab --test suite model_based`.

mod allocations;
mod audit;
mod draw;
mod reference;
mod run;

use std::collections::BTreeMap;

use draw::Draw;
use run::Run;
use trimtab::sizes::triangle;

/// How many sequences, and how many calls each has.
const SEQUENCES: u64 = 2500;
const CALLS: usize = 60;

/// What must have been seen in all of them, each many times: otherwise the draws miss what they are for.
const EXPECTED: [&str; 25] = [
    "Init(TooManyFeatures",
    "Init(NoDimensions)",
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
    "chosen while others are awaited",
    "told again",
    "forgotten",
    "cancelled",
    "refused while asking",
    "rebuilt",
];
const OFTEN: usize = 50;

/// What was seen, and how often.
type Seen = BTreeMap<String, usize>;

/// One sequence, in a tuner with room for `M` features and `D` dimensions, which are not enough for some spaces.
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

/// M, D, T and L: with and without a random map, small stores, tables shorter and longer than the space.
const SIZES: [fn(u64) -> Seen; 9] = sizes![
    [0, 6, 1, 1],
    [40, 3, 1, 8],
    [0, 4, 2, 40],
    [12, 2, 3, 16],
    [0, 6, 4, 2],
    [40, 6, 6, 64],
    [12, 0, 5, 40],
    [0, 6, 9, 8],
    [40, 4, 12, 40],
];

#[test]
fn every_sequence_keeps_the_contract() {
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
