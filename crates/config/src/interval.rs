//! Times between events, as people write them.

use crate::setting::{Setting, Value, number_text, quoted};

/// A time between two events, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(pub u32);

/// Units with their seconds, the longest first.
const UNITS: [(&str, u32); 4] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)];

impl Setting for Interval {
    const KIND: &'static str = "time, such as \"1d\", \"6h\" or \"30min\"";

    fn read(value: Value) -> Result<Self, String> {
        let text = number_text(value)?;
        parse_interval(&text).ok_or_else(|| {
            format!("\"{text}\" is not a time above zero such as \"1d\", \"6h\" or \"30min\"")
        })
    }

    fn show(&self) -> String {
        let whole = UNITS
            .iter()
            .find(|(_, seconds)| self.0.is_multiple_of(*seconds));
        let (unit, seconds) = whole.unwrap_or(&("s", 1));
        format!("{}{unit}", self.0 / seconds)
    }

    fn toml(&self) -> Option<String> {
        Some(quoted(&self.show()))
    }
}

impl Setting for Option<Interval> {
    const KIND: &'static str = Interval::KIND;

    fn read(value: Value) -> Result<Self, String> {
        Interval::read(value).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map(Interval::show).unwrap_or_default()
    }

    fn toml(&self) -> Option<String> {
        self.as_ref().and_then(Interval::toml)
    }
}

/// Reads `1d`, `6 h`, `30min` or `45s`. A number alone counts seconds.
fn parse_interval(text: &str) -> Option<Interval> {
    let text = text.trim();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" => 1,
        "m" => 60,
        unit => UNITS.iter().find(|(known, _)| *known == unit)?.1,
    };
    let seconds = number.parse::<u32>().ok()?.checked_mul(factor)?;
    (seconds > 0).then_some(Interval(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, seconds) in [
            ("1d", 86_400),
            ("6 h", 21_600),
            ("30min", 1800),
            ("5m", 300),
            ("90", 90),
            ("2S", 2),
        ] {
            assert_eq!(parse_interval(text), Some(Interval(seconds)), "{text}");
        }
        for text in ["", "h", "0h", "1 week", "-1h", "1.5h", "99999999d"] {
            assert_eq!(parse_interval(text), None, "{text}");
        }
    }

    #[test]
    fn a_shown_time_reads_back() {
        for seconds in [1, 59, 60, 90, 3600, 7200, 86_400, 90_000] {
            let shown = Interval(seconds).show();
            assert_eq!(parse_interval(&shown), Some(Interval(seconds)), "{shown}");
        }
        assert_eq!(Interval(86_400).show(), "1d");
        assert_eq!(Interval(5400).show(), "90min");
    }
}
