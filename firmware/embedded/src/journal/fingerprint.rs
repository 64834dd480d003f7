//! Two checksums: of the meaning of a log, and of the knowledge of a tuner.
//!
//! The fingerprint is the CRC-64 of the tuner's sizes, the configuration, the seed, every knob with
//! its values and when it matters, and a number of the user's. A log with another fingerprint belongs to another tuner.
//! The digest covers the observations and hyper-parameters bit by bit.
//!
//! **Choices**
//! - A feasibility rule and a measurement are code, which a checksum cannot see. Whoever changes
//!   one changes `meaning`.
//! - The configuration goes through core's serde form, so a new field changes the fingerprint by
//!   itself.

use crc::{CRC_64_XZ, Crc, Digest, NoTable};
use postcard::ser_flavors::Flavor;
use trimtab::settings::Settings;
use trimtab::{Config, Knob, OnlyIf, Scale, Space, Tuner};

static CRC: Crc<u64, NoTable> = Crc::<u64, NoTable>::new(&CRC_64_XZ);

/// The fingerprint of a tuner of these sizes. `meaning` is the user's number for the measurement
/// and the feasibility rule.
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// use trimtab_embedded::journal::fingerprint;
/// let (one, other) = (Space::<1>::new(&[Knob::nominal(4)])?, Space::<1>::new(&[Knob::ranked(4)])?);
/// let of = |space, seed| fingerprint(space, &Config::default(), seed, &[8, 32], 0);
/// assert_eq!(of(&one, 1), of(&one, 1));
/// assert!(of(&one, 1) != of(&one, 2) && of(&one, 1) != of(&other, 1));
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
pub fn fingerprint<const K: usize>(space: &Space<K>, config: &Config, seed: u64, sizes: &[usize], meaning: u32) -> u64 {
    let mut digest = CRC.digest();
    sizes.iter().for_each(|size| digest.update(&(*size as u32).to_le_bytes()));
    digest.update(&seed.to_le_bytes());
    digest.update(&meaning.to_le_bytes());
    for knob in space.knobs() {
        let ends;
        let (kind, values) = match knob {
            Knob::Nominal { .. } | Knob::Refused { .. } => (0, &[][..]),
            Knob::Ranked { .. } => (1, &[][..]),
            Knob::Graded { values, scale: Scale::Linear } => (2, *values),
            Knob::Graded { values, scale: Scale::Log } => (3, *values),
            Knob::Range { first, last, scale, .. } => {
                ends = [*first, *last];
                (if *scale == Scale::Linear { 4 } else { 5 }, &ends[..])
            }
        };
        digest.update(&[kind]);
        digest.update(&(knob.levels() as u32).to_le_bytes());
        values.iter().for_each(|value| digest.update(&value.to_bits().to_le_bytes()));
    }
    for OnlyIf { knob, on, levels } in space.conditions() {
        [*knob, *on, levels.len()].iter().for_each(|number| digest.update(&(*number as u32).to_le_bytes()));
        levels.iter().for_each(|level| digest.update(bytes(&level.to_le_bytes())));
    }
    // Every configuration serialises, and a checksum has room for any length.
    postcard::serialize_with_flavor(config, Check(digest)).unwrap_or_default()
}

/// A checksum of the tuner's observations and hyper-parameters, to compare two tuners.
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// use trimtab_embedded::journal::digest;
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let (before, c) = (digest(&tuner), tuner.ask()?.combination);
/// tuner.tell(&c, 1.0)?;
/// assert_ne!(digest(&tuner), before);
/// # Ok::<(), trimtab::Error>(())
/// ```
pub fn digest<
    const K: usize,
    const M: usize,
    const D: usize,
    const T: usize,
    const L: usize,
    const P: usize,
    const N: usize,
    const G: usize,
    const A: usize,
    S: Settings,
>(
    tuner: &Tuner<K, M, D, T, L, P, N, G, A, S>,
) -> u64 {
    let mut digest = CRC.digest();
    for o in tuner.observations() {
        o.combination.levels().iter().for_each(|level| digest.update(bytes(&level.to_le_bytes())));
        digest.update(&o.value.to_bits().to_le_bytes());
        digest.update(&o.repeats.to_le_bytes());
    }
    let best = tuner.best_posterior().map_or([0.0; 2], |best| [best.mean, best.std_dev]);
    let relevance = (0..tuner.space().knobs().len()).map(|knob| tuner.relevance(knob));
    for number in relevance.chain(best).chain([tuner.noise()]) {
        digest.update(&number.to_bits().to_le_bytes());
    }
    digest.finalize()
}

/// The bytes of a level that count: one as long as one suffices, so that the fingerprints of logs in
/// flash stay as they were.
fn bytes(level: &[u8; 2]) -> &[u8] {
    match level {
        [low, 0] => core::slice::from_ref(low),
        both => both,
    }
}

/// Feeds serialised bytes into a checksum.
struct Check(Digest<'static, u64, NoTable>);

impl Flavor for Check {
    type Output = u64;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.update(&[byte]);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<u64> {
        Ok(self.0.finalize())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn when_a_knob_matters_is_part_of_the_meaning() {
        let plain = Space::<2>::new(&[Knob::nominal(3), Knob::ranked(4)]).unwrap();
        const ONE: &[OnlyIf] = &[OnlyIf { knob: 1, on: 0, levels: &[1] }];
        const TWO: &[OnlyIf] = &[OnlyIf { knob: 1, on: 0, levels: &[1, 2] }];
        let [one, two] = [ONE, TWO].map(|conditions| plain.clone().only_if(conditions).unwrap());
        let of = |space: &Space<2>| fingerprint(space, &Config::default(), 1, &[8], 0);
        assert!(of(&plain) != of(&one) && of(&one) != of(&two) && of(&one) == of(&one.clone()));
    }

    #[test]
    fn a_digest_is_that_of_the_outcomes() {
        const KNOBS: [Knob; 2] = [Knob::nominal(3), Knob::ranked(4)];
        let after = |values: &[f32]| {
            let mut tuner = <trimtab::tuner!(KNOBS, observations: 8, rows: 16)>::new();
            tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 1).unwrap();
            for (i, value) in (0..).zip(values) {
                tuner.tell(&tuner.space().combination(&[i, 1]).unwrap(), *value).unwrap();
            }
            digest(&tuner)
        };
        assert_eq!(after(&[1.0, 2.0]), after(&[1.0, 2.0]));
        let all = [after(&[]), after(&[1.0]), after(&[1.0, 2.0]), after(&[2.0, 1.0]), after(&[1.0, 2.0, 3.0])];
        assert!((0..5).all(|i| all[..i].iter().all(|other| *other != all[i])), "{all:x?}");
    }

    /// What is covered, and in which order: logs in the field have it.
    #[test]
    fn a_fingerprint_covers_sizes_seed_meaning_knobs_and_configuration() {
        const VALUES: [f32; 2] = [1.0, 10.0];
        let knobs = [
            Knob::nominal(3),
            Knob::ranked(4),
            Knob::graded(&VALUES, Scale::Linear),
            Knob::graded(&VALUES, Scale::Log),
            Knob::range(0.0, 4.0, 1.0),
        ];
        let space = Space::<5>::new(&knobs).unwrap();
        let mut bytes = std::vec![8, 0, 0, 0, 44, 1, 0, 0];
        bytes.extend_from_slice(&0x0102_0304_0506_0708_u64.to_le_bytes());
        bytes.extend_from_slice(&[9, 0, 0, 0]);
        for (kind, levels, values) in
            [(0, 3, &[][..]), (1, 4, &[]), (2, 2, &VALUES), (3, 2, &VALUES), (4, 5, &[0.0_f32, 4.0])]
        {
            bytes.extend_from_slice(&[kind, levels, 0, 0, 0]);
            values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        }
        let mut room = [0; 256];
        bytes.extend_from_slice(postcard::to_slice(&Config::default(), &mut room).unwrap());
        let own = fingerprint(&space, &Config::default(), 0x0102_0304_0506_0708, &[8, 300], 9);
        assert_eq!(own, CRC.checksum(&bytes));
    }
}
