//! The bytes of frames.

use trimtab::{Acquisition, Config, Event};

use super::super::*;
use super::{sent, split};

#[test]
fn a_frame_with_a_flipped_bit_is_refused() {
    let frame = split(&sent())[9].clone();
    for bit in 0..8 * frame.len() {
        let mut flipped = frame.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(wire::decode(&mut flipped).is_err(), "{bit}");
    }
}

#[test]
fn the_longest_frames_fit_the_asserted_room() {
    let (mut plain, mut stuffed) = ([0; wire::MOST_BYTES], [0; wire::MOST_BYTES]);
    let config = Config {
        map: trimtab::Distribution::Signs,
        acquisition: Acquisition::Ucb(trimtab::Beta::Theorem { delta: 0.1, scale: 0.5 }),
        noise: trimtab::Noise::Given(0.1),
        refit: u16::MAX,
        initial: u16::MAX,
        remeasure: u16::MAX,
        rows: u16::MAX,
        observations: u16::MAX,
        ..Config::DEFAULT
    };
    let hello = Hello {
        release: "100.100.100",
        name: "sixteen letters!",
        cause: Cause::Rebuilt,
        knobs: u16::MAX,
        is_restricted: true,
        map: (u16::MAX, u16::MAX),
        budget: u16::MAX,
        seed: u64::MAX,
        config,
    };
    assert!(wire::encode(u32::MAX, &Frame::Hello(hello), &mut plain, &mut stuffed).is_some());
    let values = core::iter::repeat_n(f32::from_bits(0x0101_0101), frame::MOST_VALUES).collect();
    let part = KnobPart { place: 999, shape: Shape::Graded { is_log: true, levels: 256, first: 240, values } };
    assert!(wire::encode(u32::MAX, &Frame::Knob(part), &mut plain, &mut stuffed).is_some());
    // Three knobs take 34 bytes.
    let proposed = Proposed { levels: (&[1, 2, 3][..]).into(), mean: 0.1, std_dev: 0.1, score: 0.1 };
    let frame = Frame::Measured { proposed, event: Event::Told(0.1) };
    assert_eq!(wire::encode(u32::MAX, &frame, &mut plain, &mut stuffed).map(<[u8]>::len), Some(34));
    // 88 knobs in 128 bytes, and a thousand in 1040.
    for (knobs, room) in [(88, wire::MOST_BYTES), (1000, 1040)] {
        assert!(knobs + wire::BESIDE_LEVELS <= room);
        let levels = std::vec![255; knobs];
        let (mut plain, mut stuffed) = (std::vec![0; room], std::vec![0; room]);
        let proposed = Proposed { levels: (&levels[..]).into(), mean: 0.1, std_dev: 0.1, score: 0.1 };
        let frame = Frame::Measured { proposed, event: Event::Told(0.1) };
        assert!(wire::encode(u32::MAX, &frame, &mut plain, &mut stuffed).is_some(), "{knobs}");
    }
}

#[test]
fn the_bytes_of_a_frame_by_hand() {
    // Version 1, number 5, kind 4, two levels 3 and 0, event Told of 0.5 (0x3f000000, little
    // endian), not resumed, then the checksum.
    let frame = Frame::Happened { levels: (&[3, 0][..]).into(), event: Event::Told(0.5), resumed: false };
    let plain = [1, 5, 4, 2, 3, 0, 0, 0, 0, 0, 0x3f, 0];
    let mut expected = plain.to_vec();
    expected.extend(CRC_OF_PLAIN.to_le_bytes());
    let (mut room, mut stuffed) = ([0; 64], [0; 64]);
    let bytes = wire::encode(5, &frame, &mut room, &mut stuffed).unwrap().to_vec();
    assert_eq!(bytes.last(), Some(&0));
    let mut decoded = bytes[..bytes.len() - 1].to_vec();
    let length = cobs::decode_in_place(&mut decoded).unwrap();
    assert_eq!(decoded[..length], expected);
    // Zeros at places 5 to 9 and 11: the first block is 6 long, then four blocks of one, …
    assert_eq!(bytes[..6], [6, 1, 5, 4, 2, 3]);
}

/// By Python: `zlib.crc32(bytes([1, 5, 4, 2, 3, 0, 0, 0, 0, 0, 0x3f, 0]))`.
const CRC_OF_PLAIN: u32 = 0x606b_8361;

#[test]
fn foreign_versions_are_named_and_long_garbage_is_refused() {
    let plain = [9, 1, 2, 3];
    let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&plain);
    let mut stuffed = [0; 32];
    let length = cobs::encode(&[&plain[..], &sum.to_le_bytes()].concat(), &mut stuffed);
    assert_eq!(wire::decode(&mut stuffed[..length]), Err(Fault::Version { found: 9 }));
    let mut decoder = Decoder::<64>::new();
    assert!((0..1000).all(|_| decoder.push(7).is_none()));
    assert_eq!(decoder.push(0), Some(Err(Fault::TooLong)));
    assert_eq!((decoder.garbled(), decoder.is_between()), (1, true));
}

/// Two bytes per level and a bit of the version; half a level is garbage.
#[test]
fn wide_levels_take_two_bytes_each() {
    let (mut room, mut stuffed) = ([0; 64], [0; 64]);
    let frame = Frame::Happened { levels: (&[3, 4095][..]).into(), event: Event::Failed, resumed: true };
    let bytes = wire::encode(5, &frame, &mut room, &mut stuffed).unwrap();
    assert_eq!(room[..10], [0x81, 5, 4, 4, 3, 0, 0xff, 0x0f, 1, 1]);
    let mut read = bytes[..bytes.len() - 1].to_vec();
    assert_eq!(wire::decode(&mut read), Ok((5, frame)));
    let plain = [0x81, 5, 4, 3, 3, 0, 0xff, 1, 1];
    let mut odd = plain.to_vec();
    odd.extend(crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&plain).to_le_bytes());
    let mut packed = [0; 32];
    let length = cobs::encode(&odd, &mut packed);
    assert_eq!(wire::decode(&mut packed[..length]), Err(wire::Fault::Garbled));
}

/// A knob is its own part only: another kind, number of levels, value or scale is another knob.
#[test]
fn a_part_is_of_its_own_knob_alone() {
    use trimtab::{Knob, Scale};
    static VALUES: [[f32; 3]; 2] = [[1.0, 2.0, 4.0], [1.0, 2.0, 5.0]];
    let knobs = [
        Knob::nominal(4),
        Knob::nominal(5),
        Knob::ranked(4),
        Knob::ranked(5),
        Knob::graded(&VALUES[0], Scale::Linear),
        Knob::graded(&VALUES[0], Scale::Log),
        Knob::graded(&VALUES[1], Scale::Linear),
        Knob::graded(&VALUES[0][..2], Scale::Linear),
        Knob::range(0.0, 8.0, 1.0),
        Knob::range(0.0, 8.0, 2.0),
        Knob::range(0.0, 9.0, 1.125),
        Knob::range(1.0, 8.0, 0.875),
    ];
    for (i, own) in knobs.iter().enumerate() {
        for (j, other) in knobs.iter().enumerate() {
            assert_eq!(KnobPart::parts(0, *own).all(|part| part.is_of(*other)), i == j, "{own:?} {other:?}");
        }
    }
    let levels: Levels<'_> = (&[3, 4095][..]).into();
    assert_eq!(std::format!("{levels:?}"), "[3, 4095]");
}
