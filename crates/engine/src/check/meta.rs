//! The meta pages: which snapshot is to be checked, and whether they can be believed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::layout::{META, u16_at, u32_at, u64_at};
use super::report::{CheckError, Fault, Reporter};
use super::tree::TreeRecord;

const META_BYTES: usize = 152;
const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;

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
fn read_meta(file: &File, at: u64) -> io::Result<[u8; META_BYTES]> {
    let mut bytes = [0; META_BYTES];
    match file.read_exact_at(&mut bytes, at) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok([0; META_BYTES]),
        result => result.map(|()| bytes),
    }
}

fn parse(bytes: &[u8; META_BYTES], pgno: u64) -> Result<Snapshot, String> {
    let here = |reason: String| format!("meta page {pgno}: {reason}");
    if u16_at(bytes, 10).unwrap_or_default() & META == 0 {
        return Err(here("no meta page flag".to_owned()));
    }
    if u32_at(bytes, 16) != Some(MAGIC) {
        return Err(here("wrong magic number".to_owned()));
    }
    if u32_at(bytes, 20) != Some(VERSION) {
        return Err(here(format!(
            "data format version {}",
            u32_at(bytes, 20).unwrap_or_default()
        )));
    }
    let free = TreeRecord::parse(&bytes[40..88]).ok_or("cut short")?;
    let main = TreeRecord::parse(&bytes[88..136]).ok_or("cut short")?;
    let page_bytes = free.pad as usize;
    if !page_bytes.is_power_of_two() || !(256..=32768).contains(&page_bytes) {
        return Err(here(format!("page size {page_bytes}")));
    }
    let last = u64_at(bytes, 136).ok_or("cut short")?;
    let txnid = u64_at(bytes, 144).ok_or("cut short")?;
    Ok(Snapshot {
        page_bytes,
        free,
        main,
        last,
        txnid,
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
    if snapshot.free.flags & 0x08 == 0 {
        let fault = Fault::Meta(format!(
            "environment flags {:#x} lack 0x08",
            snapshot.free.flags
        ));
        reporter.find("file", snapshot.pgno, fault);
    }
    if snapshot.txnid % 2 != snapshot.pgno && snapshot.txnid != 0 {
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
