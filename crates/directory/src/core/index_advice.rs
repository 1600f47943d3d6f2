//! Indexes that searches have missed: each is told once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Candidates that may be looked at in vain before anybody is told.
const IN_VAIN_MIN: u64 = 1_000;

/// Candidates looked at for each entry found, from which on that is a waste.
const WASTE: u64 = 10;

/// What has been told.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexAdvice(Arc<Mutex<BTreeSet<String>>>);

impl IndexAdvice {
    /// Whether a search has looked at so much more than it returned that an index would have been worth it.
    pub(crate) fn is_due(examined: u64, returned: u64) -> bool {
        examined >= IN_VAIN_MIN && examined / WASTE >= returned
    }

    /// Those of the indexes that have not been told before. Only searches that took long come by here.
    pub(crate) fn new_ones(&self, missing: impl Iterator<Item = String>) -> Vec<String> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missing.filter(|index| told.insert(index.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once() {
        let advice = IndexAdvice::default();
        let new = |names: &[&str]| advice.new_ones(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(new(&["l:eq", "st:eq"]), ["l:eq", "st:eq"]);
        assert_eq!(new(&["st:eq", "sn:sub"]), ["sn:sub"]);
        let later = advice.clone();
        assert!(later.new_ones(["l:eq".to_owned()].into_iter()).is_empty());
    }

    #[test]
    fn only_waste_is_worth_a_word() {
        for (examined, returned, due) in [
            (999, 0, false),
            (1_000, 0, true),
            (1_000, 101, false),
            (300_000, 10, true),
            (300_000, 300_000, false),
        ] {
            assert_eq!(
                IndexAdvice::is_due(examined, returned),
                due,
                "{examined} {returned}"
            );
        }
    }
}
