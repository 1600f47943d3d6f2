//! Operations of an access log where clients update the copy, too.
//!
//! An operation is a state of an entry that has numbers of the changed parts only. So it is
//! [joined](super::join) with the entry here like any state, whatever comes first. An operation
//! that cannot be joined is a sign that the copy differs: the consumer then reads the entries.

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{ContentAttribute, ContentEntry, LoggedOperation, ModifyOperation};
use fulgurite_schema::{Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::conflict::{ConflictKind, NewConflict};
use super::error::ContentResult;
use super::join::{EntrySide, show_name};
use super::logged::{LoggedChanges, lost};
use super::numbers::Deletion;
use super::place::put_place_of;
use super::stamps::{EntryStamps, WHOLE, has_single_values, put_stamps, stamps_of};
use crate::request::change::Change;
use crate::write::audit::RecordedRename;
use crate::write::changes;
use crate::write::multi_value::MultiValueAttributes;

/// The attribute with the identity of a new entry.
const ENTRY_UUID: &str = "entryUUID";

/// The attribute with the number of a new entry.
const ENTRY_CSN: &str = "entryCSN";

impl Applier<'_, '_> {
    /// Returns the entry of an operation: that of its UUID, or else of its name.
    pub(super) fn target(
        &mut self,
        operation: &LoggedOperation,
        dn: &Dn,
    ) -> ContentResult<Option<EntryId>> {
        match operation.uuid.filter(|_| self.content.multi_provider) {
            Some(uuid) => self.entry_of(&uuid),
            None => Ok(self.writer.find(dn)?.entry()),
        }
    }

    /// Merges a new entry.
    pub(super) fn merge_add(
        &mut self,
        operation: &LoggedOperation,
        attributes: &[ContentAttribute],
    ) -> ContentResult {
        let named = first_value(attributes, ENTRY_UUID);
        let named = named.and_then(|text| uuid::Uuid::try_parse_ascii(text).ok());
        let uuid = operation.uuid.or(named.map(uuid::Uuid::into_bytes));
        let Some(uuid) = uuid else {
            return lost(&self.name_of(&operation.dn)?, "a new entry has no UUID");
        };
        let number = first_value(attributes, ENTRY_CSN);
        if number.is_some_and(|number| number != operation.csn.as_bytes()) {
            let found = self.entry_of(&uuid)?;
            return self.told_again(operation, found);
        }
        let given = ContentEntry {
            uuid,
            dn: operation.dn.clone(),
            attributes: attributes.to_vec(),
            place: None,
            stamps: Some(WHOLE.to_owned()),
        };
        self.merge_told(&given)
    }

    /// Deletes an entry, unless a later change keeps it.
    pub(super) fn merge_delete(
        &mut self,
        operation: &LoggedOperation,
        found: Option<EntryId>,
    ) -> ContentResult {
        let held = match (operation.uuid, found) {
            (None, Some(id)) => self.uuid_of(&self.copy_of(id)?),
            (uuid, _) => uuid,
        };
        let number = PackedCsn::parse(operation.csn.as_bytes());
        match held {
            Some(uuid) => self.delete(&uuid, Deletion::numbered(number)),
            None => Ok(()),
        }
    }

    /// Takes an operation whose entry is not here. A deletion that is later wins.
    pub(super) fn merge_without_entry(
        &mut self,
        operation: &LoggedOperation,
        dn: &Dn,
    ) -> ContentResult {
        let number = PackedCsn::parse(operation.csn.as_bytes());
        let deletion = match operation.uuid {
            Some(uuid) => self.writer.tombstone(uuid)?.map(|known| known.ends),
            None => None,
        };
        let Some((uuid, winner)) = operation.uuid.zip(deletion) else {
            return lost(dn, "no such entry");
        };
        if number.is_none_or(|csn| csn > winner) {
            return lost(dn, "the entry has been deleted before");
        }
        if !self.is_news(number) || number.map(|csn| csn.server()) == Some(winner.server()) {
            return Ok(());
        }
        self.report_conflict(&NewConflict {
            kind: ConflictKind::DeletedOverChange,
            uuid,
            dn: dn.pretty(),
            winner: Some(winner),
            loser: number,
            values: None,
        })
    }

    /// Merges changes of an entry.
    pub(super) fn merge_modify(
        &mut self,
        id: EntryId,
        operation: &LoggedOperation,
        list: &LoggedChanges,
    ) -> ContentResult {
        if list.is_empty() {
            return self.told_again(operation, Some(id));
        }
        let held = self.copy_of(id)?;
        let changes = self.resolved(&held.dn, list)?;
        if changes.is_empty() {
            return Ok(());
        }
        let (uuid, csn) = self.numbered(&held, operation)?;
        let (schema, types) = (&self.core.schema, &self.core.types);
        let has = self.number_of(&held);
        let own = stamps_of(self.writer, &uuid, has)?;
        self.require_mergeable(&held.dn, (&own, csn), &changes)?;
        let parts = changes.iter();
        let parts = parts.filter(|change| !types.is_stamp(&change.attribute.description));
        let mut told = EntryStamps::default();
        told.note_modify(schema, parts, csn);
        let mut incoming = self.with_changes(&held, &changes)?;
        incoming.set(&types.entry_csn, vec![csn.text().into_bytes()]);
        let held_side = EntrySide {
            entry: &held,
            csn: has,
            stamps: &own,
        };
        let mut joined = self.join(held_side, (&incoming, Some(csn), &told));
        joined.entry.dn = held.dn.clone();
        show_name(schema, &mut joined.entry, &mut joined.stamps);
        let sides = ((&held, has), (&incoming, Some(csn)));
        self.report_changes(&uuid, sides.0, sides.1, &joined.entry)?;
        self.content.named.insert(id);
        if joined.news.is_empty() {
            return Ok(());
        }
        self.change_values(id, &held, joined.entry, (Some(csn), true))?;
        Ok(put_stamps(self.writer, &uuid, &joined.stamps)?)
    }

    /// Takes an operation by which the provider says that an entry is there, or where. Its number
    /// is not that of the values. Only the entry has all that this copy may lack.
    fn told_again(&mut self, operation: &LoggedOperation, found: Option<EntryId>) -> ContentResult {
        let number = PackedCsn::parse(operation.csn.as_bytes());
        if let Some(id) = found {
            self.content.named.insert(id);
        }
        match self.is_news(number) {
            true => lost(
                &self.name_of(&operation.dn)?,
                "the provider tells the entry once more",
            ),
            false => Ok(()),
        }
    }

    /// Numbers the parts of an entry that a logged operation has given another name.
    pub(super) fn note_logged_rename(
        &mut self,
        before: &Entry,
        operation: &LoggedOperation,
        rename: &RecordedRename<'_>,
    ) -> ContentResult {
        if !self.content.multi_provider {
            return Ok(());
        }
        let (uuid, csn) = self.numbered(before, operation)?;
        let mut stamps = stamps_of(self.writer, &uuid, self.number_of(before))?;
        stamps.note_rename(&self.core.schema, rename, csn);
        put_stamps(self.writer, &uuid, &stamps)?;
        match rename.new_superior {
            Some(_) => Ok(put_place_of(self.writer, &uuid, csn)?),
            None => Ok(()),
        }
    }

    fn numbered(
        &self,
        held: &Entry,
        operation: &LoggedOperation,
    ) -> ContentResult<(EntryUuid, PackedCsn)> {
        let csn = PackedCsn::parse(operation.csn.as_bytes());
        match self.uuid_of(held).zip(csn) {
            Some(numbers) => Ok(numbers),
            None => lost(&held.dn, "an operation without a sound number"),
        }
    }

    /// Fails for a change of single values whose outcome depends on the values before. These may
    /// be others where it was made.
    fn require_mergeable(
        &self,
        dn: &Dn,
        (own, csn): (&EntryStamps, PackedCsn),
        changes: &[Change],
    ) -> ContentResult {
        let schema = &self.core.schema;
        for change in changes {
            let description = &change.attribute.description;
            let kind = description.attribute;
            let is_increment = change.operation == ModifyOperation::Increment;
            let is_of_values = matches!(
                change.operation,
                ModifyOperation::Add | ModifyOperation::Delete
            ) && !change.attribute.values.is_empty()
                && !has_single_values(schema, kind)
                && !schema.attribute_at(kind).single_value;
            let last = own.cleared(&description.text(schema));
            let differs = last > Some(csn) || self.is_unknown_to_provider(last, Some(csn));
            if (is_increment || is_of_values) && differs {
                return lost(dn, "the values were changed at two servers");
            }
        }
        Ok(())
    }

    /// Returns an entry with changes, whichever of its values another server has changed.
    fn with_changes(&self, held: &Entry, list: &[Change]) -> ContentResult<Entry> {
        let schema = &self.core.schema;
        let mut entry = held.clone();
        let mut large = MultiValueAttributes::none();
        for (at, change) in list.iter().enumerate() {
            let attribute = &change.attribute;
            let kind = attribute.description.attribute;
            let is_single = schema.attribute_at(kind).single_value;
            // A value that the operation itself has set stays if it takes another one away.
            let mut before = list.iter().take(at);
            let is_set = before.any(|earlier| {
                earlier.operation != ModifyOperation::Delete
                    && earlier.attribute.description == attribute.description
            });
            let keeps = is_set && !attribute.values.is_empty() && {
                let held = entry.attribute(&attribute.description);
                let mut held = held.into_iter().flat_map(|held| &held.values);
                !held.any(|held| {
                    let mut gone = attribute.values.iter();
                    gone.any(|gone| {
                        schema.normal_value(kind, gone) == schema.normal_value(kind, held)
                    })
                })
            };
            // The value that it had there may be another one here.
            match change.operation {
                ModifyOperation::Add if is_single => {
                    entry.set(&attribute.description, attribute.values.clone());
                    continue;
                }
                ModifyOperation::Delete if is_single && keeps => continue,
                ModifyOperation::Delete if is_single => {
                    entry.set(&attribute.description, Vec::new());
                    continue;
                }
                _ => {}
            }
            let change = std::slice::from_ref(change);
            if let Err(result) = changes::apply(schema, &mut entry, &mut large, change, true) {
                return lost(&held.dn, &format!("result {}", result.code.number()));
            }
        }
        Ok(entry)
    }
}

/// Returns the first value of the attribute of this name.
fn first_value<'a>(attributes: &'a [ContentAttribute], name: &str) -> Option<&'a [u8]> {
    let mut attributes = attributes.iter();
    let held = attributes.find(|held| held.description.eq_ignore_ascii_case(name))?;
    held.values.first().map(Vec::as_slice)
}
