//! Bytes of common tuners, as the documentation of `Tuner` states them.
//!
//! `cargo test -p trimtab-tests --test suite sizes -- --nocapture` prints the table; the golden
//! file and the documentation have it too. These are sizes on a 64-bit machine; a 32-bit chip takes
//! a few hundred bytes less (`cargo xtask cost`).

use trimtab::Knob;
use trimtab_tests::golden;

const RELAYS: [Knob; 24] = [Knob::nominal(2); 24];

macro_rules! row {
    ($t:literal, $l:literal, $d:literal) => {
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            $t,
            $l,
            $d,
            size_of::<trimtab::tuner!(RELAYS, observations: $t, rows: $l)>(),
            size_of::<trimtab::tuner!(RELAYS, observations: $t, rows: $l, dimensions: $d)>(),
            size_of::<trimtab::tuner_cache!(RELAYS, observations: $t, rows: $l)>(),
        )
    };
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_documented_sizes_are_true() {
    let table = [
        "| T | L | D | no projection | projected to D | cache, no projection |\n|---:|---:|---:|---:|---:|---:|\n"
            .to_string(),
        row!(32, 64, 8),
        row!(64, 256, 8),
        row!(128, 256, 16),
    ]
    .concat();
    print!("{table}");
    golden::check("sizes.md", &table);
    let documentation = include_str!("../../../core/src/tuner/mod.rs");
    for line in table.lines() {
        assert!(documentation.contains(&format!("//! {line}\n")), "core/src/tuner/mod.rs does not have: {line}");
    }
}
