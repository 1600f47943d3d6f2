//! The records of the free list, read piece by piece: one may name every page of a large file.

use super::Check;
use super::layout::u64_at;
use super::report::{Fault, Name};

/// Words read at a time.
const PIECE: u64 = 8192;

/// Where the value of a record stands.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    /// In its leaf.
    Inline(&'a [u8]),
    /// From this file position on, so many bytes.
    Run { at: u64, bytes: u64 },
}

/// Checks one record and claims the pages it names.
pub(super) fn record(check: &mut Check<'_>, pgno: u64, key: &[u8], value: Value<'_>) {
    // A key of another size has been reported as such.
    let Some(txnid) = u64_at(key, 0).filter(|_| key.len() == 8) else {
        return;
    };
    if txnid == 0 || txnid > check.txnid {
        let reason = format!("the snapshot is of transaction {}", check.txnid);
        let fault = Fault::FreeRecord { txnid, reason };
        check.reporter.find(Name::FreeList, pgno, fault);
    }
    let claimed = match value {
        Value::Inline(bytes) => inline(check, bytes),
        Value::Run { at, bytes } => run(check, at, bytes),
    };
    if let Err(reason) = claimed {
        let fault = Fault::FreeRecord { txnid, reason };
        check.reporter.find(Name::FreeList, pgno, fault);
    }
}

fn inline(check: &mut Check<'_>, value: &[u8]) -> Result<(), String> {
    let count = count(u64_at(value, 0), value.len() as u64)?;
    let words = value.get(8..8 + count as usize * 8).unwrap_or_default();
    claim(check, words, &mut u64::MAX.clone())
}

fn run(check: &mut Check<'_>, at: u64, bytes: u64) -> Result<(), String> {
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

/// Claims pages that must stand in descending order.
fn claim(check: &mut Check<'_>, words: &[u8], above: &mut u64) -> Result<(), String> {
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
