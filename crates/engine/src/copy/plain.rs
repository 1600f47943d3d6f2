//! The plain copy: the file's pages as they are.

use fulgurite_format::{META_PAGES, Meta, Txnid};

use super::outlet::Outlet;
use crate::env::Handle;
use crate::memory::zeros;
use crate::txn::Sealed;
use crate::{Error, ReadTxn};

/// Octets read and written at a time.
const CHUNK: usize = 1 << 20;

/// Writes the two meta pages and the pages of the snapshot that `meta` describes, which is pinned.
///
/// Free pages among them may be changing; they are written from the map or read through the file by the system, so nothing is
/// lent that moves. The file may end before the snapshot's last page: then so does the copy.
pub(super) fn copy(txn: &ReadTxn<'_>, meta: &Meta, to: &mut dyn Outlet) -> Result<(), Error> {
    let environment = txn.environment();
    let page_size = meta.page_size();
    for pgno in 0..META_PAGES {
        to.write_all(&meta_page(environment, meta, pgno)?)
            .map_err(Error::io("writing the copy"))?;
    }
    let at = META_PAGES * page_size as u64;
    // The meta page was checked: this cannot overflow.
    let end = (meta.last.0 + 1) * page_size as u64;
    let at = copy_range(txn, at, end, to)?;
    read_and_write(txn, at, end, to)
}

/// Lets the system write from where the map has the octets, for as long as it can; returns where the rest begins.
///
/// One copy of each octet in place of two; what the file has no longer is no bus error in a call of the system.
fn copy_range(txn: &ReadTxn<'_>, from: u64, end: u64, to: &mut dyn Outlet) -> Result<u64, Error> {
    let mapping = txn.environment().mapping();
    let mut at = from;
    // Without reading ahead each page would be waited for by itself.
    if !mapping.map().reads_ahead() {
        return Ok(at);
    }
    // A file that cannot say this says why when it is read.
    let end = end.min(mapping.file().filled_len().unwrap_or(0));
    while at < end {
        txn.check_readable()?;
        let len = CHUNK.min(usize::try_from(end - at).unwrap_or(CHUNK));
        let Ok(start) = usize::try_from(at) else {
            break;
        };
        let carried = to
            .copy_range(mapping.map(), start, len)
            .map_err(Error::io("writing the copy"))?;
        if carried == 0 {
            break;
        }
        at += carried as u64;
    }
    // A page that was found missing meanwhile has been copied as zeros.
    txn.check_readable()?;
    Ok(at)
}

/// Reads through the file, and writes that.
fn read_and_write(
    txn: &ReadTxn<'_>,
    from: u64,
    end: u64,
    to: &mut dyn Outlet,
) -> Result<(), Error> {
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

/// A meta page for the copy: the file's own, unless a writer has been at it since the snapshot was pinned.
fn meta_page(environment: &Handle, meta: &Meta, pgno: u64) -> Result<Vec<u8>, Error> {
    let mut page = vec![0; meta.page_size()];
    read(environment, pgno * meta.page_size() as u64, &mut page)?;
    let of_snapshot = pgno == meta.txnid.0 % META_PAGES;
    // The other one may be that of a younger transaction by now, whose pages are not copied; then both say the same, but
    // for the number, which belongs to the page.
    let mut again = vec![0; meta.page_size()];
    read(environment, pgno * meta.page_size() as u64, &mut again)?;
    let is_changing = page != again;
    let younger = Meta::read(&page).is_ok_and(|found| found.txnid > meta.txnid);
    if of_snapshot || younger || is_changing {
        let before = u64::from(!of_snapshot);
        let says = Meta {
            txnid: Txnid(meta.txnid.0.saturating_sub(before)),
            ..*meta
        };
        let fields = page.get_mut(Meta::COMMIT_AT..Meta::LEN).unwrap_or_default();
        for (to, from) in fields.iter_mut().zip(says.to_commit_bytes()) {
            *to = from;
        }
    }
    Ok(page)
}

fn read(environment: &Handle, at: u64, buffer: &mut [u8]) -> Result<usize, Error> {
    environment
        .mapping()
        .file()
        .read_at(at, buffer)
        .map_err(Error::io("reading the data file"))
}
