//! The place of an entry in the tree, where several providers move entries.
//!
//! A place is the nearest entry above that is no glue, and the glue between. Its number is that of
//! the entry, unless the merge has moved the entry. Then a row has the number.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn, Snapshot, StoreError, View};

use super::applier::Applier;
use super::error::ContentResult;
use super::numbers::EntryNumbers;
use crate::core::csn::Csn;

/// The prefix of the rows.
const PREFIX: &[u8] = b"place/";

fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns the number of a place that the merge has given.
pub(crate) fn place_of<T: Snapshot>(
    view: &View<'_, T>,
    uuid: &EntryUuid,
) -> Result<Option<PackedCsn>, StoreError> {
    let row = view.sync_row(&key(uuid))?;
    Ok(row.and_then(PackedCsn::from_bytes))
}

impl Applier<'_, '_> {
    /// Returns the numbers of an entry that is here.
    pub(super) fn numbers_here(
        &self,
        uuid: &EntryUuid,
        held: &Entry,
    ) -> ContentResult<EntryNumbers> {
        let values = self.number_of(held);
        let place = place_of(self.writer, uuid)?;
        Ok(EntryNumbers {
            values,
            place: place.max(values),
        })
    }

    /// Stores the number of a place.
    pub(super) fn put_place(&mut self, uuid: &EntryUuid, numbers: EntryNumbers) -> ContentResult {
        let place = numbers.place.filter(|_| numbers.place > numbers.values);
        match place {
            Some(csn) => self.writer.put_sync_row(&key(uuid), csn.as_bytes())?,
            None => self.writer.delete_sync_row(&key(uuid))?,
        }
        Ok(())
    }

    /// Forgets the place of an entry that is gone.
    pub(super) fn forget_place(&mut self, uuid: &EntryUuid) -> ContentResult {
        Ok(self.writer.delete_sync_row(&key(uuid))?)
    }

    /// Returns the name of an entry at its place here. Without the entry above, it is the name
    /// that the provider tells.
    pub(super) fn placed(&mut self, given: &ContentEntry, dn: &Dn) -> ContentResult<Dn> {
        let Some(place) = &given.place else {
            return Ok(dn.clone());
        };
        let Some(above) = self.entry_of(&place.above)? else {
            return Ok(dn.clone());
        };
        let depth = dn.depth();
        if self.is_glue(above)? || place.levels == 0 || place.levels > depth {
            return Ok(dn.clone());
        }
        let name = self.copy_of(above)?.dn;
        let levels = depth - place.levels + 1..=depth;
        let leaves = levels.filter_map(|level| dn.ancestor(level)?.leaf());
        Ok(leaves.fold(name, |above, leaf| above.child(&leaf)))
    }

    /// Returns the nearest entry above one that is no glue.
    pub(super) fn above(&self, id: EntryId) -> ContentResult<Option<EntryUuid>> {
        let mut next = self.writer.parent(id)?;
        while let Some(above) = next.filter(|above| *above != EntryId::ROOT) {
            if !self.is_glue(above)? {
                return Ok(self.uuid_of(&self.copy_of(above)?));
            }
            next = self.writer.parent(above)?;
        }
        Ok(None)
    }

    /// Numbers the place of an entry that the merge has moved, so that other servers learn it.
    pub(super) fn renumber_place(&mut self, id: EntryId) -> ContentResult {
        let held = self.copy_of(id)?;
        let Some(uuid) = self.uuid_of(&held) else {
            return Ok(());
        };
        let numbers = self.numbers_here(&uuid, &held)?;
        let place = self.own_number(numbers.place);
        self.put_place(&uuid, EntryNumbers { place, ..numbers })?;
        self.log_place(id, &held, place)
    }

    /// Does so for the nearest entries below one.
    pub(super) fn renumber_below(&mut self, id: EntryId) -> ContentResult {
        let mut next = self.writer.children(id)?;
        while let Some(id) = next.pop() {
            match self.is_glue(id)? {
                true => next.extend(self.writer.children(id)?),
                false => self.renumber_place(id)?,
            }
        }
        Ok(())
    }

    /// Returns a new number of this server, greater than `floor`.
    pub(super) fn own_number(&self, floor: Option<PackedCsn>) -> Option<PackedCsn> {
        let floor = floor.and_then(|csn| Csn::parse(&csn.text()));
        let number = self.core.csn.next(self.core.clock.now(), floor);
        PackedCsn::parse(number.text().as_bytes())
    }
}
