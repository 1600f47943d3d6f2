//! A change sequence number in 18 bytes that sort like its text.

use std::fmt;

/// The number of digits: 20 of the time, 6 of the count, 3 of the server, 6 of the modification.
const DIGITS: usize = 35;

/// The number of decimal digits, which are those of the time.
const TIME_DIGITS: usize = 20;

/// The place of the server's digits.
const SERVER_AT: usize = 26;

/// A change sequence number, digit by digit, so that it comes out as it came.
///
/// The order is the one of the text: time, count, server, modification.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedCsn([u8; PackedCsn::LEN]);

impl PackedCsn {
    /// Length in bytes.
    pub const LEN: usize = 18;

    /// Length of the text in bytes.
    pub const TEXT_LEN: usize = "20260131235959.123456Z#000000#001#000000".len();

    /// Reads the text, also in the shorter forms of old servers.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<PackedCsn> {
        let parsed = PackedCsn::parse_usual(text).or_else(|| PackedCsn::parse_any(text));
        parsed.filter(PackedCsn::has_time)
    }

    /// Returns true if the digits of the time are one. Two decimal digits are a byte.
    fn has_time(&self) -> bool {
        let [_, _, month, day, hour, minute, second, ..] = self.0;
        let has_date = matches!(month, 0x01..=0x12) && matches!(day, 0x01..=0x31);
        has_date && hour <= 0x23 && minute <= 0x59 && second <= 0x60
    }

    /// Reads the text if it has the usual length, and digits in lower case.
    fn parse_usual(text: &[u8]) -> Option<PackedCsn> {
        let text: &[u8; PackedCsn::TEXT_LEN] = text.try_into().ok()?;
        let signs = [text[14], text[21], text[22], text[29], text[33]];
        if signs != *b".Z###" {
            return None;
        }
        // All parts as one row of digits, without branches.
        let mut digits = [0; 2 * PackedCsn::LEN];
        digits[..14].copy_from_slice(&text[..14]);
        digits[14..20].copy_from_slice(&text[15..21]);
        digits[20..26].copy_from_slice(&text[23..29]);
        digits[26..29].copy_from_slice(&text[30..33]);
        digits[29..DIGITS].copy_from_slice(&text[34..]);
        let (mut sound, mut decimal) = (true, true);
        for (at, digit) in digits.iter_mut().enumerate().take(DIGITS) {
            let (number, letter) = (digit.wrapping_sub(b'0'), digit.wrapping_sub(b'a'));
            let is_number = number < 10;
            sound &= is_number | (letter < 6);
            decimal &= is_number | (at >= TIME_DIGITS);
            *digit = if is_number {
                number
            } else {
                letter.wrapping_add(10)
            };
        }
        if !(sound && decimal) {
            return None;
        }
        let mut packed = [0; PackedCsn::LEN];
        for (byte, pair) in packed.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = pair[0] << 4 | pair[1];
        }
        Some(PackedCsn(packed))
    }

    fn parse_any(text: &[u8]) -> Option<PackedCsn> {
        let mut parts = text.split(|&byte| byte == b'#');
        let time = parts.next()?.strip_suffix(b"Z")?;
        let (count, server, modification) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let (seconds, fraction) = match time.split_at_checked(14)? {
            (seconds, []) => (seconds, &b"000000"[..]),
            (seconds, [b'.', fraction @ ..]) => (seconds, fraction),
            _ => return None,
        };
        let decimal = |part: &[u8], len| part.len() == len && part.iter().all(u8::is_ascii_digit);
        if !decimal(seconds, 14) || !decimal(fraction, 6) {
            return None;
        }
        let mut digits = Digits::default();
        digits.push(seconds, 14)?;
        digits.push(fraction, 6)?;
        digits.push(count, 6)?;
        digits.push(server, 3)?;
        digits.push(modification, 6)?;
        Some(digits.packed)
    }

    /// Returns the number of these bytes, if they are one.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<PackedCsn> {
        let packed = PackedCsn(bytes.try_into().ok()?);
        let (time, _) = packed.0.split_first_chunk::<10>()?;
        let is_decimal = time.iter().all(|pair| pair >> 4 < 10 && pair & 15 < 10);
        (is_decimal && packed.digit(DIGITS) == 0).then_some(packed)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; PackedCsn::LEN] {
        &self.0
    }

    /// Returns the number of the server.
    #[must_use]
    pub fn server(&self) -> u16 {
        let digits = (SERVER_AT..SERVER_AT + 3).map(|at| u16::from(self.digit(at)));
        digits.fold(0, |number, digit| number << 4 | digit)
    }

    /// Returns the next number: the modification is one more. No server gives it to a change.
    #[must_use]
    pub fn successor(&self) -> PackedCsn {
        let mut next = *self;
        // The last digit is the upper half of its byte.
        for at in (SERVER_AT + 3..DIGITS).rev() {
            let digit = self.digit(at) + 1;
            let shift = if at.is_multiple_of(2) { 4 } else { 0 };
            if let Some(byte) = next.0.get_mut(at / 2) {
                *byte = *byte & !(15 << shift) | (digit & 15) << shift;
            }
            if digit <= 15 {
                return next;
            }
        }
        *self
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(PackedCsn::TEXT_LEN);
        for at in 0..DIGITS {
            match at {
                14 => text.push('.'),
                20 => text.push_str("Z#"),
                26 | 29 => text.push('#'),
                _ => {}
            }
            text.extend(char::from_digit(u32::from(self.digit(at)), 16));
        }
        debug_assert_eq!(text.len(), PackedCsn::TEXT_LEN);
        text
    }

    /// Returns the digit at a place; 0 behind the last.
    fn digit(&self, at: usize) -> u8 {
        let byte = self.0.get(at / 2).copied().unwrap_or_default();
        if at.is_multiple_of(2) {
            byte >> 4
        } else {
            byte & 15
        }
    }
}

/// Digits on their way into a number.
struct Digits {
    packed: PackedCsn,
    at: usize,
}

impl Default for Digits {
    fn default() -> Digits {
        Digits {
            packed: PackedCsn([0; PackedCsn::LEN]),
            at: 0,
        }
    }
}

impl Digits {
    /// Appends a part with zeros in front.
    fn push(&mut self, part: &[u8], len: usize) -> Option<()> {
        let zeros = len.checked_sub(part.len())?;
        self.at += zeros;
        for &byte in part {
            let digit = u8::try_from(char::from(byte).to_digit(16)?).ok()?;
            let shift = if self.at.is_multiple_of(2) { 4 } else { 0 };
            *self.packed.0.get_mut(self.at / 2)? |= digit << shift;
            self.at += 1;
        }
        (!part.is_empty()).then_some(())
    }
}

impl fmt::Display for PackedCsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for PackedCsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_comes_back_and_sorts_the_same(
            a in number(),
            b in number(),
        ) {
            let packed = |text: &String| PackedCsn::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(packed(&a).text(), a.clone());
            prop_assert_eq!(PackedCsn::parse_any(a.as_bytes()), Some(packed(&a)));
            prop_assert_eq!(packed(&a).cmp(&packed(&b)), a.cmp(&b));
            prop_assert_eq!(PackedCsn::from_bytes(packed(&a).as_bytes()), Some(packed(&a)));
            prop_assert_eq!(format!("{:03x}", packed(&a).server()), &a[30..33]);
        }

        #[test]
        fn any_text_has_an_answer(text in "[0-9a-fZ#.]{0,45}") {
            let parsed = PackedCsn::parse(text.as_bytes());
            let any = PackedCsn::parse_any(text.as_bytes()).filter(PackedCsn::has_time);
            prop_assert_eq!(parsed, any);
        }
    }

    /// Makes texts of numbers.
    fn number() -> impl Strategy<Value = String> {
        let date = "[0-9]{4}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])";
        let time = r"([01][0-9]|2[0-3])[0-5][0-9]([0-5][0-9]|60)\.[0-9]{6}Z";
        let rest = "#[0-9a-f]{6}#[0-9a-f]{3}#[0-9a-f]{6}";
        (date, time, rest).prop_map(|(date, time, rest)| [date, time, rest].concat())
    }

    #[test]
    fn an_impossible_time_is_no_number() {
        for time in [
            "99999999999999",
            "20260031000000",
            "20261301000000",
            "20260100000000",
            "20260132000000",
            "20260101240000",
            "20260101006000",
            "20260101000061",
        ] {
            for text in [
                format!("{time}.000000Z#000000#001#000000"),
                format!("{time}Z#000000#01#000000"),
            ] {
                assert_eq!(PackedCsn::parse(text.as_bytes()), None, "{text}");
            }
        }
        let leap = PackedCsn::parse(b"20161231235960.000000Z#000000#001#000000");
        assert!(leap.is_some(), "a leap second");
    }

    #[test]
    fn a_successor_is_greater_and_of_the_same_change() {
        let number = |tail: &str| {
            let text = format!("20070131235959.000000Z#00000a#0fe#{tail}");
            PackedCsn::parse(text.as_bytes()).unwrap()
        };
        for (tail, next) in [
            ("000000", "000001"),
            ("00000f", "000010"),
            ("0fffff", "100000"),
        ] {
            assert_eq!(number(tail).successor(), number(next));
            assert!(number(tail).successor() > number(tail));
        }
        assert_eq!(
            number("ffffff").successor(),
            number("ffffff"),
            "there is no other"
        );
    }

    #[test]
    fn old_forms_are_completed() {
        let old = PackedCsn::parse(b"20070131235959Z#00000a#01#000000").unwrap();
        assert_eq!(old.text(), "20070131235959.000000Z#00000a#001#000000");
        for text in [
            "",
            "#",
            "20070131235959Z",
            "20070131235959Z#0#0",
            "2007Z#0#0#0#0",
        ] {
            assert_eq!(PackedCsn::parse(text.as_bytes()), None, "{text}");
        }
    }
}
