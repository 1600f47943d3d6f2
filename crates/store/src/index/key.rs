//! Keys of the index tree.
//!
//! ```text
//! attribute id u16 | kind u8 | value, escaped | 00 | chunk number                       big-endian
//! attribute id u16 | kind u8 | first 64 bytes, escaped | 00 | hash u64 | chunk number   values of 64 bytes or more
//! ```
//!
//! The chunk number is described in `chunk_key`. Escaping (00 as 01 01, 01 as 01 02) keeps the
//! order of values, and no value's key is a prefix of another value's key. A value of 64 bytes or
//! more is represented by its prefix and a hash. Such keys sort too, but two values may share a
//! key, so their answers are inexact.

use super::chunk_key::{CHUNK_LEN, split_chunk};
use crate::bytes::stable_hash;
use crate::ids::AttributeId;

/// Length in bytes: shorter values are in the key literally.
pub(crate) const LITERAL_LEN: usize = 64;
pub(super) const END: u8 = 0;
pub(super) const ESCAPE: u8 = 1;
/// Number of bytes before the value.
pub(super) const HEADER_LEN: usize = 3;

/// Number of bytes of a key around a value of the usual form, without escapes.
pub(super) const FRAME_LEN: usize = HEADER_LEN + 1;

/// Returns true if no other value has the key of this value.
pub(crate) fn is_literal(value: &[u8]) -> bool {
    value.len() < LITERAL_LEN
}

/// Replaces `out` by the key of a posting, without chunk number.
pub(crate) fn posting(out: &mut Vec<u8>, attribute: AttributeId, code: u8, value: &[u8]) {
    out.clear();
    // The memory includes the chunk number that follows, but no escapes. So most keys need one
    // allocation.
    out.reserve(FRAME_LEN + value.len().min(LITERAL_LEN) + CHUNK_LEN);
    append_posting(out, attribute, code, value);
}

/// Appends the key of a posting, without chunk number.
pub(super) fn append_posting(out: &mut Vec<u8>, attribute: AttributeId, code: u8, value: &[u8]) {
    append_header(out, attribute, code);
    escape(out, literal_part(value));
    out.push(END);
    if !is_literal(value) {
        out.extend_from_slice(&stable_hash(value).to_be_bytes());
    }
}

/// Kind code of the keys of presence. Under the pseudo-attribute [`AttributeId::ENTRIES`] it lists
/// all entries.
pub(crate) const PRESENCE_CODE: u8 = b'*';

/// Returns the key of the posting of all entries.
pub(crate) fn all_entries() -> Vec<u8> {
    let mut out = Vec::new();
    posting(&mut out, AttributeId::ENTRIES, PRESENCE_CODE, &[]);
    out
}

/// Returns attribute and kind of a posting, by which postings are sorted first.
pub(crate) fn kind_prefix(posting: &[u8]) -> [u8; HEADER_LEN] {
    posting.first_chunk().copied().unwrap_or_default()
}

/// Returns the first bytes of a key as a number, which sorts as the key. A zero at the start, half
/// of the attribute's number, is omitted to include one more byte of the value.
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

/// Returns the value of an equality key with its chunk number, if the key contains all of the
/// value.
pub(crate) fn literal_value(key: &[u8]) -> Option<Vec<u8>> {
    let (posting, _) = split_chunk(key)?;
    let (end, escaped) = posting.get(HEADER_LEN..)?.split_last()?;
    let mut value = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        value.push(match byte {
            ESCAPE => bytes.next()?.checked_sub(1)?,
            END => return None,
            plain => plain,
        });
    }
    (*end == END && is_literal(&value)).then_some(value)
}

/// Returns the attribute of a posting's key.
pub(crate) fn attribute(posting: &[u8]) -> Option<AttributeId> {
    AttributeId::from_key(posting.get(..2)?)
}

/// Returns the kind code of a posting's key.
pub(crate) fn kind_code(posting: &[u8]) -> Option<u8> {
    posting.get(2).copied()
}

/// Returns true if the key of a posting contains all of the value, so that no other value has it.
pub(crate) fn has_literal(posting: &[u8]) -> bool {
    let rest = posting.get(HEADER_LEN..).unwrap_or_default();
    // A hash follows the end of a shortened value.
    rest.iter().position(|byte| *byte == END) == rest.len().checked_sub(1)
}

/// Returns attribute, kind and (possibly shortened) value of a posting's key, for people.
pub(crate) fn parts(posting: &[u8]) -> Option<(AttributeId, u8, Vec<u8>)> {
    let (header, rest) = posting.split_at_checked(HEADER_LEN)?;
    let attribute = AttributeId::from_key(header.get(..2)?)?;
    let mut value = Vec::new();
    let mut bytes = rest.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            END => break,
            ESCAPE => value.push(bytes.next()?.checked_sub(1)?),
            _ => value.push(byte),
        }
    }
    Some((attribute, *header.get(2)?, value))
}

pub(super) fn literal_part(value: &[u8]) -> &[u8] {
    value.get(..LITERAL_LEN).unwrap_or(value)
}

pub(super) fn header(out: &mut Vec<u8>, attribute: AttributeId, code: u8) {
    out.clear();
    append_header(out, attribute, code);
}

fn append_header(out: &mut Vec<u8>, attribute: AttributeId, code: u8) {
    let [high, low] = attribute.key();
    out.extend_from_slice(&[high, low, code]);
}

/// Returns true if the value needs no escapes.
pub(crate) fn is_plain(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte > ESCAPE)
}

pub(super) fn escape(out: &mut Vec<u8>, value: &[u8]) {
    if is_plain(value) {
        return out.extend_from_slice(value);
    }
    for &byte in value {
        if byte <= ESCAPE {
            out.extend_from_slice(&[ESCAPE, byte + 1]);
        } else {
            out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chunk_key::{chunk_number, push_chunk};
    use super::super::key_range::KeyRange;
    use super::*;
    use proptest::prelude::*;

    const A: AttributeId = AttributeId(0xffff);
    const EQUALITY: u8 = b'=';

    fn key(value: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        posting(&mut out, A, EQUALITY, value);
        out
    }

    fn is_within(range: &KeyRange, key: &[u8]) -> bool {
        let mut key = key.to_vec();
        push_chunk(&mut key, u32::MAX);
        range.start <= key && key < range.end
    }

    fn value() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(prop_oneof![0_u8..3, 254_u8..=255, any::<u8>()], 0..6),
            // Values that share their first 62 bytes and differ at the bound of literal keys.
            prop::collection::vec(0_u8..3, 0..6).prop_map(|end| [&[b'a'; 62][..], &end].concat()),
        ]
    }

    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![0..200_u32, 4000..4200_u32, any::<u32>()]
    }

    proptest! {
        #[test]
        fn keys_sort_as_their_values(a in value(), b in value()) {
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
        fn ranges_contain_the_values_that_belong_to_them(a in value(), b in value()) {
            let cases = [
                (KeyRange::prefix(A, EQUALITY, &a), b.starts_with(&a)),
                (KeyRange::at_least(A, EQUALITY, &a), b >= a),
                (KeyRange::at_most(A, EQUALITY, &a), b <= a),
            ];
            for (range, belongs) in cases {
                let contains = is_within(&range, &key(&b));
                prop_assert!(contains || !belongs);
                prop_assert!(!range.exact || contains == belongs);
            }
        }

        #[test]
        fn keys_sort_by_chunk_number(a in number(), b in number()) {
            let key = |chunk| {
                let mut key = key(b"a");
                push_chunk(&mut key, chunk);
                key
            };
            prop_assert_eq!(a.cmp(&b), key(a).cmp(&key(b)));
        }

        #[test]
        fn a_key_splits_into_its_parts(a in value(), chunk in number()) {
            let mut bytes = key(&a);
            push_chunk(&mut bytes, chunk);
            let (posting, number) = split_chunk(&bytes).unwrap();
            prop_assert_eq!((posting, number), (&key(&a)[..], chunk));
            prop_assert_eq!(bytes.strip_prefix(&key(&a)[..]).and_then(chunk_number), Some(chunk));
            prop_assert_eq!(parts(posting), Some((A, b'=', literal_part(&a).to_vec())));
            prop_assert_eq!((attribute(posting), kind_code(posting)), (Some(A), Some(b'=')));
            prop_assert_eq!(has_literal(posting), is_literal(&a));
        }
    }
}
