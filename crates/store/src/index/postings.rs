//! Reading postings from the index tree.

use super::chunk_key;
use super::key_range::KeyRange;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::{Bitmap, Chunk, IdSet, Members, join, split};
use fulgurite::{Cursor, Database, Snapshot};

/// Chunks read at most to measure a posting; 256 of them cover two million entries.
const CHUNKS_COUNTED_MAX: usize = 256;
/// Chunks for which memory is reserved if one is not all; 16 of them cover 130,000 entries.
const CHUNKS_EXPECTED: usize = 15;
/// Number of ids up to which a posting is read when it is measured.
pub(crate) const FEW: usize = 16;

/// The size of a posting, and its chunks.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// All ids, ascending, because they are few.
    Ids(Vec<EntryId>),
    /// Its cardinality, and its first and last chunk.
    Counted { len: u64, first: u32, last: u32 },
    /// More chunks than were read.
    Large { first: u32 },
}

/// Measures the posting of `key`, and reads it if it has no more than `ids_max` ids. Cost: one
/// descent, and one step per chunk.
pub(crate) fn extent(
    txn: &impl Snapshot,
    db: Database,
    key: &[u8],
    ids_max: usize,
) -> Result<Extent, StoreError> {
    let mut cursor = txn.cursor(db)?;
    let mut row = cursor.seek_range(key)?;
    let (mut len, mut chunks, mut first, mut last) = (0_u64, 0_usize, 0, 0);
    let mut few: Vec<EntryId> = Vec::new();
    while let Some((number, value)) = row.and_then(|row| chunk_of(row, key)) {
        if chunks == CHUNKS_COUNTED_MAX {
            return Ok(Extent::Large { first });
        }
        let chunk = Chunk::parse(value)?;
        if chunks == 0 {
            first = number;
        }
        last = number;
        chunks += 1;
        len += chunk.len() as u64;
        if len <= ids_max as u64 {
            if few.capacity() - few.len() < chunk.len() {
                // Most postings are one chunk of one id. Others have many chunks of few ids in a
                // large store.
                let more = if few.is_empty() {
                    0
                } else {
                    few.len().max(ROOM)
                };
                few.reserve_exact(chunk.len().max(more));
            }
            chunk.for_each(|low| few.push(join(number, low)))?;
        }
        row = cursor.next()?;
    }
    if len <= ids_max as u64 {
        Ok(Extent::Ids(few))
    } else {
        Ok(Extent::Counted { len, first, last })
    }
}

/// The size of a posting, as far as the owner of a unique value needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sole {
    /// It is empty.
    Nothing,
    /// It has one id.
    Id(EntryId),
    /// It has several ids.
    Several,
}

/// Reads the posting of `key` if it has at most one id. Cost: one descent, and one step.
pub(crate) fn sole(txn: &impl Snapshot, db: Database, key: &[u8]) -> Result<Sole, StoreError> {
    let mut cursor = txn.cursor(db)?;
    let row = cursor.seek_range(key)?;
    let Some((number, value)) = row.and_then(|row| chunk_of(row, key)) else {
        return Ok(Sole::Nothing);
    };
    let chunk = Chunk::parse(value)?;
    let next = cursor.next()?;
    if chunk.len() > 1 || next.is_some_and(|row| chunk_of(row, key).is_some()) {
        return Ok(Sole::Several);
    }
    let mut sole = Sole::Nothing;
    chunk.for_each(|low| sole = Sole::Id(join(number, low)))?;
    Ok(sole)
}

/// A posting with its chunks, which are still in the map.
#[derive(Debug)]
pub(crate) struct MeasuredPosting<'k, 't> {
    key: &'k [u8],
    len: u64,
    /// The first chunk. Most postings have no other, and so need no allocation.
    first: Option<NumberedChunk<'t>>,
    rest: Vec<NumberedChunk<'t>>,
    /// False if the posting has more chunks than were visited.
    is_complete: bool,
}

/// A chunk with its number.
type NumberedChunk<'t> = (u32, Chunk<'t>);

/// Visits the chunks of a posting. Cost: one descent, and one step per chunk.
pub(crate) fn measure<'k, 't>(
    cursor: &mut Cursor<'t>,
    key: &'k [u8],
) -> Result<MeasuredPosting<'k, 't>, StoreError> {
    let mut posting = MeasuredPosting {
        key,
        len: 0,
        first: None,
        rest: Vec::new(),
        is_complete: true,
    };
    let mut row = cursor.seek_range(key)?;
    while let Some((number, value)) = row.and_then(|row| chunk_of(row, key)) {
        if posting.rest.len() + 1 == CHUNKS_COUNTED_MAX {
            posting.is_complete = false;
            break;
        }
        let chunk = Chunk::parse(value)?;
        posting.len += chunk.len() as u64;
        match posting.first {
            None => posting.first = Some((number, chunk)),
            Some(_) => {
                if posting.rest.is_empty() {
                    posting.rest.reserve(CHUNKS_EXPECTED);
                }
                posting.rest.push((number, chunk));
            }
        }
        row = cursor.next()?;
    }
    Ok(posting)
}

impl<'k, 't> MeasuredPosting<'k, 't> {
    /// Returns the number of ids, or the greatest number if they were not all counted.
    pub(crate) fn len(&self) -> u64 {
        if self.is_complete { self.len } else { u64::MAX }
    }

    /// Returns the first chunk, and the last one if it is known.
    pub(crate) fn ends(&self) -> (u32, Option<u32>) {
        let number = |(number, _): &NumberedChunk<'t>| *number;
        let last = self.rest.last().or(self.first.as_ref()).map(number);
        (
            self.first.as_ref().map_or(0, number),
            last.filter(|_| self.is_complete),
        )
    }

    pub(crate) fn key(&self) -> &'k [u8] {
        self.key
    }

    fn chunks(&self) -> impl Iterator<Item = &NumberedChunk<'t>> {
        self.first.iter().chain(&self.rest)
    }

    /// Reads the ids of a posting that was counted.
    pub(crate) fn ids(&self) -> Result<Vec<EntryId>, StoreError> {
        self.ids_in(&[])
    }

    /// Reads the ids of a posting that was counted, as far as they may be in the other postings.
    ///
    /// It takes one chunk after the other, so it asks each posting about few positions.
    pub(crate) fn ids_in(
        &self,
        others: &[MeasuredPosting<'_, 't>],
    ) -> Result<Vec<EntryId>, StoreError> {
        debug_assert!(self.is_complete, "all of the chunks are known");
        let room = match others {
            [] => usize::try_from(self.len).unwrap_or_default(),
            _ => 0,
        };
        let mut ids = Vec::with_capacity(room);
        let first = self.first.as_ref().map_or(0, |(_, chunk)| chunk.len());
        let mut positions = Vec::with_capacity(first);
        for (number, chunk) in self.chunks() {
            chunk.positions(&mut positions)?;
            for other in others {
                match other.chunk(*number) {
                    Some(chunk) => chunk.retain(&mut positions),
                    None if other.is_complete => positions.clear(),
                    None => {}
                }
                if positions.is_empty() {
                    break;
                }
            }
            ids.extend(positions.iter().map(|low| join(*number, *low)));
        }
        debug_assert!(ids.is_sorted(), "ids ascend");
        Ok(ids)
    }

    /// Returns the chunk of a number, if it was visited.
    fn chunk(&self, number: u32) -> Option<&Chunk<'t>> {
        match &self.first {
            Some((first, chunk)) if *first == number => return Some(chunk),
            _ => {}
        }
        // Most postings with several chunks have all of them.
        let (first, _) = self.rest.first()?;
        let at = number.checked_sub(*first)? as usize;
        match self.rest.get(at) {
            Some((found, chunk)) if *found == number => return Some(chunk),
            _ => {}
        }
        let at = self
            .rest
            .binary_search_by_key(&number, |(number, _)| *number);
        at.ok()
            .and_then(|at| self.rest.get(at))
            .map(|(_, chunk)| chunk)
    }

    /// Keeps the ids that may be in the posting. It decodes no chunk.
    pub(crate) fn retain(&self, ids: &mut Vec<EntryId>) {
        debug_assert!(ids.is_sorted(), "ids ascend");
        let mut chunks = self.chunks();
        let mut current: Option<(u32, Members<'_>)> = None;
        ids.retain(|id| {
            let (number, low) = split(*id);
            loop {
                match &mut current {
                    Some((at, members)) if *at == number => return members.contains(low),
                    Some((at, _)) if *at > number => return false,
                    _ => {}
                }
                match chunks.next() {
                    Some((at, chunk)) => current = Some((*at, chunk.members())),
                    None => return !self.is_complete,
                }
            }
        });
    }
}

/// Number of ids for which memory is reserved if one chunk is not all.
const ROOM: usize = 64;

/// Adds one chunk of a posting to `bits`.
pub(crate) fn load_chunk(
    txn: &impl Snapshot,
    db: Database,
    posting: &[u8],
    chunk: u32,
    bits: &mut Bitmap,
) -> Result<(), StoreError> {
    let key = chunk_key::of_chunk(posting, chunk);
    if let Some(bytes) = txn.get(db, &key)? {
        Chunk::parse(bytes)?.or_into(bits)?;
    }
    Ok(())
}

/// Returns the number of a posting's first chunk at or after `from`.
pub(crate) fn next_chunk(
    txn: &impl Snapshot,
    db: Database,
    posting: &[u8],
    from: u32,
) -> Result<Option<u32>, StoreError> {
    let key = chunk_key::of_chunk(posting, from);
    let row = txn.cursor(db)?.seek_range(&key)?;
    let found = row.and_then(|(key, _)| chunk_key::split_chunk(key));
    Ok(found
        .filter(|(found, _)| *found == posting)
        .map(|(_, number)| number))
}

/// Returns the union of all postings in a range of keys. `None` if it has more chunks than
/// `chunks_left`, which it counts down.
pub(crate) fn union_range(
    txn: &impl Snapshot,
    db: Database,
    range: &KeyRange,
    chunks_left: &mut usize,
) -> Result<Option<IdSet>, StoreError> {
    let mut cursor = txn.cursor(db)?;
    let mut row = cursor.seek_range(&range.start)?;
    let mut set = IdSet::default();
    while let Some((key, value)) = row.filter(|(key, _)| *key < range.end.as_slice()) {
        let Some(left) = chunks_left.checked_sub(1) else {
            return Ok(None);
        };
        *chunks_left = left;
        let (_, number) = chunk_key::split_chunk(key).ok_or(Damage::Posting)?;
        set.add_chunk(number, Chunk::parse(value)?)?;
        row = cursor.next()?;
    }
    Ok(Some(set))
}

/// Returns the number and the bytes of a chunk, if it belongs to this posting.
#[inline]
fn chunk_of<'t>((key, value): (&'t [u8], &'t [u8]), posting: &[u8]) -> Option<(u32, &'t [u8])> {
    let number = chunk_key::chunk_number(key.strip_prefix(posting)?)?;
    Some((number, value))
}
