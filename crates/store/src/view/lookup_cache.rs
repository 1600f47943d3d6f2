//! Look-ups that nearly every operation on a snapshot repeats: few names, few sizes.
//!
//! A view that is kept for the next operation ([`View::reset`](crate::View::reset)) looks them up
//! once for each state of the store. Writers have no cache, because their changes would make it
//! wrong.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::ids::EntryId;
use crate::idset::IdSet;
use crate::names::{Counts, DnCache};

/// Number of parents remembered by name: bases of searches and parents of entries.
const PARENTS_MAX: usize = 4;

/// Results that are valid for one snapshot.
#[derive(Debug, Default)]
pub(crate) struct LookupCache {
    parents: RefCell<Vec<NamedEntry>>,
    /// The parent that is replaced next.
    oldest: Cell<usize>,
    /// The last look-up.
    last: RefCell<NamedEntry>,
    counts: Cell<Option<(EntryId, Counts)>>,
    total: Cell<Option<u64>>,
    /// The number of entries with a bind state.
    bind_states: Cell<Option<u64>>,
    /// Their ids.
    bind_state_ids: RefCell<Option<Arc<IdSet>>>,
    names: RefCell<DnCache>,
}

/// An existing entry with the normal form of its name.
#[derive(Debug, Default)]
struct NamedEntry {
    normal: String,
    id: EntryId,
    /// Number of RDNs in the name.
    depth: usize,
}

impl NamedEntry {
    fn set(&mut self, normal: &str, id: EntryId, depth: usize) {
        self.normal.clear();
        self.normal.push_str(normal);
        (self.id, self.depth) = (id, depth);
    }
}

impl LookupCache {
    /// Removes everything, for another snapshot.
    pub(crate) fn clear(&mut self) {
        *self = LookupCache::default();
    }

    /// Returns the entry of this name, if it was looked up last.
    pub(crate) fn entry(&self, normal: &str) -> Option<EntryId> {
        let last = self.last.borrow();
        (!normal.is_empty() && last.normal == normal).then_some(last.id)
    }

    pub(crate) fn remember_entry(&self, normal: &str, id: EntryId) {
        self.last.borrow_mut().set(normal, id, 0);
    }

    /// Returns a parent of this name, with the number of RDNs in it.
    pub(crate) fn parent(&self, normal: &str) -> Option<(EntryId, usize)> {
        let parents = self.parents.borrow();
        let known = parents.iter().find(|known| known.normal == normal)?;
        Some((known.id, known.depth))
    }

    pub(crate) fn remember_parent(&self, normal: &str, id: EntryId, depth: usize) {
        let mut parents = self.parents.borrow_mut();
        if parents.len() < PARENTS_MAX {
            parents.push(NamedEntry::default());
            if let Some(place) = parents.last_mut() {
                place.set(normal, id, depth);
            }
            return;
        }
        let oldest = self.oldest.get() % PARENTS_MAX;
        self.oldest.set(oldest + 1);
        if let Some(place) = parents.get_mut(oldest) {
            place.set(normal, id, depth);
        }
    }

    /// Returns the subordinate counts of an entry, if they were read last.
    pub(crate) fn counts(&self, of: EntryId) -> Option<Counts> {
        let (id, counts) = self.counts.get()?;
        (id == of).then_some(counts)
    }

    pub(crate) fn remember_counts(&self, of: EntryId, counts: Counts) {
        self.counts.set(Some((of, counts)));
    }

    /// Returns the number of entries.
    pub(crate) fn total(&self) -> Option<u64> {
        self.total.get()
    }

    pub(crate) fn remember_total(&self, total: u64) {
        self.total.set(Some(total));
    }

    /// Returns the number of entries with a bind state.
    pub(crate) fn bind_states(&self) -> Option<u64> {
        self.bind_states.get()
    }

    pub(crate) fn remember_bind_states(&self, count: u64) {
        self.bind_states.set(Some(count));
    }

    /// Returns the entries with a bind state.
    pub(crate) fn bind_state_ids(&self) -> Option<Arc<IdSet>> {
        self.bind_state_ids.borrow().clone()
    }

    pub(crate) fn remember_bind_state_ids(&self, ids: &Arc<IdSet>) {
        *self.bind_state_ids.borrow_mut() = Some(Arc::clone(ids));
    }

    pub(crate) fn take_dn_cache(&self) -> DnCache {
        self.names.take()
    }

    pub(crate) fn put_dn_cache(&self, names: DnCache) {
        *self.names.borrow_mut() = names;
    }
}
