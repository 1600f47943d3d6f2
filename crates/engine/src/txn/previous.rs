//! Pinning the snapshot before the newest.

use fulgurite_format::Meta;

use super::write::WriterLock;
use crate::Error;
use crate::env::Handle;
use crate::reader::{LockFile, Slot, SlotTable};

/// Pins the snapshot before the newest, or the newest where there is none before it.
///
/// Its meta page is the one that the next commit writes again, and nothing that a reader can see
/// tells whether that has begun: what was read could be half of each. So writers are kept out
/// meanwhile; but for this thread's own write transaction, which is not committing while it does
/// this.
pub(super) fn pin(environment: &Handle, lock: &LockFile, slot: Slot) -> Result<Meta, Error> {
    let _held = match WriterLock::take(environment) {
        Err(Error::WriterBusy) => None,
        held => Some(held?),
    };
    let mapping = environment.mapping();
    let (page, meta) = lock.pin_previous(slot, |page| {
        mapping.read_meta(page).map(|meta| (meta.txnid, meta))
    })?;
    meta.check()
        .map_err(Error::at(fulgurite_format::Pgno(page)))?;
    Ok(meta)
}
