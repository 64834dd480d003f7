//! Cuts the power at a chosen operation.
//!
//! | damage | a write | an erase |
//! |---|---|---|
//! | `Nothing` | not begun | not begun |
//! | `Half` | the first half of its bytes | the first half of the page |
//! | `AllButLast` | all but the last byte | all but the last byte |
//! | `Random` | each zero to write is there or not | each zero to erase is gone or not |
//! | `Torn` | some words, then one torn word | each word is erased, as before, or torn |
//! | `All` | done, but the caller never learns it | done, but the caller never learns it |
//!
//! **Choices**
//! - What a torn word reads as is up to the flash: with a checksum per word, [`Ecc`](super::Ecc), it
//!   is an error.
//! - Reads are not counted: they change nothing.
//! - Without power every operation is an error. To reboot, put the flash into another [`Cut`].
//! - An image in QEMU exits at the cut instead, by [`Cut::when_off`].

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash};
use trimtab::internals::Random;

use super::Simulated;

/// How far the last operation got; see the table of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Damage {
    /// Not begun.
    Nothing,
    /// The first half.
    Half,
    /// All but the last byte.
    AllButLast,
    /// Some of its bits, by this seed.
    Random(u64),
    /// Some of its words, and torn ones, by this seed.
    Torn(u64),
    /// Done, but the caller never learns it.
    All,
}

/// Flash that loses its power.
///
/// ```
/// use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
/// use trimtab_embedded::flash::{Cut, CutError, Damage, RamFlash};
/// let mut flash = RamFlash::<2, 64, 4>::new();
/// let mut cut = Cut::at(&mut flash, 1, Damage::Half);
/// cut.write(0, &[1, 2, 3, 4]).map_err(|_| "the first write is whole")?;
/// assert_eq!(cut.write(4, &[5, 6, 7, 8]), Err(CutError::Off));
/// let mut read = [0; 8];
/// assert_eq!(cut.read(0, &mut read), Err(CutError::Off));
/// flash.read(0, &mut read).map_err(|_| "after the reboot")?;
/// assert_eq!(read, [1, 2, 3, 4, 5, 6, 0xFF, 0xFF]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cut<F> {
    flash: F,
    at: Option<u32>,
    damage: Damage,
    operations: u32,
    off: bool,
    when_off: fn(),
}

impl<F: Simulated> Cut<F> {
    /// The power stays on; operations are counted.
    pub fn never(flash: F) -> Self {
        Self { flash, at: None, damage: Damage::Nothing, operations: 0, off: false, when_off: || () }
    }

    /// Cuts the power at this write or erase, counted from 0.
    pub fn at(flash: F, operation: u32, damage: Damage) -> Self {
        Self { at: Some(operation), damage, ..Self::never(flash) }
    }

    /// Calls this at the cut, for instance to end the image.
    pub fn when_off(self, when_off: fn()) -> Self {
        Self { when_off, ..self }
    }

    /// Number of writes and erases.
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// Whether the power is gone.
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// Begins an operation. Returns whether it is the last one.
    fn is_last(&mut self) -> Result<bool, CutError<F::Error>> {
        if self.off {
            return Err(CutError::Off);
        }
        let is_last = self.at == Some(self.operations);
        self.operations += 1;
        Ok(is_last)
    }

    fn switch_off(&mut self) -> Result<(), CutError<F::Error>> {
        self.off = true;
        (self.when_off)();
        Err(CutError::Off)
    }

    /// Sets the first `whole` cells to their new values, as far as the damage lets them.
    fn damage(&mut self, offset: u32, whole: usize, new: impl Fn(usize, u8) -> u8) -> Result<(), F::Error> {
        let mut random = match self.damage {
            Damage::Random(seed) => Some(Random::new(seed, u64::from(offset))),
            _ => None,
        };
        for i in 0..whole {
            let cell = offset + i as u32;
            let mut byte = [0];
            // A torn word cannot be read; it becomes what the operation makes of zeros.
            let old = self.flash.read(cell, &mut byte).map_or(0, |()| byte[0]);
            let done = random.as_mut().map_or(0xFF, |random| random.bits() as u8);
            self.flash.poke(cell, &[new(i, old) & done | old & !done])?;
        }
        Ok(())
    }

    /// Writes words up to a random one, which is torn.
    fn tear_write(&mut self, seed: u64, offset: u32, bytes: &[u8]) -> Result<(), F::Error> {
        let last = Random::new(seed, u64::from(offset)).below((bytes.len() / F::WRITE_SIZE).max(1) as u32);
        let (whole, torn) = bytes.split_at_checked(last as usize * F::WRITE_SIZE).unwrap_or((bytes, &[]));
        self.flash.poke(offset, whole)?;
        self.flash.tear(offset + whole.len() as u32, torn.len().min(F::WRITE_SIZE))
    }

    /// Erases some words and tears others.
    fn tear_erase(&mut self, seed: u64, from: u32, to: u32) -> Result<(), F::Error> {
        let mut random = Random::new(seed, u64::from(from));
        for word in (from..to).step_by(F::WRITE_SIZE) {
            match random.below(4) {
                0 => self.flash.tear(word, F::WRITE_SIZE)?,
                1 => (word..).take(F::WRITE_SIZE).try_for_each(|cell| self.flash.poke(cell, &[0xFF]))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Bytes of an operation that are done or, for random damage, half done.
    fn whole(&self, length: usize) -> usize {
        match self.damage {
            Damage::Nothing | Damage::Torn(_) => 0,
            Damage::Half => length / 2,
            Damage::AllButLast => length.saturating_sub(1),
            Damage::Random(_) | Damage::All => length,
        }
    }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum CutError<E> {
    /// The power is off.
    Off,
    /// The flash refused.
    Flash(E),
}

impl<E: NorFlashError> NorFlashError for CutError<E> {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Off => NorFlashErrorKind::Other,
            Self::Flash(error) => error.kind(),
        }
    }
}

impl<F: Simulated> ErrorType for Cut<F> {
    type Error = CutError<F::Error>;
}

impl<F: Simulated> ReadNorFlash for Cut<F> {
    const READ_SIZE: usize = F::READ_SIZE;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Self::Error> {
        if self.off {
            return Err(CutError::Off);
        }
        self.flash.read(offset, bytes).map_err(CutError::Flash)
    }

    fn capacity(&self) -> usize {
        self.flash.capacity()
    }
}

impl<F: Simulated> NorFlash for Cut<F> {
    const WRITE_SIZE: usize = F::WRITE_SIZE;
    const ERASE_SIZE: usize = F::ERASE_SIZE;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Self::Error> {
        if self.is_last()? {
            if let Damage::Torn(seed) = self.damage {
                self.tear_erase(seed, from, to).map_err(CutError::Flash)?;
            }
            let whole = self.whole(to.saturating_sub(from) as usize);
            self.damage(from, whole, |_, _| 0xFF).map_err(CutError::Flash)?;
            return self.switch_off();
        }
        self.flash.erase(from, to).map_err(CutError::Flash)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Self::Error> {
        if self.is_last()? {
            if let Damage::Torn(seed) = self.damage {
                self.tear_write(seed, offset, bytes).map_err(CutError::Flash)?;
            }
            // Ones need no writing, so the last byte is the last one with a zero in it.
            let length = bytes.iter().rposition(|byte| *byte != 0xFF).map_or(0, |last| last + 1);
            let whole = self.whole(length);
            let new = |i: usize, old: u8| old & bytes.get(i).copied().unwrap_or(0xFF);
            self.damage(offset, whole, new).map_err(CutError::Flash)?;
            return self.switch_off();
        }
        self.flash.write(offset, bytes).map_err(CutError::Flash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Ecc, EccError, RamFlash};

    type Small = RamFlash<2, 8, 1>;

    fn after(damage: Damage) -> [u8; 16] {
        let mut flash = Small::new();
        flash.write(8, &[0x0F; 8]).unwrap();
        let mut cut = Cut::at(&mut flash, 1, damage);
        cut.write(0, &[0xF0; 4]).unwrap();
        assert_eq!(cut.erase(8, 16), Err(CutError::Off));
        assert_eq!((cut.is_off(), cut.operations()), (true, 2));
        let mut cells = [0; 16];
        assert_eq!(cut.read(0, &mut cells), Err(CutError::Off));
        flash.read(0, &mut cells).unwrap();
        cells
    }

    #[test]
    fn an_erase_is_cut_at_its_operation() {
        for (damage, erased) in [(Damage::Nothing, 0), (Damage::Half, 4), (Damage::AllButLast, 7), (Damage::All, 8)] {
            let cells = after(damage);
            assert_eq!(cells[..8], [0xF0, 0xF0, 0xF0, 0xF0, 0xFF, 0xFF, 0xFF, 0xFF]);
            assert!(cells[8..].iter().enumerate().all(|(i, cell)| *cell == if i < erased { 0xFF } else { 0x0F }));
        }
        let cells = after(Damage::Random(1));
        // Ones stay, zeros are gone or not, and both happen.
        assert!(cells[8..].iter().all(|cell| cell & 0x0F == 0x0F));
        assert!(cells[8..].iter().any(|cell| *cell != 0x0F) && cells[8..].iter().any(|cell| *cell != 0xFF));
    }

    #[test]
    fn a_write_only_clears_bits() {
        let mut flash = Small::new();
        let mut cut = Cut::at(&mut flash, 0, Damage::Random(3));
        assert_eq!(cut.write(0, &[0x0F; 8]), Err(CutError::Off));
        let mut cells = [0; 8];
        flash.read(0, &mut cells).unwrap();
        assert!(cells.iter().all(|cell| cell & 0x0F == 0x0F) && cells.iter().any(|cell| *cell != 0xFF));
    }

    /// The words before the torn one are written, those after it are not, and each can be the torn one.
    #[test]
    fn a_torn_write_has_one_torn_word() {
        let mut seen = [0; 4];
        for seed in 0..100 {
            let mut flash = Ecc::<RamFlash<1, 64, 8>, 8>::new(RamFlash::new());
            assert_eq!(Cut::at(&mut flash, 0, Damage::Torn(seed)).write(8, &[0; 32]), Err(CutError::Off));
            let mut word = [0; 8];
            let words: [_; 8] = core::array::from_fn(|i| flash.read(8 * i as u32, &mut word).map(|()| word[0]));
            let torn = words.iter().position(|word| word.is_err()).unwrap();
            let expected: [_; 8] = core::array::from_fn(|i| match i {
                i if i == torn => Err(EccError::Torn),
                i if (1..torn).contains(&i) => Ok(0),
                _ => Ok(0xFF),
            });
            assert_eq!(words, expected, "seed {seed}");
            seen[torn - 1] += 1;
        }
        assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
    }

    /// Of eight bytes the last two are ones, which need no writing.
    #[test]
    fn a_write_is_cut_among_its_bytes_with_a_zero() {
        for (damage, written) in [(Damage::Nothing, 0), (Damage::Half, 3), (Damage::AllButLast, 5), (Damage::All, 6)] {
            let mut flash = Small::new();
            let bytes = [1, 2, 3, 4, 5, 6, 0xFF, 0xFF];
            assert_eq!(Cut::at(&mut flash, 0, damage).write(8, &bytes), Err(CutError::Off));
            let mut cells = [0; 16];
            flash.read(0, &mut cells).unwrap();
            assert_eq!(cells[..8], [0xFF; 8]);
            let is_right = |(i, cell): (usize, &u8)| *cell == if i < written { bytes[i] } else { 0xFF };
            assert!(cells[8..].iter().enumerate().all(is_right), "{damage:?}: {cells:?}");
        }
    }

    #[test]
    fn a_torn_erase_leaves_each_word_erased_as_before_or_torn() {
        let mut seen = [0; 3];
        for seed in 0..40 {
            let mut flash = Ecc::<RamFlash<2, 64, 8>, 16>::new(RamFlash::new());
            flash.write(0, &[7; 128]).unwrap();
            assert_eq!(Cut::at(&mut flash, 0, Damage::Torn(seed)).erase(64, 128), Err(CutError::Off));
            for word in 0..16 {
                let mut read = [0; 8];
                let state = match (flash.read(8 * word, &mut read), read) {
                    (Ok(()), [7, 7, 7, 7, 7, 7, 7, 7]) => 0,
                    (Ok(()), [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) => 1,
                    (Err(EccError::Torn), _) => 2,
                    other => panic!("seed {seed}, word {word}: {other:?}"),
                };
                assert!(word >= 8 || state == 0, "the other page is as before");
                seen[state] += u32::from(word >= 8);
            }
        }
        assert!(seen.iter().all(|count| *count > 40), "{seen:?}");
    }

    /// Each bit of a write that is cut at random is the old or the new one, and the same seed repeats it.
    #[test]
    fn random_damage_leaves_each_bit_old_or_new() {
        let damaged = |seed: u64| {
            let mut flash = Small::new();
            flash.poke(0, &[0b1010_1010; 8]).unwrap();
            let _ = Cut::at(&mut flash, 0, Damage::Random(seed)).write(0, &[0b1100_1100; 8]);
            let mut cells = [0; 8];
            flash.read(0, &mut cells).unwrap();
            cells
        };
        let (mut ones, mut zeros) = (0xFF, 0);
        for cell in (0..20).flat_map(damaged) {
            // Where both are one, it stays; a bit that was zero is never set.
            assert_eq!(cell & 0b1101_1101, 0b1000_1000, "{cell:08b}");
            (ones, zeros) = (ones & cell, zeros | cell);
        }
        assert_eq!((ones, zeros), (0b1000_1000, 0b1010_1010));
        assert_eq!(damaged(3), damaged(3));
        assert_ne!(damaged(3), damaged(4));
    }

    #[test]
    fn what_is_asked_for_is_called_at_the_cut_and_not_before() {
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static CALLS: AtomicU32 = AtomicU32::new(0);
        let mut flash = Small::new();
        let mut cut = Cut::at(&mut flash, 1, Damage::All).when_off(|| _ = CALLS.fetch_add(1, Relaxed));
        assert_eq!((cut.write(0, &[1]), CALLS.load(Relaxed), cut.is_off()), (Ok(()), 0, false));
        assert_eq!((cut.write(1, &[2]), CALLS.load(Relaxed), cut.is_off()), (Err(CutError::Off), 1, true));
        assert_eq!((cut.erase(0, 8), CALLS.load(Relaxed)), (Err(CutError::Off), 1));
        assert_eq!((cut.capacity(), cut.operations()), (16, 2));
    }
}
