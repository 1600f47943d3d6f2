//! The records of the free list, read piece by piece: one may name every page of a large file.

use super::Check;
use super::layout::u64_at;
use super::report::Fault;

const DATABASE: &str = "free list";
/// Words read at a time.
const PIECE: u64 = 8192;

/// Checks one record whose value stands at the file position `at`, and claims the pages it names.
pub(super) fn record(check: &mut Check, pgno: u64, key: &[u8], at: u64, value_bytes: u64) {
    // A key of another size has been reported as such.
    let Some(txnid) = u64_at(key, 0).filter(|_| key.len() == 8) else {
        return;
    };
    let fail = |check: &mut Check, reason: String| {
        check
            .reporter
            .find(DATABASE, pgno, Fault::FreeRecord { txnid, reason });
    };
    if txnid == 0 || txnid > check.txnid {
        fail(
            check,
            format!("the snapshot is of transaction {}", check.txnid),
        );
    }
    let mut word = [0; 8];
    if value_bytes < 8 || check.pages.read(at, &mut word).is_err() {
        return fail(check, format!("it has {value_bytes} bytes"));
    }
    let count = u64::from_le_bytes(word);
    if count > value_bytes / 8 - 1 {
        return fail(
            check,
            format!("it counts {count} pages in {value_bytes} bytes"),
        );
    }
    let mut above = u64::MAX;
    let mut done = 0;
    while done < count {
        let words = PIECE.min(count - done);
        let mut piece = vec![0; words as usize * 8];
        if check.pages.read(at + 8 + done * 8, &mut piece).is_err() {
            return fail(check, "it ends beyond the file".to_owned());
        }
        for word in piece.chunks_exact(8) {
            let free = u64_at(word, 0).unwrap_or_default();
            if free >= above {
                return fail(check, format!("page {free} follows page {above}"));
            }
            above = free;
            if check.claim(free, DATABASE) {
                check.reporter.free_page();
            }
        }
        done += words;
    }
}
