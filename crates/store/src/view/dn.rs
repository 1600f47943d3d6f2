//! The names of entries: from record to record up to the suffix.

use super::entry::EntrySurroundings;
use super::lookup_cache::LookupCache;
use super::state::View;
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use crate::names::{DEPTH_MAX, DnCache};
use crate::record::Record;
use fulgurite::Snapshot;
use fulgurite_schema::{Dn, DnError};

impl<T: Snapshot> View<'_, T> {
    /// Appends the name of an entry, as users wrote it, to `out`.
    ///
    /// # Errors
    /// [`StoreError::NoSuchEntry`]; otherwise if the engine fails or a record is damaged.
    pub fn write_dn(
        &self,
        id: EntryId,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError> {
        let record = self.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        self.write_dn_of(&record, cache, out)
    }

    /// Returns the name of an entry.
    /// # Errors
    /// As [`write_dn`](Self::write_dn).
    pub fn dn(&self, id: EntryId) -> Result<String, StoreError> {
        let mut out = String::new();
        self.write_dn(id, &mut DnCache::new(), &mut out)?;
        Ok(out)
    }

    /// Returns the name of an entry, resolved.
    /// # Errors
    /// As [`write_dn`](Self::write_dn).
    pub fn resolved_dn(&self, id: EntryId) -> Result<Dn, StoreError> {
        Dn::parse(&self.store.schema, &self.dn(id)?).map_err(|_: DnError| Damage::Record.into())
    }

    pub(crate) fn write_dn_of(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError> {
        let above = self.name_above(record, cache)?;
        out.reserve(record.rdn().len() + 1 + above.map_or(0, str::len));
        push_rdn(out, record)?;
        if let Some(above) = above {
            out.push(',');
            out.push_str(above);
        }
        Ok(())
    }

    /// Returns the name above a record; `None` for a suffix entry.
    fn name_above<'c>(
        &self,
        record: &Record<'_>,
        cache: &'c mut DnCache,
    ) -> Result<Option<&'c str>, StoreError> {
        let first = record.parent();
        if first == EntryId::ROOT {
            return Ok(None);
        }
        if !cache.holds(first) {
            let name = self.climb(first)?;
            cache.put(first, name);
        }
        Ok(cache.get(first))
    }

    /// Reads the name of an entry from record to record.
    #[cold]
    fn climb(&self, first: EntryId) -> Result<Box<str>, StoreError> {
        let mut out = String::new();
        let (mut id, mut levels) = (first, 0);
        while id != EntryId::ROOT {
            levels += 1;
            let record = self.ancestor_record(id, levels)?;
            if levels > 1 {
                out.push(',');
            }
            push_rdn(&mut out, &record)?;
            id = record.parent();
        }
        Ok(out.into())
    }

    pub(crate) fn ancestor_record(
        &self,
        id: EntryId,
        levels: usize,
    ) -> Result<Record<'_>, StoreError> {
        if levels > DEPTH_MAX {
            return Err(Damage::Parents.into());
        }
        Ok(self.record_names(id)?.ok_or(Damage::Parents)?)
    }
}

impl View<'_> {
    /// Takes the names found in this state; [`keep_dn_cache`](Self::keep_dn_cache) puts them back.
    /// A caller that has refreshed the view meanwhile clears them first.
    #[must_use]
    pub fn take_dn_cache(&self) -> DnCache {
        self.cache
            .as_ref()
            .map(LookupCache::take_dn_cache)
            .unwrap_or_default()
    }

    /// Keeps names of this state for the next operation.
    pub fn keep_dn_cache(&self, names: DnCache) {
        if let Some(cache) = &self.cache {
            cache.put_dn_cache(names);
        }
    }
}

impl<T: Snapshot> EntrySurroundings for View<'_, T> {
    fn bind_state(&self, id: EntryId) -> Option<Record<'_>> {
        View::bind_state(self, id).ok().flatten()
    }

    fn append_dn(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut String,
    ) -> Result<(), StoreError> {
        self.write_dn_of(record, cache, out)
    }

    fn append_dn_bytes(
        &self,
        record: &Record<'_>,
        cache: &mut DnCache,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let above = self.name_above(record, cache)?;
        out.extend_from_slice(record.rdn());
        if let Some(above) = above {
            out.push(b',');
            out.extend_from_slice(above.as_bytes());
        }
        Ok(())
    }
}

fn push_rdn(out: &mut String, record: &Record<'_>) -> Result<(), Damage> {
    out.push_str(std::str::from_utf8(record.rdn()).map_err(|_| Damage::Record)?);
    Ok(())
}
