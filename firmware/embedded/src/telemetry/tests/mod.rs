use std::vec::Vec;

use trimtab::{Acquisition, Config, Event, Knob, Record, Scale, Space, Tuner, WhenFull};

use super::*;

mod wire_format;

const VALUES: [f32; 40] = {
    let mut values = [0.0; 40];
    let mut i = 0;
    while i < 40 {
        values[i] = (i * i) as f32;
        i += 1;
    }
    values
};
const KNOBS: [Knob; 4] = [
    Knob::nominal(3),
    Knob::ranked(5),
    Knob::graded(&VALUES, Scale::Linear),
    Knob::graded(&[1.0, 10.0, 100.0], Scale::Log),
];
type Four = trimtab::tuner!(KNOBS, observations: 16, rows: 64);
type Larger = trimtab::tuner!(KNOBS, observations: 100, rows: 300);

const ABOUT: About<'static> = About { name: "four", cause: Cause::New, budget: 20 };
const CONFIG: Config = Config { when_full: WhenFull::ForgetOldest, ..Config::DEFAULT };

fn space() -> Space<4> {
    Space::new(&KNOBS).unwrap()
}

fn cost(levels: &[trimtab::Level]) -> f32 {
    levels.iter().enumerate().map(|(i, level)| (f32::from(*level) - 2.0 * i as f32).abs()).sum()
}

/// The stream of a chip: a default enqueued, outcomes and failures, two asked at once, a
/// combination that nobody asked for.
fn sent() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut tuner = Four::new();
    tuner.init(space(), CONFIG, 9).unwrap();
    let mut reporter = Reporter::new(&mut bytes);
    reporter.hello(&tuner, &ABOUT).unwrap();
    let default = space().combination(&[1, 2, 20, 1]).unwrap();
    tuner.enqueue(&default).unwrap();
    reporter.happened(&default, Event::Enqueued).unwrap();
    for i in 0..20 {
        let proposal = tuner.ask().unwrap();
        let c = proposal.combination;
        let event = if i % 7 == 3 { Event::Failed } else { Event::Told(cost(c.levels())) };
        tuner.replay(&Record::new(&c, event)).unwrap();
        reporter.measured(&proposal, event).unwrap();
    }
    let (first, second) = (tuner.ask().unwrap(), tuner.ask().unwrap());
    reporter.asked(&first).unwrap();
    reporter.asked(&second).unwrap();
    for (c, event) in [
        (second.combination, Event::Told(3.0)),
        (first.combination, Event::Cancelled),
        (space().combination(&[0, 0, 0, 0]).unwrap(), Event::Told(1.0)),
    ] {
        tuner.replay(&Record::new(&c, event)).unwrap();
        reporter.happened(&c, event).unwrap();
    }
    let last = tuner.ask().unwrap();
    tuner.tell(&last.combination, 2.0).unwrap();
    reporter.measured(&last, Event::Told(2.0)).unwrap();
    reporter.end().unwrap();
    bytes
}

/// Proposals in [`sent`].
const PROPOSALS: u32 = 23;
/// The hello; the knobs, of which the one with 40 values takes three frames; a default; 20
/// measured; 2 asked; 3 events; 1 measured; the end.
const FRAMES: u32 = 1 + 1 + 1 + 3 + 1 + 1 + 20 + 2 + 3 + 1 + 1;

/// Frames without the zeros.
fn split(stream: &[u8]) -> Vec<Vec<u8>> {
    stream.split(|byte| *byte == 0).filter(|frame| !frame.is_empty()).map(<[u8]>::to_vec).collect()
}

fn joined(frames: &[Vec<u8>]) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.iter().copied().chain([0])).collect()
}

fn checked(stream: &[u8]) -> Result<Checked, Mismatch> {
    check(&mut Four::new(), &space(), stream)
}

#[test]
fn a_run_is_repeated_by_tuners_of_any_size_that_is_enough() {
    let stream = sent();
    assert_eq!(split(&stream).len(), FRAMES as usize);
    let whole = Checked { runs: 1, proposals: PROPOSALS, ..Checked::default() };
    assert_eq!(checked(&stream), Ok(whole));
    assert_eq!(check(&mut Larger::new(), &space(), &stream), Ok(whole));
    // A used tuner repeats it as well.
    let mut tuner = Larger::new();
    assert_eq!(check(&mut tuner, &space(), &stream), check(&mut tuner, &space(), &stream));
    type Fewer = trimtab::tuner!(KNOBS, observations: 16, rows: 63);
    let too_small = Mismatch { run: 1, number: 0, difference: Difference::Size };
    assert_eq!(check(&mut Fewer::new(), &space(), &stream), Err(too_small));
    // Sent again after a reset, it counts as another run.
    let twice = [&stream[..], &stream].concat();
    assert_eq!(checked(&twice), Ok(Checked { runs: 2, proposals: 2 * PROPOSALS, ..whole }));
}

#[test]
fn a_resumed_run_carries_its_records() {
    let mut bytes = Vec::new();
    let mut tuner = Four::new();
    tuner.init(space(), CONFIG, 9).unwrap();
    let mut reporter = Reporter::new(&mut bytes);
    reporter.hello(&tuner, &About { cause: Cause::Resumed, ..ABOUT }).unwrap();
    for levels in [[0, 1, 2, 0], [2, 4, 39, 2], [1, 1, 1, 1], [2, 3, 5, 0], [0, 0, 30, 1]] {
        let c = space().combination(&levels).unwrap();
        let record = Record::new(&c, Event::Told(cost(&levels)));
        tuner.replay(&record).unwrap();
        reporter.resumed(&record).unwrap();
    }
    let proposal = tuner.ask().unwrap();
    tuner.tell_failed(&proposal.combination).unwrap();
    reporter.measured(&proposal, Event::Failed).unwrap();
    assert_eq!(checked(&bytes), Ok(Checked { runs: 1, proposals: 1, ..Checked::default() }));
}

/// The numbers of the frames found, and the counts of missing and of garbled ones.
fn found(stream: &[u8]) -> (Vec<u32>, u32, u32) {
    let mut decoder = Decoder::<256>::new();
    let mut numbers = Vec::new();
    for byte in stream {
        if let Some(Ok(received)) = decoder.push(*byte) {
            numbers.push(received.number);
        }
    }
    (numbers, decoder.lost(), decoder.garbled())
}

/// promise: telemetry::Decoder | garbage among the bytes | costs at most one frame and is counted
#[test]
fn garbage_at_any_place_costs_at_most_one_frame() {
    let stream = sent();
    let all: Vec<u32> = (0..FRAMES).collect();
    for garbage in [&[0x55][..], &[0], &[0xFF; 300], b"\0\x02\x01\0", &[0, 0, 0], b"reset\r\n"] {
        for place in 0..=stream.len() {
            let (numbers, lost, garbled) = found(&[&stream[..place], garbage, &stream[place..]].concat());
            let missing: Vec<u32> = all.iter().copied().filter(|number| !numbers.contains(number)).collect();
            assert!(missing.len() <= 1 && numbers.is_sorted() && garbled <= 3, "{place}: {missing:?} {garbled}");
            // A frame missing at the very end goes unnoticed.
            assert_eq!(lost as usize, missing.iter().filter(|number| **number + 1 < FRAMES).count(), "{place}");
        }
    }
}

/// promise: telemetry::Decoder | a stream cut anywhere | the frames before it are whole
#[test]
fn a_cut_anywhere_leaves_the_frames_before_it() {
    let stream = sent();
    let mut ends = 0;
    for end in 0..=stream.len() {
        let (numbers, lost, garbled) = found(&stream[..end]);
        // The first zero only separates.
        ends = stream[..end].iter().filter(|byte| **byte == 0).count().saturating_sub(1) as u32;
        assert_eq!((numbers, lost, garbled), ((0..ends).collect(), 0, 0));
    }
    assert_eq!(ends, FRAMES);
}

/// promise: telemetry::check | frames are missing | counted; nothing after them is compared until the next hello
#[test]
fn missing_frames_are_counted_and_nothing_after_them_is_compared() {
    let frames = split(&sent());
    for missing in (1..frames.len() - 1).step_by(5) {
        let mut rest = frames.clone();
        rest.remove(missing);
        let found = checked(&joined(&rest)).unwrap();
        let after = (frames.len() - missing - 1) as u32;
        assert_eq!((found.lost, found.unchecked, found.garbled), (1, after, 0), "{missing}");
    }
    // Without its hello a run cannot be compared, also after another run.
    let found = checked(&joined(&frames[1..])).unwrap();
    assert_eq!((found.runs, found.lost, found.unchecked), (0, 1, FRAMES - 1));
    let found = checked(&joined(&[&frames[..], &frames[1..]].concat())).unwrap();
    assert_eq!((found.runs, found.proposals, found.lost, found.unchecked), (1, PROPOSALS, 1, FRAMES - 1));
}

/// Decodes a frame, changes it, and encodes it again with a valid checksum.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Frame<'_>)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let (number, mut frame) = wire::decode(&mut bytes).unwrap();
    change(&mut frame);
    let (mut plain, mut stuffed) = ([0; 256], [0; 256]);
    let bytes = wire::encode(number, &frame, &mut plain, &mut stuffed).unwrap();
    bytes[..bytes.len() - 1].to_vec()
}

/// promise: telemetry::check | a proposal that differs in one bit | a mismatch with its place
#[test]
fn a_changed_bit_of_any_proposal_is_found() {
    let frames = split(&sent());
    type Change = (&'static str, fn(&mut Proposed<'_>));
    let changes: [Change; 4] = [
        ("expected", |p| p.mean = f32::from_bits(p.mean.to_bits() ^ 1)),
        ("standard deviation", |p| p.std_dev = f32::from_bits(p.std_dev.to_bits() ^ 1)),
        ("score", |p| p.score = f32::from_bits(p.score.to_bits() ^ 1)),
        ("level 77 of knob 0", |p| p.levels = (&[77, 0, 0, 0][..]).into()),
    ];
    let mut found = 0;
    // Every third proposal, and the two asked at once.
    let places: Vec<usize> = (8..28).step_by(3).chain([28, 29]).collect();
    for place in places.iter().copied() {
        for (says, change) in changes {
            let mut frames = frames.clone();
            frames[place] = changed(&frames[place], |frame| match frame {
                Frame::Measured { proposed, .. } | Frame::Asked(proposed) => change(proposed),
                _ => unreachable!(),
            });
            let mismatch = checked(&joined(&frames)).unwrap_err();
            assert_eq!((mismatch.run, mismatch.number), (1, place as u32));
            let text = std::format!("{mismatch}");
            assert!(text.contains(says), "{text}");
            found += 1;
        }
    }
    assert_eq!(found, 4 * places.len());
}

#[test]
fn a_changed_outcome_shows_in_a_later_proposal() {
    let mut frames = split(&sent());
    let place = 10;
    frames[place] = changed(&frames[place], |frame| match frame {
        Frame::Measured { event: Event::Told(value), .. } => *value += 1.0,
        other => unreachable!("{other:?}"),
    });
    assert!(checked(&joined(&frames)).is_err_and(|mismatch| mismatch.number > place as u32));
}

#[test]
fn the_space_of_the_listener_is_compared_too() {
    let stream = sent();
    let difference = |space: &Space<4>| check(&mut Four::new(), space, &stream).unwrap_err().difference;
    assert_eq!(difference(&space().with_feasible(&|_| true)), Difference::Predicate);
    let three = Space::new(&KNOBS[..3]).unwrap();
    assert_eq!(difference(&three), Difference::Knobs { chip: 4, own: 3 });
    let mut other = KNOBS;
    other[2] = Knob::ranked(40);
    assert_eq!(difference(&Space::new(&other).unwrap()), Difference::Knob { place: 2 });
    let mut values = VALUES;
    values[39] += 1.0;
    other[2] = Knob::graded(std::boxed::Box::leak(std::boxed::Box::new(values)), Scale::Linear);
    assert_eq!(difference(&Space::new(&other).unwrap()), Difference::Knob { place: 2 });
    type Mapped = trimtab::tuner!(KNOBS, observations: 16, rows: 64, dimensions: 4);
    assert_eq!(check(&mut Mapped::new(), &space(), &stream).unwrap_err().difference, Difference::Size);
    type Short = trimtab::tuner!(KNOBS, observations: 15, rows: 64);
    assert_eq!(check(&mut Short::new(), &space(), &stream).unwrap_err().difference, Difference::Size);
}

#[test]
fn an_event_of_another_number_of_knobs_is_a_difference() {
    let frames = split(&sent());
    let difference = |place: usize, levels: &'static [trimtab::Level]| {
        let mut frames = frames.clone();
        frames[place] = changed(&frames[place], |frame| match frame {
            Frame::Measured { proposed, .. } => proposed.levels = levels.into(),
            Frame::Happened { levels: own, .. } => *own = levels.into(),
            other => unreachable!("{other:?}"),
        });
        checked(&joined(&frames)).unwrap_err()
    };
    // The default, and the first proposal.
    for (place, levels) in [(7, &[1, 2, 20, 1, 0][..]), (8, &[1, 2, 20, 1, 0]), (8, &[1, 2, 20])] {
        let knobs = Difference::Knobs { chip: levels.len() as u16, own: 4 };
        assert_eq!(difference(place, levels), Mismatch { run: 1, number: place as u32, difference: knobs });
    }
}

#[test]
fn a_random_map_is_repeated_by_a_tuner_of_its_type() {
    type Mapped = trimtab::tuner!(KNOBS, observations: 16, rows: 64, dimensions: 4);
    let (mut tuner, mut bytes) = (Mapped::new(), Vec::new());
    tuner.init(space(), Config { acquisition: Acquisition::ExpectedImprovement, ..Config::DEFAULT }, 3).unwrap();
    let mut reporter = Reporter::new(&mut bytes);
    reporter.hello(&tuner, &ABOUT).unwrap();
    for _ in 0..12 {
        let proposal = tuner.ask().unwrap();
        let value = cost(proposal.combination.levels());
        tuner.tell(&proposal.combination, value).unwrap();
        reporter.measured(&proposal, Event::Told(value)).unwrap();
    }
    let found = check(&mut Mapped::new(), &space(), &bytes).unwrap();
    assert_eq!((found.proposals, found.unchecked), (12, 0));
}

#[test]
fn names_are_cut_between_letters() {
    let mut tuner = Tuner::<4, 48, 0, 4, 16, 10>::new();
    tuner.init(space(), CONFIG, 1).unwrap();
    for (name, sent) in
        [("", ""), ("antenna", "antenna"), ("äöüäöüäöüäöü", "äöüäöüäö"), ("0123456789abcdef+", "0123456789abcdef")]
    {
        let mut bytes = Vec::new();
        Reporter::new(&mut bytes).hello(&tuner, &About { name, ..ABOUT }).unwrap();
        let mut first = split(&bytes).swap_remove(0);
        let Ok((0, Frame::Hello(hello))) = wire::decode(&mut first) else { panic!("no hello") };
        assert_eq!((hello.name, hello.config.rows, hello.config.observations), (sent, 16, 4));
    }
}

#[test]
fn names_are_sent_in_the_order_of_the_knobs() {
    let mut bytes = Vec::new();
    Reporter::new(&mut bytes).names(&["relay", "a name of more than sixteen bytes", ""]).unwrap();
    let frames = split(&bytes);
    assert_eq!(frames.len(), 3);
    for ((at, mut frame), name) in frames.into_iter().enumerate().zip(["relay", "a name of more t", ""]) {
        let (number, frame) = wire::decode(&mut frame).unwrap();
        assert_eq!((number, frame), (at as u32, Frame::Name { place: at as u16, name }));
    }
}

/// Nothing is missing before a hello, whatever its number; a byte that is not the end stands between frames.
#[test]
fn a_hello_starts_the_count_over() {
    let hello = split(&sent())[0].clone();
    let mut first = hello.clone();
    let (_, frame) = wire::decode(&mut first).unwrap();
    let mut decoder = Decoder::<256>::new();
    for (number, frame, lost) in [(0, &Frame::End, 0), (5, &frame, 0), (7, &Frame::End, 1), (2, &frame, 0)] {
        let (mut plain, mut stuffed) = ([0; 256], [0; 256]);
        let bytes = wire::encode(number, frame, &mut plain, &mut stuffed).unwrap();
        assert!(decoder.is_between());
        for byte in &bytes[..bytes.len() - 1] {
            assert!(decoder.push(*byte).is_none() && !decoder.is_between());
        }
        let received = decoder.push(0).unwrap().unwrap();
        assert_eq!((received.number, received.lost), (number, lost));
    }
    assert_eq!((decoder.lost(), decoder.is_between()), (1, true));
}
