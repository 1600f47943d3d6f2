//! Keys of the index tree.
//!
//! ```text
//! attribute id u16 | kind u8 | value, escaped | 00 | chunk number                       big-endian
//! attribute id u16 | kind u8 | first 64 octets, escaped | 00 | hash u64 | chunk number  values of 64 octets up
//!
//! chunk number  0xxxxxxx  |  10xxxxxx 10xxxxxx  |  c0 number u32 c0                     the first that has room
//! ```
//!
//! The number of a chunk can be told from either end: a million entries have one octet of it, 33 million two.
//!
//! Escaping (00 as 01 01, 01 as 01 02) keeps the order of values and makes no value's key a prefix of
//! another's. A value of 64 octets or more is represented by its prefix and a hash: still in order, but two
//! such values may share a key, so answers from it are inexact.

use super::config::IndexKind;
use crate::bytes::stable_hash;
use crate::ids::AttributeId;

/// Values shorter than this are in the key literally.
pub(crate) const LITERAL_LEN: usize = 64;
const END: u8 = 0;
const ESCAPE: u8 = 1;
/// The bytes before the value.
const HEAD_LEN: usize = 3;
/// Octets of a chunk number at most.
const CHUNK_LEN: usize = 6;
/// The first number that has no room in one octet, and in two.
const ONE_OCTET_END: u32 = 1 << 7;
const TWO_OCTETS_END: u32 = 1 << 12;
/// How the octets at both ends of longer numbers begin.
const TWO_OCTETS: u8 = 0x80;
const SIX_OCTETS: u8 = 0xc0;

/// What a posting lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Entries with any value (of every entry, under [`AttributeId::ENTRIES`]).
    Presence = b'*' as isize,
    /// Entries with this value, in normal form.
    Equality = b'=' as isize,
    /// Entries with a value that contains these three octets.
    Gram = b's' as isize,
}

impl Kind {
    /// The postings that an index of this kind consists of.
    pub(crate) fn of(kind: IndexKind) -> Kind {
        match kind {
            IndexKind::Equality => Kind::Equality,
            IndexKind::Presence => Kind::Presence,
            IndexKind::Substring => Kind::Gram,
        }
    }
}

/// Whether a key made from this value stands for it alone.
pub(crate) fn is_literal(value: &[u8]) -> bool {
    value.len() < LITERAL_LEN
}

/// Replaces `out` by the key of a posting, without chunk number.
pub(crate) fn posting(out: &mut Vec<u8>, attribute: AttributeId, kind: Kind, value: &[u8]) {
    // With the chunk number that follows, and as if nothing had to be escaped: one piece of memory for most keys.
    out.reserve(HEAD_LEN + value.len().min(LITERAL_LEN) + 1 + CHUNK_LEN);
    head(out, attribute, kind);
    escape(out, literal_part(value));
    out.push(END);
    if !is_literal(value) {
        out.extend_from_slice(&stable_hash(value).to_be_bytes());
    }
}

/// As [`posting`], for a gram of three octets none of which is escaped: most keys of a load are such.
pub(crate) fn of_gram(attribute: AttributeId, gram: &[u8]) -> Option<[u8; HEAD_LEN + 4]> {
    let &[a, b, c] = gram else { return None };
    let [high, low] = attribute.key();
    let key = [high, low, Kind::Gram as u8, a, b, c, END];
    (a.min(b).min(c) > ESCAPE).then_some(key)
}

/// The posting of all entries.
pub(crate) fn all_entries() -> Vec<u8> {
    let mut out = Vec::new();
    posting(&mut out, AttributeId::ENTRIES, Kind::Presence, &[]);
    out
}

/// A gram as a number of 24 bits, which sorts as its key does; `None` for grams that are escaped or shorter than two
/// octets.
pub(crate) fn gram_code(gram: &[u8]) -> Option<u32> {
    match *gram {
        [a, b, c] if a.min(b).min(c) > ESCAPE => Some(u32::from_be_bytes([0, a, b, c])),
        [a, b] if a.min(b) > ESCAPE => Some(u32::from_be_bytes([0, a, b, END])),
        _ => None,
    }
}

/// Attribute and code of a gram's posting, if the gram has a code.
pub(crate) fn gram_of(posting: &[u8]) -> Option<(AttributeId, u32)> {
    let (&[high, low, kind], gram) = posting.split_first_chunk()?;
    let (&end, gram) = gram.split_last()?;
    if kind != Kind::Gram as u8 || end != END {
        return None;
    }
    Some((AttributeId::from_key(&[high, low])?, gram_code(gram)?))
}

/// Replaces `out` by the key of a gram's posting.
pub(crate) fn of_gram_code(out: &mut Vec<u8>, attribute: AttributeId, code: u32) {
    head(out, attribute, Kind::Gram);
    let [_, a, b, c] = code.to_be_bytes();
    out.extend_from_slice(&[a, b, c]);
    if c != END {
        out.push(END);
    }
}

/// Attribute and kind of grams, as [`head_of`] has them.
pub(crate) fn gram_head(attribute: AttributeId) -> [u8; HEAD_LEN] {
    let [high, low] = attribute.key();
    [high, low, Kind::Gram as u8]
}

/// Attribute and kind, by which postings are sorted first.
pub(crate) fn head_of(posting: &[u8]) -> [u8; HEAD_LEN] {
    posting.first_chunk().copied().unwrap_or_default()
}

/// The first octets of a key as a number, which sorts as the key does. The first of them, half of the attribute's number,
/// is left out as long as it is zero, to see one octet more of the value.
pub(crate) fn prefix(posting: &[u8]) -> u128 {
    let Some((0, rest)) = posting.split_first() else {
        return u128::MAX;
    };
    if let Some(first) = rest.first_chunk() {
        return u128::from_be_bytes(*first);
    }
    let mut first = [0; 16];
    first
        .iter_mut()
        .zip(rest)
        .for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(first)
}

/// Appends the chunk number to the key of a posting.
#[inline]
pub(crate) fn push_chunk(key: &mut Vec<u8>, chunk: u32) {
    let [a, b, c, d] = chunk.to_be_bytes();
    match chunk {
        0..ONE_OCTET_END => key.push(d),
        ONE_OCTET_END..TWO_OCTETS_END => {
            let (high, low) = ((c << 2) | (d >> 6), d & 0x3f);
            key.extend_from_slice(&[TWO_OCTETS | high, TWO_OCTETS | low]);
        }
        _ => key.extend_from_slice(&[SIX_OCTETS, a, b, c, d, SIX_OCTETS]),
    }
}

/// The key of a posting's chunk.
#[inline]
pub(crate) fn of_chunk(posting: &[u8], number: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(posting.len() + CHUNK_LEN);
    key.extend_from_slice(posting);
    push_chunk(&mut key, number);
    key
}

/// Splits a key of the tree into posting and chunk number.
#[inline]
pub(crate) fn split_chunk(key: &[u8]) -> Option<(&[u8], u32)> {
    let len = match key.last()? {
        0..TWO_OCTETS => 1,
        TWO_OCTETS..SIX_OCTETS => 2,
        _ => CHUNK_LEN,
    };
    let (posting, number) = key.split_at_checked(key.len().checked_sub(len)?)?;
    Some((posting, chunk_number(number)?))
}

/// What [`push_chunk`] has appended.
#[inline]
pub(crate) fn chunk_number(octets: &[u8]) -> Option<u32> {
    match *octets {
        [only @ 0..TWO_OCTETS] => Some(u32::from(only)),
        [
            first @ TWO_OCTETS..SIX_OCTETS,
            last @ TWO_OCTETS..SIX_OCTETS,
        ] => Some(u32::from(first & 0x3f) << 6 | u32::from(last & 0x3f)),
        [SIX_OCTETS, a, b, c, d, SIX_OCTETS] => Some(u32::from_be_bytes([a, b, c, d])),
        _ => None,
    }
}

/// The value of an equality key with its chunk number, if the key has all of it.
pub(crate) fn literal_value(key: &[u8]) -> Option<Vec<u8>> {
    let (posting, _) = split_chunk(key)?;
    let (end, escaped) = posting.get(HEAD_LEN..)?.split_last()?;
    let mut value = Vec::with_capacity(escaped.len());
    let mut octets = escaped.iter();
    while let Some(&octet) = octets.next() {
        value.push(match octet {
            ESCAPE => octets.next()?.checked_sub(1)?,
            END => return None,
            plain => plain,
        });
    }
    (*end == END && is_literal(&value)).then_some(value)
}

/// A stretch of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    /// First key that may belong to it.
    pub(crate) start: Vec<u8>,
    /// First key beyond it.
    pub(crate) end: Vec<u8>,
    /// Whether it holds no value outside the range asked for.
    pub(crate) exact: bool,
}

impl KeyRange {
    /// Values that begin with `prefix`.
    pub(crate) fn prefix(attribute: AttributeId, kind: Kind, prefix: &[u8]) -> KeyRange {
        let mut start = Vec::new();
        head(&mut start, attribute, kind);
        escape(&mut start, literal_part(prefix));
        KeyRange {
            end: successor(&start),
            start,
            exact: prefix.len() <= LITERAL_LEN,
        }
    }

    /// Values at or above `value`.
    pub(crate) fn at_least(attribute: AttributeId, value: &[u8]) -> KeyRange {
        let KeyRange { start, .. } = KeyRange::prefix(attribute, Kind::Equality, value);
        let mut end = Vec::new();
        head(&mut end, attribute, Kind::Equality);
        KeyRange {
            start,
            end: successor(&end),
            exact: is_literal(value),
        }
    }

    /// Values at or below `value`.
    pub(crate) fn at_most(attribute: AttributeId, value: &[u8]) -> KeyRange {
        let mut start = Vec::new();
        head(&mut start, attribute, Kind::Equality);
        let mut end = start.clone();
        escape(&mut end, literal_part(value));
        // The value itself continues with END; everything longer with an octet above it.
        end.push(END + 1);
        KeyRange {
            start,
            end,
            exact: is_literal(value),
        }
    }
}

/// The attribute of a posting's key.
pub(crate) fn attribute(posting: &[u8]) -> Option<AttributeId> {
    AttributeId::from_key(posting.get(..2)?)
}

/// The kind of a posting's key, as its octet.
pub(crate) fn kind(posting: &[u8]) -> Option<u8> {
    posting.get(2).copied()
}

/// Whether the key of a posting has all of the value: no other value makes it.
pub(crate) fn has_literal(posting: &[u8]) -> bool {
    let rest = posting.get(HEAD_LEN..).unwrap_or_default();
    // A hash stands behind the end of what is shortened.
    rest.iter().position(|octet| *octet == END) == rest.len().checked_sub(1)
}

/// Attribute, kind and (possibly shortened) value of a posting's key, for people.
pub(crate) fn parts(posting: &[u8]) -> Option<(AttributeId, u8, Vec<u8>)> {
    let (head, rest) = posting.split_at_checked(HEAD_LEN)?;
    let attribute = AttributeId::from_key(head.get(..2)?)?;
    let mut value = Vec::new();
    let mut octets = rest.iter();
    while let Some(&octet) = octets.next() {
        match octet {
            END => break,
            ESCAPE => value.push(octets.next()?.checked_sub(1)?),
            _ => value.push(octet),
        }
    }
    Some((attribute, *head.get(2)?, value))
}

fn literal_part(value: &[u8]) -> &[u8] {
    value.get(..LITERAL_LEN).unwrap_or(value)
}

fn head(out: &mut Vec<u8>, attribute: AttributeId, kind: Kind) {
    out.clear();
    out.extend_from_slice(&attribute.key());
    out.push(kind as u8);
}

/// Whether the key of a value has its octets as they are.
pub(crate) fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|octet| *octet > ESCAPE)
}

fn escape(out: &mut Vec<u8>, value: &[u8]) {
    if is_plain(value) {
        return out.extend_from_slice(value);
    }
    for &octet in value {
        if octet <= ESCAPE {
            out.extend_from_slice(&[ESCAPE, octet + 1]);
        } else {
            out.push(octet);
        }
    }
}

/// The first key beyond all that begin with `prefix`, which does not consist of 0xff alone.
fn successor(prefix: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    while let Some(last) = out.pop() {
        if last < u8::MAX {
            out.push(last + 1);
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: AttributeId = AttributeId(0xffff);

    fn key(value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        posting(&mut out, A, Kind::Equality, value);
        out
    }

    fn within(range: &KeyRange, key: &[u8]) -> bool {
        let mut key = key.to_vec();
        push_chunk(&mut key, u32::MAX);
        range.start <= key && key < range.end
    }

    fn value() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(prop_oneof![0_u8..3, 254_u8..=255, any::<u8>()], 0..6),
            // Values that share their first 62 octets and part at the bound of literal keys.
            prop::collection::vec(0_u8..3, 0..6).prop_map(|end| [&[b'a'; 62][..], &end].concat()),
        ]
    }

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0..200_u32, 4000..4200_u32, any::<u32>()]
    }

    proptest! {
        #[test]
        fn order_of_values_is_order_of_keys(a in value(), b in value()) {
            if is_literal(&a) && is_literal(&b) {
                prop_assert_eq!(a.cmp(&b), key(&a).cmp(&key(&b)));
            } else {
                prop_assert_eq!(a == b, key(&a) == key(&b));
                prop_assert!(a.get(..64) == b.get(..64) || a.cmp(&b) == key(&a).cmp(&key(&b)));
            }
            prop_assert!(a == b || !key(&a).starts_with(&key(&b)));
            prop_assert!(key(&a).len() < 300);
        }

        #[test]
        fn ranges_hold_what_they_say(a in value(), b in value()) {
            let cases = [
                (KeyRange::prefix(A, Kind::Equality, &a), b.starts_with(&a)),
                (KeyRange::at_least(A, &a), b >= a),
                (KeyRange::at_most(A, &a), b <= a),
            ];
            for (range, belongs) in cases {
                let found = within(&range, &key(&b));
                prop_assert!(found || !belongs);
                prop_assert!(!range.exact || found == belongs);
            }
        }

        #[test]
        fn grams_have_the_keys_of_values(gram in prop::collection::vec(0_u8..5, 0..5)) {
            let mut expected = Vec::new();
            posting(&mut expected, A, Kind::Gram, &gram);
            if let Some(key) = of_gram(A, &gram) {
                prop_assert_eq!(&key[..], &expected);
            }
            let code = gram_code(&gram);
            prop_assert_eq!(gram_of(&expected), code.map(|code| (A, code)));
            if let Some(code) = code {
                let mut key = Vec::new();
                of_gram_code(&mut key, A, code);
                prop_assert_eq!(key, expected);
            }
        }

        #[test]
        fn codes_of_grams_sort_as_their_keys(
            a in prop::collection::vec(2_u8..5, 2..4),
            b in prop::collection::vec(2_u8..5, 2..4),
        ) {
            let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
            posting(&mut key_a, A, Kind::Gram, &a);
            posting(&mut key_b, A, Kind::Gram, &b);
            prop_assert_eq!(gram_code(&a).cmp(&gram_code(&b)), key_a.cmp(&key_b));
        }

        #[test]
        fn order_of_numbers_is_order_of_keys(a in number(), b in number()) {
            let key = |chunk| {
                let mut key = key(b"a");
                push_chunk(&mut key, chunk);
                key
            };
            prop_assert_eq!(a.cmp(&b), key(a).cmp(&key(b)));
        }

        #[test]
        fn keys_come_apart(a in value(), chunk in number()) {
            let mut bytes = key(&a);
            push_chunk(&mut bytes, chunk);
            let (posting, number) = split_chunk(&bytes).unwrap();
            prop_assert_eq!((posting, number), (&key(&a)[..], chunk));
            prop_assert_eq!(bytes.strip_prefix(&key(&a)[..]).and_then(chunk_number), Some(chunk));
            prop_assert_eq!(parts(posting), Some((A, b'=', literal_part(&a).to_vec())));
            prop_assert_eq!((attribute(posting), kind(posting)), (Some(A), Some(b'=')));
            prop_assert_eq!(has_literal(posting), is_literal(&a));
        }
    }
}
