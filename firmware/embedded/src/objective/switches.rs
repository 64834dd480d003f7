//! Switches on output pins (relays, a mux, a resistor bank) as an objective, over embedded-hal.
//!
//! | part | trait | purpose |
//! |---|---|---|
//! | pins | `OutputPin` | one per knob of two levels: high at level 1 |
//! | delay | `DelayNs` | waits until contacts stop bouncing and filters settle |
//! | reader | a closure | the measurement: an ADC, a counter, an instrument |
//!
//! With embedded-hal-async's `DelayNs` and an `async` closure the same switches are an
//! [`AsyncObjective`].
//!
//! **Choices**
//! - All pins have one type, which HALs provide (`AnyPin`, `ErasedPin`, `DynPin`).
//! - If a pin refuses, the others stay as they are: the combination counts as failed, and the next
//!   one sets every pin again.
//!
//! **Cost.** K writes and one delay per measurement.

use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{OutputPin, PinState};
use trimtab::Combination;

use super::{AsyncObjective, Objective};

/// K switches and a way to measure what they do.
///
/// ```
/// # use std::cell::Cell;
/// # use core::convert::Infallible;
/// # use embedded_hal::{delay::DelayNs, digital::{ErrorType, OutputPin}};
/// # struct Pin<'c>(&'c Cell<f32>, f32);
/// # impl ErrorType for Pin<'_> { type Error = Infallible; }
/// # impl OutputPin for Pin<'_> {
/// #     fn set_low(&mut self) -> Result<(), Infallible> { Ok(()) }
/// #     fn set_high(&mut self) -> Result<(), Infallible> { self.0.set(self.0.get() + self.1); Ok(()) }
/// # }
/// # struct Delay;
/// # impl DelayNs for Delay { fn delay_ns(&mut self, _: u32) {} }
/// # let adc = Cell::new(0.0);
/// # let (pins, delay) = ([1.0, 2.0, 4.0, 8.0].map(|weight| Pin(&adc, weight)), Delay);
/// use trimtab::{Config, Knob, Space};
/// use trimtab_embedded::objective::{Switches, tune};
///
/// const KNOBS: [Knob; 4] = [Knob::nominal(2); 4];
/// type MyTuner = trimtab::tuner!(KNOBS, observations: 16, rows: 16);
///
/// // Four switched capacitors; the cost is the distance of their sum from 11.
/// let read = || Ok::<_, Infallible>((adc.take() - 11.0).abs());
/// let mut bank = Switches::new(pins, delay, 5_000, read);
/// let mut tuner = MyTuner::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
/// let best = tune(&mut tuner, &mut bank, 16)?;
/// assert_eq!(best.map(|best| best.combination.levels().to_vec()), Some(vec![1, 1, 0, 1]));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Switches<const K: usize, Pin, Delay, Read> {
    pins: [Pin; K],
    delay: Delay,
    settle_us: u32,
    read: Read,
}

impl<const K: usize, Pin, Delay, Read> Switches<K, Pin, Delay, Read> {
    /// The pins in the order of the knobs, and the microseconds they need to settle.
    pub const fn new(pins: [Pin; K], delay: Delay, settle_us: u32, read: Read) -> Self {
        Self { pins, delay, settle_us, read }
    }

    fn set<Failure>(&mut self, c: &Combination<K>) -> Result<(), SwitchError<Pin::Error, Failure>>
    where
        Pin: OutputPin,
    {
        let mut pins = self.pins.iter_mut().zip(c.levels());
        pins.try_for_each(|(pin, level)| pin.set_state(PinState::from(*level != 0)).map_err(SwitchError::Pin))
    }
}

/// Why a combination of switches has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum SwitchError<Pin, Read> {
    /// A pin refused its state.
    Pin(Pin),
    /// The measurement failed.
    Read(Read),
}

impl<const K: usize, Pin, Delay, Read, Failure> Objective<K> for Switches<K, Pin, Delay, Read>
where
    Pin: OutputPin,
    Delay: DelayNs,
    Read: FnMut() -> Result<f32, Failure>,
{
    type Error = SwitchError<Pin::Error, Failure>;

    fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        self.set(c)?;
        self.delay.delay_us(self.settle_us);
        Ok(())
    }

    fn measure(&mut self) -> Result<f32, Self::Error> {
        (self.read)().map_err(SwitchError::Read)
    }
}

impl<const K: usize, Pin, Delay, Read, Failure> AsyncObjective<K> for Switches<K, Pin, Delay, Read>
where
    Pin: OutputPin,
    Delay: embedded_hal_async::delay::DelayNs,
    Read: AsyncFnMut() -> Result<f32, Failure>,
{
    type Error = SwitchError<Pin::Error, Failure>;

    async fn apply(&mut self, c: &Combination<K>) -> Result<(), Self::Error> {
        self.set(c)?;
        self.delay.delay_us(self.settle_us).await;
        Ok(())
    }

    async fn measure(&mut self) -> Result<f32, Self::Error> {
        (self.read)().await.map_err(SwitchError::Read)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::vec::Vec;

    use embedded_hal::digital::{Error, ErrorKind, ErrorType};
    use trimtab::{Event, Knob, Space};

    use super::*;

    /// One action, in order.
    #[derive(Debug, PartialEq)]
    enum Did {
        Set(usize, bool),
        Waited(u32),
        Read,
    }
    type Log = RefCell<Vec<Did>>;

    /// Pin 2 cannot be set high.
    struct Pin<'l>(&'l Log, usize);
    #[derive(Debug, PartialEq)]
    struct Stuck;

    impl Error for Stuck {
        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    impl ErrorType for Pin<'_> {
        type Error = Stuck;
    }

    impl OutputPin for Pin<'_> {
        fn set_low(&mut self) -> Result<(), Stuck> {
            self.0.borrow_mut().push(Did::Set(self.1, false));
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), Stuck> {
            if self.1 == 2 {
                return Err(Stuck);
            }
            self.0.borrow_mut().push(Did::Set(self.1, true));
            Ok(())
        }
    }

    struct Delay<'l>(&'l Log);

    impl DelayNs for Delay<'_> {
        fn delay_ns(&mut self, ns: u32) {
            self.0.borrow_mut().push(Did::Waited(ns));
        }
    }

    #[test]
    fn pins_are_set_in_order_then_settle_then_are_read() {
        let log = Log::default();
        let pins = [0, 1, 2].map(|i| Pin(&log, i));
        let read = || {
            log.borrow_mut().push(Did::Read);
            Ok::<f32, ()>(2.5)
        };
        let mut switches = Switches::new(pins, Delay(&log), 30, read);
        let space = Space::<3>::new(&[Knob::nominal(2); 3]).unwrap();

        let c = space.combination(&[1, 0, 0]).unwrap();
        assert_eq!(switches.outcome(&c), Event::Told(2.5));
        let did = log.take();
        assert_eq!(did, [Did::Set(0, true), Did::Set(1, false), Did::Set(2, false), Did::Waited(30_000), Did::Read]);

        // After a pin refuses, nothing waits and nothing is read.
        let c = space.combination(&[0, 1, 1]).unwrap();
        assert_eq!(switches.evaluate(&c), Err(SwitchError::Pin(Stuck)));
        assert_eq!(log.take(), [Did::Set(0, false), Did::Set(1, true)]);
    }

    #[test]
    fn async_switches_do_the_same_in_the_same_order() {
        struct Wait<'l>(&'l Log);
        impl embedded_hal_async::delay::DelayNs for Wait<'_> {
            async fn delay_ns(&mut self, ns: u32) {
                self.0.borrow_mut().push(Did::Waited(ns));
            }
        }
        let log = Log::default();
        let read = async || {
            log.borrow_mut().push(Did::Read);
            Ok::<f32, ()>(2.5)
        };
        let mut switches = Switches::new([0, 1].map(|i| Pin(&log, i)), Wait(&log), 30, read);
        let c = Space::<2>::new(&[Knob::nominal(2); 2]).unwrap().combination(&[1, 0]).unwrap();
        let measured = async {
            AsyncObjective::apply(&mut switches, &c).await?;
            AsyncObjective::measure(&mut switches).await
        };
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(measured).poll(&mut context), Poll::Ready(Ok(2.5)));
        assert_eq!(log.take(), [Did::Set(0, true), Did::Set(1, false), Did::Waited(30_000), Did::Read]);
    }

    #[test]
    fn a_failed_reading_is_a_failed_outcome() {
        let log = Log::default();
        let mut switches = Switches::new([Pin(&log, 0)], Delay(&log), 1, || Err::<f32, _>("no answer"));
        let c = Space::<1>::new(&[Knob::nominal(2)]).unwrap().combination(&[1]).unwrap();
        assert_eq!(switches.evaluate(&c), Err(SwitchError::Read("no answer")));
        assert_eq!(switches.outcome(&c), Event::Failed);
    }
}
