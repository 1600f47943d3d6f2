//! What a thread keeps of the read transaction that it has ended last: the snapshot it had, as it
//! was decoded.
//!
//! Many programs begin a transaction for each question. If nothing was committed since the last
//! one, the meta page need not be read again, nor the records of databases that were used. Nothing
//! of it is pinned, and nothing refers to the environment, which may be closed meanwhile: its
//! number is never given again.

use std::cell::Cell;

use fulgurite_format::{Pgno, Txnid};

use super::trees::{OpenTree, Trees};
use crate::env::Database;

/// The trees of a snapshot, or none. Apart from what has them, so that they go from one transaction
/// to the next without being copied.
#[derive(Debug, Default)]
pub(super) struct CachedTrees(Option<Box<CachedSnapshot>>);

#[derive(Debug, Default)]
struct CachedSnapshot {
    key: SnapshotKey,
    trees: Trees,
}

/// Whose trees they are, once their transaction has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotKey {
    /// The number of the handle through which the snapshot was read; 0 of none.
    pub(super) environment: u64,
    pub(super) txnid: Txnid,
    pub(super) last: Pgno,
    /// How often orders of the program's own had been set when the trees were loaded.
    pub(super) orders_set: u64,
}

thread_local! {
    static CACHE: Cell<CachedTrees> = const { Cell::new(CachedTrees(None)) };
}

impl Default for SnapshotKey {
    #[inline]
    fn default() -> SnapshotKey {
        SnapshotKey {
            environment: 0,
            txnid: Txnid(0),
            last: Pgno(1),
            orders_set: 0,
        }
    }
}

impl CachedTrees {
    /// What this thread has cached, if that was read through the handle of this number; else the
    /// memory of it.
    #[inline]
    pub(super) fn take(environment: u64) -> CachedTrees {
        let mut cached = CACHE.try_with(Cell::take).unwrap_or_default();
        if let Some(cached) = &mut cached.0
            && cached.key.environment != environment
        {
            cached.key = SnapshotKey::default();
            cached.trees.clear();
        }
        cached
    }

    /// Keeps them in place of what the thread has cached before; not while it ends.
    #[inline]
    pub(super) fn keep(mut self, key: SnapshotKey) {
        if let Some(cached) = &mut self.0 {
            cached.key = key;
            let _ = CACHE.try_with(|place| place.set(self));
        }
    }

    /// Whose they were.
    #[inline]
    pub(super) fn key(&self) -> SnapshotKey {
        self.0
            .as_ref()
            .map_or_else(SnapshotKey::default, |cached| cached.key)
    }

    /// The trees, which may be of no snapshot yet.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut Trees {
        &mut self.0.get_or_insert_default().trees
    }

    /// What is key of a database.
    #[inline]
    pub(super) fn get(&self, database: Database) -> Option<&OpenTree> {
        self.0.as_ref()?.trees.get(database)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|cached| cached.trees.is_empty())
    }
}
