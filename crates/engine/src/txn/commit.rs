//! Committing: records of named databases, free list, pages, flush, meta page, publication; in this order.

use fulgurite_format::{META_PAGES, Meta, Pgno};

use super::write::WriteTxn;
use crate::env::{Database, Durability};
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
    if txn.pages.is_untouched() && main.record == txn.base.main {
        return Ok(());
    }
    save_free_list(&mut txn.pages)?;
    let environment = txn.environment;
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
        write_in_map(txn, &meta)?
    } else {
        write_to_file(txn, &meta)?
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
    let exact = tree::seek(
        tree::PagesMut::view(&txn.pages),
        &main,
        name.as_bytes(),
        &mut path,
    )?;
    value::place_record(
        &mut txn.pages,
        &mut main,
        &mut path,
        exact,
        name.as_bytes(),
        &record.to_bytes(),
    )?;
    txn.set_tree(Database::MAIN, main);
    Ok(())
}

fn write_to_file(txn: &mut WriteTxn<'_>, meta: &Meta) -> Result<(), Error> {
    let environment = txn.environment;
    txn.pages.write_out()?;
    if environment.durability() != Durability::NoSync {
        environment.flush(true)?;
    }
    let synchronous = environment.durability() == Durability::Full;
    let file = environment.mapping().file();
    let at = meta_place(meta, environment.mapping().page_size());
    if let Err(source) = file.write_meta(at, &meta.to_commit_bytes(), synchronous) {
        // Put back what stood there, as well as one can, and let nobody build on it.
        let old = Meta {
            last: txn.base.last,
            txnid: meta.txnid,
            ..*meta
        };
        let undo = environment
            .mapping()
            .read_meta(meta.txnid.0 % META_PAGES)
            .map_or(old, |current| Meta {
                txnid: fulgurite_format::Txnid(txn.base.txnid.0.saturating_sub(1)),
                last: txn.base.last,
                ..current
            });
        let _ = file.write_meta(at, &undo.to_commit_bytes(), false);
        environment.mark_failed();
        return Err(Error::Io {
            doing: "writing a meta page",
            source,
        });
    }
    Ok(())
}

fn write_in_map(txn: &mut WriteTxn<'_>, meta: &Meta) -> Result<(), Error> {
    let environment = txn.environment;
    let waits = environment.flushes_wait();
    if environment.durability() != Durability::NoSync {
        environment.flush(waits)?;
    }
    let page_size = environment.mapping().page_size();
    let page = Pgno(meta.txnid.0 % META_PAGES);
    let octets = meta.to_commit_bytes();
    // The id comes last: it is what makes the page the newest.
    let (body, id) = octets.split_at(octets.len() - 8);
    let room = environment.meta_mut(page, page_size)?;
    let place = room
        .get_mut(Meta::COMMIT_AT..Meta::LEN)
        .ok_or(Error::BeyondEnd(page))?;
    let (body_room, id_room) = place.split_at_mut(body.len());
    body_room.copy_from_slice(body);
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    id_room.copy_from_slice(id);
    if environment.durability() == Durability::Full {
        let at = usize::try_from(page.0).unwrap_or(0) * page_size;
        environment
            .mapping()
            .map()
            .flush(at, page_size, waits)
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
