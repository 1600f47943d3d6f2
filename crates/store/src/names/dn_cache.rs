//! Names of parents that an operation has already read.

use rustc_hash::FxHashMap;

use crate::ids::EntryId;

/// Entries of one search mostly share their parents, so a few names avoid nearly all climbing.
const NAMES_MAX: usize = 256;

/// DN texts by entry. The cache is valid for one operation on one snapshot.
#[derive(Debug, Default)]
pub struct DnCache {
    names: FxHashMap<EntryId, Box<str>>,
}

impl DnCache {
    /// Makes an empty cache.
    #[must_use]
    pub fn new() -> DnCache {
        DnCache::default()
    }

    /// Removes all names. Required when the view of the cache is refreshed.
    pub fn clear(&mut self) {
        self.names.clear();
    }

    pub(crate) fn holds(&self, id: EntryId) -> bool {
        self.names.contains_key(&id)
    }

    pub(crate) fn get(&self, id: EntryId) -> Option<&str> {
        self.names.get(&id).map(|name| &**name)
    }

    pub(crate) fn put(&mut self, id: EntryId, name: Box<str>) {
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(id, name);
    }
}
