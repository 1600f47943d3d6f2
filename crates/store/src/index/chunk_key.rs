//! The number of a chunk, behind the key of its posting.
//!
//! ```text
//! 0xxxxxxx  |  10xxxxxx 10xxxxxx  |  c0 number u32 c0       the shortest form that can hold the number
//! ```
//!
//! The length of a chunk number can be read from either end. A million entries need one byte, 33
//! million need two.

/// Bytes of a chunk number at most.
pub(super) const CHUNK_LEN: usize = 6;

/// First numbers that do not fit in one byte, and in two.
const ONE_BYTE_END: u32 = 1 << 7;

const TWO_BYTES_END: u32 = 1 << 12;

/// First bits of the bytes at both ends of longer numbers.
const TWO_BYTES: u8 = 0x80;

const SIX_BYTES: u8 = 0xc0;

/// Appends the chunk number to the key of a posting.
#[inline]
pub(crate) fn push_chunk(key: &mut Vec<u8>, chunk: u32) {
    let [a, b, c, d] = chunk.to_be_bytes();
    match chunk {
        0..ONE_BYTE_END => key.push(d),
        ONE_BYTE_END..TWO_BYTES_END => {
            let (high, low) = ((c << 2) | (d >> 6), d & 0x3f);
            key.extend_from_slice(&[TWO_BYTES | high, TWO_BYTES | low]);
        }
        _ => key.extend_from_slice(&[SIX_BYTES, a, b, c, d, SIX_BYTES]),
    }
}

/// Returns the key of a posting's chunk.
#[inline]
pub(crate) fn of_chunk(posting: &[u8], number: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(posting.len() + CHUNK_LEN);
    write_chunk(&mut key, posting, number);
    key
}

/// Writes the key of a posting's chunk, in place of what was there.
#[inline]
pub(crate) fn write_chunk(key: &mut Vec<u8>, posting: &[u8], number: u32) {
    key.clear();
    key.extend_from_slice(posting);
    push_chunk(key, number);
}

/// Splits a key of the tree into posting and chunk number.
#[inline]
pub(crate) fn split_chunk(key: &[u8]) -> Option<(&[u8], u32)> {
    let len = match key.last()? {
        0..TWO_BYTES => 1,
        TWO_BYTES..SIX_BYTES => 2,
        _ => CHUNK_LEN,
    };
    let (posting, number) = key.split_at_checked(key.len().checked_sub(len)?)?;
    Some((posting, chunk_number(number)?))
}

/// Returns the number that [`push_chunk`] has appended.
#[inline]
pub(crate) fn chunk_number(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [only @ 0..TWO_BYTES] => Some(u32::from(only)),
        [first @ TWO_BYTES..SIX_BYTES, last @ TWO_BYTES..SIX_BYTES] => {
            Some(u32::from(first & 0x3f) << 6 | u32::from(last & 0x3f))
        }
        [SIX_BYTES, a, b, c, d, SIX_BYTES] => Some(u32::from_be_bytes([a, b, c, d])),
        _ => None,
    }
}
