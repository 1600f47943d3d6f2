//! Commits in this order: records of named databases, free list, pages, flush, meta page,
//! publication.

use fulgurite_format::{META_PAGES, Meta};

use super::write::WriteTxn;
use crate::boxed_error::BoxedError;
use crate::opened::{Database, Durability, MetaReplacement};
use crate::reader::SlotTable;
use crate::space::save_free_list;
use crate::tree::{self, Path};
use crate::{Error, value};

impl WriteTxn<'_> {
    /// Makes all changes visible at once, and durable as the environment was asked to. A
    /// transaction that changed nothing writes nothing. Nested transactions begun by
    /// [`WriteTxn::begin_nested`] are committed first.
    /// # Errors
    /// The system's, a full disk among them: nothing is committed then. If a flush failed, all
    /// later writing fails with [`Error::FlushFailed`]. If it is unknown what was committed, all
    /// use fails with [`Error::EnvironmentFailed`].
    pub fn commit(mut self) -> Result<(), Error> {
        self.commit_in_place().map_err(Error::from)
    }

    /// As [`WriteTxn::commit`], and keeps the memory for another transaction: see
    /// [`WriteTxn::renew`]. The transaction has ended whatever the result. Later calls fail with
    /// [`Error::TransactionFailed`]. A nested transaction cannot end its surroundings: the
    /// innermost one then counts as failed, and nothing else happens.
    /// # Errors
    /// As [`WriteTxn::commit`].
    pub fn commit_and_release(&mut self) -> Result<(), Error> {
        if !self.levels.is_empty() {
            self.failed = true;
            return Err(Error::TransactionFailed);
        }
        let result = self.commit_in_place();
        self.release();
        result.map_err(Error::from)
    }

    fn commit_in_place(&mut self) -> Result<(), BoxedError> {
        self.check_alive()?;
        self.environment.check_writable()?;
        self.commit_down_to(0)?;
        self.has_trees = false;
        self.is_as_begun = false;
        debug_assert!(self.lock.is_some(), "the right to write is held");
        let committed = commit(self)?;
        // Others may write from here on, while this one tidies up.
        self.lock = None;
        self.failed = true;
        if let Some(meta) = committed {
            self.trees.get_mut().settle(&meta);
            self.base = meta;
        }
        debug_assert!(self.lock.is_none(), "others may write");
        self.has_trees = true;
        Ok(())
    }
}

/// Commits; returns the new meta page, or `None` if nothing was changed.
fn commit(txn: &mut WriteTxn<'_>) -> Result<Option<Meta>, BoxedError> {
    debug_assert!(txn.levels.is_empty(), "nested transactions have ended");
    let changed = txn.trees.get_mut().changed();
    for database in changed {
        let record = match txn.trees.get_mut().get(database) {
            Some(open) => open.tree.record,
            None => continue,
        };
        store_record(txn, database, &record)?;
    }
    let main = txn.main()?;
    // Emptying an empty main database leaves no trace but is a change all the same, with a
    // transaction id separate.
    let main_changed = txn
        .trees
        .get_mut()
        .get(Database::MAIN)
        .is_some_and(|open| open.changed);
    if txn.pages.is_untouched() && main.record == txn.base.main && !main_changed {
        return Ok(None);
    }
    // The free list comes last: the records above took and freed pages.
    save_free_list(&mut txn.pages)?;
    let environment = txn.environment;
    // Changes in a map whose pages are gone would be lost silently.
    environment.check_usable()?;
    let other = environment
        .mapping()
        .read_meta((txn.base.txnid.0 + 1) % META_PAGES)?;
    let meta = Meta {
        map_address: txn.base.map_address,
        map_size: environment
            .map_size()
            .max(txn.base.map_size)
            .max(other.map_size),
        free: txn.pages.free.record,
        main: main.record,
        last: txn.pages.last,
        txnid: txn.id(),
    };
    debug_assert!(meta.txnid > txn.base.txnid, "ids ascend");
    debug_assert!(
        meta.map_size >= txn.base.map_size,
        "the map size never shrinks"
    );
    // Readers look at the lock file's id only. It is stored after the meta page, so that no reader
    // finds an id without its page.
    write(txn, &meta, &other)?;
    if let Some(lock) = environment.lock() {
        lock.store_last_txnid(meta.txnid);
    }
    Ok(Some(meta))
}

/// Writes the record of a named database into the main tree.
pub(super) fn store_record(
    txn: &mut WriteTxn<'_>,
    database: Database,
    record: &fulgurite_format::TreeRecord,
) -> Result<(), BoxedError> {
    debug_assert!(record.root.is_none() == (record.depth == 0));
    debug_assert!(database != Database::MAIN && database != Database::FREE_LIST);
    let mut main = txn.main()?;
    let name = txn.environment.names().name(database);
    let mut path = Path::new();
    let exact = tree::seek(tree::PagesMut::view(&txn.pages), &main, name, &mut path)?;
    value::place_record(
        &mut txn.pages,
        &mut main,
        &mut path,
        exact,
        name,
        &record.to_bytes(),
    )?;
    txn.set_tree(Database::MAIN, main);
    Ok(())
}

/// Pages first, then the meta page that makes them the newest.
fn write(txn: &mut WriteTxn<'_>, meta: &Meta, replaced: &Meta) -> Result<(), BoxedError> {
    debug_assert!(meta.last.0 >= 1, "the meta pages are in use");
    debug_assert_eq!(
        meta.txnid.0 % META_PAGES,
        (txn.base.txnid.0 + 1) % META_PAGES
    );
    let environment = txn.environment;
    let mut waits = true;
    if environment.has_writable_map() {
        waits = environment.flushes_wait();
    } else {
        txn.pages.write_out()?;
    }
    // Another thread may change it, and a durable meta page never precedes its pages.
    let durability = environment.durability();
    if durability != Durability::NoSync {
        environment.flush(waits)?;
    }
    // The free list may have been read as zeros.
    environment.check_usable()?;
    environment.replace_meta(MetaReplacement {
        page: meta.txnid.0 % META_PAGES,
        new: meta,
        old: replaced,
        durable: durability == Durability::Full,
        waits,
    })
}
