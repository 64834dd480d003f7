//! Knobs, their names and a struct of their values, from one declaration.
//!
//! **Choices**
//! - A macro by example, not a procedural one: nothing more to compile, and the crate depends on
//!   nothing for it.
//! - The values stay where they are declared: a level is an index that nobody writes.
//! - The feature `defmt` makes it loggable with names, without a derive: see `log`.

/// Declares the settings of some hardware: a struct of their values, made from a
/// [`Combination`](crate::Combination) by `of` and made one by `combination`, with `KNOBS` and
/// `NAMES` in the order of its fields.
///
/// | kind | levels | as a [`Knob`](crate::Knob) |
/// |---|---|---|
/// | `nominal` | without order: any values | [`Knob::nominal`](crate::Knob::nominal) |
/// | `ranked` | in order, evenly spaced: any values | [`Knob::ranked`](crate::Knob::ranked) |
/// | `linear` | numbers that compare by their difference | [`Knob::graded`](crate::Knob::graded), [`Scale::Linear`](crate::Scale::Linear) |
/// | `log` | numbers that compare by their ratio | the same, [`Scale::Log`](crate::Scale::Log) |
/// | `range` | first, last and step: up to 65 536 numbers, without a table | [`Knob::range`](crate::Knob::range) |
/// | `log_range` | first, last and number of levels, at equal ratios | [`Knob::log_range`](crate::Knob::log_range) |
///
/// A range is of any type of number. Its values are `f32` before they are rounded to that type: whole
/// numbers are exact up to 2²⁴.
///
/// The struct is `Clone`, `Copy`, `Debug` and `PartialEq`. With the feature `defmt` it is also
/// `defmt::Format`: `info!("{}", Receiver::of(&c))` logs `Receiver { input: Input::Loop, gain: 5, khz:
/// 500 }`. A derive of your own would be a second one.
///
/// ```
/// use trimtab::{Config, Space};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Input { Antenna, Loop, Test }
///
/// trimtab::knobs! {
///     /// The settings of a receiver.
///     struct Receiver {
///         input: Input = nominal [Input::Antenna, Input::Loop, Input::Test],
///         gain: u8 = ranked [0, 1, 2, 3, 4, 5, 6, 7],
///         khz: u32 = log [125, 250, 500, 1000],
///     }
/// }
/// trimtab::knobs! {
///     /// A 12-bit DAC, and a timer over three decades.
///     struct Source {
///         dac: u16 = range [0, 4095, 1],
///         period: u32 = log_range [10, 10_000, 3001],
///     }
/// }
/// let c = Space::new(&Source::KNOBS)?.combination(&[1234, 1000])?;
/// assert_eq!(Source::of(&c), Source { dac: 1234, period: 100 });
/// type MyTuner = trimtab::tuner!(Receiver::KNOBS, observations: 32, rows: 64);
///
/// # fn measure(receiver: Receiver) -> f32 {
/// #     let off = if receiver.input == Input::Loop { 0.0 } else { 9.0 };
/// #     off + f32::from(receiver.gain.abs_diff(5)) + receiver.khz.abs_diff(500) as f32 / 100.0
/// # }
/// let mut tuner = MyTuner::new();
/// tuner.init(Space::new(&Receiver::KNOBS)?, Config::default(), 1)?;
/// let today = Receiver { input: Input::Antenna, gain: 3, khz: 250 };
/// if let Some(c) = today.combination(tuner.space()) {
///     tuner.enqueue(&c)?;                             // asked first
/// }
/// for _ in 0..32 {
///     let c = tuner.ask()?.combination;
///     tuner.tell(&c, measure(Receiver::of(&c)))?;     // values, not levels
/// }
/// let best = tuner.best_observed().map(|best| Receiver::of(&best.combination));
/// assert_eq!(best, Some(Receiver { input: Input::Loop, gain: 5, khz: 500 }));
/// assert_eq!(Receiver::NAMES, ["input", "gain", "khz"]);
/// # Ok::<(), trimtab::Error>(())
/// ```
#[macro_export]
macro_rules! knobs {
    (
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($(#[$about:meta])* $knob:ident: $type:ty = $kind:ident [$($value:expr),+ $(,)?]),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $visible struct $name {
            $($(#[$about])* $visible $knob: $type,)+
        }

        #[allow(dead_code)]
        impl $name {
            /// The knobs, in the order of the fields.
            $visible const KNOBS: [$crate::Knob; [$(stringify!($knob)),+].len()] =
                [$($crate::knobs!(@knob $kind [$($value),+])),+];
            /// Their names.
            $visible const NAMES: [&'static str; [$(stringify!($knob)),+].len()] = [$(stringify!($knob)),+];

            /// The values of a combination's levels.
            $visible fn of(c: &$crate::Combination<{ [$(stringify!($knob)),+].len() }>) -> Self {
                let mut levels = c.levels().iter();
                Self {
                    $($knob: {
                        let level = levels.next().map_or(0, |level| *level);
                        $crate::knobs!(@value $kind $type [$($value),+] level)
                    },)+
                }
            }

            /// The combination with these values; `None` if one is not among its knob's levels.
            $visible fn combination(
                &self,
                space: &$crate::Space<{ [$(stringify!($knob)),+].len() }>,
            ) -> Option<$crate::Combination<{ [$(stringify!($knob)),+].len() }>> {
                let levels = [$($crate::knobs!(@level $kind $type [$($value),+] self.$knob)),+];
                space.combination(&levels).ok()
            }
        }

        $crate::log_knobs! { $name $($knob: $kind $type [$($value),+]),+ }
    };
    (@knob range [$first:expr, $last:expr, $step:expr]) => {
        $crate::Knob::range($first as f32, $last as f32, $step as f32)
    };
    (@knob range [$($value:expr),+]) => { compile_error!("a range is range [first, last, step]") };
    (@knob log_range [$first:expr, $last:expr, $levels:expr]) => {
        $crate::Knob::log_range($first as f32, $last as f32, $levels)
    };
    (@knob log_range [$($value:expr),+]) => { compile_error!("a log_range is log_range [first, last, levels]") };
    (@value range $type:ty [$($value:expr),+] $level:expr) => {
        $crate::knobs!(@formula (range [$($value),+]) $type, $level)
    };
    (@value log_range $type:ty [$($value:expr),+] $level:expr) => {
        $crate::knobs!(@formula (log_range [$($value),+]) $type, $level)
    };
    (@value $kind:ident $type:ty [$($value:expr),+] $level:expr) => {{
        const VALUES: [$type; [$(stringify!($value)),+].len()] = [$($value),+];
        // A combination has no other levels.
        match VALUES.get(usize::from($level)) {
            Some(value) => *value,
            None => VALUES[0],
        }
    }};
    (@formula ($($knob:tt)+) $type:ty, $level:expr) => {{
        const KNOB: $crate::Knob = $crate::knobs!(@knob $($knob)+);
        <$type as $crate::internals::Value>::of(KNOB.value($level).unwrap_or(0.0))
    }};
    (@level range $type:ty [$($value:expr),+] $own:expr) => {
        $crate::knobs!(@found (range [$($value),+]) $type, $own)
    };
    (@level log_range $type:ty [$($value:expr),+] $own:expr) => {
        $crate::knobs!(@found (log_range [$($value),+]) $type, $own)
    };
    (@level $kind:ident $type:ty [$($value:expr),+] $own:expr) => {{
        const VALUES: [$type; [$(stringify!($value)),+].len()] = [$($value),+];
        let level = VALUES.iter().position(|value| *value == $own)?;
        $crate::Level::try_from(level).ok()?
    }};
    (@found ($($knob:tt)+) $type:ty, $own:expr) => {{
        const KNOB: $crate::Knob = $crate::knobs!(@knob $($knob)+);
        let level = KNOB.nearest($crate::internals::Value::number(&$own))?;
        if $crate::internals::Value::is(&$own, KNOB.value(level)?) { level } else { return None }
    }};
    (@knob nominal [$($value:expr),+]) => { $crate::Knob::nominal([$(stringify!($value)),+].len() as u16) };
    (@knob ranked [$($value:expr),+]) => { $crate::Knob::ranked([$(stringify!($value)),+].len() as u16) };
    (@knob linear [$($value:expr),+]) => { $crate::Knob::graded(&[$($value as f32),+], $crate::Scale::Linear) };
    (@knob log [$($value:expr),+]) => { $crate::Knob::graded(&[$($value as f32),+], $crate::Scale::Log) };
    (@knob $kind:ident [$($value:expr),+]) => {
        compile_error!(concat!("a knob is nominal, ranked, linear, log, range or log_range, not ", stringify!($kind)))
    };
}

/// Implements `defmt::Format` for a struct of [`knobs!`](crate::knobs!).
#[cfg(feature = "defmt")]
#[doc(hidden)]
#[macro_export]
macro_rules! log_knobs {
    (
        $name:ident $first:ident: $kind:ident $type:ty [$($value:expr),+]
        $(, $knob:ident: $kinds:ident $types:ty [$($values:expr),+])*
    ) => {
        impl $crate::internals::log::Format for $name {
            fn format(&self, f: $crate::internals::log::Formatter<'_>) {
                $crate::internals::log::open(f, stringify!($name));
                $crate::log_knobs!(@field self f $first: $kind $type [$($value),+]);
                $(
                    $crate::internals::log::next(f);
                    $crate::log_knobs!(@field self f $knob: $kinds $types [$($values),+]);
                )*
                $crate::internals::log::close(f);
            }
        }
    };
    (@field $self:ident $f:ident $knob:ident: range $type:ty [$($value:expr),+]) => {
        $crate::log_knobs!(@number $self $f $knob)
    };
    (@field $self:ident $f:ident $knob:ident: log_range $type:ty [$($value:expr),+]) => {
        $crate::log_knobs!(@number $self $f $knob)
    };
    (@number $self:ident $f:ident $knob:ident) => {{
        use $crate::internals::log::{ByFormat as _, Field};
        // Every number has a format of its own.
        Field { name: stringify!($knob), value: &$self.$knob, values: &[], texts: &[] }.log($f);
    }};
    (@field $self:ident $f:ident $knob:ident: $kind:ident $type:ty [$($value:expr),+]) => {{
        #[allow(unused_imports, clippy::needless_borrow)]
        use $crate::internals::log::{ByFormat as _, ByText as _, Field};
        const TEXTS: [&str; [$(stringify!($value)),+].len()] = [$(stringify!($value)),+];
        const VALUES: [$type; TEXTS.len()] = [$($value),+];
        (&Field { name: stringify!($knob), value: &$self.$knob, values: &VALUES, texts: &TEXTS }).log($f);
    }};
}

/// Without the feature `defmt` there is nothing to implement.
#[cfg(not(feature = "defmt"))]
#[doc(hidden)]
#[macro_export]
macro_rules! log_knobs {
    ($($declaration:tt)*) => {};
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::space::Space;
    use crate::space::knob::{Knob, Scale};

    knobs! {
        struct Mixed {
            mode: char = nominal ['a', 'b', 'c'],
            step: u8 = ranked [10, 20],
            hertz: u32 = linear [1, 2, 5],
            farad: f32 = log [1e-9, 1e-6],
        }
    }

    knobs! {
        struct Ranges {
            dac: u16 = range [0, 4095, 1],
            offset: i32 = range [500, -500, -5],
            volts: f32 = range [0.0, 3.3, 0.1],
            period: u32 = log_range [1, 1_000_000, 601],
            mode: char = nominal ['a', 'b'],
        }
    }

    #[test]
    fn a_range_has_values_by_its_formula_and_back() {
        let space = Space::<5>::new(&Ranges::KNOBS).unwrap();
        assert_eq!(Ranges::KNOBS.map(|knob| knob.levels()), [4096, 201, 34, 601, 2]);
        for i in (0..201).step_by(crate::math::times(1, 67)) {
            let c = space.combination(&[20 * i, i, i / 6, 3 * i, i % 2]).unwrap();
            let own = Ranges::of(&c);
            assert_eq!((own.dac, own.offset), (20 * i, 500 - 5 * i32::from(i)));
            assert!((own.volts - 0.1 * f32::from(i / 6)).abs() < 1e-5);
            // Near 1 several levels round to one number, and the nearest of them has it too.
            let back = own.combination(&space).map(|c| Ranges::of(&c));
            assert_eq!(back, Some(own));
            assert!(i < 150 || own.combination(&space) == Some(c), "{i}");
        }
        let base = Ranges::of(&space.at(0).unwrap());
        assert_eq!(Ranges { dac: 4096, ..base }.combination(&space), None);
        assert_eq!(Ranges { offset: 3, ..base }.combination(&space), None);
        assert_eq!(Ranges { volts: 0.15, ..base }.combination(&space), None);
        assert_eq!(Ranges { volts: 1.1, ..base }.combination(&space).map(|c| c.level(2)), Some(11));
    }

    #[test]
    fn one_declaration_has_knobs_names_and_values() {
        let [mode, step, hertz, farad] = Mixed::KNOBS;
        assert_eq!((mode, step), (Knob::nominal(3), Knob::ranked(2)));
        assert_eq!(hertz, Knob::graded(&[1.0, 2.0, 5.0], Scale::Linear));
        assert_eq!(farad, Knob::graded(&[1e-9, 1e-6], Scale::Log));
        assert_eq!(Mixed::NAMES, ["mode", "step", "hertz", "farad"]);
        let space = Space::<4>::new(&Mixed::KNOBS).unwrap();
        for i in 0..=space.last_index() {
            let c = space.at(i).unwrap();
            let levels = [c.level(0), c.level(1), c.level(2), c.level(3)].map(usize::from);
            let expected = Mixed {
                mode: ['a', 'b', 'c'][levels[0]],
                step: [10, 20][levels[1]],
                hertz: [1, 2, 5][levels[2]],
                farad: [1e-9, 1e-6][levels[3]],
            };
            assert_eq!(Mixed::of(&c), expected);
            assert_eq!(expected.combination(&space), Some(c));
        }
        let other = Mixed { mode: 'a', step: 15, hertz: 1, farad: 1e-9 };
        assert_eq!(other.combination(&space), None);
    }
}
