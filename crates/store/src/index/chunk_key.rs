//! The number of a chunk, behind the key of its posting.
//!
//! ```text
//! chunk number  0xxxxxxx  |  10xxxxxx 10xxxxxx  |  c0 number u32 c0                     the first that has room
//! ```
//!
//! The length of a chunk number can be read from either end. A million entries need one byte of it, 33 million two.

/// Bytes of a chunk number at most.
pub(super) const CHUNK_LEN: usize = 6;

/// The first number that has no room in one byte, and in two.
const ONE_OCTET_END: u32 = 1 << 7;

const TWO_OCTETS_END: u32 = 1 << 12;

/// How the bytes at both ends of longer numbers begin.
const TWO_OCTETS: u8 = 0x80;

const SIX_OCTETS: u8 = 0xc0;

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
pub(crate) fn chunk_number(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [only @ 0..TWO_OCTETS] => Some(u32::from(only)),
        [
            first @ TWO_OCTETS..SIX_OCTETS,
            last @ TWO_OCTETS..SIX_OCTETS,
        ] => Some(u32::from(first & 0x3f) << 6 | u32::from(last & 0x3f)),
        [SIX_OCTETS, a, b, c, d, SIX_OCTETS] => Some(u32::from_be_bytes([a, b, c, d])),
        _ => None,
    }
}
