//! A thread that makes the index keys of new entries, while their writer goes on.
//!
//! ```text
//!   writer:  add, add, ... flush          blocks of entries          sorted keys
//!   thread:                               -> keys, in runs ->        -> merged
//! ```
//!
//! Nobody needs the keys before they are written. An entry's memory is freed here as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::added::{AddedPostings, SortedPostings, position};
use super::entry_keys::KeyMaker;
use super::indexes::Indexes;
use crate::ids::EntryId;
use fulgurite_schema::{CheckedEntry, Schema};

/// Entries that the thread gets together.
const BLOCK_ENTRIES: usize = 64;

/// Bytes of entries in a block, beyond which it has no more. Waiting entries are in memory.
const BLOCK_BYTES: usize = 64 << 10;

/// Blocks that wait for the thread at most. Then the writer waits.
const BLOCKS_MAX: usize = 16;

/// New entries with their ids.
type Block = Vec<(EntryId, Arc<CheckedEntry>)>;

/// The writer's end of the thread.
#[derive(Debug)]
pub(super) struct KeyThread {
    block: Block,
    block_bytes: usize,
    blocks: SyncSender<Block>,
    /// The entry at position 0.
    base: EntryId,
    indexes: Arc<Indexes>,
    /// The memory of the keys, in bytes.
    bytes: Arc<AtomicUsize>,
    thread: JoinHandle<SortedPostings>,
}

impl KeyThread {
    /// Begins with the keys in `added`, and takes them. Returns `None`, and leaves them, if the
    /// system has no thread.
    pub(super) fn start(
        added: &mut AddedPostings,
        indexes: &Arc<Indexes>,
        schema: &Arc<Schema>,
    ) -> Option<KeyThread> {
        debug_assert!(!added.is_empty(), "the first entry has position 0");
        let (blocks, received) = sync_channel(BLOCKS_MAX);
        let (taken, begin) = sync_channel(1);
        let (base, bytes) = (added.base(), Arc::new(AtomicUsize::new(added.bytes())));
        let (its_bytes, its_indexes) = (Arc::clone(&bytes), Arc::clone(indexes));
        let schema = Arc::clone(schema);
        let run = move || {
            let added = begin.recv().unwrap_or_default();
            let keys = KeyMaker::new(&its_indexes, &schema);
            list_all(added, keys, &received, &its_bytes)
        };
        let thread = thread::Builder::new().name("index keys".to_owned());
        let thread = thread.spawn(run).ok()?;
        // The thread is there to take them.
        let _ = taken.send(std::mem::take(added));
        Some(KeyThread {
            block: Vec::with_capacity(BLOCK_ENTRIES),
            block_bytes: 0,
            blocks,
            base,
            indexes: Arc::clone(indexes),
            bytes,
            thread,
        })
    }

    /// Returns true if the thread makes the keys of this entry, in these indexes.
    pub(super) fn takes(&self, id: EntryId, indexes: &Arc<Indexes>) -> bool {
        Arc::ptr_eq(&self.indexes, indexes) && position(self.base, id).is_some()
    }

    /// Hands over a new entry, with its size in bytes. It waits if the thread is far behind.
    pub(super) fn add(&mut self, id: EntryId, entry: &Arc<CheckedEntry>, bytes: usize) {
        self.block.push((id, Arc::clone(entry)));
        self.block_bytes += bytes;
        if self.block.len() >= BLOCK_ENTRIES || self.block_bytes >= BLOCK_BYTES {
            self.send();
        }
    }

    fn send(&mut self) {
        self.block_bytes = 0;
        let next = Vec::with_capacity(BLOCK_ENTRIES);
        // Only a panic ends the thread before its sender is gone. `finish` passes it on.
        let _ = self.blocks.send(std::mem::replace(&mut self.block, next));
    }

    /// Returns the memory of the keys up to now, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Waits for the keys of all entries.
    ///
    /// # Panics
    /// As the thread did.
    pub(super) fn finish(mut self) -> SortedPostings {
        self.send();
        drop(self.blocks);
        let sorted = self.thread.join();
        sorted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Makes the keys of all entries that come.
fn list_all(
    mut added: AddedPostings,
    keys: KeyMaker<'_>,
    blocks: &Receiver<Block>,
    bytes: &AtomicUsize,
) -> SortedPostings {
    let mut scratch = Vec::new();
    for block in blocks {
        for (id, entry) in block {
            let is_listed = added.list(keys, id, entry.entry(), &mut scratch);
            debug_assert!(is_listed, "the writer has looked at its position");
        }
        added.sort_run();
        bytes.store(added.bytes(), Ordering::Relaxed);
    }
    added.take_sorted()
}
