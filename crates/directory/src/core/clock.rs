//! Time and randomness, given to the operations from outside so that a test can decide both.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

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
        let (year, month, day) = civil(seconds / 86_400);
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
        let seconds = days_of(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
        Some(Timestamp(seconds * 1_000_000 + number(15, 21)?))
    }
}

/// Returns the days from 1970-01-01 to a day of the proleptic Gregorian calendar, the inverse of
/// [`civil`].
fn days_of(year: u64, month: u64, day: u64) -> u64 {
    // The years begin in March, as in `civil`.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns year, month and day of the proleptic Gregorian calendar for the days since 1970-01-01.
///
/// The years begin in March. The leap day is then the last day, and one formula gives all month
/// lengths.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_400_YEARS: u64 = 146_097;
    const DAYS_TO_1970: u64 = 719_468; // from 0000-03-01
    let days = days + DAYS_TO_1970;
    let era = days / DAYS_400_YEARS;
    let day_of_era = days % DAYS_400_YEARS;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Timestamp(1_000_042).generalized_us(),
            "19700101000001.000042Z"
        );
    }
}
