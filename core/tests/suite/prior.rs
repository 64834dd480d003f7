//! A tuner with what earlier boards taught.

use trimtab::{Config, Error, Event, FleetPrior, Goal, InitError, Knob, PriorError, PriorState, Record, Scale, Space};
use trimtab::{OnlyIf, fleet_fingerprint, sizes};

const KNOBS: [Knob; 4] =
    [Knob::ranked(9), Knob::nominal(3), Knob::graded(&[1.0, 2.0, 5.0, 9.0], Scale::Linear), Knob::nominal(2)];
type Mine = trimtab::tuner!(KNOBS, observations: 24, rows: 64, prior);
type MyCache = trimtab::tuner_cache!(KNOBS, observations: 24, rows: 64);

/// The numbers of a small prior: one row of A, two factors, two pseudo-points.
const MAP: [i16; 6] = [300, 0, 40, -20, 100, 50]; // × 0.01: ranked, three levels, graded, two levels
const POINTS: [([trimtab::Level; 4], i16, [i16; 3]); 2] =
    [([4, 1, 2, 0], 200, [-900, 250, 80]), ([0, 0, 3, 1], 80, [600, 100, -300])]; // × 0.01, × 0.001
const BEST: [trimtab::Level; 4] = [4, 1, 2, 0];
/// Low, reach, centre and unit of the costs.
const SCALE: [f32; 4] = [2.0, 16.0, 0.33, 0.1];
const REST: f32 = 0.2;
const WEIGHT: f32 = 0.1;
const NUGGET: f32 = 1e-3;

/// Packed by hand: 4, 2, 2 and 1 bits, the first knob in the lowest.
fn packed(levels: [trimtab::Level; 4]) -> [u8; 2] {
    let word = levels[0] | levels[1] << 4 | levels[2] << 6 | levels[3] << 8;
    word.to_le_bytes()
}

fn bytes(knobs: &[Knob], goal: Goal) -> Vec<u8> {
    let mut bytes = b"TTP2\0\0".to_vec();
    bytes.extend([u8::from(goal == Goal::Maximise), 1, 2, 2, 6, 0, 12, 0, 0, 0]);
    bytes.extend(fleet_fingerprint(knobs).to_le_bytes());
    let numbers = SCALE.into_iter().chain([REST, WEIGHT, NUGGET, 0.0]).chain([0.01, 0.01, 0.001, 0.001, 0.001]);
    numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
    bytes.extend(packed(BEST));
    MAP.iter().for_each(|entry| bytes.extend(entry.to_le_bytes()));
    for (levels, coordinate, weights) in POINTS {
        bytes.extend(coordinate.to_le_bytes());
        weights.iter().for_each(|weight| bytes.extend(weight.to_le_bytes()));
        bytes.extend(packed(levels));
    }
    seal(bytes)
}

/// Sets length and checksum.
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let length = (bytes.len() + 8) as u16;
    bytes[4..6].copy_from_slice(&length.to_le_bytes());
    let sum =
        bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn read(bytes: Vec<u8>) -> Result<FleetPrior, PriorError> {
    FleetPrior::read(bytes.leak())
}

fn prior() -> FleetPrior {
    read(bytes(&KNOBS, Goal::Minimise)).unwrap()
}

fn tuner(prior: &FleetPrior, seed: u64) -> Box<Mine> {
    let mut tuner = Box::new(Mine::new());
    tuner.init_with_prior(Space::new(&KNOBS).unwrap(), Config::default(), prior, seed).unwrap();
    tuner
}

/// A board of the fleet: its costs are the prior's mean plus a little of both factors.
fn cost(levels: &[trimtab::Level]) -> f32 {
    let place = f64s::place(levels);
    f64s::unbent(place.mean + 0.7 * place.factors[0] - 0.4 * place.factors[1]).0 as f32
}

/// The prior in another arithmetic.
mod f64s {
    use super::*;

    pub(super) struct Place {
        pub(super) mean: f64,
        pub(super) factors: [f64; 2],
        pub(super) coordinate: f64,
        pub(super) levels: [trimtab::Level; 4],
    }

    fn matern(r: f64) -> f64 {
        let r = 5f64.sqrt() * r;
        (1.0 + r + r * r / 3.0) * (-r).exp()
    }

    fn positions(knob: &Knob) -> Vec<f64> {
        let at: Vec<f64> = (0..knob.levels()).map(|level| f64::from(knob.position(level as trimtab::Level))).collect();
        at.iter().map(|p| (p - at[0]) / (at[at.len() - 1] - at[0])).collect()
    }

    /// The product kernel before any fit: t = ½/4, ℓ = ¼.
    fn product(a: [trimtab::Level; 4], b: [trimtab::Level; 4]) -> f64 {
        let t = 0.125;
        let factor = |(i, knob): (usize, &Knob)| {
            let (a, b, q) = (usize::from(a[i]), usize::from(b[i]), knob.levels());
            if !knob.is_graded() {
                return if a == b { 1.0 + t } else { 1.0 - t / (q as f64 - 1.0) };
            }
            let at = positions(knob);
            let k = |a: usize, b: usize| matern(4.0 * (at[a] - at[b]).abs());
            let row = |a: usize| (0..q).map(|b| k(a, b)).sum::<f64>() / q as f64;
            let mean = (0..q).map(row).sum::<f64>() / q as f64;
            1.0 + t * (k(a, b) - row(a) - row(b) + mean) / (1.0 - mean)
        };
        let product: f64 = KNOBS.iter().enumerate().map(factor).product();
        (product - 1.0) / ((1.0 + t).powi(4) - 1.0)
    }

    fn kernel(distance: f64, a: [trimtab::Level; 4], b: [trimtab::Level; 4]) -> f64 {
        let weight = f64::from(WEIGHT);
        (1.0 - weight) * matern(distance.abs()) + weight * product(a, b)
    }

    /// The cost that is y to the model, and how much it grows per unit of y.
    pub(super) fn unbent(y: f64) -> (f64, f64) {
        let [low, reach, centre, unit] = SCALE.map(f64::from);
        let bent = centre + unit * y;
        let left = 1.0 - bent.max(0.0);
        (low + reach * bent / left, reach * unit / (left * left))
    }

    pub(super) fn place(levels: &[trimtab::Level]) -> Place {
        let levels: [trimtab::Level; 4] = levels.try_into().unwrap();
        let map = MAP.map(|entry| 0.01 * f64::from(entry));
        let coordinate = map[0] * f64::from(levels[0]) / 8.0
            + map[1 + usize::from(levels[1])]
            + map[4] * positions(&KNOBS[2])[usize::from(levels[2])]
            + map[5] * f64::from(levels[3]);
        let mut sums = [0.0; 3];
        for (point, at, weights) in POINTS {
            let k = kernel(coordinate - 0.01 * f64::from(at), levels, point);
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += 0.001 * f64::from(weight) * k);
        }
        Place { mean: sums[0], factors: [sums[1], sums[2]], coordinate, levels }
    }

    pub(super) fn covariance(a: &Place, b: &Place) -> f64 {
        let together = a.factors[0] * b.factors[0] + a.factors[1] * b.factors[1];
        together + f64::from(REST) * kernel(a.coordinate - b.coordinate, a.levels, b.levels)
    }
}

/// After one measurement, every prediction is the textbook's in f64.
#[test]
fn predictions_are_those_of_the_formulas_in_f64() {
    let mut tuner = tuner(&prior(), 1);
    let first = tuner.ask().unwrap().combination;
    tuner.tell(&first, 12.0).unwrap();
    let [low, reach, centre, unit] = SCALE.map(f64::from);
    let z = (12.0 - low) / reach;
    let known = f64s::place(first.levels());
    let own = f64s::covariance(&known, &known) + f64::from(NUGGET);
    let error = (z / (1.0 + z) - centre) / unit - known.mean;
    let space = Space::<4>::new(&KNOBS).unwrap();
    let mut seen = 0;
    for c in (0..=space.last_index()).filter_map(|i| space.at(i)).filter(|c| *c != first) {
        let place = f64s::place(c.levels());
        let k = f64s::covariance(&place, &known);
        let (mean, unit) = f64s::unbent(place.mean + k * error / own);
        let variance = f64s::covariance(&place, &place) - k * k / own;
        let found = tuner.predict(&c).unwrap();
        assert!((f64::from(found.mean) - mean).abs() < 1e-3, "{c:?}: {} {mean}", found.mean);
        assert!((f64::from(found.std_dev) - unit * variance.sqrt()).abs() < 1e-2, "{c:?}: {}", found.std_dev);
        seen += 1;
    }
    assert_eq!(seen, 215);
}

#[test]
fn the_best_of_the_fleet_is_asked_first_and_the_model_chooses_the_second() {
    let mut tuner = tuner(&prior(), 1);
    assert_eq!(tuner.ask().unwrap().combination.levels(), BEST);
    let best = tuner.pending()[0];
    tuner.tell(&best, cost(&BEST)).unwrap();
    assert!(tuner.ask().unwrap().std_dev.is_finite() && tuner.expected_gain().is_some());
    assert_eq!((tuner.prior_state(), tuner.prior()), (PriorState::InForce, Some(prior())));
    assert_eq!(prior().boards(), 12);
}

/// In one go, in slices, with a cache, replayed, and after a restart: the same bits, also with failures,
/// with several pending, and across the point where a prior is given up.
#[test]
fn slices_cache_replay_and_restart_have_the_same_bits() {
    for is_strange in [false, true] {
        let (mut whole, mut sliced) = (tuner(&prior(), 3), tuner(&prior(), 3));
        let (mut cached, mut cache) = (tuner(&prior(), 3), Box::new(MyCache::new()));
        let mut records = Vec::new();
        for i in 0..14 {
            let asked = whole.ask().unwrap();
            sliced.ask_begin().unwrap();
            let same = loop {
                if let Some(found) = sliced.ask_step(3).unwrap() {
                    break found;
                }
            };
            assert_eq!((same, cached.ask_with(&mut cache).unwrap()), (asked, asked), "{i}");
            let c = asked.combination;
            let value = if is_strange { 30.0 + f32::from(c.level(0)) } else { cost(c.levels()) };
            let event = if i == 5 { Event::Failed } else { Event::Told(value) };
            let record = Record::new(&c, event);
            whole.replay(&record).unwrap();
            cached.replay(&record).unwrap();
            sliced.replay_begin(&record).unwrap();
            while sliced.tell_step(1) {}
            records.push(record);
            assert_eq!(whole.best_posterior(), sliced.best_posterior());
        }
        let is_given_up = matches!(whole.prior_state(), PriorState::GivenUp { .. });
        assert_eq!(is_given_up, is_strange, "{:?}", whole.prior_state());
        let next = (whole.ask().unwrap(), whole.ask().unwrap());
        let mut again = tuner(&prior(), 3);
        for _ in 0..2 {
            records.iter().for_each(|record| again.replay(record).unwrap());
            assert_eq!((again.ask().unwrap(), again.ask().unwrap()), next);
            again.restart();
            assert_eq!((again.len(), again.prior_state()), (0, PriorState::InForce));
        }
    }
}

/// A prior of 30 pseudo-points, which a combination is compared with in several steps.
fn prior_of_many() -> FleetPrior {
    let mut bytes = bytes(&KNOBS, Goal::Minimise);
    bytes.truncate(bytes.len() - 8 - 2 * 10);
    bytes[9] = 30;
    for i in 0..30u16 {
        let levels = [i % 9, i % 3, i % 4, i % 2];
        let numbers = [i as i16 * 7 - 90, 40 - i as i16 * 3, 5 * i as i16 - 60, 30 - i as i16];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(packed(levels));
    }
    read(seal(bytes)).unwrap()
}

/// An ask is abandoned after any number of steps, by beginning another, by a cancellation or by an
/// outcome: what it had compared with the fleet must not reach the next one. In force and given up,
/// alone and with others pending.
#[test]
fn an_abandoned_ask_leaves_nothing_behind() {
    for is_strange in [false, true] {
        let prior = prior_of_many();
        let (mut whole, mut abandoned) = (tuner(&prior, 3), tuner(&prior, 3));
        let mut most = 0;
        for i in 0..20u16 {
            let first = whole.ask().unwrap();
            abandoned.ask_begin().unwrap();
            for _ in 0..5 * i + 1 {
                most += 1;
                if let Some(asked) = abandoned.ask_step(1).unwrap() {
                    abandoned.cancel(&asked.combination);
                    break;
                }
            }
            assert_eq!(abandoned.ask().unwrap(), first, "{i}");
            // Another is begun while this one is pending, and an outcome ends it.
            let second = whole.clone().ask().unwrap();
            assert_eq!(abandoned.clone().ask().unwrap(), second, "{i}");
            abandoned.ask_begin().unwrap();
            let _ = abandoned.ask_step(3 * i + 1).unwrap().map(|asked| abandoned.cancel(&asked.combination));
            let c = first.combination;
            let value = if is_strange { 35.0 + f32::from(c.level(0)) } else { 10.0 + f32::from(c.level(0)) * 0.3 };
            whole.tell(&c, value).unwrap();
            abandoned.tell_begin(&c, value).unwrap();
            while abandoned.tell_step(1) {}
            assert_eq!(whole.best_posterior(), abandoned.best_posterior(), "{i}");
        }
        assert!(most > 400, "{most} steps");
        assert_eq!(matches!(whole.prior_state(), PriorState::GivenUp { .. }), is_strange, "{:?}", whole.prior_state());
    }
}

/// A board unlike the fleet: the prior is given up within a few measurements, and the model then is that
/// of a tuner without one that was told the same.
#[test]
fn a_strange_board_gives_the_prior_up() {
    let mut with = tuner(&prior(), 7);
    let mut told = Vec::new();
    while with.prior_state() == PriorState::InForce {
        let c = with.ask().unwrap().combination;
        let value = 35.0 - f32::from(c.level(0));
        with.tell(&c, value).unwrap();
        told.push((c, value));
        assert!(told.len() < 6);
    }
    assert_eq!(with.prior_state(), PriorState::GivenUp { after: told.len() as u16 });
    type Cold = trimtab::tuner!(KNOBS, observations: 24, rows: 64);
    let mut cold = Box::new(Cold::new());
    cold.init(Space::new(&KNOBS).unwrap(), Config::default(), 7).unwrap();
    told.iter().for_each(|(c, value)| cold.tell(c, *value).unwrap());
    assert_eq!(with.best_posterior(), cold.best_posterior());
    // Random ones come first, as in a tuner without a prior.
    for _ in 0..4 {
        let c = with.ask().unwrap().combination;
        assert_eq!(with.expected_gain(), None);
        with.tell(&c, 35.0 - f32::from(c.level(0))).unwrap();
    }
    with.ask().unwrap();
    assert!(with.expected_gain().is_some());
}

/// The first measurement of a fleet's board is close to its best.
#[test]
fn a_board_of_the_fleet_is_tuned_at_once() {
    let space = Space::<4>::new(&KNOBS).unwrap();
    let all = (0..=space.last_index()).filter_map(|i| space.at(i));
    let least = all.map(|c| cost(c.levels())).fold(f32::INFINITY, f32::min);
    let mut tuner = tuner(&prior(), 5);
    for _ in 0..6 {
        let c = tuner.ask().unwrap().combination;
        tuner.tell(&c, cost(c.levels())).unwrap();
    }
    let found = tuner.best_observed().unwrap().value;
    assert!(found < least + 0.05, "{found}, not {least}");
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut tuner = tuner(&prior(), 1);
    let c = tuner.ask().unwrap().combination;
    tuner.tell(&c, 12.0).unwrap();
    let before = tuner.best_posterior();
    let other = [Knob::ranked(9), Knob::nominal(3), Knob::ranked(4), Knob::nominal(2)];
    let foreign = read(bytes(&other, Goal::Minimise)).unwrap();
    let maximised = read(bytes(&KNOBS, Goal::Maximise)).unwrap();
    for refused in [foreign, maximised] {
        let space = Space::new(&KNOBS).unwrap();
        assert_eq!(tuner.init_with_prior(space, Config::default(), &refused, 1), Err(InitError::OtherFleet));
    }
    let sometimes = Space::new(&KNOBS).unwrap().only_if(&[OnlyIf { knob: 1, on: 0, levels: &[1] }]).unwrap();
    assert_eq!(tuner.init_with_prior(sometimes, Config::default(), &prior(), 1), Err(InitError::Conditions));
    assert_eq!((tuner.len(), tuner.best_posterior()), (1, before));
    assert!(Error::from(InitError::OtherFleet).to_string().contains("other knobs"));
}

/// Also in a tuner whose type has the configuration.
#[test]
fn a_fixed_configuration_and_a_prior_go_together() {
    type Fixed = trimtab::tuner!(KNOBS, observations: 24, rows: 64, prior, config: trimtab::settings::Defaults);
    let (mut fixed, mut free) = (Fixed::new(), tuner(&prior(), 3));
    let space = || Space::new(&KNOBS).unwrap();
    let other = Config { initial: 9, ..Config::default() };
    assert_eq!(fixed.init_with_prior(space(), other, &prior(), 3), Err(InitError::OtherConfig));
    fixed.init_with_prior(space(), Config::default(), &prior(), 3).unwrap();
    for i in 0..6 {
        let asked = free.ask().unwrap();
        assert_eq!(fixed.ask().unwrap(), asked);
        free.tell(&asked.combination, 3.0 + i as f32).unwrap();
        fixed.tell(&asked.combination, 3.0 + i as f32).unwrap();
    }
}

/// Cut anywhere, longer, or with any byte changed, bytes are no prior; with a new checksum they may be
/// one, but then a tuner with it works.
#[test]
fn bytes_that_are_no_prior_are_refused() {
    let good = bytes(&KNOBS, Goal::Minimise);
    assert!(read(good.clone()).is_ok() && good.len() < trimtab::MOST_BYTES);
    for length in 0..good.len() {
        assert!(read(good[..length].to_vec()).is_err(), "{length}");
    }
    assert_eq!(read([&good[..], &[0]].concat()), Err(PriorError::Length { given: good.len() + 1, needed: good.len() }));
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 0x55;
        assert!(read(changed.clone()).is_err(), "{at}");
        if (4..6).contains(&at) {
            continue;
        }
        changed.truncate(good.len() - 8);
        let Ok(odd) = read(seal(changed)) else { continue };
        let mut tuner = Box::new(Mine::new());
        if tuner.init_with_prior(Space::new(&KNOBS).unwrap(), Config::default(), &odd, 1).is_ok() {
            for value in [1.0, 5.0, 2.0] {
                let c = tuner.ask().unwrap().combination;
                tuner.tell(&c, value).unwrap();
            }
            tuner.ask().unwrap();
        }
    }
    let nothing = seal(b"TTP2\0\0".iter().copied().chain([0; 50]).collect());
    assert_eq!(read(nothing), Err(PriorError::Contradictory));
    for error in [PriorError::NoPrior, PriorError::Damaged, PriorError::Contradictory] {
        assert!(!error.to_string().ends_with('.'));
    }
}

/// A tuner without room for a prior has none of its numbers.
#[test]
fn a_prior_costs_memory_only_where_there_is_room_for_one() {
    type Without = trimtab::tuner!(KNOBS, observations: 24, rows: 64);
    let room = size_of::<Mine>() - size_of::<Without>();
    assert!((24 * 4 * sizes::PRIOR..24 * 4 * sizes::PRIOR + 500).contains(&room), "{room}");
}
