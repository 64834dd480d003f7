//! CBO-Lookup over the unit box with one change each, and the method of Theorem 1.
//!
//! | method | change |
//! |---|---|
//! | `cbo-lookup-centred` | entries of R from U[−a, a] with variance 1/d, as Lemma 1 asks |
//! | `cbo-lookup-beta` | β = 2 instead of 2·ln(t + 1) |
//! | `cbo-lookup-noise` | the noise is learned instead of 0.01 |
//! | `cbo-lookup-mean` | the mean of the process is learned instead of 0 |
//! | `cbo-lookup-standard` | costs are winsorised and standardised |
//! | `cbo-lookup-theorem` | what Theorem 1 is about: a centred map, the polytope, β = √ln(N·t/δ), δ = 0.1 |

use trimtab::{Acquisition, Beta, Config, Distribution, Noise, Prior, Region};
use trimtab_sizes::{Dimensions, Way};

use super::{Entry, start_with};

const FALLBACK: &str = "CBO-Recon, if the nearest is not found in 2²⁰ nodes";
const SOURCE: &str = "Kim, Choi and Cho, UAI 2022, Config::paper() with one change";
const BOX: Way = Way::Lookup(Region::UnitBox);

pub(crate) const CENTRED: Entry = Entry {
    name: "cbo-lookup-centred",
    about: "CBO-Lookup with a centred map",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| start_with(task, Config { map: Distribution::Centred, ..Config::paper() }, Dimensions::Twenty, BOX),
};

pub(crate) const BETA: Entry = Entry {
    name: "cbo-lookup-beta",
    about: "CBO-Lookup with β = 2",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| {
        let acquisition = Acquisition::Ucb(Beta::Constant(2.0));
        start_with(task, Config { acquisition, ..Config::paper() }, Dimensions::Twenty, BOX)
    },
};

pub(crate) const NOISE: Entry = Entry {
    name: "cbo-lookup-noise",
    about: "CBO-Lookup that learns the noise",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| start_with(task, Config { noise: Noise::Auto, ..Config::paper() }, Dimensions::Twenty, BOX),
};

pub(crate) const MEAN: Entry = Entry {
    name: "cbo-lookup-mean",
    about: "CBO-Lookup that learns the mean of the process",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| start_with(task, Config { prior: Prior::WEAK, ..Config::paper() }, Dimensions::Twenty, BOX),
};

pub(crate) const STANDARD: Entry = Entry {
    name: "cbo-lookup-standard",
    about: "CBO-Lookup with standardised costs",
    source: SOURCE,
    fallback: FALLBACK,
    start: |task| start_with(task, Config { standardise: true, ..Config::paper() }, Dimensions::Twenty, BOX),
};

pub(crate) const THEOREM: Entry = Entry {
    name: "cbo-lookup-theorem",
    about: "what Theorem 1 is about: a centred map, the polytope, β = √ln(N·t/δ)",
    source: "Kim, Choi and Cho, UAI 2022, section 5",
    fallback: FALLBACK,
    start: |task| {
        let acquisition = Acquisition::Ucb(Beta::Theorem { scale: 1.0, delta: 0.1 });
        let config = Config { acquisition, map: Distribution::Centred, ..Config::paper() };
        start_with(task, config, Dimensions::Twenty, Way::Lookup(Region::Polytope))
    },
};
