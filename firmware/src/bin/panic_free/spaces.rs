//! Knobs, spaces, encodings, tables, records.

use trimtab::internals::Encoder;
use trimtab::sizes::{cached_rows, features, graded_levels};
use trimtab::{Combination, Encoding, Event, Level, Margins, OnlyIf, Record, Space};

use crate::opaque::{Opaque, keep, say};

/// Knobs; not a multiple of four, so that counting by fours has a remainder.
const K: usize = 6;
/// Features.
const M: usize = 16;

pub(crate) fn call_all(o: &Opaque) {
    knobs(o);
    let Some(space) = o.space::<K>() else { return };
    spaces(o, &space);
    let (Some(a), Some(b)) = (o.combination(&space), o.combination(&space)) else { return };
    encodings(o, &space, &a, &b);
    records(o, &space, &a);
}

fn knobs(o: &Opaque) {
    let knobs = [o.knob(), o.knob(), o.knob()];
    for knob in o.part(&knobs) {
        keep((knob.levels(), knob.is_graded(), knob.position(o.size() as Level)));
        keep((knob.is_range(), knob.value(o.size() as Level), knob.nearest(o.float())));
    }
    keep((features(o.part(&knobs)), graded_levels(o.part(&knobs)), cached_rows(o.part(&knobs), o.size())));
    if let Err(error) = Space::<2>::new(o.part(&knobs)) {
        say(error);
    }
}

static CONDITIONS: [OnlyIf; 3] = [
    OnlyIf { knob: 1, on: 0, levels: &[1] },
    OnlyIf { knob: 3, on: 1, levels: &[0, 2] },
    OnlyIf { knob: 2, on: 0, levels: &[0] },
];

fn spaces(o: &Opaque, space: &Space<K>) {
    match space.clone().only_if(&CONDITIONS) {
        Ok(conditional) => {
            keep((conditional.conditions(), conditional.cardinality(), conditional.at(o.long())));
            if let Some(c) = o.combination(&conditional) {
                keep((conditional.is_idle(&c, o.size()), conditional.contains(&c)));
            }
        }
        Err(error) => say(error),
    }
    keep((space.knobs(), space.cardinality(), space.last_index(), space.is_indexed(), space.at(o.long())));
    keep(space.is_restricted());
    let levels: [Level; K] = core::array::from_fn(|_| o.size() as Level);
    keep(space.combination(o.part(&levels)));
    if let Some(c) = o.combination(space) {
        keep((space.index(&c), space.contains(&c), space.is_feasible(&c)));
        keep((c.levels(), c.level(o.size())));
    }
}

fn encodings(o: &Opaque, space: &Space<K>, a: &Combination<K>, b: &Combination<K>) {
    // Now and then the one of another space.
    let other = o.space::<K>().unwrap_or(space.clone());
    let made_for = if o.word().is_multiple_of(4) { &other } else { space };
    let encoder = Encoder::new(made_for, o.one_of(Encoding::Compact, &[Encoding::PerKnob]));
    let (mut z, n) = (o.floats::<M>(), o.size());
    let z = z.get_mut(..n).unwrap_or_default();
    encoder.encode(space, a, z);
    keep(encoder.decode(space, z));
    encoder.encode_graded(space, a, z);
    keep((encoder.graded_product(space, a, b), encoder.differing(space, a, b), encoder.mean_square()));
    encoder.offset(z);
    keep((encoder.extent(space, z), encoder.encoding()));
    keep((encoder.features(), encoder.graded_features(), encoder.clone()));
}

fn records(o: &Opaque, space: &Space<K>, c: &Combination<K>) {
    let events = [Event::Failed, Event::Enqueued, Event::Asked, Event::Cancelled];
    let margins = Margins::new(&o.floats::<6>()[..o.size() % 6]);
    let measured = margins.map_or(Event::Failed, |own| Event::Measured(o.float(), own));
    let event = o.one_of(o.one_of(Event::Told(o.float()), &[measured]), &events);
    let record = Record::new(c, event);
    keep((record.combination(space), event.value(), Record::<K>::most_bytes(o.size() % 5)));
    keep(Record::<K>::bytes_for(space.knobs(), o.size() % 5));
    let (mut buffer, n) = ([0; Record::<K>::most_bytes(4)], o.size());
    match record.to_bytes(buffer.get_mut(..n).unwrap_or_default()) {
        Ok(bytes) => keep(bytes),
        Err(error) => say(error),
    }
    let bytes: [u8; 10] = core::array::from_fn(|_| o.size() as u8);
    match Record::<K>::from_bytes(o.part(&bytes)) {
        Ok(record) => keep(record),
        Err(error) => say(error),
    }
}
