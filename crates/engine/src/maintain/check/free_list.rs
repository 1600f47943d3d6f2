//! The records of the free list, read in pieces. One record may name every page of a large file.

use super::report::{DatabaseLabel, Fault};
use super::state::CheckState;
use crate::maintain::image::layout::u64_at;

/// Words read at a time.
const PIECE: u64 = 8192;

/// Where the value of a record is stored.
#[derive(Clone, Copy)]
pub(super) enum ListValue<'a> {
    /// In its leaf.
    Inline(&'a [u8]),
    /// At this file offset, with this length.
    Run { at: u64, bytes: u64 },
}

/// Checks one record and claims the pages it names.
pub(super) fn record(check: &mut CheckState<'_>, pgno: u64, key: &[u8], value: ListValue<'_>) {
    // The walk has reported a key of another size.
    let Some(txnid) = u64_at(key, 0).filter(|_| key.len() == 8) else {
        return;
    };
    if txnid == 0 || txnid > check.txnid {
        let reason = format!("the snapshot is of transaction {}", check.txnid);
        let fault = Fault::FreeRecord { txnid, reason };
        check.reporter.find(DatabaseLabel::FreeList, pgno, fault);
    }
    let claimed = match value {
        ListValue::Inline(bytes) => inline(check, bytes),
        ListValue::Run { at, bytes } => run(check, at, bytes),
    };
    if let Err(reason) = claimed {
        let fault = Fault::FreeRecord { txnid, reason };
        check.reporter.find(DatabaseLabel::FreeList, pgno, fault);
    }
}

fn inline(check: &mut CheckState<'_>, value: &[u8]) -> Result<(), String> {
    let count = count(u64_at(value, 0), value.len() as u64)?;
    let words = value.get(8..8 + count as usize * 8).unwrap_or_default();
    claim(check, words, &mut u64::MAX.clone())
}

fn run(check: &mut CheckState<'_>, at: u64, bytes: u64) -> Result<(), String> {
    let ends = |_| "it ends beyond the file".to_owned();
    let mut word = [0; 8];
    let word = check.pages.read(at, &mut word).map_err(ends)?;
    let count = count(u64_at(word, 0), bytes)?;
    let mut above = u64::MAX;
    let mut done = 0;
    let mut piece = Vec::new();
    while done < count {
        let words = PIECE.min(count - done);
        piece.resize(words as usize * 8, 0);
        let words_read = check
            .pages
            .read(at + 8 + done * 8, &mut piece)
            .map_err(ends)?;
        claim(check, words_read, &mut above)?;
        done += words;
    }
    Ok(())
}

fn count(word: Option<u64>, bytes: u64) -> Result<u64, String> {
    match word {
        None => Err(format!("it has {bytes} bytes")),
        Some(count) if bytes < 8 || count > bytes / 8 - 1 => {
            Err(format!("it counts {count} pages in {bytes} bytes"))
        }
        Some(count) => Ok(count),
    }
}

/// Claims pages, which must be in descending order.
fn claim(check: &mut CheckState<'_>, words: &[u8], above: &mut u64) -> Result<(), String> {
    for word in words.chunks_exact(8) {
        let free = u64_at(word, 0).unwrap_or_default();
        if free >= *above {
            return Err(format!("page {free} follows page {above}"));
        }
        *above = free;
        check.claim_free(free);
    }
    Ok(())
}
