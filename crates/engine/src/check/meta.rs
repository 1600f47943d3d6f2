//! The meta pages: which snapshot is to be checked, and whether they can be believed.

use std::io;
use std::path::Path;

use fulgurite_format::{DatabaseFlags, META_PAGES, Meta, NoMeta, TreeRecord, V09};
use fulgurite_os::File;

use super::report::{CheckError, Fault, Reporter};

/// One snapshot as a meta page describes it.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) page_bytes: usize,
    pub(super) free: TreeRecord,
    pub(super) main: TreeRecord,
    pub(super) last: u64,
    pub(super) txnid: u64,
    pgno: u64,
}

/// Reads both meta pages and picks the snapshot with id `txnid`, by default the newest.
pub(super) fn choose(
    file: &File,
    path: &Path,
    txnid: Option<u64>,
    reporter: &mut Reporter,
) -> Result<Snapshot, CheckError> {
    let bad = |reason: String| CheckError::Meta {
        path: path.to_owned(),
        reason,
    };
    let read = |source| CheckError::Read {
        path: path.to_owned(),
        source,
    };
    let first = parse(&read_meta(file, 0).map_err(read)?, 0).map_err(bad)?;
    let second = parse(&read_meta(file, first.page_bytes as u64).map_err(read)?, 1).map_err(bad)?;
    if first.page_bytes != second.page_bytes {
        return Err(bad(format!(
            "page sizes {} and {}",
            first.page_bytes, second.page_bytes
        )));
    }
    let (newer, older) = if second.txnid > first.txnid {
        (second, first)
    } else {
        (first, second)
    };
    let chosen = match txnid {
        None => newer,
        Some(id) if id == newer.txnid => newer,
        Some(id) if id == older.txnid => older,
        Some(id) => {
            return Err(CheckError::SnapshotGone {
                txnid: id,
                first: older.txnid,
                second: newer.txnid,
            });
        }
    };
    sensible(&chosen, reporter).map_err(bad)?;
    Ok(chosen)
}

/// A short read is no error: the missing bytes stay zero and are no meta page.
fn read_meta(file: &File, at: u64) -> io::Result<[u8; Meta::LEN]> {
    let mut bytes = [0; Meta::LEN];
    match file.read_exact_at(at, &mut bytes) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok([0; Meta::LEN]),
        result => result.map(|()| bytes),
    }
}

fn parse(bytes: &[u8; Meta::LEN], pgno: u64) -> Result<Snapshot, String> {
    let meta = Meta::read::<V09>(bytes).map_err(|refusal| match refusal {
        NoMeta::Foreign => format!("page {pgno} is no meta page"),
        NoMeta::Version(version) => format!("meta page {pgno} is of data format version {version}"),
    })?;
    if !meta.page_size_is_valid() {
        return Err(format!(
            "meta page {pgno} says that pages have {} bytes",
            meta.page_size()
        ));
    }
    Ok(Snapshot {
        page_bytes: meta.page_size(),
        free: meta.free,
        main: meta.main,
        last: meta.last.0,
        txnid: meta.txnid.0,
        pgno,
    })
}

fn sensible(snapshot: &Snapshot, reporter: &mut Reporter) -> Result<(), String> {
    let end = snapshot
        .last
        .checked_add(1)
        .and_then(|pages| pages.checked_mul(snapshot.page_bytes as u64));
    if snapshot.last < 1 || end.is_none() {
        return Err(format!("last page number {}", snapshot.last));
    }
    if !snapshot.free.flags.has(DatabaseFlags::INTEGER_KEY) {
        let fault = Fault::Meta(format!(
            "environment flags {:#x} lack 0x08",
            snapshot.free.flags.0
        ));
        reporter.find("file", snapshot.pgno, fault);
    }
    if snapshot.txnid % META_PAGES != snapshot.pgno && snapshot.txnid != 0 {
        let fault = Fault::Meta(format!(
            "transaction {} stands on the wrong page",
            snapshot.txnid
        ));
        reporter.find("file", snapshot.pgno, fault);
    }
    if snapshot.txnid == u64::MAX {
        reporter.find(
            "file",
            snapshot.pgno,
            Fault::Meta("the transaction id cannot grow any more".to_owned()),
        );
    }
    Ok(())
}
