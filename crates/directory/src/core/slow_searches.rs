//! Searches that looked at many entries in vain, or that took long, for administrators.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use fulgurite_ldap::Scope;

use super::clock::Timestamp;

/// Kinds of searches that are remembered.
const KINDS_MAX: usize = 32;

/// Bytes of a filter that are remembered.
const FILTER_BYTES_MAX: usize = 1024;

/// Microseconds of work from which on a search is slow, also if an index serves it.
const LONG_US: u64 = 500_000;

/// One kind of search: database, scope and filter without values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlowSearch {
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
    /// Microseconds of work of all of them, without the time that they waited for their clients. It
    /// is zero for one that ends in its first step.
    pub work_us: u64,
    /// Those of the longest one.
    pub longest_us: u64,
    /// The time of the last one.
    pub last: Timestamp,
}

impl SlowSearch {
    /// Returns the cost of its searches. To look at an entry takes about a microsecond.
    fn cost(&self) -> u64 {
        self.work_us.max(self.examined)
    }
}

/// A remembered kind.
#[derive(Debug)]
struct RememberedKind {
    search: SlowSearch,
    /// The rank of the kind whose place it took.
    inherited: u64,
}

impl RememberedKind {
    /// Returns the number that decides which kind makes room: the cost, and that of those before.
    fn rank(&self) -> u64 {
        self.inherited.saturating_add(self.search.cost())
    }
}

/// The searches of a server; clones are the same list.
///
/// The kind of the lowest rank makes room, and hands its rank on. So a kind stays if its cost is
/// more than a thirty-second of that of all searches. To flush it, a client has to make many times
/// its work.
#[derive(Clone, Debug, Default)]
pub struct SlowSearches(Arc<Mutex<Vec<RememberedKind>>>);

impl SlowSearches {
    /// Returns true if a search of so much work is slow.
    pub(crate) const fn is_long(work_us: u64) -> bool {
        work_us >= LONG_US
    }

    /// Adds a search to those of its kind. No search waits for another: while a thread has the
    /// list, others leave theirs out.
    pub(crate) fn add(&self, mut search: SlowSearch) {
        if search.filter.len() > FILTER_BYTES_MAX {
            while search.filter.len() > FILTER_BYTES_MAX {
                search.filter.pop();
            }
            search.filter.push_str("...");
        }
        let mut kinds = match self.0.try_lock() {
            Ok(kinds) => kinds,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let is_same = |known: &RememberedKind| {
            let known = &known.search;
            (&known.suffix, known.scope, &known.filter)
                == (&search.suffix, search.scope, &search.filter)
        };
        if let Some(known) = kinds.iter_mut().find(|known| is_same(known)) {
            let before = &known.search;
            search.count += before.count;
            search.examined = search.examined.saturating_add(before.examined);
            search.returned = search.returned.saturating_add(before.returned);
            search.work_us = search.work_us.saturating_add(before.work_us);
            search.longest_us = search.longest_us.max(before.longest_us);
            known.search = search;
            return;
        }
        let new = |inherited| RememberedKind { search, inherited };
        if kinds.len() < KINDS_MAX {
            kinds.push(new(0));
        } else if let Some(least) = kinds.iter_mut().min_by_key(|known| known.rank()) {
            *least = new(least.rank());
        }
        debug_assert!(kinds.len() <= KINDS_MAX, "the list is bounded");
    }

    /// Returns the kinds, the most costly one first.
    #[must_use]
    pub fn list(&self) -> Vec<SlowSearch> {
        let kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<SlowSearch> = kinds.iter().map(|known| known.search.clone()).collect();
        drop(kinds);
        list.sort_by_key(|search| std::cmp::Reverse(search.cost()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(filter: &str) -> SlowSearch {
        SlowSearch {
            suffix: "dc=com".to_owned(),
            scope: Scope::Subtree,
            filter: filter.to_owned(),
            plan: String::new(),
            missing: Vec::new(),
            count: 1,
            examined: 1000,
            returned: 2,
            work_us: 10,
            longest_us: 10,
            last: Timestamp(0),
        }
    }

    #[test]
    fn searches_of_a_kind_are_one() {
        let searches = SlowSearches::default();
        for filter in ["(sn=?)", "(l=?)", "(l=?)"] {
            searches.clone().add(search(filter));
        }
        searches.add(SlowSearch {
            work_us: 5000,
            longest_us: 5000,
            ..search("(sn=?)")
        });
        let list = searches.list();
        let found: Vec<_> = list
            .iter()
            .map(|one| (one.filter.as_str(), one.count, one.examined, one.returned))
            .collect();
        assert_eq!(found, [("(sn=?)", 2, 2000, 4), ("(l=?)", 2, 2000, 4)]);
        assert_eq!((list[0].work_us, list[0].longest_us), (5010, 5000));
    }

    #[test]
    fn costly_kinds_stay_however_many_others_come() {
        let searches = SlowSearches::default();
        let costly = || SlowSearch {
            examined: 1_000_000,
            ..search("(description=*?*)")
        };
        searches.add(costly());
        // A client that makes up a filter for each search.
        for number in 0..10_000 {
            searches.add(search(&format!("(a{number}=?)")));
        }
        // One that comes later, and often enough, gets a place, too.
        for number in 0..10_000 {
            searches.add(search(&format!("(b{number}=?)")));
            if number % 10 == 0 {
                searches.add(search("(l=?)"));
            }
        }
        searches.add(search(&"\u{e4}".repeat(FILTER_BYTES_MAX)));
        let list = searches.list();
        assert_eq!(list.len(), KINDS_MAX);
        assert_eq!(list[0].filter, "(description=*?*)");
        assert!(list.iter().any(|one| one.filter == "(l=?)"));
        let is_bounded = |one: &SlowSearch| one.filter.len() <= FILTER_BYTES_MAX + 3;
        assert!(list.iter().all(is_bounded));
    }

    #[test]
    fn no_search_waits_for_the_list() {
        let searches = SlowSearches::default();
        let held = searches.0.lock().expect("the list");
        std::thread::scope(|scope| {
            let searches = searches.clone();
            scope.spawn(move || searches.add(search("(l=?)")));
        });
        drop(held);
        assert!(searches.list().is_empty());
    }
}
