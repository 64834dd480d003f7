//! The sender: one call at the start, one per measurement.
//!
//! **Choices**
//! - Any writer of `embedded-io` will do: a UART, USB, RTT, a file. It gets each frame in one call.
//! - The caller judges the writer's errors: a run need not stop because nobody listens.
//!
//! **Cost.** The writer and a counter; two buffers on the stack while a frame is sent.

use embedded_io::Write;
use trimtab::settings::Settings;
use trimtab::{Combination, Config, Event, Proposal, Record, Tuner};

use super::frame::{Cause, Frame, Hello, KnobPart, MOST_NAME};
use super::wire::{self, BESIDE_LEVELS, MOST_BYTES};

/// The part of a hello that the tuner does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct About<'a> {
    /// The name of the hardware, at most 16 bytes.
    pub name: &'a str,
    /// Why the tuner starts.
    pub cause: Cause,
    /// Planned measurements; 0 if there is no plan.
    pub budget: u16,
}

/// Sends a run in frames of at most `BYTES` bytes.
///
/// ```
/// use trimtab::{Config, Event, Knob, Space};
/// use trimtab_embedded::telemetry::{About, Cause, Reporter, check};
/// const KNOBS: [Knob; 2] = [Knob::nominal(4), Knob::ranked(8)];
/// type Two = trimtab::tuner!(KNOBS, observations: 8, rows: 32);
/// let mut tuner = Two::new();
/// tuner.init(Space::new(&KNOBS)?, Config::default(), 1)?;
///
/// let mut room = [0; 1024];
/// let mut uart = &mut room[..];                                   // on a chip: a serial port
/// let mut reporter = Reporter::new(&mut uart);
/// let _ = reporter.hello(&tuner, &About { name: "two", cause: Cause::New, budget: 8 });
/// for _ in 0..8 {
///     let proposal = tuner.ask()?;
///     let value = f32::from(proposal.combination.level(1));       // the measurement
///     tuner.tell(&proposal.combination, value)?;
///     let _ = reporter.measured(&proposal, Event::Told(value));
/// }
/// let _ = reporter.end();
///
/// // On a PC: another tuner repeats the run.
/// let checked = check(&mut Two::new(), &Space::new(&KNOBS)?, &room);
/// assert_eq!(checked.map(|checked| (checked.proposals, checked.lost)), Ok((8, 0)));
/// # Ok::<(), trimtab::Error>(())
/// ```
#[derive(Debug)]
pub struct Reporter<W, const BYTES: usize = MOST_BYTES> {
    writer: W,
    number: u32,
}

impl<W> Reporter<W> {
    /// A reporter for at most 88 knobs, or 44 with a range among them.
    pub const fn new(writer: W) -> Self {
        Self::with_room(writer)
    }
}

impl<W, const BYTES: usize> Reporter<W, BYTES> {
    /// A reporter with buffers of `BYTES` bytes, for more knobs: one byte per knob, or two with a range
    /// among them, and 40 more.
    pub const fn with_room(writer: W) -> Self {
        const { assert!(BYTES >= MOST_BYTES, "a hello needs 128 bytes") };
        Self { writer, number: 0 }
    }

    /// Returns the writer.
    pub fn into_inner(self) -> W {
        self.writer
    }
}

impl<W: Write, const BYTES: usize> Reporter<W, BYTES> {
    /// Starts the stream over with the tuner and its knobs. Call it after every `init`, before
    /// anything else happens to the tuner.
    pub fn hello<
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
        &mut self,
        tuner: &Tuner<K, M, D, T, L, P, N, G, A, S>,
        about: &About<'_>,
    ) -> Result<(), W::Error> {
        let space = tuner.space();
        let config = tuner.config();
        let config = Config { rows: limit(config.rows, L), observations: limit(config.observations, T), ..*config };
        let hello = Hello {
            release: env!("CARGO_PKG_VERSION"),
            name: short(about.name),
            cause: about.cause,
            // A space has at most 1000 knobs.
            knobs: space.knobs().len() as u16,
            is_restricted: space.is_restricted(),
            map: if D == 0 { (0, 0) } else { (D as u16, M as u16) },
            budget: about.budget,
            seed: tuner.seed(),
            config,
        };
        self.number = 0;
        // Ends whatever was on the line before.
        self.writer.write_all(&[0])?;
        self.send(&Frame::Hello(hello))?;
        for (place, knob) in space.knobs().iter().enumerate() {
            for part in KnobPart::parts(place as u16, *knob) {
                self.send(&Frame::Knob(part))?;
            }
        }
        self.writer.flush()
    }

    /// Sends the names of the knobs, in their order: those of [`knobs!`](trimtab::knobs!), for
    /// example. Call it after [`hello`](Self::hello); without it, a listener counts the knobs.
    pub fn names(&mut self, names: &[&str]) -> Result<(), W::Error> {
        for (place, name) in names.iter().enumerate() {
            self.send(&Frame::Name { place: place as u16, name: short(name) })?;
        }
        self.writer.flush()
    }

    /// Sends a proposal and its outcome.
    pub fn measured<const K: usize>(&mut self, proposal: &Proposal<K>, event: Event) -> Result<(), W::Error> {
        const { assert!(K + BESIDE_LEVELS <= BYTES, "use Reporter::with_room of the number of knobs and 40 bytes") };
        self.send(&Frame::Measured { proposed: proposal.into(), event })
    }

    /// Sends a proposal whose outcome follows by [`happened`](Self::happened), for several at once.
    pub fn asked<const K: usize>(&mut self, proposal: &Proposal<K>) -> Result<(), W::Error> {
        const { assert!(K + BESIDE_LEVELS <= BYTES, "use Reporter::with_room of the number of knobs and 40 bytes") };
        self.send(&Frame::Asked(proposal.into()))
    }

    /// Sends any other event that the tuner was told.
    pub fn happened<const K: usize>(&mut self, c: &Combination<K>, event: Event) -> Result<(), W::Error> {
        const { assert!(K + BESIDE_LEVELS <= BYTES, "use Reporter::with_room of the number of knobs and 40 bytes") };
        self.send(&Frame::Happened { levels: c.levels().into(), event, resumed: false })
    }

    /// Sends a record that the tuner replayed from its log.
    pub fn resumed<const K: usize>(&mut self, record: &Record<K>) -> Result<(), W::Error> {
        const { assert!(K + BESIDE_LEVELS <= BYTES, "use Reporter::with_room of the number of knobs and 40 bytes") };
        self.send(&Frame::Happened { levels: record.levels().into(), event: record.event, resumed: true })
    }

    /// Sends the end of the run.
    pub fn end(&mut self) -> Result<(), W::Error> {
        self.send(&Frame::End)?;
        self.writer.flush()
    }

    fn send(&mut self, frame: &Frame<'_>) -> Result<(), W::Error> {
        let (mut plain, mut stuffed) = ([0; BYTES], [0; BYTES]);
        // The assertions above make room. If a frame did not fit, its number would show it missing.
        let bytes = wire::encode(self.number, frame, &mut plain, &mut stuffed).unwrap_or_default();
        self.number = self.number.wrapping_add(1);
        self.writer.write_all(bytes)
    }
}

/// A limit of the configuration, with the default written out.
fn limit(limit: u16, room: usize) -> u16 {
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    if limit == 0 { room } else { limit.min(room) }
}

/// The part of a name that is sent.
fn short(name: &str) -> &str {
    let end = (0..=MOST_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    name.get(..end.unwrap_or(0)).unwrap_or_default()
}
