//! Missing indexes that the log should name, each once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of candidates that a search must examine before the log names an index.
const IN_VAIN_MIN: u64 = 1_000;

/// The number of candidates for each entry returned from which on an index is worth it.
const WASTE: u64 = 10;

/// The indexes named so far; clones are the same set.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexAdvice(Arc<Mutex<BTreeSet<String>>>);

impl IndexAdvice {
    /// Returns true if an index would have spared a search most of the candidates it examined.
    pub(crate) fn is_due(examined: u64, returned: u64) -> bool {
        examined >= IN_VAIN_MIN && examined / WASTE >= returned
    }

    /// Returns the indexes that have not been named before. Only slow searches call it.
    pub(crate) fn new_ones(&self, missing: impl Iterator<Item = String>) -> Vec<String> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        missing.filter(|index| told.insert(index.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_is_named_once() {
        let advice = IndexAdvice::default();
        let new = |names: &[&str]| advice.new_ones(names.iter().map(|name| (*name).to_owned()));
        assert_eq!(new(&["l:eq", "st:eq"]), ["l:eq", "st:eq"]);
        assert_eq!(new(&["st:eq", "sn:sub"]), ["sn:sub"]);
        let later = advice.clone();
        assert!(later.new_ones(["l:eq".to_owned()].into_iter()).is_empty());
    }

    #[test]
    fn only_wasteful_searches_name_an_index() {
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
