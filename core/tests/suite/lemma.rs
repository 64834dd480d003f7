//! Lemma 1, measured: how well each distribution of R preserves the Hamming distance as squared
//! distance.
//!
//! For the lemma's map, the share of pairs outside (1 ± ε) is at most 2·exp(−d·(ε²/2 − ε³/3)/2).
//! This is the bound in the proof of the Johnson-Lindenstrauss lemma for entries of mean 0 and
//! variance 1/d with light tails (Achlioptas 2003). In few dimensions the bound is above 1 and
//! allows everything, so the share is also compared with that of a χ² variable over d, its limit
//! for many bits, from both sides.
//! `cargo test -p trimtab --test suite lemma -- --nocapture` prints the table.

use trimtab::Distribution;
use trimtab::internals::{Random, RandomMap, squared_distance};

const M: usize = 24;
const MAPS: u64 = 100;
const PAIRS: u64 = 100;

/// A pair of Boolean vectors: squared distance of the embeddings, Hamming distance, difference in
/// the number of ones.
struct Pair {
    embedded: f32,
    hamming: f32,
    ones: f32,
}

fn pairs<const D: usize>(distribution: Distribution) -> Vec<Pair> {
    let mut all = Vec::new();
    for seed in 0..MAPS {
        let mut map = RandomMap::<D, M>::new();
        map.draw(distribution, M, seed);
        let mut random = Random::new(seed, 77);
        for _ in 0..PAIRS {
            let [a, b]: [[f32; M]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| random.below(2) as f32));
            let [mut x, mut y] = [[0.0; D]; 2];
            map.embed(&a, &mut x);
            map.embed(&b, &mut y);
            let ones = a.iter().sum::<f32>() - b.iter().sum::<f32>();
            let pair = Pair { embedded: squared_distance(&x, &y), hamming: squared_distance(&a, &b), ones };
            if pair.hamming > 0.0 {
                all.push(pair);
            }
        }
    }
    all
}

fn share_outside(pairs: &[Pair], epsilon: f32) -> f64 {
    let outside = pairs.iter().filter(|p| (p.embedded / p.hamming - 1.0).abs() > epsilon).count();
    outside as f64 / pairs.len() as f64
}

/// The share of χ²_d/d outside (1 ± ε), by the cube root of Wilson and Hilferty (1931), which is
/// good to 0.005 from d = 8 on.
fn chi_square_outside(d: usize, epsilon: f64) -> f64 {
    let spread = 2.0 / (9.0 * d as f64);
    let above = |x: f64| 0.5 * libm::erfc((x.cbrt() - (1.0 - spread)) / (2.0 * spread).sqrt());
    above(1.0 + epsilon) + 1.0 - above(1.0 - epsilon)
}

/// Largest difference from χ²: the pairs of a map are not independent, and bits are not normal.
const CLOSE: f64 = 0.04;

fn correlation(pairs: &[Pair], f: impl Fn(&Pair) -> f32, g: impl Fn(&Pair) -> f32) -> f64 {
    let n = pairs.len() as f64;
    let mean = |h: &dyn Fn(&Pair) -> f64| pairs.iter().map(h).sum::<f64>() / n;
    let (f_mean, g_mean) = (mean(&|p| f64::from(f(p))), mean(&|p| f64::from(g(p))));
    let product = |p: &Pair| (f64::from(f(p)) - f_mean) * (f64::from(g(p)) - g_mean);
    let f_square = mean(&|p| (f64::from(f(p)) - f_mean).powi(2));
    let g_square = mean(&|p| (f64::from(g(p)) - g_mean).powi(2));
    mean(&product) / (f_square * g_square).sqrt()
}

fn holds<const D: usize>(distribution: Distribution) {
    let pairs = pairs::<D>(distribution);
    for epsilon in [0.3f32, 0.5, 0.7] {
        let e = f64::from(epsilon);
        let bound = 2.0 * (-(D as f64) * (e * e / 2.0 - e * e * e / 3.0) / 2.0).exp();
        let outside = share_outside(&pairs, epsilon);
        let expected = chi_square_outside(D, e);
        println!(
            "{distribution:?} d = {D:3}, ε = {epsilon}: {outside:.4} outside, χ² has {expected:.4}, the lemma allows {}",
            if bound < 1.0 { format!("{bound:.4}") } else { "all".into() }
        );
        let cell = format!("{distribution:?} d = {D} ε = {epsilon}: {outside}");
        assert!(bound >= 1.0 || outside <= bound, "{cell} > {bound}");
        assert!((outside - expected).abs() < CLOSE, "{cell}, χ² has {expected}");
    }
}

#[test]
fn centred_and_signs_obey_the_lemma() {
    for distribution in [Distribution::Centred, Distribution::Signs] {
        holds::<8>(distribution);
        holds::<20>(distribution);
        holds::<64>(distribution);
        holds::<256>(distribution);
    }
}

#[test]
fn more_dimensions_distort_less() {
    for distribution in [Distribution::Centred, Distribution::Signs] {
        let share = |pairs: Vec<Pair>| share_outside(&pairs, 0.3);
        let shares =
            [share(pairs::<8>(distribution)), share(pairs::<20>(distribution)), share(pairs::<64>(distribution))];
        assert!(shares.is_sorted_by(|a, b| a > b), "{distribution:?}: {shares:?}");
    }
}

/// Why `Uniform01` is not the default: it preserves the number of ones.
#[test]
fn uniform01_follows_the_number_of_ones() {
    for (distribution, ones_above, hamming_above) in
        [(Distribution::Uniform01, 0.9, 0.0), (Distribution::Centred, -1.0, 0.5), (Distribution::Signs, -1.0, 0.5)]
    {
        let pairs = pairs::<20>(distribution);
        let with_ones = correlation(&pairs, |p| p.embedded, |p| p.ones * p.ones);
        let with_hamming = correlation(&pairs, |p| p.embedded, |p| p.hamming);
        println!(
            "{distribution:?} m = 24, d = 20: correlation of squared distances with the Hamming distance \
             {with_hamming:.2}, with the squared difference in the number of ones {with_ones:.2}"
        );
        assert!(with_ones > ones_above && with_hamming > hamming_above);
        assert!(distribution != Distribution::Uniform01 || with_hamming < 0.4);
        // Nor does the authors' scaling obey the lemma: every distance shrinks to a fraction.
        assert_eq!(share_outside(&pairs, 0.9) > 0.99, distribution == Distribution::Uniform01);
    }
}
