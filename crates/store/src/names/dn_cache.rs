//! Names of parents that an operation has already climbed to.

use rustc_hash::FxHashMap;

use crate::ids::EntryId;

/// Entries of one search mostly share their parents, so a few names spare nearly all climbing.
const NAMES_MAX: usize = 256;

/// DN texts by entry, for the length of one operation on one snapshot.
#[derive(Debug, Default)]
pub struct DnCache {
    names: FxHashMap<EntryId, Box<str>>,
}

impl DnCache {
    /// An empty cache.
    #[must_use]
    pub fn new() -> DnCache {
        DnCache::default()
    }

    /// Forgets everything: required when the view it was used with is refreshed.
    pub fn clear(&mut self) {
        self.names.clear();
    }

    pub(crate) fn get(&self, id: EntryId) -> Option<&str> {
        self.names.get(&id).map(|name| &**name)
    }

    pub(crate) fn put(&mut self, id: EntryId, name: &str) {
        if self.names.len() >= NAMES_MAX {
            self.names.clear();
        }
        self.names.insert(id, name.into());
    }
}
