//! Postings changed by an open write transaction but not yet written.
//!
//! A hot chunk (objectClass=person) changes with every entry of a batch; collected here, it is written once.

use rustc_hash::FxHashMap;

use super::key;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset;
use fulgurite::{Database, Edit, WriteTxn};

/// Beyond so many changes they are written early, to bound memory.
const CHANGES_MAX: usize = 400_000;

/// Changes by chunk key, in the order in which they were made: the last one about an id counts.
#[derive(Debug, Default)]
pub(crate) struct PendingPostings {
    chunks: FxHashMap<Vec<u8>, Vec<(u16, bool)>>,
    changes: usize,
}

impl PendingPostings {
    /// Enters or removes an id in the posting of `key`.
    pub(crate) fn change(&mut self, posting: &[u8], id: EntryId, present: bool) {
        let (chunk, low) = idset::split(id);
        let mut chunk_key = Vec::with_capacity(posting.len() + 4);
        chunk_key.extend_from_slice(posting);
        key::push_chunk(&mut chunk_key, chunk);
        self.chunks
            .entry(chunk_key)
            .or_default()
            .push((low, present));
        self.changes += 1;
    }

    /// Whether it is time to write them.
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
                idset::edit(before, &changes, encoded)?;
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
