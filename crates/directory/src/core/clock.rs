//! Time and randomness, given to the operations from outside so that a test can decide both.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fulgurite_schema::{civil_from_days, days_from_civil};

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// The source of time.
pub trait Clock: Send + Sync {
    /// Returns the time of day, for timestamps and CSNs. It may jump.
    fn now(&self) -> Timestamp;
    /// Returns the microseconds since a fixed moment, for time limits. They never decrease.
    fn elapsed_us(&self) -> u64;
}

/// The source of random bytes.
pub trait Entropy: Send + Sync {
    /// Returns sixteen bytes that cannot be guessed.
    fn random(&self) -> [u8; 16];

    /// Returns `count` draws of sixteen bytes. An implementation may make them in one call.
    fn draw(&self, count: usize) -> Vec<[u8; 16]> {
        std::iter::repeat_with(|| self.random())
            .take(count)
            .collect()
    }
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

/// The machine's random number generator.
#[derive(Debug, Default)]
pub struct SystemEntropy;

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Entropy for SystemEntropy {
    /// # Panics
    /// Panics if the system has no working random number generator.
    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the system provides random numbers");
        bytes
    }

    /// # Panics
    /// Panics as [`random`](Entropy::random) does.
    fn draw(&self, count: usize) -> Vec<[u8; 16]> {
        let mut drawn = vec![[0; 16]; count];
        getrandom::fill(drawn.as_flattened_mut()).expect("the system provides random numbers");
        drawn
    }
}

impl Timestamp {
    /// Returns Generalized Time to the second: `20260131235959Z` (RFC 4517, section 3.3.13).
    #[must_use]
    pub fn generalized(self) -> String {
        let mut text = String::with_capacity("20260131235959Z".len());
        self.push_digits(&mut text);
        text.push('Z');
        text
    }

    /// Returns the time to the second in the form of RFC 3339: `2026-01-31T23:59:59Z`.
    pub(crate) fn rfc3339(self) -> String {
        let digits = self.generalized();
        let parts = [
            (0, 4, "-"),
            (4, 6, "-"),
            (6, 8, "T"),
            (8, 10, ":"),
            (10, 12, ":"),
            (12, 14, "Z"),
        ];
        let parts = parts.map(|(from, to, behind)| {
            format!("{}{behind}", digits.get(from..to).unwrap_or_default())
        });
        parts.concat()
    }

    /// Returns Generalized Time to the microsecond: `20260131235959.123456Z`.
    #[must_use]
    pub fn generalized_us(self) -> String {
        let mut text = String::with_capacity("20260131235959.123456Z".len());
        self.push_generalized_us(&mut text);
        text
    }

    /// Appends Generalized Time to the microsecond.
    pub(crate) fn push_generalized_us(self, text: &mut String) {
        self.push_digits(text);
        text.push('.');
        push_decimal::<6>(text, self.0 % 1_000_000);
        text.push('Z');
    }

    fn push_digits(self, text: &mut String) {
        let seconds = self.0 / 1_000_000;
        let days = i64::try_from(seconds / 86_400).unwrap_or_default();
        let (year, month, day) = civil_from_days(days);
        let [year, month, day] = [year, month, day].map(i64::unsigned_abs);
        match year {
            0..=9999 => push_decimal::<4>(text, year),
            _ => text.push_str(&year.to_string()),
        }
        push_decimal::<2>(text, month);
        push_decimal::<2>(text, day);
        let time = seconds / 3600 % 24 * 10_000 + seconds / 60 % 60 * 100 + seconds % 60;
        push_decimal::<6>(text, time);
    }
}

/// Appends a number of at most `DIGITS` digits. Every write appends several numbers, and `format!`
/// would cost ten times as much.
fn push_decimal<const DIGITS: usize>(text: &mut String, number: u64) {
    let mut digits = [b'0'; DIGITS];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    text.push_str(str::from_utf8(&digits).unwrap_or_default());
}

impl Timestamp {
    /// Parses Generalized Time in UTC with six digits of a second: `20260131235959.123456Z`.
    pub(crate) fn parse_us(text: &str) -> Option<Timestamp> {
        let number = |from: usize, to: usize| {
            let digits = text.get(from..to)?;
            let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
            only_digits.then(|| digits.parse::<u64>().ok()).flatten()
        };
        let shaped = text.len() == 22 && text.get(14..15) == Some(".") && text.ends_with('Z');
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let (hour, minute, second) = (number(8, 10)?, number(10, 12)?, number(12, 14)?);
        let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && year >= 1970;
        if !shaped || !in_range || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let days = days_from_civil(year.cast_signed(), month.cast_signed(), day.cast_signed());
        let seconds = days.unsigned_abs() * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Timestamp(seconds * 1_000_000 + number(15, 21)?))
    }
}

impl Timestamp {
    /// Parses Generalized Time in UTC with 14 digits, and with a fraction of a second or without.
    pub(crate) fn parse_generalized(text: &str) -> Option<Timestamp> {
        let (seconds, rest) = text.split_at_checked(14)?;
        let rest = rest.strip_suffix('Z')?;
        let fraction = rest.strip_prefix(['.', ',']);
        let fraction = fraction.or_else(|| rest.is_empty().then_some(""))?;
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        Timestamp::parse_us(&format!("{seconds}.{micros}Z"))
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z.
    pub(crate) fn seconds(self) -> u64 {
        self.0 / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generalized_time_is_read_with_and_without_a_fraction() {
        for (text, us) in [
            ("19700101000001Z", Some(1_000_000)),
            ("19700101000001.5Z", Some(1_500_000)),
            ("19700101000001,000042Z", Some(1_000_042)),
            ("19700101000001.1234567Z", Some(1_123_456)),
            ("19700101000001", None),
            ("1970010100000Z", None),
            ("19700101000001xZ", None),
            ("00000101000000Z", None),
        ] {
            assert_eq!(
                Timestamp::parse_generalized(text),
                us.map(Timestamp),
                "{text}"
            );
        }
    }

    #[test]
    fn generalized_time_across_the_calendar() {
        for (seconds, text) in [
            (0, "19700101000000Z"),
            (951_782_399, "20000228235959Z"),
            (951_782_400, "20000229000000Z"),
            (951_868_800, "20000301000000Z"),
            (1_709_164_800, "20240229000000Z"),
            (1_767_225_599, "20251231235959Z"),
            (1_767_225_600, "20260101000000Z"),
            (4_107_542_400, "21000301000000Z"),
        ] {
            assert_eq!(Timestamp(seconds * 1_000_000).generalized(), text);
        }
        assert_eq!(
            Timestamp(1_767_225_599_000_000).rfc3339(),
            "2025-12-31T23:59:59Z"
        );
        assert_eq!(
            Timestamp(1_000_042).generalized_us(),
            "19700101000001.000042Z"
        );
    }
}
