//! The meta pages: the snapshots they describe, and their faults.

use std::io;

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Meta, MetaError, PAGE_SIZE_MAX, PAGE_SIZE_MIN, TreeRecord,
};

use super::layout::u64_at;
use super::source::Source;

/// A snapshot as a meta page describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) page_bytes: usize,
    pub(crate) free: TreeRecord,
    pub(crate) main: TreeRecord,
    pub(crate) last: u64,
    pub(crate) txnid: u64,
    /// The meta page.
    pub(crate) pgno: u64,
}

/// The two meta pages: each a snapshot, or the reason why it describes none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metas {
    pub(crate) first: Result<Snapshot, String>,
    pub(crate) second: Result<Snapshot, String>,
}

impl Metas {
    /// Reads both. If the first does not give the page size, all sizes are tried for the second.
    pub(crate) fn read(source: &dyn Source) -> io::Result<Metas> {
        let first = parse(&read_meta(source, 0)?, 0);
        let second = match &first {
            Ok(first) => {
                parse(&read_meta(source, first.page_bytes as u64)?, 1).and_then(|second| {
                    match second.page_bytes == first.page_bytes {
                        true => Ok(second),
                        false => Err(format!(
                            "meta page 1 says that pages have {} bytes, meta page 0 says {}",
                            second.page_bytes, first.page_bytes
                        )),
                    }
                })
            }
            Err(_) => find_second(source)?,
        };
        Ok(Metas { first, second })
    }

    /// Returns the described snapshots, the newest first.
    pub(crate) fn by_age(&self) -> (Option<Snapshot>, Option<Snapshot>) {
        match (&self.first, &self.second) {
            (Ok(first), Ok(second)) if second.txnid > first.txnid => (Some(*second), Some(*first)),
            (Ok(first), Ok(second)) => (Some(*first), Some(*second)),
            (Ok(only), Err(_)) | (Err(_), Ok(only)) => (Some(*only), None),
            (Err(_), Err(_)) => (None, None),
        }
    }

    /// Iterates over the meta pages that describe no snapshot, with the reasons.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (u64, &str)> {
        let both = [(0, &self.first), (1, &self.second)];
        both.into_iter()
            .filter_map(|(pgno, meta)| Some((pgno, meta.as_ref().err()?.as_str())))
    }
}

impl Snapshot {
    /// Returns the faults of a meta page that describes a snapshot nonetheless.
    pub(crate) fn blemishes(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !self.free.flags.has(DatabaseFlags::INTEGER_KEY) {
            found.push(format!(
                "environment flags {:#x} lack 0x08",
                self.free.flags.0
            ));
        }
        if self.txnid % META_PAGES != self.pgno && self.txnid != 0 {
            found.push(format!(
                "transaction {} is on the wrong meta page",
                self.txnid
            ));
        }
        if self.txnid == u64::MAX {
            found.push("the transaction id cannot grow any more".to_owned());
        }
        found
    }
}

/// Reads a meta page. After a short read the missing bytes stay zero, which no meta page has.
fn read_meta(source: &dyn Source, at: u64) -> io::Result<[u8; Meta::LEN]> {
    let mut bytes = [0; Meta::LEN];
    let mut buffer = [0; Meta::LEN];
    match source.lend(at, &mut buffer) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {}
        Err(e) => return Err(e),
        Ok(lent) => bytes.copy_from_slice(lent),
    }
    Ok(bytes)
}

fn find_second(source: &dyn Source) -> io::Result<Result<Snapshot, String>> {
    let mut page_bytes = PAGE_SIZE_MIN;
    while page_bytes <= PAGE_SIZE_MAX {
        let found = parse(&read_meta(source, page_bytes as u64)?, 1);
        if found
            .as_ref()
            .is_ok_and(|meta| meta.page_bytes == page_bytes)
        {
            return Ok(found);
        }
        page_bytes *= 2;
    }
    Ok(Err("no second meta page is found".to_owned()))
}

fn parse(bytes: &[u8; Meta::LEN], pgno: u64) -> Result<Snapshot, String> {
    let meta = Meta::read(bytes).map_err(|refusal| match refusal {
        MetaError::Foreign => format!("page {pgno} is no meta page"),
        MetaError::Version(version) => {
            format!("meta page {pgno} is of data format version {version}")
        }
    })?;
    if !meta.page_size_is_valid() {
        return Err(format!(
            "meta page {pgno} says that pages have {} bytes",
            meta.page_size()
        ));
    }
    let number = u64_at(bytes, 0).unwrap_or_default();
    if number != pgno {
        return Err(format!("meta page {pgno} says that it is page {number}"));
    }
    let last = meta.last.0;
    let end = last
        .checked_add(1)
        .and_then(|pages| pages.checked_mul(meta.page_size() as u64));
    if last < 1 || end.is_none_or(|end| end > i64::MAX as u64) {
        return Err(format!(
            "meta page {pgno} says that page {last} is the last"
        ));
    }
    Ok(Snapshot {
        page_bytes: meta.page_size(),
        free: meta.free,
        main: meta.main,
        last,
        txnid: meta.txnid.0,
        pgno,
    })
}
