//! Spaces with ranges: DACs and timers of thousands of levels beside nominal knobs.

use trimtab::{Cache, Combination, Config, Event, Knob, Record, Space};

/// A 12-bit bias, a mux, a 16-bit timer and a gain over three decades.
const KNOBS: [Knob; 4] = [
    Knob::range(0.0, 4095.0, 1.0),
    Knob::nominal(4),
    Knob::range(0.0, 65_535.0, 1.0),
    Knob::log_range(1.0, 1000.0, 1001),
];
type Wide = trimtab::tuner!(KNOBS, observations: 40, rows: 256);
const ROWS: usize = trimtab::sizes::cached_rows(&KNOBS, 256);

fn tuner(seed: u64) -> Box<Wide> {
    let mut tuner = Box::new(Wide::new());
    tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), seed).unwrap();
    tuner
}

/// The best timer depends on the bias, and the best gain on the mux.
fn cost(c: &Combination<4>) -> f32 {
    let [bias, timer, gain] = [0, 2, 3].map(|i| f32::from(c.level(i)) / (KNOBS[i].levels() - 1) as f32);
    let mux = c.level(1);
    let gain_off = gain - if mux == 2 { 0.7 } else { 0.4 };
    let timer_off = timer - (0.2 + 0.5 * bias);
    let penalty = if mux == 2 { 0.0 } else { 0.1 };
    (bias - 0.6) * (bias - 0.6) + 2.0 * timer_off * timer_off + 0.5 * gain_off * gain_off + penalty
}

/// One 12-bit DAC with its optimum anywhere: at most 12 measurements, 0.3 % of the space, bring it to a
/// few levels.
#[test]
fn the_optimum_of_a_12_bit_dac_is_found_in_a_dozen_measurements() {
    const DAC: [Knob; 1] = [Knob::range(0.0, 4095.0, 1.0)];
    type One = trimtab::tuner!(DAC, observations: 24, rows: 64);
    let mut offs = Vec::new();
    for seed in 0..20 {
        let mut tuner = One::new();
        tuner.init(Space::new(&DAC).unwrap(), Config::default(), seed).unwrap();
        let best = 173 + 197 * seed as u16;
        for _ in 0..12 {
            let c = tuner.ask().unwrap().combination;
            // Not a parabola: a resonance.
            let off = (f32::from(c.level(0)) - f32::from(best)) / 4095.0;
            tuner.tell(&c, 1.0 - 1.0 / (1.0 + 30.0 * off * off)).unwrap();
        }
        let found = tuner.best_observed().unwrap().combination.level(0);
        offs.push(found.abs_diff(best));
    }
    offs.sort_unstable();
    println!("levels off after 12 measurements: {offs:?}");
    assert!(offs[10] <= 4 && offs[18] <= 40, "{offs:?}");
}

#[test]
fn ranges_and_a_mux_are_tuned_together() {
    let mut bests = Vec::new();
    for seed in 0..8 {
        let mut tuner = tuner(seed);
        for _ in 0..40 {
            let c = tuner.ask().unwrap().combination;
            tuner.tell(&c, cost(&c)).unwrap();
        }
        bests.push(tuner.best_observed().unwrap().value);
    }
    bests.sort_by(f32::total_cmp);
    println!("best of 40 measurements: {bests:?}");
    // The best mux alone is worth 0.1; of random combinations, one in 30 000 is below 1e-3.
    assert!(bests[4] < 1e-3 && bests[7] < 1e-2, "{bests:?}");
}

/// Slices, the cache and a log of outcomes change no bit, also with failures.
#[test]
fn slices_cache_and_replay_change_nothing() {
    let [mut whole, mut sliced, mut cached, mut replayed] = [3; 4].map(tuner);
    let mut cache = Box::new(Cache::<0, 40, ROWS>::new());
    for t in 0..30 {
        let proposal = whole.ask().unwrap();
        sliced.ask_begin().unwrap();
        let in_slices = loop {
            if let Some(found) = sliced.ask_step(2).unwrap() {
                break found;
            }
        };
        let with = cached.ask_with(&mut cache).unwrap();
        assert_eq!((in_slices, with), (proposal, proposal), "t = {t}");
        let c = proposal.combination;
        let event = if c.level(0) > 4000 { Event::Failed } else { Event::Told(cost(&c)) };
        for tuner in [&mut whole, &mut sliced, &mut cached, &mut replayed] {
            tuner.replay(&Record::new(&c, event)).unwrap();
        }
    }
    assert_eq!(whole.ask().unwrap(), replayed.ask().unwrap());
}

/// The last of 65 536 levels is asked, told and kept like any other.
#[test]
fn the_last_level_of_a_16_bit_knob_is_a_level_like_others() {
    let mut tuner = tuner(1);
    let last = tuner.space().combination(&[4095, 3, 65_535, 1000]).unwrap();
    assert_eq!(tuner.space().at(tuner.space().last_index()), Some(last));
    tuner.enqueue(&last).unwrap();
    let c = tuner.ask().unwrap().combination;
    assert_eq!(c, last);
    tuner.tell(&c, 1.0).unwrap();
    assert_eq!(tuner.best_observed().unwrap().combination.levels(), [4095, 3, 65_535, 1000]);
    assert_eq!(KNOBS[2].value(c.level(2)), Some(65_535.0));
}

/// promise: tuner! | a range of any number of levels | no byte per level: 4 levels take as much as 65 536
#[test]
fn memory_does_not_depend_on_the_levels_of_a_range() {
    const FEW: [Knob; 2] = [Knob::range(0.0, 3.0, 1.0), Knob::nominal(2)];
    const MANY: [Knob; 2] = [Knob::range(0.0, 65_535.0, 1.0), Knob::nominal(2)];
    type Few = trimtab::tuner!(FEW, observations: 16, rows: 64);
    type Many = trimtab::tuner!(MANY, observations: 16, rows: 64);
    assert_eq!(size_of::<Few>(), size_of::<Many>());
    assert!(size_of::<Knob>() <= 24, "{}", size_of::<Knob>());
}

/// The paper's own method works on ranges too: their value and its square are the features.
#[test]
fn the_paper_preset_takes_ranges() {
    const SMALL: [Knob; 2] = [Knob::range(0.0, 999.0, 1.0), Knob::nominal(3)];
    type Paper = trimtab::tuner!(SMALL, observations: 16, rows: 64, dimensions: 4);
    for config in [Config::paper(), Config { encoding: trimtab::Encoding::PerKnob, ..Config::paper() }] {
        let mut tuner = Paper::new();
        tuner.init(Space::new(&SMALL).unwrap(), config, 2).unwrap();
        for _ in 0..12 {
            let c = tuner.ask().unwrap().combination;
            tuner.tell(&c, (f32::from(c.level(0)) - 300.0).abs()).unwrap();
        }
        assert!(tuner.best_observed().is_some());
    }
}
