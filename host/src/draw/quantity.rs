//! Parses loads and frequencies as people write them: `35-j120`, `12.5+40j`, `50`; `7.1M`, `7100k`,
//! `7.1MHz`.
//!
//! **Choices**
//! - Numbers start with a digit or a point, so that the words `inf` and `nan` are rejected.
//! - j and i mean the same, before or after the reactance.
//! - Prefixes may be in either case: nobody tunes an antenna to millihertz.

use std::fmt;
use std::str::FromStr;

use trimtab_firmware::antenna::{Network, NetworkError};

const LOADS: &str = "write resistance and reactance in ohm, for example 35-j120, 12.5+j40 or 50";
const FREQUENCIES: &str = "write for example 7.1M, 7100k, 7.1MHz or 7100000";

/// An antenna's impedance in ohm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) resistance: f32,
    pub(crate) reactance: f32,
}

impl Load {
    /// The load of a network.
    pub(crate) fn of(network: &Network) -> Self {
        Self { resistance: network.resistance(), reactance: network.reactance() }
    }
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let body = squeezed.trim_end_matches("ohm").trim_end_matches(['Ω', 'Ω']);
        let load = impedance(body).ok_or_else(|| format!("this is no load; {LOADS}"))?;
        // Any frequency will do, because this checks only the load.
        match Network::new(load.resistance, load.reactance, 1e6) {
            Ok(_) => Ok(load),
            Err(error) => Err(format!("{error}; {LOADS}")),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.reactance.is_sign_negative() { '-' } else { '+' };
        write!(f, "{}{sign}j{}", self.resistance, self.reactance.abs())
    }
}

/// R, R±jX or R±Xj.
fn impedance(text: &str) -> Option<Load> {
    // The sign between the parts: neither the first character nor the sign of an exponent.
    let bytes = text.as_bytes();
    let between = (1..bytes.len()).rev().find(|&i| b"+-".contains(&bytes[i]) && !b"eE".contains(&bytes[i - 1]));
    let Some(at) = between else {
        return signed(text).map(|resistance| Load { resistance, reactance: 0.0 });
    };
    let (real, imaginary) = text.split_at(at);
    let unit = ['j', 'J', 'i', 'I'];
    let size = imaginary[1..].strip_prefix(unit).or_else(|| imaginary[1..].strip_suffix(unit))?;
    let reactance = unsigned(size)? as f32;
    Some(Load { resistance: signed(real)?, reactance: if imaginary.starts_with('-') { -reactance } else { reactance } })
}

/// A number with an optional sign: a negative resistance deserves its own message.
fn signed(text: &str) -> Option<f32> {
    match text.strip_prefix('-') {
        Some(rest) => unsigned(rest).map(|value| -value as f32),
        None => unsigned(text.strip_prefix('+').unwrap_or(text)).map(|value| value as f32),
    }
}

/// A number that starts with a digit or a point.
fn unsigned(text: &str) -> Option<f64> {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| text.parse().ok()).flatten()
}

/// A frequency in hertz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frequency(pub(crate) f32);

impl FromStr for Frequency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
        let body = squeezed.strip_suffix("hz").unwrap_or(&squeezed);
        let (number, factor) = match body.char_indices().last() {
            Some((at, 'k')) => (&body[..at], 1e3),
            Some((at, 'm')) => (&body[..at], 1e6),
            Some((at, 'g')) => (&body[..at], 1e9),
            _ => (body, 1.0),
        };
        let value = number.strip_prefix('-').map_or_else(|| unsigned(number), |rest| unsigned(rest).map(|v| -v));
        let hertz = value.ok_or_else(|| format!("this is no frequency; {FREQUENCIES}"))? * factor;
        match Network::new(50.0, 0.0, hertz as f32) {
            Ok(_) => Ok(Self(hertz as f32)),
            Err(NetworkError::Frequency) if hertz > 0.0 && hertz < 1e3 => {
                Err(format!("this is {hertz} Hz, but {}; {FREQUENCIES}", NetworkError::Frequency))
            }
            Err(error) => Err(format!("{error}; {FREQUENCIES}")),
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Divided in f64 and rounded to the precision of f32; otherwise 7.1 MHz would be 7.099999
        // MHz.
        let hertz = f64::from(self.0);
        let (value, unit) = match hertz {
            h if h >= 1e9 => (h / 1e9, "GHz"),
            h if h >= 1e6 => (h / 1e6, "MHz"),
            h => (h / 1e3, "kHz"),
        };
        write!(f, "{} {unit}", (value * 1e5).round() / 1e5)
    }
}

/// An SWR with a sensible number of digits.
pub(crate) fn swr_text(swr: f32) -> String {
    match swr {
        s if s < 2.0 => format!("{s:.3}"),
        s if s < 10.0 => format!("{s:.2}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Option<(f32, f32)> {
        text.parse::<Load>().ok().map(|load| (load.resistance, load.reactance))
    }

    fn hertz(text: &str) -> Option<f32> {
        text.parse::<Frequency>().ok().map(|frequency| frequency.0)
    }

    #[test]
    fn loads_as_people_write_them() {
        for text in ["35-j120", "35 - j120", "35-120j", "35-i120", "35-120i", "35-J120", "3.5e1-j1.2e+2", "35-j120ohm"]
        {
            assert_eq!(load(text), Some((35.0, -120.0)), "{text}");
        }
        assert_eq!(load("12.5+j40"), Some((12.5, 40.0)));
        assert_eq!(load("50"), Some((50.0, 0.0)));
        assert_eq!(load("50 Ω"), Some((50.0, 0.0)));
        assert_eq!(load(".5+.5j"), Some((0.5, 0.5)));
    }

    #[test]
    fn invalid_loads_are_refused() {
        for text in
            ["", "abc", "j", "35+", "35-j", "35+40", "35-jj4", "35+-j4", "inf", "nan", "35+jinf", "5,5", "-", "+j"]
        {
            assert!(text.parse::<Load>().unwrap_err().contains("35-j120"), "{text}");
        }
        for text in ["0", "-5", "-5+j3", "0+j40", "1e39", "50+j1e9"] {
            let message = text.parse::<Load>().unwrap_err();
            assert!(message.contains("must be from") && message.contains("35-j120"), "{text}: {message}");
        }
    }

    #[test]
    fn frequencies_as_people_write_them() {
        for text in ["7.1M", "7100k", "7.1MHz", "7.1 mhz", "7100000", "7100000Hz", "0.0071G", "7.1e6"] {
            assert_eq!(hertz(text), Some(7.1e6), "{text}");
        }
        for text in ["", "Hz", "M", "abc", "inf", "7.1X", "7.1MM", "7,1M"] {
            assert!(text.parse::<Frequency>().unwrap_err().contains("7.1MHz"), "{text}");
        }
        for text in ["0", "-7M", "7.1", "5G"] {
            assert!(text.parse::<Frequency>().unwrap_err().contains("1 kHz to 1 GHz"), "{text}");
        }
    }

    #[test]
    fn display_parses_back() {
        for text in ["35-j120", "12.5+j40", "50+j0", "0.001-j1000000"] {
            assert_eq!(text.parse::<Load>().unwrap().to_string(), text);
        }
        for text in ["7.1 MHz", "28.12345 MHz", "472 kHz", "1 GHz"] {
            assert_eq!(text.parse::<Frequency>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn swr_has_the_digits_that_matter() {
        assert_eq!([1.0123, 3.456, 12.34, 1234.5].map(swr_text), ["1.012", "3.46", "12.3", "1234"]);
    }
}
