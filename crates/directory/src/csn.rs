//! Change sequence numbers: one per write, ever growing.

use std::fmt;

use crate::clock::Timestamp;

/// A change sequence number in the form OpenLDAP gives it: `20260131235959.123456Z#000000#001#000000`
/// (time, count within the microsecond, server, modification; hexadecimal but the time).
///
/// Texts of equal length: comparing octets compares time first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Csn {
    time: Timestamp,
    count: u32,
    server: u16,
}

/// Makes [`Csn`]s that grow even when the clock stands still or goes back.
#[derive(Debug)]
pub struct CsnGenerator {
    server: u16,
    time: Timestamp,
    count: u32,
}

/// Counts are written with six hexadecimal digits.
const COUNT_MAX: u32 = 0xff_ffff;

impl CsnGenerator {
    /// Starts for a server id of at most 12 bits (`0..=0xfff`); higher bits are dropped.
    #[must_use]
    pub fn new(server: u16) -> CsnGenerator {
        CsnGenerator {
            server: server & 0xfff,
            time: Timestamp(0),
            count: 0,
        }
    }

    /// The next number: greater than all before.
    pub fn next(&mut self, now: Timestamp) -> Csn {
        if now > self.time {
            self.time = now;
            self.count = 0;
        } else if self.count < COUNT_MAX {
            self.count += 1;
        } else {
            self.time = Timestamp(self.time.0 + 1);
            self.count = 0;
        }
        Csn {
            time: self.time,
            count: self.count,
            server: self.server,
        }
    }
}

impl fmt::Display for Csn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}#{:06x}#{:03x}#000000",
            self.time.generalized_us(),
            self.count,
            self.server
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_whatever_the_clock_does() {
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
