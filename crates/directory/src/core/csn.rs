//! Change sequence numbers: one for each write, always increasing.

use std::fmt;

use crate::core::clock::Timestamp;

/// A change sequence number in OpenLDAP's form: `20260131235959.123456Z#000000#001#000000`.
///
/// The parts are time, count within the microsecond, server and modification; all but the time are
/// hexadecimal. All texts have equal length, so their bytes compare by time first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Csn {
    time: Timestamp,
    count: u32,
    server: u16,
}

/// Makes increasing [`Csn`]s, even if the clock stops or goes back.
#[derive(Debug)]
pub struct CsnGenerator {
    server: u16,
    time: Timestamp,
    count: u32,
}

/// The greatest count: six hexadecimal digits.
const COUNT_MAX: u32 = 0xff_ffff;

impl CsnGenerator {
    /// Makes a generator for a server id of 12 bits (`0..=0xfff`). It drops higher bits.
    #[must_use]
    pub fn new(server: u16) -> CsnGenerator {
        CsnGenerator {
            server: server & 0xfff,
            time: Timestamp(0),
            count: 0,
        }
    }

    /// Returns the number of the server.
    #[must_use]
    pub fn server(&self) -> u16 {
        self.server
    }

    /// Returns the newest number, or one before all that follow.
    pub(crate) fn last(&self) -> Csn {
        Csn {
            time: self.time,
            count: self.count,
            server: self.server,
        }
    }

    /// Continues after a number of this or another server.
    pub fn advance_past(&mut self, newest: Csn) {
        if (newest.time, newest.count) > (self.time, self.count) {
            (self.time, self.count) = (newest.time, newest.count);
        }
    }

    /// Reserves `len` consecutive numbers, at most 2^24, and returns the first.
    pub fn reserve(&mut self, now: Timestamp, len: u32) -> Csn {
        let more = len.clamp(1, COUNT_MAX + 1) - 1;
        let mut first = self.next(now);
        if COUNT_MAX - first.count < more {
            self.time = Timestamp(self.time.0 + 1);
            first = Csn {
                time: self.time,
                count: 0,
                ..first
            };
        }
        self.count = first.count + more;
        debug_assert!(
            self.count <= COUNT_MAX,
            "reserved numbers share a microsecond"
        );
        first
    }

    /// Returns the next number, greater than all before.
    pub fn next(&mut self, now: Timestamp) -> Csn {
        let before = (self.time, self.count);
        if now > self.time {
            self.time = now;
            self.count = 0;
        } else if self.count < COUNT_MAX {
            self.count += 1;
        } else {
            self.time = Timestamp(self.time.0 + 1);
            self.count = 0;
        }
        debug_assert!((self.time, self.count) > before, "numbers increase");
        debug_assert!(self.count <= COUNT_MAX, "the count has six digits");
        Csn {
            time: self.time,
            count: self.count,
            server: self.server,
        }
    }
}

impl Csn {
    /// Returns the time.
    pub(crate) fn time(self) -> Timestamp {
        self.time
    }

    /// Returns the n-th of the reserved numbers after the first.
    pub(crate) fn behind(self, n: u32) -> Csn {
        Csn {
            count: self.count.saturating_add(n).min(COUNT_MAX),
            ..self
        }
    }

    /// Returns the text. It avoids `format!`, which every write would pay for.
    pub(crate) fn text(self) -> String {
        let mut text = String::with_capacity("20260131235959.123456Z#000000#001#000000".len());
        self.time.push_generalized_us(&mut text);
        let mut tail = *b"#000000#000#000000";
        for (places, number) in [(1..7, self.count), (8..11, self.server.into())] {
            put_hex(tail.get_mut(places).unwrap_or_default(), number);
        }
        text.push_str(str::from_utf8(&tail).unwrap_or_default());
        text
    }

    /// Parses the text of a number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Csn> {
        let mut parts = text.split('#');
        let time = Timestamp::parse_us(parts.next()?)?;
        let count = u32::from_str_radix(parts.next()?, 16).ok()?;
        let server = u16::from_str_radix(parts.next()?, 16).ok()?;
        let modification = u32::from_str_radix(parts.next()?, 16).ok()?;
        let known = parts.next().is_none() && count <= COUNT_MAX && modification <= COUNT_MAX;
        known.then_some(Csn {
            time,
            count,
            server,
        })
    }
}

/// Writes the lowest hexadecimal digits of a number into `places`.
fn put_hex(places: &mut [u8], number: u32) {
    let mut rest = number;
    for place in places.iter_mut().rev() {
        let digit = char::from_digit(rest & 15, 16).map_or(b'0', |digit| digit as u8);
        *place = digit;
        rest >>= 4;
    }
}

impl fmt::Display for Csn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csns_parse_as_written() {
        for us in [
            0,
            951_782_400_000_001,
            1_767_225_599_999_999,
            4_107_542_400_000_000,
        ] {
            let csn = Csn {
                time: Timestamp(us),
                count: 0xabc,
                server: 0x12,
            };
            assert_eq!(Csn::parse(&csn.to_string()), Some(csn));
        }
        for wrong in [
            "",
            "20260131235959.123456Z",
            "20260131235959.123456Z#000000#001",
            "20261331235959.123456Z#000000#001#000000",
            "2026013123595.9123456Z#000000#001#000000",
            "20260131235959.123456Z#00000g#001#000000",
        ] {
            assert_eq!(Csn::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn csns_continue_after_an_earlier_generator() {
        let mut before = CsnGenerator::new(1);
        before.next(Timestamp(50));
        let newest = before.next(Timestamp(50));
        let mut generator = CsnGenerator::new(1);
        generator.advance_past(newest);
        let next = generator.next(Timestamp(7));
        assert!(next > newest, "{next} {newest}");
        let later = generator.next(Timestamp(60));
        generator.advance_past(newest);
        assert!(later > next && generator.next(Timestamp(7)) > later);
    }

    #[test]
    fn csns_increase_whatever_the_clock_does() {
        let mut generator = CsnGenerator::new(1);
        let mut last = String::new();
        for now in [5, 5, 5, 6, 4, 1, 6, 7] {
            let text = generator.next(Timestamp(now)).to_string();
            assert!(text > last, "{text} after {last}");
            last = text;
        }
        assert_eq!(last, "19700101000000.000007Z#000000#001#000000");
    }

    #[test]
    fn reserved_csns_are_unique() {
        let mut generator = CsnGenerator::new(1);
        let before = generator.next(Timestamp(5));
        let first = generator.reserve(Timestamp(5), 3);
        let all = [
            before,
            first,
            first.behind(1),
            first.behind(2),
            generator.next(Timestamp(5)),
        ];
        assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
        generator.count = COUNT_MAX - 2;
        let first = generator.reserve(Timestamp(5), 3);
        assert_eq!(
            (first.time, first.count, generator.count),
            (Timestamp(6), 0, 2)
        );
        assert!(generator.next(Timestamp(5)) > first.behind(2));
    }

    #[test]
    fn a_full_count_moves_on_to_the_next_microsecond() {
        let mut generator = CsnGenerator::new(0xabc);
        generator.time = Timestamp(9);
        generator.count = COUNT_MAX - 1;
        let texts: Vec<String> = (0..2)
            .map(|_| generator.next(Timestamp(9)).to_string())
            .collect();
        assert_eq!(
            texts,
            [
                "19700101000000.000009Z#ffffff#abc#000000",
                "19700101000000.000010Z#000000#abc#000000"
            ]
        );
    }
}
