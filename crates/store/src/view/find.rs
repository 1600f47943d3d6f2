//! From names to entries, and from entries to their ancestors.
//!
//! A name is looked up from the suffix down, with one descent of the tree of names for each RDN.
//! Earlier look-ups ([`LookupCache`](super::lookup_cache::LookupCache)) save most descents.

use super::state::View;
use crate::bytes::stable_hash;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::names;
use fulgurite::Snapshot;
use fulgurite_schema::{Dn, normal_is_under};

/// Result of [`View::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLookup {
    /// The entry.
    Entry(EntryId),
    /// There is no such entry.
    Missing {
        /// The lowest ancestor that exists, with the number of RDNs in its name. `None` outside
        /// every suffix, and if the suffix entry itself is missing.
        deepest: Option<(EntryId, usize)>,
    },
}

impl NameLookup {
    /// Returns the entry, if it exists.
    #[must_use]
    pub fn entry(self) -> Option<EntryId> {
        match self {
            NameLookup::Entry(id) => Some(id),
            NameLookup::Missing { .. } => None,
        }
    }
}

impl<T: Snapshot> View<'_, T> {
    /// Looks a name up from the suffix down. Cost: one descent per RDN.
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub fn find(&self, dn: &Dn) -> Result<NameLookup, StoreError> {
        self.find_normal(dn.normal())
    }

    /// As [`find`](Self::find), for the normal form of a name ([`Dn::normal`]).
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub fn find_normal(&self, normal: &str) -> Result<NameLookup, StoreError> {
        let Some(cache) = &self.cache else {
            return self.descend(normal);
        };
        if let Some(id) = cache.entry(normal) {
            return Ok(NameLookup::Entry(id));
        }
        // A suffix entry is stored at the top, even if its name is below another name.
        let is_suffix = self
            .store
            .suffixes()
            .iter()
            .any(|suffix| suffix.normal() == normal);
        let parted = normal.split_once(',').filter(|_| !is_suffix);
        let parent = parted.and_then(|(rdn, above)| Some((rdn, cache.parent(above)?)));
        let found = match parent {
            None => self.descend(normal)?,
            Some((rdn, parent)) => match self.child(parent.0, rdn.as_bytes())? {
                Some(id) => NameLookup::Entry(id),
                None => NameLookup::Missing {
                    deepest: Some(parent),
                },
            },
        };
        if let NameLookup::Entry(id) = found {
            cache.remember_entry(normal, id);
        }
        Ok(found)
    }

    /// Returns the base of a search by the normal form of its name; `None` if it is missing.
    ///
    /// For an empty suffix it is [`EntryId::ROOT`], which is above all entries and no entry itself.
    ///
    /// # Errors
    /// [`StoreError`] if the engine fails or the store is damaged.
    pub fn find_base(&self, normal: &str) -> Result<Option<EntryId>, StoreError> {
        if normal.is_empty() && self.store.holds_everything() {
            return Ok(Some(EntryId::ROOT));
        }
        Ok(self.find_normal(normal)?.entry())
    }

    /// Looks a name up from the suffix down.
    fn descend(&self, normal: &str) -> Result<NameLookup, StoreError> {
        let missing = NameLookup::Missing { deepest: None };
        let is_above =
            |suffix: &&Dn| normal == suffix.normal() || normal_is_under(normal, suffix.normal());
        let Some(suffix) = self.store.suffixes().iter().find(is_above) else {
            return Ok(missing);
        };
        let (mut id, rdns) = if suffix.is_root() {
            (EntryId::ROOT, normal)
        } else {
            let Some(top) = self.child(EntryId::ROOT, suffix.normal().as_bytes())? else {
                return Ok(missing);
            };
            let below = normal.len() - suffix.normal().len();
            let rdns = normal.get(..below.saturating_sub(1));
            (top, rdns.unwrap_or_default())
        };
        let rdns = Some(rdns).filter(|rdns| !rdns.is_empty());
        let rdns = rdns.into_iter().flat_map(|rdns| rdns.rsplit(','));
        let exists = |id| id != EntryId::ROOT;
        for (depth, rdn) in (suffix.depth()..).zip(rdns) {
            self.remember_parent(normal, rdn, (id, depth));
            match self.child(id, rdn.as_bytes())? {
                Some(child) => id = child,
                None => {
                    return Ok(NameLookup::Missing {
                        deepest: Some((id, depth)).filter(|_| exists(id)),
                    });
                }
            }
        }
        Ok(if exists(id) {
            NameLookup::Entry(id)
        } else {
            missing
        })
    }

    /// Remembers the last parent on the way to a name. Many names share few parents.
    fn remember_parent(&self, normal: &str, rdn: &str, (parent, depth): (EntryId, usize)) {
        let Some(cache) = self.cache.as_ref().filter(|_| parent != EntryId::ROOT) else {
            return;
        };
        // The last RDN on the way down is the first of the name.
        let above = normal
            .strip_prefix(rdn)
            .and_then(|above| above.strip_prefix(','));
        if let Some(above) = above.filter(|_| normal.as_ptr() == rdn.as_ptr()) {
            cache.remember_parent(above, parent, depth);
        }
    }

    /// Returns the child of an entry by the normal form of its RDN.
    /// # Errors
    /// [`StoreError`] if the engine fails or the list is damaged.
    pub fn child(&self, parent: EntryId, rdn_normal: &[u8]) -> Result<Option<EntryId>, StoreError> {
        match self
            .txn
            .get(self.store.dbs.names, &self.name_key(parent, rdn_normal))?
        {
            Some(list) => Ok(names::find(list, rdn_normal)?),
            None => Ok(None),
        }
    }

    /// Returns the parent of an entry; `None` for a suffix entry.
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise if the engine fails or the record is damaged.
    pub fn parent(&self, id: EntryId) -> Result<Option<EntryId>, StoreError> {
        let parent = self
            .record_names(id)?
            .ok_or(StoreError::NoSuchEntry(id))?
            .parent();
        Ok(Some(parent).filter(|parent| *parent != EntryId::ROOT))
    }

    /// Returns the number of RDNs in the entry's name. Reads all ancestors.
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise if the engine fails or a record is damaged.
    pub fn depth(&self, id: EntryId) -> Result<usize, StoreError> {
        let mut levels = 0;
        let mut record = self.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        while record.parent() != EntryId::ROOT {
            levels += 1;
            record = self.ancestor_record(record.parent(), levels)?;
        }
        if self.store.holds_everything() {
            return Ok(levels + 1);
        }
        let suffix = self
            .store
            .suffixes()
            .iter()
            .find(|s| s.normal().as_bytes() == record.rdn_normal());
        Ok(levels + suffix.ok_or(Damage::Parents)?.depth())
    }

    /// Returns true if `id` is below `ancestor` and is another entry. Reads the ancestors.
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise if the engine fails or a record is damaged.
    pub fn is_descendant(&self, id: EntryId, ancestor: EntryId) -> Result<bool, StoreError> {
        let mut levels = 0;
        let mut parent = self
            .record(id)?
            .ok_or(StoreError::NoSuchEntry(id))?
            .parent();
        while parent != EntryId::ROOT && parent != ancestor {
            levels += 1;
            parent = self.ancestor_record(parent, levels)?.parent();
        }
        Ok(parent == ancestor)
    }

    pub(crate) fn name_key(&self, parent: EntryId, rdn_normal: &[u8]) -> [u8; 16] {
        names::key(parent, stable_hash(rdn_normal) & self.store.rdn_hash_mask)
    }
}
