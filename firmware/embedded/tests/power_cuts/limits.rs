//! Limits in the log: margins survive cuts and page turns, and so does the best that keeps them.

use trimtab::{Event, Margins, TellError};
use trimtab_embedded::objective::{Objective, step};

use super::*;

type Limited = trimtab::tuner!(KNOBS, observations: 16, rows: 16, limits: 2);
type Roomy = RamFlash<3, 512, 4>;
const ROOMY: Layout = Layout { range: 0..3 * 512, records: 8 };

/// The hardware: its second number must stay below a limit; a third of all combinations fail.
struct Board(Option<Combination<6>>);

impl Objective<6> for Board {
    type Error = &'static str;

    fn apply(&mut self, c: &Combination<6>) -> Result<(), Self::Error> {
        self.0 = Some(*c);
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        self.0.as_ref().and_then(measure).ok_or("a crash")
    }

    fn margins(&mut self) -> Margins {
        let level = |i| self.0.map_or(0.0, |c| f32::from(c.level(i)));
        Margins::new(&[6.0 - level(1) - level(4), 1.5 - level(0) - level(3)]).unwrap_or_default()
    }
}

/// Each write and erase of a run is cut once, and the next boot goes on.
///
/// promise: Persistent::tell_with | a power cut at any write or erase | margins and proposals are those of an uncut run
#[test]
fn a_cut_changes_no_bit_of_a_run_with_limits() {
    let end = |cut: Option<(u32, Damage)>| {
        let (mut flash, mut tuner) = (Roomy::new(), Box::new(Limited::new()));
        // The last boot only replays.
        for cut in [cut, None, None] {
            let mut flash = match cut {
                Some((at, damage)) => Cut::at(&mut flash, at, damage),
                None => Cut::never(&mut flash),
            };
            let (mut kept, _) = Persistent::open(&mut tuner, &task(), &mut flash, ROOMY).unwrap();
            while kept.trouble().is_none() && kept.total() < 40 {
                step(&mut kept, &mut Board(None)).unwrap();
            }
        }
        let own = tuner.observations().map(|o| (o.combination, o.value.to_bits(), tuner.margins(&o.combination)));
        let own: Vec<_> = own.collect();
        (own, tuner.limits(), tuner.clone().ask().map(|next| (next.combination, next.score.to_bits())))
    };
    let uncut = end(None);
    assert_eq!(uncut.1, 2);
    for at in 0..60 {
        let damage = DAMAGES[at as usize % DAMAGES.len()];
        assert_eq!(end(Some((at, damage))), uncut, "{at} {damage:?}");
    }
}

/// promise: Persistent::tell_with | the flash is full, page after page | the best that keeps the limits stays, whatever breaks them
/// promise: Persistent::tell_with | margins that the tuner refuses | an error, and nothing is written
#[test]
fn the_best_that_keeps_the_limits_survives_every_page_turn() {
    for when_full in [WhenFull::ForgetWorst, WhenFull::ForgetOldest] {
        let task = Task { config: Config { when_full, ..Config::default() }, ..task() };
        let (mut flash, mut tuner) = (Roomy::new(), Box::new(Limited::new()));
        let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, ROOMY).unwrap();
        let good = task.space.at(0).unwrap();
        kept.tell_with(&good, 50.0, &[1.0, 0.0]).unwrap();
        let total = kept.total();
        assert_eq!(kept.tell(&good, 1.0), Err(TellError::Margins { given: 0, expected: 2 }.into()));
        assert_eq!(kept.tell_with(&good, 1.0, &[1.0; 5]), Err(TellError::Margins { given: 5, expected: 2 }.into()));
        assert_eq!(kept.total(), total);
        for i in 1..150_u64 {
            // Better, but each breaks a limit; a tuner that forgets the oldest holds the good one by repeats.
            let number = if when_full == WhenFull::ForgetOldest { 1 + i % 14 } else { i };
            kept.tell_with(&task.space.at(number).unwrap(), -(i as f32), &[1.0, -0.1]).unwrap();
            assert_eq!(kept.tuner().best_observed().map(|best| best.combination), Some(good), "{when_full:?} {i}");
        }
        drop(kept);
        let (kept, _) = Persistent::open(&mut tuner, &task, &mut flash, ROOMY).unwrap();
        assert_eq!(kept.tuner().best_observed().map(|best| best.combination), Some(good), "{when_full:?}");
    }
}

/// A margin that is not finite is a failure, as such a value is.
#[test]
fn a_margin_that_is_not_finite_is_a_failure() {
    struct Broken;
    impl Objective<6> for Broken {
        type Error = ();
        fn apply(&mut self, _: &Combination<6>) -> Result<(), ()> {
            Ok(())
        }
        fn measure(&mut self) -> Result<f32, ()> {
            Ok(1.0)
        }
        fn margins(&mut self) -> Margins {
            Margins::new(&[f32::NAN]).unwrap_or_default()
        }
    }
    assert_eq!(Broken.outcome(&task().space.at(0).unwrap()), Event::Failed);
}
