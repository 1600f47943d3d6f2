//! Reading postings from the index tree.

use super::chunk_key;
use super::key_range::KeyRange;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::idset::{Bitmap, Chunk, IdSet, join};
use fulgurite::{Database, Snapshot};

/// Chunks looked at to learn a posting's size; 256 of them span two million entries.
const CHUNKS_COUNTED_MAX: usize = 256;
/// Postings up to this size are taken out of the index when they are counted.
pub(crate) const FEW: usize = 16;

/// How large a posting is, and where.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    /// All its ids, because they are few. Ascending.
    Ids(Vec<EntryId>),
    /// Its cardinality, and its first and last chunk.
    Counted { len: u64, first: u32, last: u32 },
    /// It has more chunks than were looked at.
    Large { first: u32 },
}

/// Measures the posting of `key`, and takes it out of the index if it has no more than `ids_max` ids. Cost: one descent,
/// and one step per chunk.
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
                // Most postings are one chunk of one id; in a large store those of others are many of few.
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

/// Room made for so many ids where those of one chunk are not all.
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

/// The number of a posting's first chunk at or after `from`.
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

/// The union of all postings in a range of keys; `None` when it has more than `chunks_max` chunks.
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

/// The number and the bytes of a chunk, if the record is one of this posting.
#[inline]
fn chunk_of<'t>((key, value): (&'t [u8], &'t [u8]), posting: &[u8]) -> Option<(u32, &'t [u8])> {
    let number = chunk_key::chunk_number(key.strip_prefix(posting)?)?;
    Some((number, value))
}
