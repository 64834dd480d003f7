//! Nothing measured is lost.

use embedded_storage::nor_flash::ReadNorFlash as _;
use trimtab::TellError;

use super::*;

type Large = trimtab::tuner!(KNOBS, observations: 24, rows: 16);
type FourPages = RamFlash<4, PAGE, 4>;
const FOUR_PAGES: Layout = Layout { range: 0..(4 * PAGE) as u32, records: 8 };

fn task_when(when_full: WhenFull) -> Task<6> {
    Task { config: Config { when_full, ..Config::default() }, ..task() }
}

/// Tells the first combinations of the space their own number.
fn tell_numbers<F: NorFlash>(kept: &mut Persistent<'_, F, 6, 0, 4, 24, 16, 300>, numbers: std::ops::Range<u64>) {
    for number in numbers {
        kept.tell(&task().space.at(number).unwrap(), number as f32).unwrap();
    }
}

fn bytes<const PAGES: usize>(flash: &mut RamFlash<PAGES, PAGE, 4>) -> Vec<u8> {
    let mut bytes = vec![0; PAGES * PAGE];
    flash.read(0, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_refused_tell_leaves_the_flash_alone() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::Refuse);
    let odd = |c: &Combination<6>| c.level(0) == 0 || c.level(1) < 7;
    let odd: &'static (dyn Fn(&Combination<6>) -> bool + Sync) = Box::leak(Box::new(odd));
    let task = Task { space: task.space.with_feasible(odd), ..task };
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    let feasible: Vec<_> = (0..).filter_map(|i| task.space.at(i)).filter(|c| odd(c)).take(34).collect();
    for (i, c) in feasible.iter().take(24).enumerate() {
        kept.tell(c, i as f32).unwrap();
    }
    drop(kept);
    let before = bytes(&mut flash);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    for c in &feasible[24..] {
        assert_eq!(kept.tell(c, 99.0), Err(TellError::Full.into()));
        assert_eq!(kept.tell_failed(c), Err(TellError::Full.into()));
    }
    let mut knobs = KNOBS;
    knobs[1] = Knob::ranked(200);
    let other = Space::<6>::new(&knobs).unwrap().combination(&[0, 199, 0, 0, 0, 0]).unwrap();
    let infeasible = (0..1920).filter_map(|i| task.space.at(i)).find(|c| !odd(c)).unwrap();
    for _ in 0..40 {
        assert!(kept.tell(&other, 99.0).is_err());
        assert_eq!(kept.tell(&infeasible, 99.0), Err(TellError::Infeasible.into()));
        assert_eq!(kept.tell(&feasible[0], f32::NAN), Err(TellError::NonFinite.into()));
    }
    assert_eq!(kept.tuner().best_observed().map(|best| best.value), Some(0.0));
    assert_eq!((kept.tuner().len(), kept.total()), (24, 24));
    drop(kept);
    assert!(bytes(&mut flash) == before, "no byte of the flash has changed");
}

#[test]
fn unfinished_boots_evict_no_outcome() {
    let (mut flash, mut tuner) = (FourPages::new(), Box::new(Large::new()));
    let task = task_when(WhenFull::ForgetOldest);
    let (mut kept, _) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
    tell_numbers(&mut kept, 0..20);
    drop(kept);
    for boots in 0..200 {
        let (mut kept, boot) = Persistent::open(&mut tuner, &task, &mut flash, FOUR_PAGES).unwrap();
        assert_eq!((boot.records, boot.begun), (20, ENOUGH.min(boots)), "boot {boots}");
        kept.ask().unwrap();
    }
}
