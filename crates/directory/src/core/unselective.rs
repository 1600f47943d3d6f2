//! Searches that looked at many entries in vain, for administrators.

use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_ldap::Scope;

use super::clock::Timestamp;

/// Kinds of searches that are remembered. The one that was seen least recently makes room.
const KINDS_MAX: usize = 32;

/// Bytes of a filter that are remembered.
const FILTER_BYTES_MAX: usize = 1024;

/// One kind of search: database, scope and filter without values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnselectiveSearch {
    /// The suffix of the database.
    pub suffix: String,
    /// The scope.
    pub scope: Scope,
    /// The filter, with a question mark for each value.
    pub filter: String,
    /// The plan of the last one, without values.
    pub plan: String,
    /// The indexes that would have helped, as settings name them.
    pub missing: Vec<String>,
    /// Searches of this kind.
    pub count: u64,
    /// Entries that they looked at, and those that they returned.
    pub examined: u64,
    /// See `examined`.
    pub returned: u64,
    /// The time of the last one.
    pub last: Timestamp,
}

/// The searches of a server; clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct UnselectiveSearches(Arc<Mutex<Vec<UnselectiveSearch>>>);

impl UnselectiveSearches {
    /// Adds a search to those of its kind.
    pub(crate) fn add(&self, mut search: UnselectiveSearch) {
        if search.filter.len() > FILTER_BYTES_MAX {
            while search.filter.len() > FILTER_BYTES_MAX {
                search.filter.pop();
            }
            search.filter.push_str("...");
        }
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &UnselectiveSearch| {
            (&known.suffix, known.scope, &known.filter)
                == (&search.suffix, search.scope, &search.filter)
        };
        if let Some(at) = list.iter().position(is_same) {
            let known = list.remove(at);
            search.count += known.count;
            search.examined = search.examined.saturating_add(known.examined);
            search.returned = search.returned.saturating_add(known.returned);
        } else if list.len() >= KINDS_MAX {
            list.remove(0);
        }
        list.push(search);
    }

    /// Returns the kinds, the last one first.
    #[must_use]
    pub fn list(&self) -> Vec<UnselectiveSearch> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(filter: &str) -> UnselectiveSearch {
        UnselectiveSearch {
            suffix: "dc=com".to_owned(),
            scope: Scope::Subtree,
            filter: filter.to_owned(),
            plan: String::new(),
            missing: Vec::new(),
            count: 1,
            examined: 1000,
            returned: 2,
            last: Timestamp(0),
        }
    }

    #[test]
    fn searches_of_a_kind_are_one() {
        let searches = UnselectiveSearches::default();
        for filter in ["(l=?)", "(sn=?)", "(l=?)"] {
            searches.clone().add(search(filter));
        }
        let list = searches.list();
        let found: Vec<_> = list
            .iter()
            .map(|one| (one.filter.as_str(), one.count, one.examined, one.returned))
            .collect();
        assert_eq!(found, [("(l=?)", 2, 2000, 4), ("(sn=?)", 1, 1000, 2)]);
    }

    #[test]
    fn the_list_is_bounded() {
        let searches = UnselectiveSearches::default();
        for number in 0..100 {
            searches.add(search(&format!("(a{number}=?)")));
        }
        searches.add(search(&"\u{e4}".repeat(FILTER_BYTES_MAX)));
        let list = searches.list();
        assert_eq!(list.len(), KINDS_MAX);
        assert!(list[0].filter.len() <= FILTER_BYTES_MAX + 3);
        assert_eq!(list[1].filter, "(a99=?)");
    }
}
