//! The type of a tuner, its sizes computed from the knobs.

/// The type of a tuner for a constant array of knobs, with its sizes computed.
///
/// `observations` is the number of observations to keep and `rows` the number of candidates in the
/// lookup table; [how to choose them](crate::Tuner#how-large). With `dimensions`, a random map projects
/// the features to that many dimensions, as in the paper; without it nothing is projected, which finds
/// better combinations. With `prior`, the tuner has room for what earlier boards taught, see
/// [`Tuner::init_with_prior`](crate::Tuner::init_with_prior). With `pending`, so many combinations can
/// be asked before the first is told, instead of [`MOST_PENDING`](crate::MOST_PENDING); with 1, what
/// several at once need is not linked. With `config`, the configuration is fixed when the program is
/// built, and what it never needs is not linked either, see [`settings`](crate::settings).
///
/// ```
/// use trimtab::{Config, Knob, Space};
/// const KNOBS: [Knob; 3] = [Knob::nominal(4), Knob::ranked(8), Knob::nominal(3)];
/// type MyTuner = trimtab::tuner!(KNOBS, observations: 32, rows: 64);
///
/// let mut tuner = MyTuner::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// for _ in 0..32 {
///     let proposal = tuner.ask()?;
///     let [mux, wait, mode] = proposal.combination.levels() else { unreachable!() };
///     let cost = f32::from(*mux) + (f32::from(*wait) - 5.0).abs() + f32::from(*mode);
///     tuner.tell(&proposal.combination, cost)?;
/// }
/// assert_eq!(tuner.best_observed().map(|best| best.value), Some(0.0));
/// # Ok::<(), trimtab::Error>(())
/// ```
///
/// Sizes and knobs that cannot work are errors of `cargo check`:
///
/// ```compile_fail
/// # use trimtab::Knob;
/// type NoRoom = trimtab::tuner!([Knob::nominal(2); 3], observations: 0, rows: 16);
/// # fn f(_: &NoRoom) {}
/// ```
///
/// ```compile_fail
/// # use trimtab::Knob;
/// type TooManyLevels = trimtab::tuner!([Knob::nominal(300)], observations: 8, rows: 16);
/// # fn f(_: &TooManyLevels) {}
/// ```
///
/// ```compile_fail
/// # use trimtab::Knob;
/// type WrongWay = trimtab::tuner!([Knob::range(0.0, 4095.0, -1.0)], observations: 8, rows: 16);
/// # fn f(_: &WrongWay) {}
/// ```
#[macro_export]
macro_rules! tuner {
    ($knobs:expr, observations: $t:expr, rows: $l:expr $(, limits: $g:expr)? $(, pending: $a:expr)?
     $(, config: $s:ty)?) => {
        $crate::Tuner<
            { $crate::tuner!(@knobs $knobs) },
            { $crate::sizes::graded_levels(&$knobs) },
            0,
            { $crate::tuner!(@observations $t) },
            { $crate::tuner!(@rows $l) },
            { $crate::sizes::triangle($t) },
            0,
            { $crate::tuner!(@or 0 $(, $g)?) },
            { $crate::tuner!(@or $crate::MOST_PENDING $(, $a)?) },
            $($s)?
        >
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, prior $(, config: $s:ty)?) => {
        $crate::Tuner<
            { $crate::tuner!(@knobs $knobs) },
            { $crate::sizes::graded_levels(&$knobs) },
            0,
            { $crate::tuner!(@observations $t) },
            { $crate::tuner!(@rows $l) },
            { $crate::sizes::triangle($t) },
            { $crate::sizes::PRIOR },
            0,
            { $crate::MOST_PENDING },
            $($s)?
        >
    };
    ($knobs:expr, observations: $t:expr, rows: $l:expr, dimensions: $d:expr) => {
        $crate::Tuner<
            { $crate::tuner!(@knobs $knobs) },
            { $crate::sizes::features(&$knobs) },
            { $d },
            { $crate::tuner!(@observations $t) },
            { $crate::tuner!(@rows $l) },
            { $crate::sizes::triangle($t) },
        >
    };
    // Checked here, and not by the functions that take these, so that `cargo check` says it: only a
    // build looks into functions. Knobs that are not constant are checked by `Space::new`.
    (@knobs $knobs:expr) => {{
        let knobs: &[$crate::Knob] = &$knobs;
        let mut i = 0;
        while i < knobs.len() {
            assert!(
                !matches!(knobs[i], $crate::Knob::Refused { .. }),
                "a range needs finite numbers, a step towards its last value and at most 65 536 levels"
            );
            assert!(knobs[i].levels() > 0, "a knob needs at least one level");
            assert!(
                knobs[i].is_range() || knobs[i].levels() <= $crate::MOST_LISTED,
                "a knob has at most 256 levels: make it a range or two knobs"
            );
            i += 1;
        }
        knobs.len()
    }};
    (@observations $t:expr) => {{
        assert!($t >= 1 && $t <= 65_535, "a tuner holds 1 to 65 535 observations");
        $t
    }};
    (@or $default:expr) => { $default };
    (@or $default:expr, $given:expr) => { $given };
    (@rows $l:expr) => {{
        assert!($l >= 1, "the lookup table needs at least one row");
        $l
    }};
}
