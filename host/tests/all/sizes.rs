//! The sizes of the library behind the binary: proposals are the same, whatever the capacity.

use trimtab::{Config, Event, Knob, Level, Noise};
use trimtab_sizes::{AnyTuner, Feasible, Setup, sizes, start};

fn setup<'a>(knobs: &'a [Knob], seed: u64, feasible: Option<Feasible>) -> Setup<'a> {
    Setup { knobs, conditions: &[], config: Config::default(), seed, observations: 64, feasible, prior: None }
}

/// The first asks.
fn trace(tuner: &mut dyn AnyTuner) -> Vec<Vec<Level>> {
    let mut trace = Vec::new();
    for _ in 0..40 {
        let levels = tuner.ask().unwrap().unwrap().levels;
        let cost = levels.iter().enumerate().map(|(i, l)| f32::from(*l) * (i as f32 - 4.5) + f32::from(l % 3)).sum();
        tuner.replay(&levels, Event::Told(cost)).unwrap();
        trace.push(levels);
    }
    trace
}

/// All traces of the sizes that fit, each built on a stack that is large enough.
fn traces(knobs: &'static [Knob], features: usize) -> Vec<Vec<Vec<Level>>> {
    let fitting = sizes().into_iter().filter(move |((_, most, _), _)| features <= *most);
    let one = move |start: fn(Setup<'_>) -> _| {
        let build = move || {
            let mut tuner: Box<dyn AnyTuner> = Result::unwrap(start(setup(knobs, 5, None)));
            trace(tuner.as_mut())
        };
        std::thread::Builder::new().stack_size(64 << 20).spawn(build).unwrap().join().unwrap()
    };
    fitting.map(|(_, start)| one(start)).collect()
}

#[test]
fn proposals_do_not_depend_on_the_capacity() {
    static BITS: [Knob; 10] = [Knob::nominal(2); 10];
    static MIXED: [Knob; 5] = [Knob::nominal(4), Knob::ranked(9), Knob::nominal(2), Knob::ranked(5), Knob::nominal(3)];
    let all = traces(&BITS, 0);
    assert!(all.len() == sizes().len() && all.iter().all(|trace| *trace == all[0]));
    let all = traces(&MIXED, 4);
    assert!(all.len() >= 2 && all.iter().all(|trace| *trace == all[0]));
}

#[test]
fn what_is_forbidden_is_never_asked() {
    let feasible: Feasible = Box::new(|levels| levels.iter().filter(|level| **level == 1).count() <= 2);
    // Values that only grow look like noise; without it, nothing is asked twice.
    let config = Config { noise: Noise::None, ..Config::default() };
    let mut tuner = start(Setup { config, ..setup(&[Knob::nominal(2); 6], 1, Some(feasible)) }).unwrap();
    let mut asked = 0;
    while let Some(prediction) = tuner.ask().unwrap() {
        assert!(prediction.levels.iter().filter(|level| **level == 1).count() <= 2);
        tuner.replay(&prediction.levels, Event::Told(asked as f32)).unwrap();
        asked += 1;
    }
    // None, one or two of six: 1 + 6 + 15.
    assert_eq!((asked, tuner.observations()), (22, 22));
}

/// promise: trimtab serve | a space larger than the largest tuner | refused
#[test]
fn a_space_too_large_for_every_size_is_refused() {
    let knobs = [Knob::nominal(2); 257];
    let error = start(setup(&knobs, 1, None)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("at most 256 knobs") && error.contains("this is 257 knobs"), "{error}");
}
