//! From the rows of a load's postings to the chunks of the index tree.
//!
//! A row is a list of segments, one from each run with the posting: `first id | number of bytes |
//! distances to the next ids`. All numbers have seven bits in a byte.

use super::error::Failure;
use crate::error::Damage;
use crate::ids::EntryId;
use crate::idset::{encode_sorted, split};
use crate::index::chunk_key;

/// Receives chunks with their keys.
pub(crate) type ChunkSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), Failure> + 'a;

/// Makes chunks of the ascending ids of one row, and passes each with its key to `sink`.
pub(crate) fn write_chunks(
    posting: &[u8],
    ids: impl Iterator<Item = Result<EntryId, Damage>>,
    scratch: &mut Scratch,
    sink: &mut ChunkSink<'_>,
) -> Result<(), Failure> {
    let mut current = None;
    scratch.positions.clear();
    for id in ids {
        let (chunk, low) = split(id?);
        if current.is_some_and(|current| current != chunk) {
            scratch.write(posting, current, sink)?;
        }
        current = Some(chunk);
        scratch.positions.push(low);
    }
    scratch.write(posting, current, sink)
}

/// Memory that [`write_chunks`] reuses.
#[derive(Default)]
pub(crate) struct Scratch {
    positions: Vec<u16>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Scratch {
    fn write(
        &mut self,
        posting: &[u8],
        chunk: Option<u32>,
        sink: &mut ChunkSink<'_>,
    ) -> Result<(), Failure> {
        let Some(chunk) = chunk else { return Ok(()) };
        self.key.clear();
        self.key.extend_from_slice(posting);
        chunk_key::push_chunk(&mut self.key, chunk);
        encode_sorted(&self.positions, &mut self.value);
        self.positions.clear();
        sink(&self.key, &self.value)
    }
}

/// The ids of segments. A segment is a first id, a length in bytes, and distances.
pub(super) struct SegmentIds<'a> {
    segments: &'a [u8],
    list: &'a [u8],
    last: u64,
}

impl<'a> SegmentIds<'a> {
    pub(super) fn new(segments: &'a [u8]) -> SegmentIds<'a> {
        SegmentIds {
            segments,
            list: &[],
            last: 0,
        }
    }

    fn read(&mut self) -> Option<EntryId> {
        if self.list.is_empty() {
            self.last = take_number(&mut self.segments)?;
            let len = usize::try_from(take_number(&mut self.segments)?).ok()?;
            self.list = crate::bytes::take(&mut self.segments, len)?;
        } else {
            self.last = self.last.checked_add(take_number(&mut self.list)?)?;
        }
        Some(EntryId(self.last))
    }
}

impl Iterator for SegmentIds<'_> {
    type Item = Result<EntryId, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.list.is_empty() && self.segments.is_empty() {
            return None;
        }
        Some(self.read().ok_or(Damage::Posting))
    }
}

/// Appends a number, seven bits in a byte, lowest bits first.
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        #[allow(clippy::cast_possible_truncation)] // seven bits of it
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    #[allow(clippy::cast_possible_truncation)] // below 0x80
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_written_and_read(number: u64) {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut rest = &bytes[..];
            prop_assert_eq!(take_number(&mut rest), Some(number));
            prop_assert!(rest.is_empty());
        }
    }
}
