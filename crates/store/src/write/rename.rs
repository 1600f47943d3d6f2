//! Giving an entry another RDN, another parent, or both.

use super::writer::{Writer, name_below};
use crate::error::{Damage, StoreError};
use crate::ids::EntryId;
use fulgurite_schema::CheckedEntry;

impl Writer<'_> {
    /// Moves an entry with its descendants below `new_parent`, under the first RDN of `new`'s name.
    /// It replaces the attributes by those of `new`, and touches no descendant.
    /// # Errors
    /// [`StoreError::NoSuchEntry`], [`StoreError::NoSuchParent`], [`StoreError::EntryExists`],
    /// [`StoreError::CannotMove`] for a suffix entry and for a parent within the subtree; the store
    /// is unchanged then.
    pub fn rename(
        &mut self,
        id: EntryId,
        new_parent: EntryId,
        new: &CheckedEntry,
    ) -> Result<(), StoreError> {
        self.check_not_poisoned()?;
        self.note_touched(id)?;
        let record = self.view.record(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        let (old_parent, old_normal) = (record.parent(), record.rdn_normal().to_vec());
        let (rdn_normal, rdn) = self.check_move(id, old_parent, new_parent, new)?;
        let (encoded, kept) = self.encode(id, new_parent, (rdn_normal, rdn), new)?;
        debug_assert_ne!(id, new_parent, "no entry is its own parent");
        self.apply(|writer| {
            if old_parent != new_parent {
                writer.flush_counts()?;
                let moved = i64::try_from(writer.view.stored_counts(id)?.descendants)
                    .map_err(|_| Damage::Counts)?
                    + 1;
                debug_assert!(moved >= 1, "the entry itself moves");
                writer.counts.change(old_parent, -1, -moved);
                writer.flush_counts()?;
                writer.counts.change(new_parent, 1, moved);
            }
            writer.remove_name(old_parent, &old_normal, id)?;
            writer.insert_name(new_parent, rdn_normal.as_bytes(), id)?;
            writer.put_kept(id, &kept)?;
            writer.replace_record(id, encoded)
        })
    }

    fn check_move<'e>(
        &self,
        id: EntryId,
        old_parent: EntryId,
        new_parent: EntryId,
        new: &'e CheckedEntry,
    ) -> Result<(&'e str, &'e str), StoreError> {
        let dn = &new.entry().dn;
        let name = || dn.pretty().to_owned();
        let is_fixed = |parent| parent == EntryId::ROOT && !self.view.store.holds_everything();
        if is_fixed(old_parent) || is_fixed(new_parent) || new_parent == id {
            return Err(StoreError::CannotMove(name()));
        }
        if new_parent != EntryId::ROOT {
            if self.view.record(new_parent)?.is_none() {
                return Err(StoreError::NoSuchParent(name()));
            }
            if old_parent != new_parent && self.view.is_descendant(new_parent, id)? {
                return Err(StoreError::CannotMove(name()));
            }
        }
        let (rdn_normal, rdn) = name_below(dn, new_parent)?;
        match self.view.child(new_parent, rdn_normal.as_bytes())? {
            Some(other) if other != id => Err(StoreError::EntryExists(name())),
            _ => Ok((rdn_normal, rdn)),
        }
    }
}
