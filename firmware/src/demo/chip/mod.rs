//! Registers that decide how a chip runs its code, as knobs: wait states, prefetch, caches.
//!
//! Each chip has a table: [`stm32f4`], [`nrf52840`], [`rp2350`], and [`cortex_m`] for any other. A
//! [`Field`] is a few bits of a register; each level of its knob is a value for them. [`Registers`]
//! makes an objective of a table and a measurement.
//!
//! **Choices**
//! - A table lists only settings that are safe at the clock after reset, in every combination and
//!   order: any wait state is enough for the flash at that clock.
//! - Levels are in the order *off, on*, whether the bit enables or disables.
//! - Each write is read back, as the manuals demand for wait states; a register that does not hold
//!   it fails the measurement. QEMU reads zero for most of these registers, so there the check is
//!   off.
//! - The tables hold the only addresses, so code that has a field may write it.
//!
//! **Cost.** A read, a write and a read per field.

use trimtab::{Combination, Knob, Level};

use trimtab_embedded::objective::Objective;

pub mod cortex_m;
pub mod nrf52840;
pub mod rp2350;
pub mod stm32f4;
pub mod work;

/// Levels of a bit that enables.
const ENABLES: &[u32] = &[0, 1];
/// Levels of a bit that disables.
const DISABLES: &[u32] = &[1, 0];

/// A few bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, for logs.
    pub name: &'static str,
    address: usize,
    shift: u32,
    bits: u32,
    values: &'static [u32],
    reset: Level,
}

impl Field {
    /// One bit: level 0 is off, level 1 is on.
    const fn bit(name: &'static str, address: usize, shift: u32, values: &'static [u32], reset: Level) -> Self {
        Self { name, address, shift, bits: 1, values, reset }
    }

    /// The address of the register.
    pub const fn address(&self) -> usize {
        self.address
    }

    /// The bits of the field in its register.
    pub const fn mask(&self) -> u32 {
        (u32::MAX >> (u32::BITS - self.bits)) << self.shift
    }

    /// The bits that a level writes. A level that the knob does not have writes the value after
    /// reset.
    pub fn value(&self, level: Level) -> u32 {
        let at = |level: Level| self.values.get(usize::from(level));
        at(level).or_else(|| at(self.reset)).map_or(0, |value| value << self.shift)
    }

    /// A level for logs: 0 or 1 for off or on, otherwise the number that is written.
    pub fn shown(&self, level: Level) -> u32 {
        if self.bits == 1 { u32::from(level) } else { self.value(level) >> self.shift }
    }

    /// The level after reset.
    pub const fn reset(&self) -> Level {
        self.reset
    }

    /// The knob: nominal with two levels, ranked with more.
    pub const fn knob(&self) -> Knob {
        match self.values.len() {
            levels @ 0..=2 => Knob::nominal(levels as u16),
            levels => Knob::ranked(levels as u16),
        }
    }
}

/// The knobs of a table.
///
/// ```
/// use trimtab::{Knob, Space};
/// use trimtab_firmware::chip::{knobs, stm32f4};
/// const KNOBS: [Knob; 7] = knobs(&stm32f4::FIELDS);
/// assert_eq!(Space::<7>::new(&KNOBS)?.cardinality(), 512);
/// # Ok::<(), trimtab::SpaceError>(())
/// ```
pub const fn knobs<const K: usize>(fields: &[Field; K]) -> [Knob; K] {
    let mut knobs = [Knob::nominal(2); K];
    let mut i = 0;
    while i < K {
        knobs[i] = fields[i].knob();
        i += 1;
    }
    knobs
}

/// The levels after reset.
pub fn at_reset<const K: usize>(fields: &[Field; K]) -> [Level; K] {
    fields.map(|field| field.reset)
}

/// Access to registers: the chip's own, or a model in a test.
pub trait Bus {
    /// Reads the register of a field.
    fn read(&mut self, field: &Field) -> u32;

    /// Writes the register of a field.
    fn write(&mut self, field: &Field, register: u32);
}

/// The registers of a table as an objective.
#[derive(Clone, Debug)]
pub struct Registers<const K: usize, B, Read> {
    fields: [Field; K],
    bus: B,
    is_checked: bool,
    read: Read,
}

impl<const K: usize, B, Read> Registers<K, B, Read> {
    /// A table, access to its registers, whether to check each write by reading back, and the
    /// measurement.
    pub const fn new(fields: [Field; K], bus: B, is_checked: bool, read: Read) -> Self {
        Self { fields, bus, is_checked, read }
    }
}

/// Why a setting has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError<E> {
    /// The field of this name did not hold its value.
    NotTaken(&'static str),
    /// The measurement failed.
    Read(E),
}

impl<const K: usize, B: Bus, E, Read: FnMut() -> Result<f32, E>> Objective<K> for Registers<K, B, Read> {
    type Error = RegisterError<E>;

    fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        for (field, level) in self.fields.iter().zip(c.levels()) {
            let (mask, value) = (field.mask(), field.value(*level));
            let others = self.bus.read(field) & !mask;
            self.bus.write(field, others | value);
            if self.is_checked && self.bus.read(field) & mask != value {
                return Err(RegisterError::NotTaken(field.name));
            }
        }
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        (self.read)().map_err(RegisterError::Read)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use trimtab::{Config, Space};

    use super::*;
    use trimtab_embedded::objective::tune;

    fn tables() -> [&'static [Field]; 4] {
        [&cortex_m::FIELDS, &stm32f4::FIELDS, &nrf52840::FIELDS, &rp2350::FIELDS]
    }

    #[test]
    fn tables_are_sound() {
        for table in tables() {
            let mut taken = BTreeMap::<usize, u32>::new();
            for field in table {
                let bits = taken.entry(field.address()).or_default();
                assert_eq!(*bits & field.mask(), 0, "{} shares bits with another field", field.name);
                *bits |= field.mask();
                assert_eq!(field.address() % 4, 0, "{}", field.name);
                assert!(usize::from(field.reset()) < field.values.len(), "{}", field.name);
                for level in 0..field.values.len() as Level {
                    assert_eq!(field.value(level) & !field.mask(), 0, "{} does not hold level {level}", field.name);
                }
                let mut values = field.values.to_vec();
                values.dedup();
                assert_eq!(values.len(), field.values.len(), "two levels of {} are the same", field.name);
            }
        }
    }

    /// The bits by hand, from the manuals: a wrong bit can hurt a chip.
    #[test]
    fn bits_are_where_the_manuals_have_them() {
        let masks = |table: &[Field]| table.iter().map(|f| (f.address(), f.mask())).collect::<Vec<_>>();
        let actlr = 0xE000_E008;
        assert_eq!(masks(&cortex_m::FIELDS), [(actlr, 1 << 1), (actlr, 1 << 2), (actlr, 1 << 9)]);
        let acr = 0x4002_3C00;
        assert_eq!(masks(&stm32f4::FIELDS)[..4], [(acr, 0b111), (acr, 1 << 8), (acr, 1 << 9), (acr, 1 << 10)]);
        assert_eq!(masks(&nrf52840::FIELDS)[..1], [(0x4001_E540, 1)]);
        assert_eq!(masks(&rp2350::FIELDS)[..2], [(0x400C_8000, 1), (0x400D_000C, 0xFF)]);
    }

    /// Registers that hold each write.
    #[derive(Default)]
    struct Model {
        registers: BTreeMap<usize, u32>,
        /// Bits that cannot be set.
        broken: u32,
    }

    struct Wire<'m>(&'m RefCell<Model>);

    impl Bus for Wire<'_> {
        fn read(&mut self, field: &Field) -> u32 {
            self.0.borrow().registers.get(&field.address()).copied().unwrap_or(0)
        }

        fn write(&mut self, field: &Field, register: u32) {
            let mut model = self.0.borrow_mut();
            let held = register & !model.broken;
            model.registers.insert(field.address(), held);
        }
    }

    #[test]
    fn a_field_leaves_the_other_bits_alone() {
        let model = RefCell::new(Model::default());
        model.borrow_mut().registers.insert(0x4002_3C00, 0xFFFF_0000);
        let mut registers = Registers::new(stm32f4::FIELDS, Wire(&model), true, || Ok::<_, ()>(0.0));
        let space = Space::<7>::new(&knobs(&stm32f4::FIELDS)).unwrap();
        registers.apply(&space.combination(&[5, 1, 0, 1, 1, 0, 1]).unwrap()).unwrap();
        // Five wait states, prefetch (8) and data cache (10); of the core's switches folding (2) is
        // off.
        let expected = [(0x4002_3C00, 0xFFFF_0505), (0xE000_E008, 0b100)];
        assert_eq!(model.borrow().registers, BTreeMap::from(expected));
    }

    #[test]
    fn a_register_that_does_not_hold_its_value_fails_if_checked() {
        let model = RefCell::new(Model { broken: 1 << 9, ..Model::default() });
        let space = Space::<7>::new(&knobs(&stm32f4::FIELDS)).unwrap();
        let c = space.combination(&[0, 0, 1, 0, 1, 1, 1]).unwrap();
        for (is_checked, expected) in [(true, Err(RegisterError::NotTaken("instruction cache"))), (false, Ok(7.0))] {
            let mut registers = Registers::new(stm32f4::FIELDS, Wire(&model), is_checked, || Ok::<_, ()>(7.0));
            assert_eq!(registers.evaluate(&c), expected);
        }
    }

    /// A chip where a wait state costs 4 without the caches and 1 with both, and each switch that
    /// is off costs a little.
    #[test]
    fn the_best_setting_of_a_modelled_chip_is_found() {
        const KNOBS: [Knob; 7] = knobs(&stm32f4::FIELDS);
        let model = RefCell::new(Model::default());
        let cost = || {
            let model = model.borrow();
            let (acr, actlr) = (model.registers[&0x4002_3C00], model.registers[&0xE000_E008]);
            let wait = (acr & 7) as f32 * (4.0 - 1.5 * ((acr >> 9 & 3).count_ones() as f32));
            Ok::<_, ()>(100.0 + wait + f32::from(acr >> 8 & 1 == 0) + 2.0 * actlr.count_ones() as f32)
        };
        let mut registers = Registers::new(stm32f4::FIELDS, Wire(&model), true, cost);
        let mut tuner = <trimtab::tuner!(KNOBS, observations: 48, rows: 128)>::new();
        tuner.init(Space::new(&KNOBS).unwrap(), Config::default(), 1).unwrap();
        let best = tune(&mut tuner, &mut registers, 48).unwrap().unwrap();
        // No wait state, and the switches that help without one: prefetch and the core's three.
        assert_eq!(best.value, 100.0);
        assert_eq!(model.borrow().registers[&0x4002_3C00] & 0x107, 0x100);
    }
}
