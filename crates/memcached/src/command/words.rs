//! The words of a line.

/// The longest key in bytes.
pub(super) const KEY_MAX: usize = 250;

/// Words of a line that a command can have. More are counted only.
pub(super) const WORDS_MAX: usize = 24;

/// The words of a line, the command first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'l> {
    words: [&'l [u8]; WORDS_MAX],
    count: usize,
}

impl<'l> Words<'l> {
    pub(super) fn of(line: &'l [u8]) -> Words<'l> {
        let mut words = Words {
            words: [&[]; WORDS_MAX],
            count: 0,
        };
        for word in split(line) {
            if let Some(place) = words.words.get_mut(words.count) {
                *place = word;
            }
            words.count += 1;
        }
        words
    }

    /// Returns the number of words, also of those beyond the bound.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns a word; empty if there is none.
    pub(super) fn at(&self, index: usize) -> &'l [u8] {
        self.words.get(index).copied().unwrap_or_default()
    }

    /// Returns the words from an index on.
    pub(super) fn from(&self, index: usize) -> &[&'l [u8]] {
        let end = self.count.min(WORDS_MAX);
        self.words.get(index..end).unwrap_or_default()
    }

    /// Returns true if the last word asks for no answer.
    pub(super) fn ends_with_noreply(&self) -> bool {
        self.count <= WORDS_MAX && self.from(1).last() == Some(&&b"noreply"[..])
    }
}

/// Splits a line at spaces.
pub(super) fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
}

/// Reads a number without sign.
pub(super) fn unsigned(word: &[u8]) -> Option<u64> {
    let word = word.strip_prefix(b"+").unwrap_or(word);
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Reads a number with or without sign.
pub(super) fn signed(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(rest) => Some(i64::try_from(unsigned(rest)?).ok()?.wrapping_neg()),
        None => i64::try_from(unsigned(word)?).ok(),
    }
}

/// Reads a time of expiry: relative up to 30 days, absolute beyond. Returns seconds since 1970; 0
/// is never.
pub(super) fn expiry_s(word: &[u8], now_s: u32) -> Option<u32> {
    // As in memcached, a number beyond 32 bits is cut off.
    Some(expiry_of(signed(word)? as i32, now_s))
}

/// Returns the time in seconds since 1970 at which an item expires.
pub(super) fn expiry_of(expiry: i32, now_s: u32) -> u32 {
    const RELATIVE_MAX: i32 = 30 * 24 * 60 * 60;
    /// A time that is over.
    const EXPIRED: u32 = 1;
    match expiry {
        0 => 0,
        ..0 => EXPIRED,
        1..=RELATIVE_MAX => now_s.saturating_add(expiry.unsigned_abs()),
        _ => expiry.unsigned_abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_spaces() {
        let words = Words::of(b" set  a 0 noreply ");
        assert_eq!(words.count(), 4);
        assert_eq!(words.at(1), b"a");
        assert_eq!(words.at(9), b"");
        assert!(words.ends_with_noreply());
        assert!(!Words::of(b"noreply").ends_with_noreply());
        let many = [&b"x "[..]; 40].concat();
        assert_eq!(Words::of(&many).count(), 40);
        assert_eq!(Words::of(&many).from(1).len(), WORDS_MAX - 1);
    }

    #[test]
    fn numbers_are_read() {
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(unsigned(b"+1"), Some(1));
        for wrong in [&b""[..], b"-1", b"1x", b" 1", b"+", b"++1"] {
            assert_eq!(unsigned(wrong), None, "{wrong:?}");
        }
        assert_eq!(signed(b"-5"), Some(-5));
        assert_eq!(signed(b"-"), None);
    }

    #[test]
    fn expiries_are_relative_up_to_30_days() {
        let now = 1_800_000_000;
        assert_eq!(expiry_of(0, now), 0);
        assert_eq!(expiry_of(10, now), now + 10);
        assert_eq!(expiry_of(2_592_000, now), now + 2_592_000);
        assert_eq!(expiry_of(2_592_001, now), 2_592_001);
        assert_eq!(expiry_of(-1, now), 1);
        assert_eq!(expiry_s(b"99999999999", now), Some(1_215_752_191));
        assert_eq!(expiry_s(b"x", now), None);
    }
}
