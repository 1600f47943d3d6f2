//! Committing: records of named databases, free list, pages, flush, meta page, publication; in this order.

use fulgurite_format::{META_PAGES, Meta};

use super::write::WriteTxn;
use crate::env::{Database, Durability};
use crate::reader::SlotTable;
use crate::space::save_free_list;
use crate::tree::{self, Path};
use crate::{Error, value};

pub(super) fn commit(txn: &mut WriteTxn<'_>) -> Result<(), Error> {
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
        return Ok(());
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
    if environment.has_writable_map() {
        write_in_map(txn, &meta)?;
    } else {
        write_to_file(txn, &meta, &other)?;
    }
    if let Some(lock) = environment.lock() {
        lock.store_last_txnid(meta.txnid);
    }
    Ok(())
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

fn write_to_file(txn: &mut WriteTxn<'_>, meta: &Meta, replaced: &Meta) -> Result<(), Error> {
    let environment = txn.environment;
    txn.pages.write_out()?;
    if environment.durability() != Durability::NoSync {
        environment.flush(true)?;
    }
    // What the free list said may have been read as zeros.
    environment.check_usable()?;
    let synchronous = environment.durability() == Durability::Full;
    let file = environment.mapping().file();
    let at = meta_place(meta, environment.mapping().page_size());
    file.write_meta(at, &meta.to_commit_bytes(), synchronous)
        .map_err(|source| {
            // Put back what stood there, as well as one can, and let nobody build on it.
            let _ = file.write_meta(at, &replaced.to_commit_bytes(), false);
            environment.mark_failed();
            Error::Io {
                doing: "writing a meta page",
                source,
            }
        })
}

fn write_in_map(txn: &mut WriteTxn<'_>, meta: &Meta) -> Result<(), Error> {
    let environment = txn.environment;
    let waits = environment.flushes_wait();
    if environment.durability() != Durability::NoSync {
        environment.flush(waits)?;
    }
    environment.check_usable()?;
    let mapping = environment.mapping();
    let page = meta.txnid.0 % META_PAGES;
    mapping.store_commit(meta, page)?;
    // Was it stored where others see it?
    environment.check_usable()?;
    if environment.durability() == Durability::Full {
        let page_size = mapping.page_size();
        mapping
            .flush_map(page as usize * page_size, page_size, waits)
            .map_err(|source| {
                environment.mark_failed();
                Error::Io {
                    doing: "making a meta page durable",
                    source,
                }
            })?;
    }
    Ok(())
}

fn meta_place(meta: &Meta, page_size: usize) -> u64 {
    meta.txnid.0 % META_PAGES * page_size as u64 + Meta::COMMIT_AT as u64
}
