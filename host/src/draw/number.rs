//! Numbers as people read them.

/// At most six digits that count, and no zeros behind them.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{}", x + 0.0);
    }
    let rounded = format!("{x:.5e}");
    let (digits, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..=8).contains(&power) {
        let decimals = (5 - power).max(0) as usize;
        return trimmed(&format!("{x:.decimals$}")).to_string();
    }
    format!("{}e{power}", trimmed(digits))
}

/// A mean and its uncertainty, to two digits of the latter.
pub(crate) fn with_error(mean: f64, error: f64) -> String {
    let power = error.abs().log10().floor();
    match error != 0.0 && (-9.0..9.0).contains(&power) && mean.abs() < 1e12 {
        true => {
            let decimals = (1.0 - power).max(0.0) as usize;
            format!("{mean:.decimals$} ± {error:.decimals$}")
        }
        false => format!("{} ± {}", short(mean), short(error)),
    }
}

/// Two digits that count, for numbers that are estimates.
pub(crate) fn rough(x: f64) -> String {
    format!("{x:.1e}").parse().map_or_else(|_| short(x), short)
}

fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// Eight heights over at most `width` places: how values went.
pub(crate) fn sparkline(values: &[f64], width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let places = values.len().min(width);
    // The last of every place's values, so that the end is what it is now.
    let last = |place: usize| values[(place + 1) * values.len() / places - 1];
    let height = |value: f64| match high > low {
        true => HEIGHTS[((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * 7.0).round() as usize % 8],
        false => HEIGHTS[0],
    };
    (0..places).map(last).map(height).collect()
}

/// A time with the two largest units.
pub(crate) fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Groups digits by three; long numbers become powers of ten.
pub(crate) fn grouped(digits: &str) -> String {
    if digits.len() > 15 {
        return format!("{}.{}e{}", &digits[..1], &digits[1..3], digits.len() - 1);
    }
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(["7", "240", "1024", "33554432"].map(grouped), ["7", "240", "1 024", "33 554 432"]);
        assert_eq!(grouped("18446744073709551616"), "1.84e19");
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, -0.0, 1.0, 0.1 + 0.2, 1234.5678, 123_456_789.0, -2.5e-9, 1e20, 0.000_123_456_78];
        let texts = ["0", "0", "1", "0.3", "1234.57", "123456789", "-2.5e-9", "1e20", "0.000123457"];
        assert_eq!(numbers.map(short), texts);
        assert_eq!([f64::NAN, f64::INFINITY].map(short), ["NaN", "inf"]);
    }

    #[test]
    fn estimates_have_two_digits() {
        assert_eq!([19.8943, 0.001_234, 1234.5, 2.0, 0.0].map(rough), ["20", "0.0012", "1200", "2", "0"]);
    }

    #[test]
    fn the_error_decides_the_digits() {
        assert_eq!(with_error(100.758_123, 3.402_57), "100.8 ± 3.4");
        assert_eq!(with_error(-0.5, 0.001_23), "-0.5000 ± 0.0012");
        assert_eq!(with_error(12345.6, 234.0), "12346 ± 234");
        assert_eq!((with_error(1.5, 0.0), with_error(2.0, f64::INFINITY)), ("1.5 ± 0".into(), "2 ± inf".into()));
    }

    #[test]
    fn sparklines_end_where_the_values_do() {
        assert_eq!(sparkline(&[8.0, 4.0, 1.0], 10), "█▄▁");
        assert_eq!(sparkline(&[7.0, 7.0, 3.5, 0.0], 2), "█▁");
        assert_eq!((sparkline(&[], 5), sparkline(&[2.0], 5)), (String::new(), "▁".into()));
        assert_eq!(sparkline(&[f64::MAX, f64::MIN], 5), "█▁");
    }

    #[test]
    fn durations_have_two_units() {
        assert_eq!([5, 65, 3_725].map(duration), ["5 s", "1 min 5 s", "1 h 2 min"]);
    }
}
