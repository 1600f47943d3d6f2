//! What a thread keeps of the read transaction that it has ended last: the snapshot it had, as it was decoded.
//!
//! Many programs begin a transaction for each question. If nothing was committed since the last one, the meta page need not be
//! read again, nor the records of databases that were used. Nothing of it is pinned, and nothing refers to the environment, which
//! may be closed meanwhile: its number is never given again.

use std::cell::Cell;

use fulgurite_format::{Pgno, Txnid};

use super::trees::{OpenTree, Trees};
use crate::env::Database;

/// The trees of a snapshot, or none. Apart from what has them, so that they go from one transaction to the next without being
/// copied.
#[derive(Debug, Default)]
pub(super) struct OwnTrees(Option<Box<Trees>>);

impl OwnTrees {
    /// The trees, which may be of no snapshot yet.
    #[inline]
    pub(super) fn get_mut(&mut self) -> &mut Trees {
        self.0.get_or_insert_default()
    }

    /// What is known of a database.
    #[inline]
    pub(super) fn get(&self, database: Database) -> Option<&OpenTree> {
        self.0.as_ref()?.get(database)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|trees| trees.is_empty())
    }
}

/// A snapshot without its pages.
#[derive(Debug)]
pub(super) struct Kept {
    /// The number of the handle through which it was read.
    pub(super) environment: u64,
    pub(super) txnid: Txnid,
    pub(super) last: Pgno,
    /// How often orders of the program's own had been set when the trees were loaded.
    pub(super) orders_set: u64,
    pub(super) trees: OwnTrees,
}

thread_local! {
    static KEPT: Cell<Option<Kept>> = const { Cell::new(None) };
}

/// What this thread has kept of a snapshot, if that was read through the handle of this number; else of none.
#[inline]
pub(super) fn take(environment: u64) -> Kept {
    match KEPT.try_with(Cell::take) {
        Ok(Some(kept)) if kept.environment == environment => kept,
        Ok(Some(other)) => other.emptied(),
        Ok(None) | Err(_) => Kept::of_nothing(OwnTrees(None)),
    }
}

/// Keeps this in place of what was kept; not while the thread ends.
#[inline]
pub(super) fn keep(kept: Kept) {
    let _ = KEPT.try_with(|place| place.set(Some(kept)));
}

impl Kept {
    const fn of_nothing(trees: OwnTrees) -> Kept {
        Kept {
            environment: 0,
            txnid: Txnid(0),
            last: Pgno(1),
            orders_set: 0,
            trees,
        }
    }

    /// The memory that another environment's trees had.
    #[cold]
    fn emptied(mut self) -> Kept {
        self.trees.get_mut().clear();
        Kept::of_nothing(self.trees)
    }
}
