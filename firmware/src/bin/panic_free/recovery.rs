//! Random maps, and the ways back from a point to a combination.

use trimtab::internals::{Encoder, Lookup, RandomMap, Reconstruction};
use trimtab::{Distribution, Encoding};

use crate::opaque::{Opaque, keep, say};

/// Knobs, features and dimensions.
const K: usize = 6;
const M: usize = 16;
const D: usize = 5;

pub(crate) fn call_all(o: &Opaque) {
    let (Some(space), Some(other)) = (o.space::<K>(), o.space::<K>()) else { return };
    // Now and then the encoder of another space.
    let made_for = if o.word().is_multiple_of(4) { &other } else { &space };
    let encoder = Encoder::new(made_for, o.one_of(Encoding::Compact, &[Encoding::PerKnob]));
    let Some(c) = o.combination(&space) else { return };

    let mut map = RandomMap::<D, M>::new();
    let others = [Distribution::Centred, Distribution::Signs, Distribution::Identity];
    map.draw(o.one_of(Distribution::Uniform01, &others), o.size(), o.long());
    if o.word().is_multiple_of(4) {
        map = RandomMap::from_rows(&core::array::from_fn(|_| o.floats()));
    }
    let (z, mut x, n) = (o.floats::<M>(), o.floats::<D>(), o.size());
    map.embed(o.part(&z), x.get_mut(..n).unwrap_or_default());
    keep((map.stretch(o.size()), map.matrix(), RandomMap::<D, M>::default()));
    keep((map.offset(&encoder), map.bounding_box(&space, &encoder)));

    let mut reconstruction = Reconstruction::<D, M>::new();
    keep(Reconstruction::<D, M>::default());
    reconstruction.init(&map, &encoder);
    keep((reconstruction.coordinates(&x), reconstruction.reconstruct(&space, &encoder, o.float(), &x)));

    let lookup = Lookup::<K, M, D> { space: &space, encoder: &encoder, map: &map };
    keep(lookup.squared_distance(&c, o.part(&z)));
    for point in [o.part(&x), o.part(&z), &[0.0; D]] {
        match lookup.nearest(point, |other| *other == c, o.size() as u32 * 20) {
            Ok(nearest) => keep(nearest),
            Err(error) => say(error),
        }
    }
}
