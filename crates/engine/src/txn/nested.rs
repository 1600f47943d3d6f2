//! Nested transactions: parts of a write transaction that can be undone alone.

use core::ops::{Deref, DerefMut};

use super::level::Level;
use super::write::WriteTxn;
use crate::Error;
use crate::boxed_error::BoxedError;

/// A part of a write transaction that can be undone alone. It can have nested parts in turn, to any
/// depth.
///
/// It dereferences to [`WriteTxn`], so it reads and changes like one. It sees the earlier changes
/// of the surrounding transaction. [`NestedTxn::commit`] makes its changes part of the surrounding
/// transaction, which still decides about all of them. [`NestedTxn::abort`], or dropping it,
/// restores the state before it began. An error that ends a transaction ends the nested one only.
///
/// ```
/// use fulgurite::{Environment, KeyOrder, Snapshot};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let environment = Environment::options().open(directory.path())?;
/// let mut txn = environment.write()?;
/// let orders = txn.create_database("orders", KeyOrder::Lexical)?;
/// txn.put(orders, b"1", b"twelve eggs")?;
///
/// let mut attempt = txn.nested()?;
/// attempt.put(orders, b"2", b"a goose")?;
/// attempt.delete(orders, b"1")?;
/// let mut detail = attempt.nested()?;
/// detail.put(orders, b"3", b"a golden egg")?;
/// detail.commit()?; // part of the attempt now
/// attempt.abort();
///
/// assert_eq!(txn.get(orders, b"1")?, Some(&b"twelve eggs"[..]));
/// assert_eq!(txn.stat(orders)?.entries, 1);
/// txn.commit()?;
/// # Ok(())
/// # }
/// ```
///
/// The surrounding transaction cannot be used meanwhile:
///
/// ```compile_fail,E0499
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let environment = fulgurite::Environment::options().open(directory.path())?;
/// let mut txn = environment.write()?;
/// let mut attempt = txn.nested()?;
/// txn.put(fulgurite::Database::MAIN, b"key", b"value")?; // `txn` is on loan to `attempt`
/// attempt.commit()?;
/// # Ok(())
/// # }
/// ```
///
/// Nor can it end before:
///
/// ```compile_fail,E0505
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let environment = fulgurite::Environment::options().open(directory.path())?;
/// let mut txn = environment.write()?;
/// let attempt = txn.nested()?;
/// txn.commit()?; // `txn` is on loan to `attempt`
/// attempt.commit()?;
/// # Ok(())
/// # }
/// ```
///
/// Pages that the surrounding transaction changed are copied when the nested one changes them
/// again, as the file's pages are. The copies take room in the file. The replaced pages are reused
/// once the nested transaction has ended.
#[derive(Debug)]
pub struct NestedTxn<'t, 'env> {
    txn: &'t mut WriteTxn<'env>,
    /// How many nested transactions surround it.
    depth: usize,
}

impl NestedTxn<'_, '_> {
    /// Makes the changes part of the surrounding transaction.
    /// # Errors
    /// [`Error::TransactionFailed`] if an earlier error ended this nested transaction: it is undone
    /// then. [`Error::Corrupted`] if pages turn out to be listed twice; that ends the surrounding
    /// one as well.
    pub fn commit(self) -> Result<(), Error> {
        self.txn.commit_down_to(self.depth).map_err(Error::from)
    }

    /// Undoes its changes, as dropping does.
    pub fn abort(self) {
        drop(self);
    }
}

impl Drop for NestedTxn<'_, '_> {
    fn drop(&mut self) {
        self.txn.abort_down_to(self.depth);
    }
}

impl<'env> Deref for NestedTxn<'_, 'env> {
    type Target = WriteTxn<'env>;

    fn deref(&self) -> &WriteTxn<'env> {
        self.txn
    }
}

impl<'env> DerefMut for NestedTxn<'_, 'env> {
    fn deref_mut(&mut self) -> &mut WriteTxn<'env> {
        self.txn
    }
}

impl<'env> WriteTxn<'env> {
    /// Begins a nested transaction; this one is on loan until it ends.
    /// # Errors
    /// [`Error::TransactionFailed`] after an error that ended this one.
    pub fn nested(&mut self) -> Result<NestedTxn<'_, 'env>, Error> {
        let depth = self.levels.len();
        self.begin_nested()?;
        debug_assert!(self.levels.len() == depth + 1, "one level was added");
        Ok(NestedTxn { txn: self, depth })
    }

    /// Begins a nested transaction for callers that track them. From now on all calls belong to it,
    /// until [`WriteTxn::commit_nested`] or [`WriteTxn::abort_nested`] ends it. Elsewhere use
    /// [`WriteTxn::nested`].
    /// # Errors
    /// [`Error::TransactionFailed`] after an error that ended the transaction.
    pub fn begin_nested(&mut self) -> Result<(), Error> {
        self.check_alive()?;
        let level = self.save_level()?;
        self.levels.push(level);
        debug_assert!(!self.failed, "a failed transaction has no parts");
        self.pages.begin_level();
        Ok(())
    }

    /// Makes the changes of the innermost nested transaction part of its surroundings.
    /// # Errors
    /// [`Error::NotNested`] if there is none; otherwise as [`NestedTxn::commit`].
    pub fn commit_nested(&mut self) -> Result<(), Error> {
        match self.levels.len().checked_sub(1) {
            Some(depth) => self.commit_down_to(depth).map_err(Error::from),
            None => Err(Error::NotNested),
        }
    }

    /// Undoes the changes of the innermost nested transaction; does nothing if there is none.
    pub fn abort_nested(&mut self) {
        if let Some(depth) = self.levels.len().checked_sub(1) {
            self.abort_down_to(depth);
        }
    }

    /// How many nested transactions are open, one within the other.
    #[must_use]
    pub fn nesting(&self) -> usize {
        self.levels.len()
    }

    /// Commits nested transactions until that many are left; if the innermost has failed, undoes
    /// them instead.
    pub(super) fn commit_down_to(&mut self, depth: usize) -> Result<(), BoxedError> {
        if self.failed && self.levels.len() > depth {
            self.abort_down_to(depth);
            return Err(Error::TransactionFailed.into());
        }
        while self.levels.len() > depth
            && let Some(level) = self.levels.pop()
        {
            self.trees.get_mut().commit_level(level.trees);
            debug_assert!(self.lock.is_some(), "the right to write is held");
            let folded = self.pages.commit_level();
            self.failed |= folded.is_err();
            folded?;
        }
        debug_assert!(self.levels.len() <= depth, "the inner levels are gone");
        Ok(())
    }

    fn abort_down_to(&mut self, depth: usize) {
        while self.levels.len() > depth
            && let Some(level) = self.levels.pop()
        {
            debug_assert!(self.levels.len() >= depth);
            self.pages.abort_level();
            self.restore_level(level);
        }
        debug_assert!(self.levels.len() <= depth, "the inner levels are gone");
    }

    /// Saves the state, other than pages, that a nested transaction may change.
    fn save_level(&mut self) -> Result<Level, BoxedError> {
        for database in self.cursors.databases() {
            match self.save_other_positions(database) {
                // Cursors of a dropped database have no position.
                Err(failed) if failed.is_no_database() => {}
                parked => parked?,
            }
        }
        debug_assert!(!self.failed, "a failed transaction has no parts");
        Ok(Level {
            trees: self.trees.get_mut().begin_level(),
            cursors: self.cursors.save(),
        })
    }

    /// Restores the state that [`WriteTxn::save_level`] saved, once the pages are restored.
    fn restore_level(&mut self, level: Level) {
        // Orders are the program's, not the transaction's: those set meanwhile stay.
        let names = self.environment.names();
        let trees = self.trees.get_mut();
        trees.abort_level(level.trees);
        trees.reorder_all(names);
        self.cursors.restore(level.cursors);
        // A nested transaction begins only where nothing has failed.
        self.failed = false;
    }
}
