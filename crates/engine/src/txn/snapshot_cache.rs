//! The decoded snapshot of the thread's last read transaction.
//!
//! Many programs begin a transaction for each question. If nothing was committed since, the meta
//! page and the records of used databases need not be read again. The cache pins nothing and refers
//! to no environment, which may be closed meanwhile. The number of an environment is never used
//! again.

use alloc::boxed::Box;
use core::cell::Cell;
use fulgurite_os::platform::thread_local;

use fulgurite_format::{Pgno, Txnid};

use super::trees::{OpenTree, Trees};
use crate::opened::Database;

/// The trees of a snapshot, or none. It is boxed, so that it moves from one transaction to the next
/// without being copied.
#[derive(Debug, Default)]
pub(super) struct CachedTrees(Option<Box<CachedSnapshot>>);

#[derive(Debug, Default)]
struct CachedSnapshot {
    key: SnapshotKey,
    trees: Trees,
}

/// The identity of cached trees, once their transaction has ended.
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
    /// Takes the thread's cached snapshot, if it was read through the handle of this number; else
    /// its memory only.
    #[inline]
    pub(super) fn take(environment: u64) -> CachedTrees {
        let mut cached = CACHE.try_with(Cell::take).unwrap_or_default();
        if let Some(cached) = &mut cached.0
            && cached.key.environment != environment
        {
            cached.key = SnapshotKey::default();
            cached.trees.clear();
        }
        debug_assert!(
            [0, environment].contains(&cached.key().environment),
            "a handle gets no snapshot of another"
        );
        cached
    }

    /// Caches them in place of the thread's earlier ones; does nothing while the thread ends.
    #[inline]
    pub(super) fn keep(mut self, key: SnapshotKey) {
        debug_assert!(key.environment != 0, "handles are numbered from 1");
        if let Some(cached) = &mut self.0 {
            cached.key = key;
            let _ = CACHE.try_with(|place| place.set(self));
        }
    }

    /// Returns the identity of the trees.
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

    /// Returns the cached tree of a database.
    #[inline]
    pub(super) fn get(&self, database: Database) -> Option<&OpenTree> {
        self.0.as_ref()?.trees.get(database)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|cached| cached.trees.is_empty())
    }
}
