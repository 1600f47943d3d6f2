//! Pinning the snapshot before the newest.

use fulgurite_format::{META_PAGES, Meta};

use crate::reader::{LockFile, Slot, SlotTable};
use crate::{Environment, Error};

/// How often the meta page is looked for that writers keep replacing.
const ATTEMPTS: usize = 1000;

/// Pins the snapshot before the newest, or the newest where there is none before it.
///
/// The writer of the next transaction leaves both alone without being asked, because a crash of its own may need
/// either; the writer after it sees the slot, because it begins after the newest id has changed, which is looked for
/// here once the slot is set.
pub(super) fn pin(environment: &Environment, lock: &LockFile, slot: Slot) -> Result<Meta, Error> {
    let mapping = environment.mapping();
    for _ in 0..ATTEMPTS {
        let newest = lock.last_txnid();
        let page = (newest.0 + 1) % META_PAGES;
        let mut meta = mapping.read_meta(page)?;
        let mut from = page;
        if meta.txnid >= newest {
            // A new file, or one that has been gone back in: the page is of no transaction before the newest.
            from = newest.0 % META_PAGES;
            meta = mapping.read_meta(from)?;
        }
        lock.pin_at(slot, meta.txnid);
        // The next commit writes this page again, before it is published: what was read may be half of each.
        if lock.last_txnid() == newest && mapping.read_meta(from)? == meta {
            meta.check()
                .map_err(Error::at(fulgurite_format::Pgno(from)))?;
            return Ok(meta);
        }
    }
    Err(Error::LockBroken)
}
