//! Pinning the snapshot before the newest.

use fulgurite_format::Meta;

use super::write::WriterLock;
use crate::Error;
use crate::boxed_error::BoxedError;
use crate::opened::Handle;
use crate::reader::{LockFile, Slot, SlotTable};

/// Pins the snapshot before the newest, or the newest where there is none before it.
///
/// The next commit writes its meta page again, and a reader cannot see if that has begun. It could
/// read half of each. So the reader keeps writers out meanwhile, except for this thread's own write
/// transaction, which is not committing now.
pub(super) fn pin(environment: &Handle, lock: &LockFile, slot: Slot) -> Result<Meta, BoxedError> {
    let _held = match WriterLock::take(environment) {
        Err(failed) if failed.is_writer_busy() => None,
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
