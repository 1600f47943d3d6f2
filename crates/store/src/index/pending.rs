//! Postings that an open write transaction has changed but not yet written.
//!
//! Some chunks (objectClass=person) change with every entry of a batch. Here their changes are
//! collected, and each chunk is written once. Keys of new entries are only listed (`added`). In a
//! large transaction another thread lists them (`key_thread`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::added::AddedPostings;
use super::chunk_key;
use super::entry_keys::KeyMaker;
use super::indexes::Indexes;
use super::key;
use super::key_thread::KeyThread;
use super::source::ValueSource;
use crate::error::StoreError;
use crate::ids::EntryId;
use crate::idset;
use fulgurite::{Database, Edit, WriteTxn};
use fulgurite_schema::{CheckedEntry, Schema};

/// Number of changes beyond which they are written early, to bound memory.
const CHANGES_MAX: usize = 400_000;

/// Bytes of memory of new entries' keys beyond which they are written early.
const ADDED_BYTES_MAX: usize = 64 << 20;

/// Number of postings of a usual entry, for which memory is reserved.
const ENTRY_POSTINGS: usize = 100;

/// Number of new entries in a transaction beyond which another thread makes their keys. Tests have
/// few entries.
const THREAD_FROM: usize = if cfg!(test) { 3 } else { 256 };

/// Changes by chunk key, in order. The last change of an id counts.
#[derive(Debug, Default)]
pub(crate) struct PendingPostings {
    chunks: FxHashMap<Vec<u8>, ChunkChanges>,
    changes: usize,
    /// The greatest id of these changes.
    changed_max: EntryId,
    /// Those of new entries, with greater ids than all changes before. So they come first.
    added: AddedPostings,
    /// The number of entries whose keys are in `added`.
    listed: usize,
    /// The thread that has taken over.
    thread: Option<KeyThread>,
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
        self.changed_max = self.changed_max.max(id);
    }

    /// Inserts the id of a new entry in all of its postings. `scratch` is room for one key.
    pub(crate) fn add_entry(
        &mut self,
        keys: KeyMaker<'_>,
        id: EntryId,
        entry: &dyn ValueSource,
        scratch: &mut Vec<u8>,
    ) {
        if self.is_newest(id) && self.added.list(keys, id, entry, scratch) {
            self.listed += 1;
            return;
        }
        self.reserve_entry();
        self.change(&key::all_entries(), id, true);
        keys.each_key(entry, scratch, &mut |key| self.change(key, id, true));
    }

    /// As [`add_entry`](Self::add_entry), for an entry of some bytes that another thread may read.
    pub(crate) fn add_shared(
        &mut self,
        (indexes, schema): (&Arc<Indexes>, &Arc<Schema>),
        id: EntryId,
        (entry, bytes): (&Arc<CheckedEntry>, usize),
        scratch: &mut Vec<u8>,
    ) {
        if self.thread.is_none() && self.listed >= THREAD_FROM {
            self.listed = 0;
            self.thread = KeyThread::start(&mut self.added, indexes, schema);
        }
        let is_newest = self.is_newest(id);
        match &mut self.thread {
            Some(thread) if is_newest && thread.takes(id, indexes) => {
                thread.add(id, entry, bytes);
            }
            _ => {
                let keys = KeyMaker::new(indexes, schema);
                self.add_entry(keys, id, entry.entry(), scratch);
            }
        }
    }

    /// Returns true if nothing has changed about the id before. A deletion of the same transaction
    /// may have freed it.
    fn is_newest(&self, id: EntryId) -> bool {
        self.chunks.is_empty() || id > self.changed_max
    }

    /// Reserves memory for the postings of an added or deleted entry.
    pub(crate) fn reserve_entry(&mut self) {
        self.chunks.reserve(ENTRY_POSTINGS);
    }

    /// Returns true if all changes are written.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.added.is_empty() && self.thread.is_none()
    }

    /// Returns true if it is time to write the changes.
    pub(crate) fn is_full(&self) -> bool {
        let of_thread = self.thread.as_ref().map_or(0, KeyThread::bytes);
        self.changes >= CHANGES_MAX || self.added.bytes() + of_thread >= ADDED_BYTES_MAX
    }

    /// Writes all changes, in key order.
    pub(crate) fn flush(&mut self, txn: &mut WriteTxn<'_>, db: Database) -> Result<(), StoreError> {
        let mut encoded = Vec::new();
        let mut write = |key: &[u8], changes: &[(u16, bool)]| {
            let encoded = &mut encoded;
            txn.edit(db, key, |before| {
                idset::edit(before, changes, encoded)?;
                Ok::<_, StoreError>(match encoded.is_empty() {
                    true => Edit::Remove,
                    false if before == Some(encoded.as_slice()) => Edit::Keep,
                    false => Edit::Store(encoded),
                })
            })
        };
        self.listed = 0;
        if let Some(thread) = self.thread.take() {
            thread.finish().each_chunk(&mut write)?;
        }
        self.added.take_sorted().each_chunk(&mut write)?;
        let mut chunks: Vec<_> = std::mem::take(&mut self.chunks).into_iter().collect();
        chunks.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        self.changes = 0;
        self.changed_max = EntryId::default();
        chunks
            .iter()
            .try_for_each(|(key, changes)| write(key, changes.all()))
    }
}
