//! `Config::paper()` behaves like the authors' code, including its bias.
//!
//! On thumbs-up (m = 20, d = 10) their code reaches the optimum at evaluation 3 and then stays at
//! 17 to 19 ones: it searches the unit box, of which the embeddings fill a tiny part, so most
//! queries fall back to nearly all ones. That looks brilliant where the optimum is all ones. Under
//! a mask of the bits, which does not change the problem, it does not.

use trimtab::{Config, Knob, Region, Space};

const THUMBS: [Knob; 20] = [Knob::nominal(2); 20];
type Thumbs = trimtab::tuner!(THUMBS, observations: 40, rows: 1, dimensions: 10);

#[derive(Clone, Copy)]
enum Ask {
    Lookup(Region),
    Recon(Region),
}

/// Number of thumbs up at each of 40 evaluations; a thumb of the mask counts when it is down.
fn thumbs_up(ask: Ask, mask: u32, seed: u64) -> Vec<u32> {
    let mut tuner = Box::new(Thumbs::new());
    tuner.init(Space::new(&THUMBS).expect("sound"), Config::paper(), seed).expect("ten dimensions");
    let mut asked = Vec::new();
    let ups = (0..40).map(|_| {
        let proposal = match ask {
            Ask::Lookup(region) => tuner.ask_lookup(region),
            Ask::Recon(region) => tuner.ask_recon(region, trimtab::THRESHOLD),
        };
        let c = proposal.expect("a proposal").combination;
        assert!(!asked.contains(&c), "asked twice");
        asked.push(c);
        let up = c.levels().iter().enumerate().map(|(i, level)| u32::from(*level) ^ (mask >> i & 1)).sum();
        tuner.tell(&c, -(up as f32) / 20.0).expect("taken");
        up
    });
    ups.collect()
}

#[test]
fn lookup_reaches_all_ones_at_once_and_stays_near() {
    for seed in 0..6 {
        let ups = thumbs_up(Ask::Lookup(Region::UnitBox), 0, seed);
        let reached = ups.iter().position(|up| *up == 20);
        assert!(reached.is_some_and(|at| at < 6), "seed {seed}: {ups:?}");
        assert!(ups[6..].iter().all(|up| (17..20).contains(up)), "seed {seed}: {ups:?}");
    }
}

#[test]
fn under_a_mask_the_bias_shows() {
    let best = |ask, seed| thumbs_up(ask, 0b1011_0110_0101_1100_1010, seed).into_iter().max().unwrap_or(0);
    let solved = (0..6).filter(|seed| best(Ask::Lookup(Region::UnitBox), *seed) == 20).count();
    assert!(solved <= 1, "{solved} of 6 solved: the mask should hide what the unit box favours");
}

#[test]
fn the_other_variants_improve_and_never_ask_twice() {
    for ask in [
        Ask::Lookup(Region::BoundingBox),
        Ask::Lookup(Region::Polytope),
        Ask::Recon(Region::UnitBox),
        Ask::Recon(Region::BoundingBox),
    ] {
        let ups = thumbs_up(ask, 0, 1);
        assert!(ups.iter().max() > ups.first(), "{ups:?}");
    }
}

/// β = s·ln(t + 1), and the theorem's s·√(ln N + ln t − ln δ).
#[test]
fn the_papers_beta_by_hand() {
    let close = |own: f32, exact: f32| (own - exact).abs() < 1e-5;
    assert!(close(trimtab::Beta::Logarithmic(2.0).at(9, 3.0), 2.0 * 10f32.ln()));
    assert!(close(
        trimtab::Beta::Theorem { scale: 0.5, delta: 0.1 }.at(4, 3.0),
        0.5 * (3.0 + 4f32.ln() - 0.1f32.ln()).sqrt()
    ));
}
