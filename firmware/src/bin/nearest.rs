//! Counts the instructions of a search for the nearest combination, in 24 bits and 20 dimensions.
//!
//! Points of each kind are drawn as in the bench `nearest`. Prints one line per kind, median and
//! largest number of nodes and of instructions, then bytes.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use trimtab::internals::{Encoder, Lookup, NearestError, Random, RandomMap};
use trimtab::{Distribution, Encoding, Knob, Space};
use trimtab_firmware::device::{self, Console, Timer};

const M: usize = 24;
const D: usize = 20;
const POINTS: usize = 15;
const NODES: u32 = 1 << 20;

#[entry]
fn main() -> ! {
    let Ok(mut console) = Console::open() else { device::exit(false) };
    let result = measure(&mut console);
    if let Err(error) = result {
        console.print(format_args!("error: {error}"));
    }
    device::exit(result.is_ok())
}

fn measure(console: &mut Console) -> Result<(), NearestError> {
    let timer = Timer::start();
    let Ok(space) = Space::<M>::new(&[Knob::nominal(2); M]) else { return Err(NearestError::TooLarge) };
    let encoder = Encoder::new(&space, Encoding::Compact);
    let mut random = Random::new(1, 1);
    for distribution in [Distribution::Centred, Distribution::Uniform01] {
        let mut map = RandomMap::<D, M>::new();
        map.draw(distribution, M, 1);
        let lookup = Lookup { space: &space, encoder: &encoder, map: &map };
        for (kind, spread) in [("inside", 0.0), ("near a vertex", 0.1), ("far outside", 3.0)] {
            let (mut nodes, mut counts) = ([0; POINTS], [0; POINTS]);
            for (nodes, count) in nodes.iter_mut().zip(&mut counts) {
                // A point of the polytope, or a vertex and some noise.
                let whole = kind != "inside";
                let z: [f32; M] = core::array::from_fn(|_| {
                    let u = random.uniform() - 0.5;
                    if whole { if u < 0.0 { -0.5 } else { 0.5 } } else { u }
                });
                let mut x = [0.0; D];
                map.embed(&z, &mut x);
                let scale = spread * map.stretch(M);
                x.iter_mut().for_each(|x| *x += (random.uniform() - 0.5) * scale);
                let (found, instructions) = timer.count(|| lookup.nearest(&x, |_| false, NODES));
                (*nodes, *count) = (found?.nodes, instructions);
            }
            nodes.sort_unstable();
            counts.sort_unstable();
            console.print(format_args!(
                "{distribution:?}, {kind}: {} nodes ({} at most), {} instructions ({} at most)",
                nodes[POINTS / 2],
                nodes[POINTS - 1],
                counts[POINTS / 2],
                counts[POINTS - 1]
            ));
        }
    }
    let bytes = Lookup::<M, M, D>::SCRATCH;
    console
        .print(format_args!("{bytes} bytes of arrays and {} of R; the paper's table takes 1 342 177 280", 4 * D * M));
    Ok(())
}
