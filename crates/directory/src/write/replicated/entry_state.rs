//! The state of an entry: added, changed or renamed, whatever differs here.
//!
//! Entries are found by their UUID. A name that another entry has goes to the newcomer: a provider
//! gives a name to one entry only. The other entry waits under another name for its new state,
//! or for its deletion. If clients may update the copy, states are [merged](super::merge).

use std::sync::Arc;

use fulgurite_ldap::ContentEntry;
use fulgurite_ldap::control::EntryUuid;
use fulgurite_schema::{CheckedEntry, Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::error::{ContentResult, refused};
use super::join::hide_name;
use super::merge::TakenName;
use super::numbers::Deletion;
use super::stamps::stamps_of;

impl Applier<'_, '_> {
    /// Stores the state of an entry.
    pub(super) fn entry_state(&mut self, given: &ContentEntry) -> ContentResult {
        if self.content.multi_provider {
            return self.merge_state(given, TakenName::Waits);
        }
        let entry = self.incoming(given)?;
        let found = self.entry_of(&given.uuid)?;
        let id = match found {
            Some(id) => self.change(id, entry)?,
            None => self.add(entry)?,
        };
        self.known.insert(given.uuid, id.or(found));
        if let Some(id) = id.or(found) {
            self.content.named.insert(id);
        }
        self.release(&given.uuid)
    }

    /// Returns true if a deletion is later than this state.
    pub(super) fn was_deleted(&mut self, uuid: &EntryUuid, entry: &Entry) -> ContentResult<bool> {
        let Some(csn) = self.number_of(entry) else {
            return Ok(false);
        };
        if let Some(tombstone) = self.writer.tombstone(*uuid)? {
            // The newest word of the provider counts if it has told no number of a deletion.
            return Ok(tombstone.ends >= csn && !self.has_left_only(&tombstone)?);
        }
        // The memory of a deletion ends. A state from before it is not news.
        let forgotten = &self.writer.log_state()?.tombstone_horizon;
        let may_be = forgotten.iter().any(|deletion| deletion > csn);
        Ok(may_be && self.vector.covers(csn))
    }

    /// Adds an entry. Returns `None` if an entry that wins has its name.
    pub(super) fn add(&mut self, entry: Entry) -> ContentResult<Option<EntryId>> {
        let csn = csn_of(self, &entry);
        let dn = entry.dn.clone();
        let taken = self.writer.find(&dn)?.entry();
        if let Some(holder) = taken {
            if self.is_glue(holder)? {
                let id = self.take_over(holder, entry)?;
                if self.content.multi_provider {
                    self.renumber_below(id)?;
                }
                return Ok(Some(id));
            }
            if self.content.multi_provider {
                let held = self.copy_of(holder)?;
                if !wins(&csn, &csn_of(self, &held)) {
                    let text = format!("{}: an older entry of the name is dropped", dn.pretty());
                    self.report.warnings.push(text);
                    return Ok(None);
                }
                return self.take_over(holder, entry).map(Some);
            }
            // The top of the tree has no place to wait in.
            if self.writer.parent(holder)?.is_none() {
                return self.take_over(holder, entry).map(Some);
            }
            self.park(holder)?;
        }
        let checked = Arc::new(self.checked(entry)?);
        let parent = self.parent_of(&dn, csn.as_bytes())?;
        match self.writer.add_shared(parent, &checked) {
            Ok(id) => {
                self.log_add(id, checked.entry())?;
                Ok(Some(id))
            }
            Err(error) => {
                self.remove_empty_glue(Some(parent))?;
                Err(error.into())
            }
        }
    }

    /// Replaces the content of an entry, whose children stay.
    fn take_over(&mut self, holder: EntryId, entry: Entry) -> ContentResult<EntryId> {
        let held = self.copy_of(holder)?;
        let uuid = held.values(self.core.types.entry_uuid.attribute).first();
        let uuid = uuid.and_then(|text| uuid::Uuid::try_parse_ascii(text).ok());
        if let Some(uuid) = uuid {
            self.known.insert(uuid.into_bytes(), None);
            if self.content.multi_provider {
                self.forget_place(&uuid.into_bytes())?;
            }
        }
        let csn = PackedCsn::parse(csn_of(self, &entry).as_bytes());
        let checked = self.checked(entry)?;
        self.writer.modify(holder, &checked)?;
        self.log_delete(holder, &held, Deletion::numbered(csn))?;
        self.log_add(holder, checked.entry())?;
        Ok(holder)
    }

    /// Brings an entry into a new state, and under its name.
    fn change(&mut self, id: EntryId, mut entry: Entry) -> ContentResult<Option<EntryId>> {
        let held = self.copy_of(id)?;
        let csn = csn_of(self, &entry);
        self.keep_others(&mut entry, &held);
        let binds = self.keep_bind_state(id, &mut entry, &held)?;
        if entry.dn.normal() != held.dn.normal() {
            self.rename(id, entry, &csn)?;
            self.put_bind_values(id, &binds)?;
            return Ok(Some(id));
        }
        let is_respelled = entry.dn.pretty() != held.dn.pretty();
        let checked = self.checked(entry)?;
        let parent = self.writer.parent(id)?;
        match parent {
            Some(parent) if is_respelled => self.writer.rename(id, parent, &checked)?,
            _ if checked.entry().attributes == held.attributes => return Ok(Some(id)),
            _ => self.writer.modify(id, &checked)?,
        }
        self.put_bind_values(id, &binds)?;
        self.log_change(id, &held, checked.entry())?;
        Ok(Some(id))
    }

    pub(super) fn rename(&mut self, id: EntryId, entry: Entry, csn: &str) -> ContentResult {
        let number = PackedCsn::parse(csn.as_bytes());
        self.rename_as(id, entry, number)
    }

    /// Gives an entry another name, by a change with this number.
    pub(super) fn rename_as(
        &mut self,
        id: EntryId,
        entry: Entry,
        number: Option<PackedCsn>,
    ) -> ContentResult {
        let csn = number.map_or_else(String::new, |number| number.text());
        let csn = csn.as_str();
        let dn = entry.dn.clone();
        let held = self.copy_of(id)?;
        let checked = self.checked(entry)?;
        let old_parent = self.writer.parent(id)?;
        let parent = self.parent_of(&dn, csn.as_bytes())?;
        if parent == id || self.is_below(parent, id)? {
            self.remove_empty_glue(Some(parent))?;
            return refused(format!("{} would be below itself", dn.pretty()));
        }
        let holder = self
            .writer
            .find(&dn)?
            .entry()
            .filter(|holder| *holder != id);
        let glue = match holder {
            Some(holder) if self.is_glue(holder)? => {
                self.set_aside(holder)?;
                Some(holder)
            }
            Some(holder) => {
                self.clear_name(holder, csn)?;
                None
            }
            None => None,
        };
        self.writer.rename(id, parent, &checked)?;
        self.log_change_as(id, &held, checked.entry(), number)?;
        self.content.parked.retain(|parked| *parked != id);
        if let Some(glue) = glue {
            self.replace_glue(glue, id)?;
        }
        match old_parent {
            Some(old) if old != parent && self.writer.entry(old)?.is_some() => {
                self.remove_empty_glue(Some(old))
            }
            _ => Ok(()),
        }
    }

    fn is_below(&self, id: EntryId, ancestor: EntryId) -> ContentResult<bool> {
        Ok(id != EntryId::ROOT && self.writer.is_descendant(id, ancestor)?)
    }

    /// Frees the name of an entry for one that is renamed.
    fn clear_name(&mut self, holder: EntryId, csn: &str) -> ContentResult {
        if self.content.multi_provider {
            let held = self.copy_of(holder)?;
            if !wins(csn, &csn_of(self, &held)) {
                return refused(format!("{} is the name of a newer entry", held.dn.pretty()));
            }
        }
        self.park(holder)
    }

    /// Gives an entry another name until the provider tells its new one.
    pub(super) fn park(&mut self, holder: EntryId) -> ContentResult {
        let held = self.copy_of(holder)?;
        self.set_aside(holder)?;
        self.content.parked.push(holder);
        let aside = self.copy_of(holder)?;
        self.log_change(holder, &held, &aside)
    }

    /// Gives an entry a name that no other has.
    pub(super) fn set_aside(&mut self, holder: EntryId) -> ContentResult {
        let held = self.copy_of(holder)?;
        self.set_aside_as(holder, held)
    }

    /// Does so with an entry that gets its RDN next, and takes the values of the old one away.
    pub(super) fn set_aside_without_name(&mut self, holder: EntryId) -> ContentResult {
        let mut held = self.copy_of(holder)?;
        if let Some(uuid) = self.uuid_of(&held) {
            let stamps = stamps_of(self.writer, &uuid, self.number_of(&held))?;
            hide_name(&self.core.schema, &mut held, &stamps);
        }
        self.set_aside_as(holder, held)
    }

    fn set_aside_as(&mut self, holder: EntryId, mut held: Entry) -> ContentResult {
        let uuid = held.values(self.core.types.entry_uuid.attribute).first();
        let uuid = uuid.map_or_else(
            || format!("{}", holder.0),
            |uuid| String::from_utf8_lossy(uuid).into_owned(),
        );
        let rdn = Dn::parse(&self.core.schema, &format!("entryUUID={uuid}"));
        let (Ok(rdn), Some(above)) = (rdn, held.dn.parent()) else {
            return refused(format!("{} cannot give its name away", held.dn.pretty()));
        };
        let Some(parent) = self.writer.parent(holder)? else {
            return refused(format!("{} is the top of the copy", held.dn.pretty()));
        };
        held.dn = above.child(&rdn);
        let checked = CheckedEntry::on_trust(held, &self.core.schema);
        Ok(self.writer.rename(holder, parent, &checked)?)
    }
}

/// Returns the number of the last change of an entry; empty if it has none.
pub(super) fn csn_of(applier: &Applier<'_, '_>, entry: &Entry) -> String {
    let values = entry.values(applier.core.types.entry_csn.attribute);
    let first = values.first();
    first.map_or_else(String::new, |csn| String::from_utf8_lossy(csn).into_owned())
}

/// Returns true if a newcomer takes the name of another entry.
fn wins(csn: &str, held: &str) -> bool {
    csn > held
}
