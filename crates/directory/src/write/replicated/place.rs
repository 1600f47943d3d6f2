//! The place of an entry in the tree, where several providers move entries.
//!
//! A place is the nearest entry above that is no glue, and the glue between. A row has its number
//! if a client or the merge has moved the entry. Otherwise it is the number of the whole entry.

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn, Snapshot, StoreError, View, Writer};

use super::applier::Applier;
use super::error::ContentResult;
use super::numbers::EntryNumbers;
use super::stamps::{forget_stamps, stamps_of};
use crate::core::csn::Csn;

/// The prefix of the rows.
const PREFIX: &[u8] = b"place/";

fn key(uuid: &EntryUuid) -> Vec<u8> {
    [PREFIX, uuid].concat()
}

/// Returns the number of the last move of an entry, if there was one.
pub(crate) fn place_of<T: Snapshot>(
    view: &View<'_, T>,
    uuid: &EntryUuid,
) -> Result<Option<PackedCsn>, StoreError> {
    let row = view.sync_row(&key(uuid))?;
    Ok(row.and_then(PackedCsn::from_bytes))
}

/// Stores the number of a client's move.
pub(crate) fn put_place_of(
    writer: &mut Writer<'_>,
    uuid: &EntryUuid,
    csn: PackedCsn,
) -> Result<(), StoreError> {
    writer.put_sync_row(&key(uuid), csn.as_bytes())
}

/// Forgets the place of an entry that a client has deleted.
pub(crate) fn forget_place_of(writer: &mut Writer<'_>, uuid: &EntryUuid) -> Result<(), StoreError> {
    writer.delete_sync_row(&key(uuid))
}

impl Applier<'_, '_> {
    /// Returns the numbers of an entry that is here.
    pub(super) fn numbers_here(
        &self,
        uuid: &EntryUuid,
        held: &Entry,
    ) -> ContentResult<EntryNumbers> {
        let values = self.number_of(held);
        let stamps = stamps_of(self.writer, uuid, values)?;
        let place = place_of(self.writer, uuid)?;
        Ok(EntryNumbers {
            values,
            place: place.max(stamps.base),
        })
    }

    /// Stores the number of a place, unless it is the number of the whole entry.
    pub(super) fn put_place(
        &mut self,
        uuid: &EntryUuid,
        place: Option<PackedCsn>,
        whole: Option<PackedCsn>,
    ) -> ContentResult {
        match place.filter(|_| place > whole) {
            Some(csn) => self.writer.put_sync_row(&key(uuid), csn.as_bytes())?,
            None => self.writer.delete_sync_row(&key(uuid))?,
        }
        Ok(())
    }

    /// Forgets the place and the numbers of an entry that is gone.
    pub(super) fn forget_place(&mut self, uuid: &EntryUuid) -> ContentResult {
        forget_stamps(self.writer, uuid)?;
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
        let place = self.own_number(numbers.place.max(numbers.values));
        self.put_place(&uuid, place, None)?;
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
