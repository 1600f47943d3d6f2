//! Remembers failed searches of the free list for runs of pages. The next transactions then do not
//! read, and write back, the whole list again.

use fulgurite_format::Txnid;

/// Number of transactions after which a failed search is repeated: single pages may have become
/// neighbours.
const SEARCH_AGAIN: u64 = 64;

/// The last search that found nothing.
#[derive(Debug, Default)]
pub(crate) struct FailedSearch {
    /// The list has no run of this number of pages, or more; 0 if nothing is known.
    count: u64,
    /// The transaction that searches again.
    until: u64,
    /// The last transaction that was heard of.
    last: u64,
}

impl FailedSearch {
    /// Returns true if the list surely has no run of `count` pages.
    pub(crate) fn has_failed(&mut self, txnid: Txnid, count: u64) -> bool {
        self.follow(txnid);
        self.count != 0 && count >= self.count && txnid.0 < self.until
    }

    /// Notes that this transaction has searched for a run of that many pages in vain.
    pub(crate) fn note_failure(&mut self, txnid: Txnid, count: u64) {
        self.follow(txnid);
        self.count = count;
        self.until = txnid.0.saturating_add(SEARCH_AGAIN);
    }

    /// Notes how many neighbours there are among the pages that this transaction has freed.
    pub(crate) fn note_freed(&mut self, txnid: Txnid, longest: u64) {
        self.follow(txnid);
        if longest >= self.count {
            self.count = 0;
        }
    }

    /// Other processes may have freed pages.
    fn follow(&mut self, txnid: Txnid) {
        if txnid.0.wrapping_sub(self.last) > 1 {
            self.count = 0;
        }
        self.last = txnid.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_search_is_repeated_once_it_may_succeed() {
        let mut runs = FailedSearch::default();
        assert!(!runs.has_failed(Txnid(10), 4));
        runs.note_failure(Txnid(10), 4);
        assert!(runs.has_failed(Txnid(10), 4) && runs.has_failed(Txnid(11), 9));
        assert!(!runs.has_failed(Txnid(11), 3), "a shorter one may be there");
        runs.note_freed(Txnid(11), 3);
        assert!(runs.has_failed(Txnid(12), 4));
        runs.note_freed(Txnid(12), 4);
        assert!(!runs.has_failed(Txnid(13), 4), "one was freed");
        runs.note_failure(Txnid(13), 4);
        assert!(
            !runs.has_failed(Txnid(15), 4),
            "somebody else has committed"
        );
        runs.note_failure(Txnid(15), 4);
        for id in 16..15 + SEARCH_AGAIN {
            assert!(runs.has_failed(Txnid(id), 4));
        }
        assert!(!runs.has_failed(Txnid(15 + SEARCH_AGAIN), 4));
    }
}
