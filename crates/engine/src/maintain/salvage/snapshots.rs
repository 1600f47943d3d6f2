//! The choice of snapshots, when the meta pages may be damaged.

use std::io;

use fulgurite_format::{
    DatabaseFlags, META_PAGES, Meta, PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageFlags, TreeRecord, layout,
};

use super::report::Basis;
use crate::maintain::image::layout::{HEADER, Header, u64_at};
use crate::maintain::image::meta::{Metas, Snapshot};
use crate::maintain::image::source::Source;

/// The snapshots to salvage.
pub(super) struct SnapshotChoice {
    pub(super) basis: Basis,
    pub(super) page_bytes: usize,
    pub(super) newest: Option<Snapshot>,
    pub(super) previous: Option<Snapshot>,
    pub(super) notes: Vec<String>,
}

/// Chooses the snapshots: the described ones, else repaired meta pages, else none.
pub(super) fn choose(source: &dyn Source, metas: &Metas) -> io::Result<SnapshotChoice> {
    let mut notes: Vec<String> = metas
        .refusals()
        .map(|(pgno, reason)| format!("meta page {pgno}: {reason}"))
        .collect();
    let guess = guess_page_bytes(source)?;
    let (newest, previous) = match metas.by_age() {
        (None, _) => (None, None),
        (Some(newest), previous) => (Some(newest), previous),
    };
    if let Some(newest) = newest {
        let basis = match previous {
            Some(_) => Basis::Newest,
            None => Basis::OnlyOne,
        };
        // The other page may describe a newer snapshot, with only its mark overwritten.
        if previous.is_none()
            && let Some(other) = mended(source, newest.page_bytes, 1 - newest.pgno)?
        {
            notes.push(format!(
                "meta page {} was read all the same: transaction {}",
                other.pgno, other.txnid
            ));
            let (newest, previous) = match other.txnid > newest.txnid {
                true => (other, newest),
                false => (newest, other),
            };
            return Ok(SnapshotChoice {
                basis: Basis::Mended,
                page_bytes: newest.page_bytes,
                newest: Some(newest),
                previous: Some(previous),
                notes,
            });
        }
        return Ok(SnapshotChoice {
            basis,
            page_bytes: newest.page_bytes,
            newest: Some(newest),
            previous,
            notes,
        });
    }
    let both = [mended(source, guess, 0)?, mended(source, guess, 1)?];
    let mut found: Vec<Snapshot> = both.into_iter().flatten().collect();
    found.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.txnid));
    let mut found = found.into_iter();
    let newest = found.next();
    notes.push(format!("pages are taken to have {guess} bytes"));
    Ok(SnapshotChoice {
        basis: newest.map_or(Basis::Scan, |_| Basis::Mended),
        page_bytes: guess,
        newest,
        previous: found.next(),
        notes,
    })
}

/// Returns the page size with which most pages have their own number. Sizes weight the count, so
/// that one large page does not look like several small ones.
fn guess_page_bytes(source: &dyn Source) -> io::Result<usize> {
    const SAMPLE_BYTES: u64 = 64 << 20;
    let len = source.len_bytes()?.min(SAMPLE_BYTES);
    let (mut best, mut best_score) = (4096, 0);
    let mut page_bytes = PAGE_SIZE_MIN;
    while page_bytes <= PAGE_SIZE_MAX {
        let mut score = 0;
        for pgno in META_PAGES..len / page_bytes as u64 {
            let mut bytes = [0; HEADER];
            let header = source
                .lend(pgno * page_bytes as u64, &mut bytes)
                .ok()
                .and_then(Header::parse);
            let kinds = PageFlags::BRANCH | PageFlags::LEAF | PageFlags::OVERFLOW;
            if header.is_some_and(|header| header.pgno == pgno && header.flags & kinds != 0) {
                score += page_bytes;
            }
        }
        if score > best_score {
            (best, best_score) = (page_bytes, score);
        }
        page_bytes *= 2;
    }
    Ok(best)
}

/// Reads a snapshot from a meta page without mark, version or number, if its other numbers lead to
/// trees.
fn mended(source: &dyn Source, page_bytes: usize, pgno: u64) -> io::Result<Option<Snapshot>> {
    let mut buffer = [0; Meta::LEN];
    let Ok(lent) = source.lend(pgno * page_bytes as u64, &mut buffer) else {
        return Ok(None);
    };
    let (Some(free), Some(main)) = (
        lent.get(FREE_AT..).and_then(TreeRecord::read),
        lent.get(MAIN_AT..).and_then(TreeRecord::read),
    ) else {
        return Ok(None);
    };
    let (Some(last), Some(txnid)) = (u64_at(lent, LAST_AT), u64_at(lent, TXNID_AT)) else {
        return Ok(None);
    };
    let file_pages = source.len_bytes()? / page_bytes as u64;
    let believable = last >= 1
        && last < file_pages.saturating_mul(16)
        && txnid > 0
        && txnid % META_PAGES == pgno
        && main.flags.0 & !DatabaseFlags::PERSISTENT == 0
        && !main.root.is_none()
        && leads_to_a_tree(source, page_bytes, &main)
        && (free.root.is_none() || leads_to_a_tree(source, page_bytes, &free));
    Ok(believable.then_some(Snapshot {
        page_bytes,
        free,
        main,
        last,
        txnid,
        pgno,
    }))
}

const FREE_AT: usize = 40;
const MAIN_AT: usize = 88;
const LAST_AT: usize = 136;
const TXNID_AT: usize = 144;

fn leads_to_a_tree(source: &dyn Source, page_bytes: usize, record: &TreeRecord) -> bool {
    let root = record.root.0;
    let mut bytes = [0; layout::HEADER_LEN];
    let header = root
        .checked_mul(page_bytes as u64)
        .and_then(|at| source.lend(at, &mut bytes).ok())
        .and_then(Header::parse);
    let kind = match record.depth {
        1 => PageFlags::LEAF,
        _ => PageFlags::BRANCH,
    };
    header.is_some_and(|header| header.pgno == root && header.flags == kind)
}
