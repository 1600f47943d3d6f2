//! The record of each change in the store's log, from which other servers are kept up to date.
//!
//! A change without a new entryCSN is no change to other servers: they compare these. So features
//! that follow another change, as in slapd, leave no record.

use std::borrow::Cow;

use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{
    CONTROLS, ChangeKind, EntryId, NewChange, NewOperation, NewRename, OLD_VALUES, PackedCsn,
    RESPONSE_CONTROLS, StoreError,
};

use crate::core::control_text::control_texts;
use crate::core::csn::Csn;
use crate::core::entry_identity::{EntryIdentity, parse_uuid};
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Name;
use crate::core::well_known_types::WellKnownTypes;
use crate::request::change::Change;
use crate::write::audit::{RecordedRename, is_replaced};
use crate::write::context::Context;
use crate::write::replicated::{
    EntryStamps, forget_place_of, forget_stamps, place_of, put_place_of, put_stamps, stamps_of,
};

/// The part of a change that only some kinds have.
struct ChangeDetails<'c> {
    kind: ChangeKind,
    csn: PackedCsn,
    dn: &'c Dn,
    rename: Option<NewRename<'c>>,
    operations: &'c [NewOperation<'c>],
}

impl Context<'_, '_> {
    /// Reads the identity of the entry that the update changes. Later stamps exceed its number, as
    /// other servers would drop the change otherwise.
    pub(crate) fn note_identity(&mut self, id: EntryId) -> OpResult {
        self.before = self.identity(id)?;
        Ok(())
    }

    /// Does the same for the entry that [`copy_for`](Self::copy_for) has copied last. Nothing may
    /// have changed it since.
    pub(crate) fn note_copied_identity(&mut self, id: EntryId) -> OpResult {
        match self.read_identity.take() {
            Some((copied, identity)) if copied == id => self.before = identity,
            _ => self.note_identity(id)?,
        }
        Ok(())
    }

    /// Returns the identity of an entry, if the database has identities.
    pub(crate) fn identity(&self, id: EntryId) -> OpResult<Option<EntryIdentity>> {
        match self.database.last_mod {
            true => EntryIdentity::find(&self.core.types, self.writer, id),
            false => Ok(None),
        }
    }

    /// Keeps an entry as it is before its change, if the log shall have old values of it.
    pub(crate) fn note_old(&mut self, id: EntryId) -> OpResult {
        let logged = self.features.access_log.as_ref();
        let Some(old) = logged.and_then(|logged| logged.operations.old.as_ref()) else {
            return Ok(());
        };
        let failed = |error| result::store(&error);
        let entry = self.writer.entry(id).map_err(failed)?;
        let entry = entry.filter(|entry| old.filter.test(&self.core.schema, entry).is_true());
        let entry = entry.map(|entry| entry.to_entry()).transpose();
        self.old = entry.map_err(failed)?;
        Ok(())
    }

    /// Returns the old values of the attributes that a change touches, and of those that the
    /// configuration names.
    fn old_values(&mut self, touches: impl Fn(&AttributeDescription) -> bool) -> Vec<Attribute> {
        let Some(old) = self.old.take() else {
            return Vec::new();
        };
        let logged = self.features.access_log.as_ref();
        let wanted = logged.and_then(|logged| logged.operations.old.as_ref());
        let is_named = |description: &AttributeDescription| {
            wanted.is_some_and(|old| old.attributes.contains(description))
        };
        let mut held = old.attributes;
        held.retain(|held| touches(&held.description) || is_named(&held.description));
        held
    }

    /// Logs an entry that has been added.
    pub(crate) fn log_add(&mut self, id: EntryId, entry: &Entry) -> OpResult {
        let (schema, types) = (&self.core.schema, &self.core.types);
        let first = |description| Some(entry.attribute(description)?.values.first()?.as_slice());
        let uuid = first(&types.entry_uuid).and_then(parse_uuid);
        let Some((uuid, csn)) = uuid.zip(first(&types.entry_csn).and_then(PackedCsn::parse)) else {
            return Ok(());
        };
        let operations = entry.attributes.iter().map(|held| NewOperation {
            operator: b'+',
            attribute: held.description.text(schema),
            values: &held.values,
        });
        let details = ChangeDetails {
            kind: ChangeKind::Add,
            csn,
            dn: &entry.dn,
            rename: None,
            operations: &operations.collect::<Vec<_>>(),
        };
        self.before = Some(EntryIdentity { uuid, csn: None });
        self.log(id, &details)
    }

    /// Logs changes of an entry, and the stamps of `after` that no change sets.
    pub(crate) fn log_modify(
        &mut self,
        id: EntryId,
        dn: &Dn,
        changes: &[&[Change]],
        after: &Entry,
    ) -> OpResult {
        let Some(csn) = self.new_number(after)? else {
            return Ok(());
        };
        let (schema, types) = (&self.core.schema, &self.core.types);
        let password = types.user_password.attribute;
        let changes: Vec<&Change> = changes.iter().copied().flatten().collect();
        let mut operations = Vec::with_capacity(changes.len() + 3);
        for (at, change) in changes.iter().enumerate() {
            // The password modify operation verifies the old password by a delete.
            let next = changes.get(at + 1);
            if next.is_some_and(|next| is_replaced(change, next, password)) {
                continue;
            }
            let attribute = &change.attribute;
            // A consumer that lacks such values must be able to follow.
            let is_deletion = change.operation == ModifyOperation::Delete;
            let is_unlock = is_deletion && attribute.values.is_empty();
            let operation = match is_unlock && types.is_of_binds(&attribute.description) {
                true => ModifyOperation::Replace,
                false => change.operation,
            };
            operations.push(NewOperation {
                operator: operator(operation),
                attribute: change.attribute.description.text(schema),
                values: &change.attribute.values,
            });
        }
        let is_set = |description: &AttributeDescription| {
            let mut changes = changes.iter();
            changes.any(|change| change.attribute.description == *description)
        };
        let set = stamps(types, after).filter(|stamp| !is_set(&stamp.description));
        operations.extend(set.map(|stamp| replacement(stamp, stamp.description.text(schema))));
        let old = self.old_values(|description| {
            let is_stamp = stamps(types, after).any(|stamp| stamp.description == *description);
            is_stamp || is_set(description)
        });
        operations.extend(old.iter().map(|old| old_operation(old, schema)));
        let details = ChangeDetails {
            kind: ChangeKind::Modify,
            csn,
            dn,
            rename: None,
            operations: &operations,
        };
        let is_stamp = |change: &Change| types.is_stamp(&change.attribute.description);
        self.note_parts(|stamps, schema| {
            let changes = changes.iter().copied().filter(|change| !is_stamp(change));
            stamps.note_modify(schema, changes, csn);
        })?;
        self.log(id, &details)
    }

    /// Numbers the parts of the entry that a change sets, where other servers change it too.
    fn note_parts(&mut self, note: impl FnOnce(&mut EntryStamps, &Schema)) -> OpResult {
        let Some(before) = self.before.filter(|_| self.database.is_multi_provider()) else {
            return Ok(());
        };
        let noted = stamps_of(self.writer, &before.uuid, before.csn).and_then(|mut stamps| {
            if self.is_long_known(before.csn) {
                stamps = EntryStamps::whole(before.csn);
            }
            note(&mut stamps, &self.core.schema);
            put_stamps(self.writer, &before.uuid, &stamps)
        });
        noted.map_err(|error| self.broken_by(&error))
    }

    /// Returns true if all servers know a change, as they have to know deletions of that age.
    fn is_long_known(&self, csn: Option<PackedCsn>) -> bool {
        let csn = csn.and_then(|csn| Csn::parse(&csn.text()));
        let kept_us = self.database.store.retention().tombstone_us_max;
        csn.is_some_and(|csn| csn.time().0.saturating_add(kept_us) < self.now.0)
    }

    /// Logs a new name.
    pub(crate) fn log_rename(
        &mut self,
        id: EntryId,
        rename: &RecordedRename<'_>,
        after: &Entry,
    ) -> OpResult {
        let Some(csn) = self.new_number(after)? else {
            return Ok(());
        };
        let (schema, types) = (&self.core.schema, &self.core.types);
        let operations = stamps(types, after);
        let operations = operations.map(|stamp| replacement(stamp, stamp.description.text(schema)));
        let mut operations: Vec<_> = operations.collect();
        let names = [rename.dn, rename.new_rdn].map(Dn::rdn);
        let named: Vec<_> = names
            .into_iter()
            .flatten()
            .flat_map(|rdn| rdn.avas())
            .collect();
        let old = self.old_values(|description| {
            let is_named = named
                .iter()
                .any(|ava| ava.attribute == description.attribute);
            is_named || stamps(types, after).any(|stamp| stamp.description == *description)
        });
        operations.extend(old.iter().map(|old| old_operation(old, schema)));
        let details = ChangeDetails {
            kind: ChangeKind::Rename,
            csn,
            dn: rename.dn,
            rename: Some(NewRename {
                new_rdn: rename.new_rdn.pretty(),
                deletes_old: rename.delete_old_rdn,
                superior: rename.new_superior.map(Dn::pretty),
            }),
            operations: &operations,
        };
        self.note_parts(|stamps, schema| stamps.note_rename(schema, rename, csn))?;
        if rename.new_superior.is_some()
            && let Some(before) = self.before.filter(|_| self.database.is_multi_provider())
        {
            let put = put_place_of(self.writer, &before.uuid, csn);
            put.map_err(|error| self.broken_by(&error))?;
        }
        self.log(id, &details)
    }

    /// Logs that an entry of this identity has been deleted.
    pub(crate) fn log_delete(
        &mut self,
        id: EntryId,
        dn: &Dn,
        identity: Option<EntryIdentity>,
    ) -> OpResult {
        let Some(gone) = identity else {
            return Ok(());
        };
        if self.database.is_multi_provider() {
            let forgotten = forget_stamps(self.writer, &gone.uuid)
                .and_then(|()| forget_place_of(self.writer, &gone.uuid));
            forgotten.map_err(|error| self.broken_by(&error))?;
        }
        self.before = identity;
        let csn = self.next_csn().text();
        let Some(csn) = PackedCsn::parse(csn.as_bytes()) else {
            return Err(self.unnumbered());
        };
        let old = self.old_values(|_| true);
        let operations = old.iter().map(|old| old_operation(old, &self.core.schema));
        let details = ChangeDetails {
            kind: ChangeKind::Delete,
            csn,
            dn,
            rename: None,
            operations: &operations.collect::<Vec<_>>(),
        };
        self.log(id, &details)
    }

    /// Returns a new number, greater than the one of the entry that changes.
    pub(crate) fn next_csn(&self) -> Csn {
        let before = self.before.and_then(|identity| identity.csn);
        let before = before.max(self.place_number());
        let before = before.filter(|csn| csn.server() != self.core.csn.server());
        let floor = before.and_then(|csn| Csn::parse(&csn.text()));
        self.core.csn.next(self.now, floor)
    }

    /// Returns the number of the entry's place, if a merge has given it.
    fn place_number(&self) -> Option<PackedCsn> {
        let before = self.before.filter(|_| self.database.is_multi_provider())?;
        place_of(self.writer, &before.uuid).ok().flatten()
    }

    /// Returns the number of the change that led to `after`; `None` if that left it as it was. An
    /// entry that had no sound number may keep it.
    fn new_number(&mut self, after: &Entry) -> OpResult<Option<PackedCsn>> {
        let held = after.attribute(&self.core.types.entry_csn);
        let text = held.and_then(|held| held.values.first());
        let Some((before, text)) = self.before.zip(text) else {
            return Ok(None);
        };
        let csn = PackedCsn::parse(text);
        if csn.is_none() && before.csn.is_some() {
            return Err(self.unnumbered());
        }
        Ok(csn.filter(|csn| before.csn != Some(*csn)))
    }

    /// Refuses an update that other servers would never hear of.
    fn unnumbered(&mut self) -> LdapResult {
        self.broken = true;
        refuse(ResultCode::Other, "the change has no valid entryCSN")
    }

    fn log(&mut self, id: EntryId, details: &ChangeDetails<'_>) -> OpResult {
        let Some(before) = self.before else {
            return Ok(());
        };
        let author = self.session.identity().name();
        let controls = &self.modifiers.logged_controls;
        let answered = match self.features.access_log.is_some() {
            true => control_texts(self.returned.controls().into_iter()),
            false => Vec::new(),
        };
        let mut noted = Vec::new();
        let kinds = [(CONTROLS, controls), (RESPONSE_CONTROLS, &answered)];
        for (operator, texts) in kinds {
            if texts.is_empty() {
                continue;
            }
            if noted.is_empty() {
                noted.extend_from_slice(details.operations);
            }
            noted.push(NewOperation {
                operator,
                attribute: Cow::Borrowed(""),
                values: texts,
            });
        }
        let operations = match noted.is_empty() {
            true => details.operations,
            false => &noted,
        };
        let change = NewChange {
            kind: details.kind,
            csn: details.csn,
            previous: before.csn,
            uuid: before.uuid,
            entry: id,
            time_us: self.now.0,
            session: self.session.connection().id,
            author: author.map_or("", Name::pretty),
            dn: details.dn.pretty(),
            rename: details.rename,
            operations,
            is_unordered: false,
        };
        let logged = self.writer.log_change(&change);
        let raised = logged.and_then(|()| self.writer.raise_vector(details.csn));
        raised.map_err(|error| self.broken_by(&error))
    }

    /// Refuses an update whose facts could not be stored.
    fn broken_by(&mut self, error: &StoreError) -> LdapResult {
        let result = self.failed(error);
        self.broken = true;
        result
    }
}

/// Returns the stamps of a changed entry.
fn stamps<'e>(types: &WellKnownTypes, after: &'e Entry) -> impl Iterator<Item = &'e Attribute> {
    let stamps = types.stamps();
    stamps
        .into_iter()
        .filter_map(|stamp| after.attribute(stamp))
}

fn old_operation<'a>(old: &'a Attribute, schema: &'a Schema) -> NewOperation<'a> {
    NewOperation {
        operator: OLD_VALUES,
        attribute: old.description.text(schema),
        values: &old.values,
    }
}

fn replacement<'a>(attribute: &'a Attribute, name: Cow<'a, str>) -> NewOperation<'a> {
    NewOperation {
        operator: b'=',
        attribute: name,
        values: &attribute.values,
    }
}

/// Returns the sign of an operation in the log.
pub(crate) const fn operator(operation: ModifyOperation) -> u8 {
    match operation {
        ModifyOperation::Add => b'+',
        ModifyOperation::Delete => b'-',
        ModifyOperation::Replace => b'=',
        ModifyOperation::Increment => b'#',
    }
}
