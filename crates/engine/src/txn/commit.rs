//! Committing: records of named databases, free list, pages, flush, meta page, publication; in this order.

use fulgurite_format::{META_PAGES, Meta};

use super::write::WriteTxn;
use crate::env::{Database, Durability, Replacement};
use crate::reader::SlotTable;
use crate::space::save_free_list;
use crate::tree::{self, Path};
use crate::{Error, value};

/// Commits; returns the new meta page, or `None` if nothing was changed.
pub(super) fn commit(txn: &mut WriteTxn<'_>) -> Result<Option<Meta>, Error> {
    let changed = txn.trees.get_mut().changed();
    for database in changed {
        let record = match txn.trees.borrow().get(database) {
            Some(open) => open.tree.record,
            None => continue,
        };
        store_record(txn, database, &record)?;
    }
    let main = txn.main()?;
    // Emptying an empty main database leaves no trace but is a change all the same, with a transaction id of its own.
    let main_changed = txn
        .trees
        .get_mut()
        .get(Database::MAIN)
        .is_some_and(|open| open.changed);
    if txn.pages.is_untouched() && main.record == txn.base.main && !main_changed {
        return Ok(None);
    }
    save_free_list(&mut txn.pages)?;
    let environment = txn.environment;
    // What was changed in a map whose pages are gone would be lost in silence.
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
) -> Result<(), Error> {
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
fn write(txn: &mut WriteTxn<'_>, meta: &Meta, replaced: &Meta) -> Result<(), Error> {
    let environment = txn.environment;
    let mut waits = true;
    if environment.has_writable_map() {
        waits = environment.flushes_wait();
    } else {
        txn.pages.write_out()?;
    }
    if environment.durability() != Durability::NoSync {
        environment.flush(waits)?;
    }
    // What the free list said may have been read as zeros.
    environment.check_usable()?;
    environment.replace_meta(Replacement {
        page: meta.txnid.0 % META_PAGES,
        new: meta,
        old: replaced,
        durable: environment.durability() == Durability::Full,
        waits,
    })
}
