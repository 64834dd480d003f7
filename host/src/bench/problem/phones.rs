//! A table of mobile phones and their price classes, read from a file or generated.
//!
//! The file is `train.csv` of "Mobile Price Classification" (A. Sharma, Kaggle, 2018): a line of
//! names, then 20 features and `price_range` (0 to 3) per row. Its licence is not known, so it is
//! not part of this program. Without it, a fixed table of the same shape is generated: 2000 rows,
//! 500 of each class, features with about the same ranges and dependencies. As in the real one,
//! memory (`ram`) decides most, the battery and the pixels some, and the rest next to nothing:
//!
//! class = quarter of 0.917 ram + 0.201 battery_power + 0.122 px_width + 0.087 px_height + 0.045
//! int_memory − 0.03 mobile_wt + 0.05 noise
//!
//! with all features standardised.
//!
//! **Choices**
//! - Columns are found by name: they may be in any order, and additional ones are ignored.
//! - The weights follow the correlations of the real table.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::Error;

/// The features, in the order of the bits.
pub(super) const FEATURES: [&str; 20] = [
    "battery_power",
    "blue",
    "clock_speed",
    "dual_sim",
    "fc",
    "four_g",
    "int_memory",
    "m_dep",
    "mobile_wt",
    "n_cores",
    "pc",
    "px_height",
    "px_width",
    "ram",
    "sc_h",
    "sc_w",
    "talk_time",
    "three_g",
    "touch_screen",
    "wifi",
];
/// The column to predict.
const CLASS: &str = "price_range";
/// Classes 0 to 3.
pub(super) const CLASSES: usize = 4;
/// Fewer rows than this cannot be split into three parts with all classes.
const FEWEST: usize = 40;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phone {
    pub(super) features: [f64; FEATURES.len()],
    pub(super) class: usize,
}

pub(super) fn read(path: &Path) -> Result<Vec<Phone>, Error> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::Failed(format!("cannot read the table {name}: {error}; leave --data out for generated data"))
    })?;
    parse(&text).map_err(|what| Error::Failed(format!("the table {name}: {what}")))
}

pub(super) fn parse(text: &str) -> Result<Vec<Phone>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("it is empty; it must begin with a line of column names")?;
    let names: Vec<&str> =
        header.trim_start_matches('\u{feff}').split(',').map(|name| name.trim().trim_matches('"')).collect();
    let place = |wanted: &str| names.iter().position(|name| *name == wanted);
    let missing: Vec<&str> = FEATURES.into_iter().chain([CLASS]).filter(|name| place(name).is_none()).collect();
    if !missing.is_empty() {
        return Err(format!(
            "its first line has no column {}; it must be `train.csv` of Mobile Price Classification, with commas",
            missing.join(", ")
        ));
    }
    let mut phones = Vec::new();
    for (number, line) in lines {
        let number = number + 1;
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            return Err(format!("line {number} has {} cells, but there are {} column names", cells.len(), names.len()));
        }
        let cell = |name: &str| {
            let text = place(name).map_or("", |place| cells[place]);
            let value = text.parse().ok().filter(|value: &f64| value.is_finite());
            value.ok_or_else(|| format!("line {number}, column {name}: `{text}` must be a finite number"))
        };
        let mut features = [0.0; FEATURES.len()];
        for (feature, name) in features.iter_mut().zip(FEATURES) {
            *feature = cell(name)?;
        }
        let class = cell(CLASS)?;
        let known = (0..CLASSES).find(|known| *known as f64 == class);
        let class = known.ok_or_else(|| format!("line {number}, column {CLASS}: {class} must be 0, 1, 2 or 3"))?;
        phones.push(Phone { features, class });
    }
    if phones.len() < FEWEST {
        return Err(format!("it has {} rows, but at least {FEWEST} are needed", phones.len()));
    }
    match (0..CLASSES).find(|class| phones.iter().all(|phone| phone.class != *class)) {
        Some(class) => Err(format!("no row has {CLASS} {class}; the table needs rows of all classes 0, 1, 2 and 3")),
        None => Ok(phones),
    }
}

/// Number of generated rows.
const ROWS: usize = 2000;
/// The seed of the generated table.
const SEED: u64 = 0x0050_484f_4e45;
/// Contributions to the price: feature, mean, standard deviation, weight.
const WORTH: [(&str, f64, f64, f64); 6] = [
    ("ram", 2127.0, 1080.0, 0.917),
    ("battery_power", 1250.0, 432.0, 0.201),
    ("px_width", 1249.0, 432.0, 0.122),
    ("px_height", 624.0, 437.0, 0.087),
    ("int_memory", 33.0, 18.2, 0.045),
    ("mobile_wt", 140.0, 34.9, -0.03),
];
const NOISE: f64 = 0.05;

/// The substitute for the real table.
pub(super) fn generate() -> Vec<Phone> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut scored: Vec<(f64, [f64; FEATURES.len()])> = (0..ROWS)
        .map(|_| {
            let features = draw(&mut random);
            let worth = WORTH.iter().map(|(name, mean, deviation, weight)| {
                let place = FEATURES.iter().position(|feature| feature == name).unwrap_or(0);
                weight * (features[place] - mean) / deviation
            });
            let noise: f64 = random.sample(StandardNormal);
            (worth.sum::<f64>() + NOISE * noise, features)
        })
        .collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let class = |place: usize| place * CLASSES / ROWS;
    scored.into_iter().enumerate().map(|(place, (_, features))| Phone { features, class: class(place) }).collect()
}

fn draw(random: &mut Xoshiro256PlusPlus) -> [f64; FEATURES.len()] {
    let mut whole = |low: u32, high: u32| f64::from(random.random_range(low..=high));
    // Some features are bounded by another: the front camera by the main one, the screen's width by
    // its height.
    let (pc, px_width, sc_h) = (whole(0, 20), whole(500, 1998), whole(5, 19));
    let mut share = |of: f64| (of * whole(0, 1000) / 1000.0).floor();
    let (fc, px_height, sc_w) = (share(0.9 * pc), share(px_width), share(sc_h));
    let four_g = whole(0, 1);
    FEATURES.map(|name| match name {
        "battery_power" => whole(501, 1998),
        "clock_speed" => whole(0, 30).max(5.0) / 10.0,
        "fc" => fc,
        "four_g" => four_g,
        "int_memory" => whole(2, 64),
        "m_dep" => whole(1, 10) / 10.0,
        "mobile_wt" => whole(80, 200),
        "n_cores" => whole(1, 8),
        "pc" => pc,
        "px_height" => px_height,
        "px_width" => px_width,
        "ram" => whole(256, 3998),
        "sc_h" => sc_h,
        "sc_w" => sc_w,
        "talk_time" => whole(2, 20),
        // 4G implies 3G.
        "three_g" => whole(0, 1).max(four_g),
        // blue, dual_sim, touch_screen, wifi
        _ => whole(0, 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with these lines after enough valid ones.
    fn file(lines: &[&str]) -> String {
        let mut text = format!("{},{CLASS}\n", FEATURES.join(","));
        for phone in generate().iter().step_by(40) {
            let cells: Vec<String> = phone.features.iter().map(f64::to_string).collect();
            text += &format!("{},{}\n", cells.join(","), phone.class);
        }
        text + &lines.join("\n")
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let phones = parse(&file(&[])).unwrap();
        assert_eq!(phones, generate().into_iter().step_by(40).collect::<Vec<_>>());
        // Reordered columns, an additional one, Windows line ends.
        let moved: String = file(&[])
            .lines()
            .map(|line| {
                let (first, rest) = line.split_once(',').unwrap();
                format!("more,{rest},{first}\r\n")
            })
            .collect();
        assert_eq!(parse(&moved).unwrap(), phones);
    }

    #[test]
    fn errors_name_column_and_line() {
        let row = |cell: &str, class: &str| format!("{cell}{},{class}", ",1".repeat(19));
        for (text, expected) in [
            (String::new(), "empty"),
            ("ram,wifi\n1,2\n".into(), "no column battery_power, blue"),
            (file(&["1,2,3"]), "line 52 has 3 cells"),
            (file(&[&row("much", "1")]), "line 52, column battery_power: `much`"),
            (file(&[&row("NaN", "1")]), "line 52, column battery_power: `NaN`"),
            (file(&[&row("1", "4")]), "line 52, column price_range: 4"),
            (file(&[]).lines().take(30).collect::<Vec<_>>().join("\n"), "29 rows"),
            (file(&[]).replace(",3\n", ",2\n"), "price_range 3"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn the_generated_table_is_like_the_real_one() {
        let phones = generate();
        assert_eq!(phones.len(), ROWS);
        assert!((0..CLASSES).all(|class| phones.iter().filter(|phone| phone.class == class).count() == 500));
        let correlation = |name: &str| {
            let place = FEATURES.iter().position(|feature| *feature == name).unwrap();
            let n = phones.len() as f64;
            let pairs: Vec<_> = phones.iter().map(|phone| (phone.features[place], phone.class as f64)).collect();
            let mean = |f: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(f).sum::<f64>() / n;
            let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
            let covariance = mean(&|p| (p.0 - x) * (p.1 - y));
            covariance / (mean(&|p| (p.0 - x).powi(2)) * mean(&|p| (p.1 - y).powi(2))).sqrt()
        };
        // Correlations of the real table. The standard error is about 0.022.
        for (name, expected) in
            [("ram", 0.917), ("battery_power", 0.201), ("px_width", 0.166), ("px_height", 0.149), ("wifi", 0.019)]
        {
            assert!((correlation(name) - expected).abs() < 0.06, "{name}: {}", correlation(name));
        }
    }
}
