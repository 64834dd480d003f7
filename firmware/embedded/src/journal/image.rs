//! Reads a journal from a copy of the flash, on a PC: for `trimtab learn`.
//!
//! **Choices**
//! - A journal does not say how it is laid out, so the reader says it. With another layout no checksum
//!   fits, and nothing is read rather than something wrong.
//! - Entries come as [`Journal::read`](super::Journal::read) hands them out, except that outcomes of a
//!   combination that the tuner had forgotten come with those before: all are of one board.
//! - A page whose header is beyond repair is counted, not read.
//!
//! **Cost.** Four passes over all slots.

use core::fmt;

use trimtab::Record;

use super::Entry;
use super::format::{Content, Sizes, Slot, Spot};
use super::header::{Header, HeaderFault, beginning};

/// How a journal is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a page: what the flash erases at once.
    pub page: usize,
    /// Bytes of a word: what the flash writes at once.
    pub word: usize,
    /// Records that fill a page, as in [`Layout`](super::Layout).
    pub records: u16,
    /// Number of knobs.
    pub knobs: usize,
    /// Whether one of them has more than 256 levels: then each takes two bytes.
    pub is_wide: bool,
    /// Number of limits.
    pub limits: usize,
}

/// Why a copy of a flash cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// Pages or words of this size are impossible, or a page has no room for a record.
    Geometry,
    /// The copy is not made of whole pages.
    Length,
    /// No page begins with the header of a journal.
    NoJournal,
    /// The journal has another version.
    Version(u16),
    /// The pages belong elsewhere: the copy is not the journal's range, or pages have another size.
    OtherRange,
    /// There are slots, but no checksum fits: words or knobs differ.
    OtherLayout,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry => write!(f, "pages of that size have no room for a record of these knobs"),
            Self::Length => write!(f, "the copy is not made of whole pages"),
            Self::NoJournal => write!(f, "no page begins as a journal does"),
            Self::Version(version) => write!(f, "the journal has version {version}, which cannot be read"),
            Self::OtherRange => write!(f, "the copy is not exactly the range of the journal, or the pages differ"),
            Self::OtherLayout => write!(f, "no record has a right checksum: words, knobs or limits differ"),
        }
    }
}

impl core::error::Error for ImageError {}

/// Hands out the entries of the newest log in a copy of the journal's range, oldest first. Returns the
/// number of damaged slots and pages. `K` is at least the number of knobs.
///
/// ```
/// use embedded_storage::nor_flash::ReadNorFlash;
/// use trimtab::{Event, Knob, Record, Space};
/// use trimtab_embedded::flash::RamFlash;
/// use trimtab_embedded::journal::{Entry, Geometry, Journal, Layout, read_image};
/// let mut flash = RamFlash::<2, 256, 4>::new();
/// let c = Space::<2>::new(&[Knob::nominal(4), Knob::ranked(8)])?.combination(&[3, 5])?;
/// let (mut journal, _) = Journal::<_, 2>::open(&mut flash, Layout { range: 0..512, records: 4 }, 1)?;
/// journal.append(&Entry::Record(Record::new(&c, Event::Told(0.5))))?;
///
/// let mut bytes = [0; 512];
/// flash.read(0, &mut bytes).map_err(|_| "the flash refuses")?;
/// let geometry = Geometry { page: 256, word: 4, records: 4, knobs: 2, is_wide: false, limits: 0 };
/// let mut levels = Vec::new();
/// let damaged = read_image::<8>(&bytes, geometry, |entry| {
///     if let Entry::Record(record) = entry { levels.extend_from_slice(record.levels()) }
/// })?;
/// assert_eq!((damaged, levels), (0, vec![3, 5]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_image<const K: usize>(
    bytes: &[u8],
    geometry: Geometry,
    mut entry: impl FnMut(Entry<K>),
) -> Result<u32, ImageError> {
    let image = Image::new(bytes, geometry)?;
    let newest = image.newest()?;
    let is_dropped = image.slots::<K>(&newest).any(|slot| matches!(slot, Slot::Holds(Content::Dropped { .. })));
    let (oldest, first) = image.range::<K>(&newest, is_dropped);
    let mut damaged = image.unreadable();
    let mut is_read = false;
    for is_carried in [true, false] {
        for number in (0..=newest.number.wrapping_sub(oldest)).map(|page| oldest.wrapping_add(page)) {
            let counts = number.wrapping_sub(first) <= newest.number.wrapping_sub(first)
                && (number != newest.number || is_dropped);
            let header = Header { number, ..newest };
            for slot in image.slots::<K>(&header) {
                is_read |= matches!(slot, Slot::Holds(_));
                match slot {
                    Slot::Holds(Content::Carried(record)) if is_carried && counts => entry(Entry::Record(record)),
                    Slot::Holds(Content::Entry(own)) if !is_carried => entry(own),
                    Slot::Holds(Content::Anew(record)) if !is_carried => entry(Entry::Record(record)),
                    Slot::Damaged if !is_carried => damaged += 1,
                    _ => {}
                }
            }
        }
    }
    if damaged > 0 && !is_read { Err(ImageError::OtherLayout) } else { Ok(damaged) }
}

/// A copy of a journal's range.
struct Image<'a> {
    bytes: &'a [u8],
    page: usize,
    sizes: Sizes,
}

impl<'a> Image<'a> {
    fn new(bytes: &'a [u8], geometry: Geometry) -> Result<Self, ImageError> {
        let Geometry { page, word, records, knobs, is_wide, limits } = geometry;
        if !word.is_power_of_two() || word > 32 || page == 0 || !page.is_multiple_of(word) || records == 0 {
            return Err(ImageError::Geometry);
        }
        let levels = knobs.saturating_mul(if is_wide { 2 } else { 1 });
        let record = Record::<0>::most_bytes(limits).saturating_add(levels);
        let sizes = Sizes::laid_out(page, word, record, records).ok_or(ImageError::Geometry)?;
        if bytes.is_empty() || !bytes.len().is_multiple_of(page) {
            return Err(ImageError::Length);
        }
        Ok(Self { bytes, page, sizes })
    }

    fn pages(&self) -> u32 {
        (self.bytes.len() / self.page.max(1)) as u32
    }

    fn headers(&self) -> impl Iterator<Item = (u32, Result<Header, HeaderFault>)> + '_ {
        (0..).zip(self.bytes.chunks_exact(self.page.max(1)).map(Header::read))
    }

    /// The newest page.
    fn newest(&self) -> Result<Header, ImageError> {
        let (mut newest, mut fault) = (None::<Header>, ImageError::NoJournal);
        // With pages of another size some headers are still where one may be.
        let mut begun = self.bytes.windows(8).enumerate().filter(|(_, bytes)| **bytes == beginning());
        if begun.any(|(at, _)| !at.is_multiple_of(self.page)) {
            return Err(ImageError::OtherRange);
        }
        for (place, header) in self.headers() {
            match header {
                Ok(header) if header.number.checked_rem(self.pages()) != Some(place) => {
                    return Err(ImageError::OtherRange);
                }
                Ok(header) => newest = newest.filter(|newest| newest.number > header.number).or(Some(header)),
                Err(HeaderFault::Version(version)) => fault = ImageError::Version(version),
                Err(HeaderFault::Damaged) => {}
            }
        }
        newest.ok_or(fault)
    }

    /// Pages with something but without a header.
    fn unreadable(&self) -> u32 {
        let pages = self.bytes.chunks_exact(self.page.max(1));
        let is_unreadable = |page: &&[u8]| Header::read(page).is_err() && page.iter().any(|byte| *byte != 0xFF);
        pages.filter(is_unreadable).count() as u32
    }

    /// The oldest page of the log, and the first one whose carried records count.
    fn range<const K: usize>(&self, newest: &Header, is_dropped: bool) -> (u32, u32) {
        let (mut oldest, mut first, mut is_first) = (newest.number, None, newest.before == 0);
        // The page that the newest one has dropped may still be there.
        for _ in 0..self.pages().saturating_sub(1 + u32::from(is_dropped)) {
            let older = oldest.wrapping_sub(1);
            let found = self.headers().find_map(|(_, header)| header.ok().filter(|header| header.number == older));
            let Some(header) = found.filter(|header| header.fingerprint == newest.fingerprint && !is_first) else {
                break;
            };
            (oldest, is_first) = (older, header.before == 0);
        }
        for number in (0..=newest.number.wrapping_sub(oldest)).map(|page| oldest.wrapping_add(page)) {
            let restarts = |slot| matches!(slot, Slot::<K>::Holds(Content::Dropped { restart: true }));
            if self.slots(&Header { number, ..*newest }).any(restarts) {
                first = Some(number);
            }
        }
        (oldest, first.unwrap_or(oldest))
    }

    /// The slots of a page.
    fn slots<const K: usize>(&self, header: &Header) -> impl Iterator<Item = Slot<K>> + '_ {
        let (fingerprint, page) = (header.fingerprint, header.number);
        let place = page.checked_rem(self.pages()).unwrap_or(0) as usize;
        let bytes = self.bytes.chunks_exact(self.page.max(1)).nth(place).unwrap_or_default();
        let slots = bytes.get(self.sizes.header..).unwrap_or_default().chunks_exact(self.sizes.slot.max(1));
        let slots = slots.take(self.sizes.slots).enumerate();
        slots.map(move |(slot, bytes)| Slot::read(bytes, Spot { fingerprint, page, slot }))
    }
}
