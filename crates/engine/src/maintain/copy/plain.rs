//! The plain copy: the file's pages as they are.

use alloc::vec;
use alloc::vec::Vec;
use fulgurite_format::{META_PAGES, Meta};

use super::sink::CopySink;
use crate::boxed_error::BoxedError;
use crate::maintain::snapshot_meta::meta_for_page;
use crate::memory::zeros;
use crate::opened::Handle;
use crate::txn::Sealed;
use crate::{Error, ReadTxn};

/// Bytes read and written at a time.
const CHUNK: usize = 1 << 20;

/// Writes the two meta pages and the pages of the pinned snapshot that `meta` describes.
///
/// Writers may be changing free pages among them. The system reads them, so no reference to
/// changing bytes exists. If the file ends before the snapshot's last page, so does the copy.
pub(super) fn copy(
    txn: &ReadTxn<'_>,
    meta: &Meta,
    to: &mut dyn CopySink,
) -> Result<(), BoxedError> {
    let environment = txn.environment();
    let page_size = meta.page_size();
    for pgno in 0..META_PAGES {
        to.write_all(&meta_page(environment, meta, pgno)?)
            .map_err(Error::io("writing the copy"))?;
    }
    let at = META_PAGES * page_size as u64;
    // The meta page was checked, so this cannot overflow.
    let end = (meta.last.0 + 1) * page_size as u64;
    let at = copy_ranges(txn, at, end, to)?;
    read_and_write(txn, at, end, to)
}

/// Lets the system write from the map for as long as it can. Returns the offset where the rest
/// begins.
///
/// This copies each byte once instead of twice. For bytes beyond the end of the file the system
/// call fails, where an access would be a bus error.
fn copy_ranges(
    txn: &ReadTxn<'_>,
    from: u64,
    end: u64,
    to: &mut dyn CopySink,
) -> Result<u64, BoxedError> {
    let mapping = txn.environment().mapping();
    let mut at = from;
    // Without read-ahead the system would wait for each page separately.
    if !mapping.map().reads_ahead() {
        return Ok(at);
    }
    // If the length is unknown, reading the file reports the error.
    let end = end.min(mapping.file().filled_len().unwrap_or(0));
    while at < end {
        txn.check_readable()?;
        let len = CHUNK.min(usize::try_from(end - at).unwrap_or(CHUNK));
        let Ok(start) = usize::try_from(at) else {
            break;
        };
        let copied = to
            .copy_range(mapping.map(), start, len)
            .map_err(Error::io("writing the copy"))?;
        if copied == 0 {
            break;
        }
        at += copied as u64;
    }
    // A page that was missing in the file has been copied as zeros.
    txn.check_readable()?;
    Ok(at)
}

/// Reads the file into a buffer, and writes the buffer.
fn read_and_write(
    txn: &ReadTxn<'_>,
    from: u64,
    end: u64,
    to: &mut dyn CopySink,
) -> Result<(), BoxedError> {
    let mut at = from;
    let rest = usize::try_from(end.saturating_sub(at)).unwrap_or(CHUNK);
    let mut buffer = zeros(CHUNK.min(rest))?;
    while at < end {
        txn.check_readable()?;
        let len = buffer.len().min(usize::try_from(end - at).unwrap_or(CHUNK));
        let part = buffer.get_mut(..len).unwrap_or_default();
        let read = read(txn.environment(), at, part)?;
        let part = part.get(..read).unwrap_or_default();
        to.write_all(part).map_err(Error::io("writing the copy"))?;
        at += read as u64;
        if read < len {
            break;
        }
    }
    Ok(())
}

/// Returns a meta page for the copy: the file's own, unless a writer has changed it since the pin.
fn meta_page(environment: &Handle, meta: &Meta, pgno: u64) -> Result<Vec<u8>, BoxedError> {
    let mut page = vec![0; meta.page_size()];
    read(environment, pgno * meta.page_size() as u64, &mut page)?;
    let of_snapshot = pgno == meta.txnid.0 % META_PAGES;
    // The other page may already be that of a younger transaction, whose pages are not copied. Then
    // both describe this snapshot, with ids that fit their pages.
    let mut again = vec![0; meta.page_size()];
    read(environment, pgno * meta.page_size() as u64, &mut again)?;
    let is_changing = page != again;
    let younger = Meta::read(&page).is_ok_and(|found| found.txnid > meta.txnid);
    if of_snapshot || younger || is_changing {
        let fields = page.get_mut(Meta::COMMIT_AT..Meta::LEN).unwrap_or_default();
        let bytes = meta_for_page(meta, pgno).to_commit_bytes();
        for (to, from) in fields.iter_mut().zip(bytes) {
            *to = from;
        }
    }
    Ok(page)
}

fn read(environment: &Handle, at: u64, buffer: &mut [u8]) -> Result<usize, BoxedError> {
    environment
        .mapping()
        .file()
        .read_at(at, buffer)
        .map_err(Error::io("reading the data file"))
}
