//! One chunk as stored in the map.
//!
//! ```text
//! array   position u16, ascending                                               little-endian
//! bitmap  2 u8 | cardinality u16 | 1024 bytes
//! runs    3 u8 | cardinality u16 | (first u16, last u16), ascending
//! ```
//!
//! Most chunks are arrays of a few positions, and many have one. So arrays have no header: their
//! lengths are even, the lengths of the other forms odd.

use super::bitmap::Bitmap;
use super::form::{ARRAY, BITMAP, BITMAP_LEN, RUNS, header, shortest};
use super::members::Members;
use super::position::CHUNK_IDS;
use crate::bytes::{u16_at, u64_at};
use crate::error::Damage;

/// The content of a chunk as stored. Positions out of order or outside the chunk are an error.
pub(super) enum Content<'a> {
    Array(Result<Vec<u16>, Damage>),
    Runs(Result<Vec<(u16, u16)>, Damage>),
    /// The bytes, and the cardinality from the header.
    Bitmap(&'a [u8], usize),
}

/// A chunk whose lengths have been checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk<'a> {
    kind: u8,
    cardinality: u16,
    content: &'a [u8],
}

impl<'a> Chunk<'a> {
    #[inline]
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Chunk<'a>, Damage> {
        let (kind, cardinality, content) = if bytes.len().is_multiple_of(2) {
            let positions = u16::try_from(bytes.len() / 2);
            (ARRAY, positions.map_err(|_| Damage::Posting)?, bytes)
        } else {
            let (&[kind, low, high], content) = bytes.split_first_chunk().ok_or(Damage::Posting)?;
            (kind, u16::from_le_bytes([low, high]), content)
        };
        let sound = match kind {
            ARRAY => content.len() == usize::from(cardinality) * 2,
            BITMAP => content.len() == BITMAP_LEN,
            RUNS => content.len().is_multiple_of(4) && content.len() <= BITMAP_LEN,
            _ => false,
        };
        if !sound || cardinality == 0 || usize::from(cardinality) > CHUNK_IDS {
            return Err(Damage::Posting);
        }
        Ok(Chunk {
            kind,
            cardinality,
            content,
        })
    }

    /// Returns the number of ids in the chunk, from its header.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.cardinality)
    }

    /// Visits the positions in the chunk, ascending. For chunks of few ids it needs no bitmap.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u16)) -> Result<(), Damage> {
        if self.kind != ARRAY {
            let mut bits = Bitmap::new();
            self.or_into(&mut bits)?;
            bits.iter().for_each(visit);
            return Ok(());
        }
        let mut lowest = 0;
        for low in self.numbers() {
            if low < lowest || usize::from(low) >= CHUNK_IDS {
                return Err(Damage::Posting);
            }
            lowest = low + 1;
            visit(low);
        }
        Ok(())
    }

    /// Replaces `out` by the positions, ascending.
    pub(crate) fn positions(&self, out: &mut Vec<u16>) -> Result<(), Damage> {
        out.clear();
        if self.kind != ARRAY {
            return self.for_each(|low| out.push(low));
        }
        out.extend(self.numbers());
        let ascend = out.is_sorted_by(|a, b| a < b);
        let within = out
            .last()
            .is_some_and(|last| usize::from(*last) < CHUNK_IDS);
        if ascend && within {
            Ok(())
        } else {
            Err(Damage::Posting)
        }
    }

    /// Keeps those of ascending positions that the chunk has.
    pub(crate) fn retain(&self, positions: &mut Vec<u16>) {
        debug_assert!(positions.is_sorted(), "positions ascend");
        match self.kind {
            BITMAP => {
                let words = self.content.as_chunks::<8>().0;
                positions.retain(|low| {
                    let word = words.get(usize::from(*low) / 64);
                    let word = word.map_or(0, |word| u64::from_le_bytes(*word));
                    (word >> (low % 64)) & 1 == 1
                });
            }
            _ => {
                let mut members = self.members();
                positions.retain(|low| members.contains(*low));
            }
        }
    }

    /// Replaces `out` by the array with one position inserted or removed. It copies the bytes and
    /// decodes none. Returns false if this is no array, or if another form of the result is
    /// shorter.
    pub(super) fn array_with(
        &self,
        low: u16,
        present: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, Damage> {
        if self.kind != ARRAY {
            return Ok(false);
        }
        // Counts the positions before `low`, and the runs. Positions out of order or outside are
        // damage.
        let (mut before, mut runs, mut is_stored, mut is_next_stored) = (0, 0, false, false);
        let mut end = 0;
        for position in self.numbers() {
            if position < end || usize::from(position) >= CHUNK_IDS {
                return Err(Damage::Posting);
            }
            runs += usize::from(position != end || end == 0);
            before += usize::from(position < low);
            is_stored |= position == low;
            is_next_stored |= position == low + 1;
            end = position + 1;
        }
        let is_previous_stored = before
            .checked_sub(1)
            .and_then(|last| u16_at(self.content, 2 * last))
            .is_some_and(|previous| previous + 1 == low);
        let neighbours = usize::from(is_previous_stored) + usize::from(is_next_stored);
        let (len, runs) = match (is_stored, present) {
            (false, true) => (self.len() + 1, runs + 1 - neighbours),
            (true, false) => (self.len() - 1, runs + neighbours - 1),
            _ => (self.len(), runs),
        };
        debug_assert!(before <= self.len(), "no more positions than the array has");
        if shortest(len, runs) != ARRAY {
            return Ok(false);
        }
        out.clear();
        if len == 0 {
            return Ok(true);
        }
        header(out, ARRAY, len);
        let (head, rest) = self
            .content
            .split_at_checked(2 * before)
            .ok_or(Damage::Posting)?;
        let tail = if is_stored { rest.get(2..) } else { Some(rest) };
        out.extend_from_slice(head);
        if present {
            out.extend_from_slice(&low.to_le_bytes());
        }
        out.extend_from_slice(tail.unwrap_or_default());
        debug_assert_eq!(out.len(), 2 * len, "an array has two bytes for an id");
        Ok(true)
    }

    pub(super) fn content(&self) -> Content<'a> {
        match self.kind {
            ARRAY => {
                let mut positions = Vec::with_capacity(self.len() + 1);
                let visited = self.for_each(|low| positions.push(low));
                debug_assert!(positions.is_sorted(), "positions that were visited ascend");
                Content::Array(visited.map(|()| positions))
            }
            RUNS => Content::Runs(self.checked_runs()),
            _ => Content::Bitmap(self.content, self.len()),
        }
    }

    fn checked_runs(&self) -> Result<Vec<(u16, u16)>, Damage> {
        let mut end = 0;
        let mut run = |(first, last): (usize, usize)| {
            let sound = end <= first && first <= last && last < CHUNK_IDS;
            end = last + 1;
            let run = u16::try_from(first).ok().zip(u16::try_from(last).ok());
            run.filter(|_| sound).ok_or(Damage::Posting)
        };
        self.runs().map(&mut run).collect()
    }

    /// Adds the chunk to `bits`.
    pub(crate) fn or_into(&self, bits: &mut Bitmap) -> Result<(), Damage> {
        let sound = match self.kind {
            ARRAY => self.numbers().all(|low| bits.insert(low)),
            RUNS => self
                .runs()
                .all(|(first, last)| bits.insert_run(first, last)),
            _ => {
                for (index, word) in bits.words_mut().iter_mut().enumerate() {
                    *word |= u64_at(self.content, index * 8).unwrap_or(0);
                }
                true
            }
        };
        if sound { Ok(()) } else { Err(Damage::Posting) }
    }

    /// Returns a test of ascending positions, in place.
    pub(crate) fn members(&self) -> Members<'a> {
        match self.kind {
            ARRAY => Members::of_array(self.content.as_chunks().0),
            RUNS => Members::of_runs(self.content.as_chunks().0),
            _ => Members::of_bitmap(self.content),
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.content
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| u16::from_le_bytes(*pair))
    }

    fn runs(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let ends = |r: &[u8; 4]| {
            (
                u16::from_le_bytes([r[0], r[1]]).into(),
                u16::from_le_bytes([r[2], r[3]]).into(),
            )
        };
        self.content.as_chunks::<4>().0.iter().map(ends)
    }
}
