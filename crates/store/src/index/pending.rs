//! Postings that an open write transaction has changed but not yet written.
//!
//! Some chunks (objectClass=person) change with every entry of a batch. Here their changes are
//! collected, and each chunk is written once.

use rustc_hash::FxHashMap;

use super::chunk_key;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset;
use fulgurite::{Database, Edit, WriteTxn};

/// Number of changes beyond which they are written early, to bound memory.
const CHANGES_MAX: usize = 400_000;

/// Number of postings of a usual entry, for which memory is reserved.
const ENTRY_POSTINGS: usize = 100;

/// Changes by chunk key, in order. The last change of an id counts.
#[derive(Debug, Default)]
pub(crate) struct PendingPostings {
    chunks: FxHashMap<Vec<u8>, ChunkChanges>,
    changes: usize,
    /// The key of the last change. Most keys of a large batch are known, and need no memory of
    /// theirs.
    key: Vec<u8>,
}

/// The changes of a chunk.
#[derive(Debug)]
enum ChunkChanges {
    /// The one change that most chunks have in a small transaction.
    One([(u16, bool); 1]),
    Several(Vec<(u16, bool)>),
}

impl ChunkChanges {
    /// Adds a change. An entry's superior classes come once for each class that has them; repeated
    /// changes are dropped.
    fn push(&mut self, change: (u16, bool)) {
        match self {
            known if known.all().last() == Some(&change) => {}
            ChunkChanges::One([first]) => *self = ChunkChanges::Several(vec![*first, change]),
            ChunkChanges::Several(all) => all.push(change),
        }
    }

    fn all(&self) -> &[(u16, bool)] {
        match self {
            ChunkChanges::One(one) => one,
            ChunkChanges::Several(all) => all,
        }
    }
}

impl PendingPostings {
    /// Inserts or removes an id in the posting of `key`.
    pub(crate) fn change(&mut self, posting: &[u8], id: EntryId, present: bool) {
        let (chunk, low) = idset::split(id);
        chunk_key::write_chunk(&mut self.key, posting, chunk);
        match self.chunks.get_mut(self.key.as_slice()) {
            Some(known) => known.push((low, present)),
            None => {
                let new = ChunkChanges::One([(low, present)]);
                self.chunks.insert(self.key.clone(), new);
            }
        }
        self.changes += 1;
    }

    /// Reserves memory for the postings of an added or deleted entry.
    pub(crate) fn reserve_entry(&mut self) {
        self.chunks.reserve(ENTRY_POSTINGS);
    }

    /// Returns true if all changes are written.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Returns true if it is time to write the changes.
    pub(crate) fn is_full(&self) -> bool {
        self.changes >= CHANGES_MAX
    }

    /// Writes all changes, in key order.
    pub(crate) fn flush(&mut self, txn: &mut WriteTxn<'_>, db: Database) -> Result<(), StoreError> {
        let mut chunks: Vec<_> = std::mem::take(&mut self.chunks).into_iter().collect();
        chunks.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        self.changes = 0;
        let mut encoded = Vec::new();
        for (key, changes) in chunks {
            let encoded = &mut encoded;
            txn.edit(db, &key, |before| {
                idset::edit(before, changes.all(), encoded)?;
                Ok::<_, StoreError>(match encoded.is_empty() {
                    true => Edit::Remove,
                    false if before == Some(encoded.as_slice()) => Edit::Keep,
                    false => Edit::Store(encoded),
                })
            })?;
        }
        Ok(())
    }
}
