//! The orders keys can have.

use core::cmp::Ordering;

use fulgurite_format::DatabaseFlags;

/// How a database orders its keys; fixed when it is created and recorded in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyOrder {
    /// Byte by byte from the first; a prefix comes first.
    #[default]
    Lexical,
    /// Byte by byte from the last; a suffix comes first.
    Reverse,
    /// Unsigned integers of 4 or 8 bytes in the machine's byte order, one size per database. Values
    /// may have other lengths: these are integers too, compared from their last byte.
    Integer,
    /// The order of values with [`ValueKind::Fixed`] and [`KeyOrder::Integer`], which is the way to
    /// ask for it. Values of 8 bytes are unsigned integers. Of others the first 4 bytes are.
    PackedInteger,
    /// The program's own. The file does not record it. Every program that opens the database must
    /// set the same order before it uses the database.
    Custom(CustomOrder),
}

/// An order of the program's own: a function, and a word that it is called with.
///
/// It must be a total order and always the same; keys that compare equal are the same key.
#[derive(Debug, Clone, Copy)]
pub struct CustomOrder {
    /// Compares two keys, or two values of one key: where one is sought or new, it comes first.
    pub call: fn(context: usize, &[u8], &[u8]) -> Ordering,
    /// The argument that the function is called with.
    pub context: usize,
}

impl PartialEq for CustomOrder {
    fn eq(&self, other: &CustomOrder) -> bool {
        core::ptr::fn_addr_eq(self.call, other.call) && self.context == other.context
    }
}

impl Eq for CustomOrder {}

impl KeyOrder {
    pub(crate) fn from_flags(flags: DatabaseFlags) -> KeyOrder {
        if flags.has(DatabaseFlags::REVERSE_KEY) {
            KeyOrder::Reverse
        } else if flags.has(DatabaseFlags::INTEGER_KEY) {
            KeyOrder::Integer
        } else {
            KeyOrder::Lexical
        }
    }

    /// How the values of one key are ordered. The items of fixed-size databases are compared as
    /// integers by their size.
    pub(crate) fn of_values(flags: DatabaseFlags) -> KeyOrder {
        if flags.has(DatabaseFlags::INTEGER_DUP) {
            match flags.has(DatabaseFlags::DUP_FIXED) {
                true => KeyOrder::PackedInteger,
                false => KeyOrder::Integer,
            }
        } else if flags.has(DatabaseFlags::REVERSE_DUP) {
            KeyOrder::Reverse
        } else {
            KeyOrder::Lexical
        }
    }

    pub(crate) const fn is_custom(self) -> bool {
        matches!(self, KeyOrder::Custom(_))
    }

    /// Returns true if keys of this length may be equal without being the same.
    pub(crate) const fn has_equals(self, len: usize) -> bool {
        match self {
            KeyOrder::Custom(_) => true,
            KeyOrder::PackedInteger => len != 4 && len != 8,
            KeyOrder::Lexical | KeyOrder::Reverse | KeyOrder::Integer => false,
        }
    }

    pub(crate) const fn flags(self) -> DatabaseFlags {
        DatabaseFlags(match self {
            KeyOrder::Lexical | KeyOrder::Custom(_) => 0,
            KeyOrder::Reverse => DatabaseFlags::REVERSE_KEY,
            KeyOrder::Integer | KeyOrder::PackedInteger => DatabaseFlags::INTEGER_KEY,
        })
    }

    /// Compares two keys.
    #[inline]
    pub(crate) fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        match self {
            KeyOrder::Lexical => lexical(a, b),
            KeyOrder::Reverse => reverse(a, b),
            KeyOrder::Integer => integer(a, b),
            KeyOrder::PackedInteger => packed_integer(a, b),
            KeyOrder::Custom(order) => (order.call)(order.context, a, b),
        }
    }

    /// Returns a short key above `below` and not above `key`, as a branch needs it between two
    /// leaves. It is a part of `key`.
    pub(crate) fn separator<'a>(self, below: &[u8], key: &'a [u8]) -> &'a [u8] {
        match self {
            KeyOrder::Lexical => {
                let common = below.iter().zip(key).take_while(|(a, b)| a == b).count();
                key.get(..=common).unwrap_or(key)
            }
            KeyOrder::Reverse => {
                let pairs = below.iter().rev().zip(key.iter().rev());
                let common = pairs.take_while(|(a, b)| a == b).count();
                let start = key.len().saturating_sub(common + 1);
                key.get(start..).unwrap_or(key)
            }
            KeyOrder::Integer | KeyOrder::PackedInteger | KeyOrder::Custom(_) => key,
        }
    }
}

/// The lengths and the order of a multimap's values. Each value is stored once for a key, in order.
/// It has 1 to 511 bytes, because the original sorts values as it does keys ("sorted duplicates").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Values of any length, in this order.
    Any(KeyOrder),
    /// Values of one length, in this order. The file stores them packed, without anything between
    /// them. With [`KeyOrder::Integer`] they are unsigned integers of 4 or 8 bytes in the machine's
    /// byte order. Of values with another length, the first 4 bytes are such an integer. Values
    /// with the same one are one value.
    ///
    /// The length is that of the first value of a key; another one for the same key is
    /// [`crate::Error::FixedSize`].
    Fixed(KeyOrder),
}

impl ValueKind {
    pub(crate) fn order(self) -> KeyOrder {
        match self {
            ValueKind::Any(order) | ValueKind::Fixed(order) => order,
        }
    }

    /// The values of a database with this order.
    pub(crate) fn of(is_fixed: bool, order: KeyOrder) -> ValueKind {
        match (is_fixed, order) {
            (true, KeyOrder::PackedInteger) => ValueKind::Fixed(KeyOrder::Integer),
            (true, order) => ValueKind::Fixed(order),
            (false, order) => ValueKind::Any(order),
        }
    }

    pub(crate) fn flags(self) -> u16 {
        let order = match self.order() {
            KeyOrder::Lexical | KeyOrder::Custom(_) => 0,
            KeyOrder::Reverse => DatabaseFlags::REVERSE_DUP,
            KeyOrder::Integer | KeyOrder::PackedInteger => DatabaseFlags::INTEGER_DUP,
        };
        let fixed = match self {
            ValueKind::Any(_) => 0,
            ValueKind::Fixed(_) => DatabaseFlags::DUP_FIXED,
        };
        DatabaseFlags::DUP_SORT | order | fixed
    }
}

/// Most keys differ within their first eight bytes: one comparison of integers, and no call.
#[inline(always)]
pub(crate) fn lexical(a: &[u8], b: &[u8]) -> Ordering {
    lexical_from(a, head(b), b)
}

/// Compares a key with another whose [`head`] is given.
#[inline(always)]
fn lexical_from(a: &[u8], head_of_b: u64, b: &[u8]) -> Ordering {
    let head_of_a = head(a);
    if head_of_a != head_of_b {
        return if head_of_a < head_of_b {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    // Keys with a common beginning often differ soon behind it: one more comparison instead of a
    // call.
    if let (Some(a), Some(b)) = (second_word(a), second_word(b))
        && a != b
    {
        return a.cmp(&b);
    }
    a.cmp(b)
}

#[inline(always)]
fn second_word(key: &[u8]) -> Option<u64> {
    let bytes = key.get(8..)?.first_chunk()?;
    Some(u64::from_be_bytes(*bytes))
}

/// Returns the first eight bytes of a key as a number that orders as they do. Zeros replace missing
/// bytes.
#[inline(always)]
fn head(key: &[u8]) -> u64 {
    match key.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => short_head(key),
    }
}

/// An integer key as a number; `None` for keys of other sizes than integers have.
#[inline(always)]
pub(crate) fn integer_word(key: &[u8]) -> Option<u64> {
    if let Ok(bytes) = key.try_into() {
        return Some(u64::from_ne_bytes(bytes));
    }
    let bytes = key.try_into().ok()?;
    Some(u64::from(u32::from_ne_bytes(bytes)))
}

/// As [`integer_word`], of a key of 4 or 8 bytes that begins with these.
#[inline(always)]
pub(crate) fn integer_word_of(len: usize, bytes: [u8; 8]) -> u64 {
    let [a, b, c, d, ..] = bytes;
    if len == 8 {
        u64::from_ne_bytes(bytes)
    } else {
        u64::from(u32::from_ne_bytes([a, b, c, d]))
    }
}

/// Branches hold short keys: their bytes are read in two pieces that may overlap.
#[inline(always)]
fn short_head(key: &[u8]) -> u64 {
    let missing = 8 * (8 - key.len() as u32);
    if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        let (first, last) = (u32::from_be_bytes(*first), u32::from_be_bytes(*last));
        return u64::from(first) << 32 | u64::from(last) << missing;
    }
    if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        let (first, last) = (u16::from_be_bytes(*first), u16::from_be_bytes(*last));
        return u64::from(first) << 48 | u64::from(last) << missing;
    }
    key.first().map_or(0, |byte| u64::from(*byte) << 56)
}

#[inline]
pub(crate) fn reverse(a: &[u8], b: &[u8]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

#[inline(always)]
pub(crate) fn integer(a: &[u8], b: &[u8]) -> Ordering {
    if let (Ok(a), Ok(b)) = (<[u8; 8]>::try_from(a), <[u8; 8]>::try_from(b)) {
        return u64::from_ne_bytes(a).cmp(&u64::from_ne_bytes(b));
    }
    if let (Ok(a), Ok(b)) = (<[u8; 4]>::try_from(a), <[u8; 4]>::try_from(b)) {
        return u32::from_ne_bytes(a).cmp(&u32::from_ne_bytes(b));
    }
    // Sizes that no sane file has still need some total order.
    a.len().cmp(&b.len()).then_with(|| reverse(a, b))
}

/// Compares integers that have not one of the two usual sizes, or not the same.
#[cold]
#[inline(never)]
pub(crate) fn odd_integers(order: KeyOrder, a: &[u8], b: &[u8]) -> Ordering {
    match order {
        KeyOrder::PackedInteger => packed_integer(a, b),
        _ => integer(a, b),
    }
}

/// Compares values of fixed length as the original does: two of 8 bytes as such integers, others by
/// their first 4 bytes. The original reads behind short values. Here they end in zeros. No value of
/// 8 bytes is equal to a shorter one.
#[inline(never)]
pub(crate) fn packed_integer(a: &[u8], b: &[u8]) -> Ordering {
    if let (Ok(a), Ok(b)) = (<[u8; 8]>::try_from(a), <[u8; 8]>::try_from(b)) {
        return u64::from_ne_bytes(a).cmp(&u64::from_ne_bytes(b));
    }
    let (a_counts, b_counts) = (a.len() == 8 && b.len() < 8, b.len() == 8 && a.len() < 8);
    (first_word(a), a_counts).cmp(&(first_word(b), b_counts))
}

/// The first four bytes as an integer. Zeros replace missing ones.
fn first_word(value: &[u8]) -> u32 {
    let mut bytes = [0; 4];
    for (byte, given) in bytes.iter_mut().zip(value) {
        *byte = *given;
    }
    u32::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_orders() {
        let lexical = |a: &[u8], b: &[u8]| KeyOrder::Lexical.compare(a, b);
        assert_eq!(lexical(b"abcdefgh1", b"abcdefgh"), Ordering::Greater);
        assert_eq!(lexical(b"abcdefgh", b"abcdefgi0"), Ordering::Less);
        assert_eq!(lexical(b"ab", b"abcdefghij"), Ordering::Less);
        assert_eq!(lexical(b"\x80bcdefgh", b"\x7fbcdefgh"), Ordering::Greater);
        let reverse = |a: &[u8], b: &[u8]| KeyOrder::Reverse.compare(a, b);
        assert_eq!(reverse(b"za", b"ab"), Ordering::Less);
        assert_eq!(reverse(b"a", b"za"), Ordering::Less);
        let integer = |a: &[u8], b: &[u8]| KeyOrder::Integer.compare(a, b);
        assert_eq!(
            integer(&256_u64.to_ne_bytes(), &255_u64.to_ne_bytes()),
            Ordering::Greater
        );
        assert_eq!(
            integer(&256_u32.to_ne_bytes(), &255_u32.to_ne_bytes()),
            Ordering::Greater
        );
        assert_eq!(
            integer(&7_u32.to_ne_bytes(), &7_u32.to_ne_bytes()),
            Ordering::Equal
        );
    }

    #[test]
    fn heads_order_as_bytes_do() {
        let word = [0x80, 0, 0x7f, 1, 0xff, 0, 0, 2, 9, 0];
        for from in 0..word.len() {
            for to in from..=word.len() {
                let key = &word[from..to];
                let mut padded = [0; 8];
                let len = key.len().min(8);
                padded[..len].copy_from_slice(&key[..len]);
                assert_eq!(head(key), u64::from_be_bytes(padded), "{key:?}");
                for other in [&word[..3], &word[1..2], &[], &[0], &[0, 0], &word] {
                    assert_eq!(lexical(key, other), key.cmp(other), "{key:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn separators_separate() {
        let words: [&[u8]; 8] = [b"a", b"ab", b"abc", b"abd", b"b", b"ba", b"car", b"dog"];
        for order in [KeyOrder::Lexical, KeyOrder::Reverse] {
            for below in words {
                for key in words
                    .into_iter()
                    .filter(|key| order.compare(below, key).is_lt())
                {
                    let separator = order.separator(below, key);
                    assert!(
                        order.compare(below, separator).is_lt(),
                        "{below:?} {separator:?}"
                    );
                    assert!(
                        order.compare(separator, key).is_le(),
                        "{separator:?} {key:?}"
                    );
                }
            }
        }
    }
}
