//! The record of each replicated change in the store's log, from which other servers are kept up
//! to date. Glue has none.
//!
//! A record has the number that the change got at its origin. If the vector covers that number, no
//! consumer of this server would look for the record. Then it has the *successor* of the greatest
//! number, as has a deletion of which the provider tells no number. Numbers of the state that the
//! batch reaches count: the deletion is older than that, at most. A consumer takes no successor
//! for a state, because these records are unordered. Among several providers, such a record has a
//! new number of this server instead. None of the others has it yet.
//!
//! The loser of a name has a deletion without a number, too, but that ends its states. Any other
//! one says only that the entry has left the content of one provider. Its
//! record names that provider, in place of a session. The same provider may send the entry
//! again, in the state that it had.

use std::borrow::Cow;

use fulgurite_ldap::control::EntryUuid;
use fulgurite_ldap::{LoggedKind, LoggedOperation};
use fulgurite_schema::{Attribute, Dn, Entry};
use fulgurite_store::{
    ANNOUNCED, ChangeKind, EntryId, NewChange, NewOperation, NewRename, PackedCsn, Tombstone,
};

use super::applier::Applier;
use super::error::ContentResult;
use super::numbers::Deletion;
use crate::core::entry_identity::{EntryIdentity, parse_uuid};
use crate::write::change_log::operator;

/// The parts of a record that depend on the kind of the change.
struct RecordParts<'r> {
    kind: ChangeKind,
    id: EntryId,
    /// The entry before the change.
    identity: EntryIdentity,
    /// The number at the origin.
    csn: Option<PackedCsn>,
    session: u64,
    author: &'r str,
    dn: &'r str,
    rename: Option<NewRename<'r>>,
    operations: &'r [NewOperation<'r>],
}

impl Applier<'_, '_> {
    /// Logs an entry that has been added.
    pub(super) fn log_add(&mut self, id: EntryId, entry: &Entry) -> ContentResult {
        let Some(identity) = self.identity_of(entry) else {
            return Ok(());
        };
        let schema = &self.core.schema;
        let operations = entry.attributes.iter().map(|held| NewOperation {
            operator: b'+',
            attribute: held.description.text(schema),
            values: &held.values,
        });
        let operations: Vec<_> = operations.collect();
        let author = self.author_of(entry);
        self.log(&RecordParts {
            kind: ChangeKind::Add,
            id,
            identity: EntryIdentity {
                csn: None,
                ..identity
            },
            csn: identity.csn,
            session: 0,
            author: &author,
            dn: entry.dn.pretty(),
            rename: None,
            operations: &operations,
        })
        .map(drop)
    }

    /// Logs other values or another name of an entry.
    pub(super) fn log_change(
        &mut self,
        id: EntryId,
        before: &Entry,
        after: &Entry,
    ) -> ContentResult {
        self.log_change_as(id, before, after, self.number_of(after))
    }

    /// Logs other values or another name of an entry, by a change with this number.
    pub(super) fn log_change_as(
        &mut self,
        id: EntryId,
        before: &Entry,
        after: &Entry,
        number: Option<PackedCsn>,
    ) -> ContentResult {
        let Some(identity) = self.identity_of(before) else {
            return Ok(());
        };
        if let Some(operation) = self.logged_as(&identity, number) {
            return self.log_operation(id, (identity, before), (after, number), &operation);
        }
        let schema = &self.core.schema;
        let operations = differences(before, after);
        let operations = operations.map(|(attribute, values)| NewOperation {
            operator: b'=',
            attribute: attribute.description.text(schema),
            values,
        });
        let operations: Vec<NewOperation<'_>> = operations.collect();
        let is_renamed = before.dn.pretty() != after.dn.pretty();
        let leaf = after.dn.leaf().filter(|_| is_renamed);
        let superior = after.dn.parent();
        let superior = superior.filter(|above| before.dn.parent().as_ref() != Some(above));
        let author = self.author_of(after);
        self.log(&RecordParts {
            kind: match is_renamed {
                true => ChangeKind::Rename,
                false => ChangeKind::Modify,
            },
            id,
            identity,
            csn: number,
            session: 0,
            author: &author,
            dn: before.dn.pretty(),
            rename: leaf.as_ref().map(|leaf| NewRename {
                new_rdn: leaf.pretty(),
                deletes_old: true,
                superior: superior.as_ref().map(Dn::pretty),
            }),
            operations: &operations,
        })
        .map(drop)
    }

    /// Returns the operation of a log that has led to a change. It is logged here as it was there,
    /// so that other servers merge it by the same numbers.
    fn logged_as(
        &self,
        identity: &EntryIdentity,
        number: Option<PackedCsn>,
    ) -> Option<LoggedOperation> {
        let operation = self.operation.as_ref()?;
        let is_change = !matches!(operation.kind, LoggedKind::Add(_) | LoggedKind::Delete);
        let is_it = is_change
            && number == PackedCsn::parse(operation.csn.as_bytes())
            && operation.uuid.is_none_or(|uuid| uuid == identity.uuid);
        is_it.then(|| operation.clone())
    }

    fn log_operation(
        &mut self,
        id: EntryId,
        (identity, before): (EntryIdentity, &Entry),
        (after, number): (&Entry, Option<PackedCsn>),
        operation: &LoggedOperation,
    ) -> ContentResult {
        let (list, rename) = match &operation.kind {
            LoggedKind::Add(_) | LoggedKind::Delete => return Ok(()),
            LoggedKind::Modify(list) => (list, None),
            LoggedKind::Rename {
                new_rdn,
                delete_old_rdn,
                new_superior,
                changes,
            } => {
                let rename = NewRename {
                    new_rdn,
                    deletes_old: *delete_old_rdn,
                    superior: new_superior.as_deref(),
                };
                (changes, Some(rename))
            }
        };
        let operations = list.iter().map(|(kind, attribute)| NewOperation {
            operator: operator(*kind),
            attribute: Cow::Borrowed(attribute.description.as_str()),
            values: &attribute.values,
        });
        let operations: Vec<NewOperation<'_>> = operations.collect();
        let author = self.author_of(after);
        self.log(&RecordParts {
            kind: match rename {
                Some(_) => ChangeKind::Rename,
                None => ChangeKind::Modify,
            },
            id,
            identity,
            csn: number,
            session: 0,
            author: &author,
            dn: before.dn.pretty(),
            rename,
            operations: &operations,
        })
        .map(drop)
    }

    /// Logs that an entry is where it is by a change with this number.
    ///
    /// Such a record with a number of this server announces the entry. For those who follow an
    /// access log it has the values: by that log they may have deleted the entry.
    pub(super) fn log_place(
        &mut self,
        id: EntryId,
        entry: &Entry,
        number: Option<PackedCsn>,
    ) -> ContentResult {
        let Some(identity) = self.identity_of(entry) else {
            return Ok(());
        };
        if let Some(operation) = self.logged_as(&identity, number) {
            return self.log_operation(id, (identity, entry), (entry, number), &operation);
        }
        let own = self.core.csn.server();
        let is_announced = number.is_some_and(|csn| csn.server() == own);
        let held = match is_announced && self.database.audit_context.is_some() {
            true => entry.attributes.as_slice(),
            false => &[],
        };
        let schema = &self.core.schema;
        let operations = held.iter().map(|held| NewOperation {
            operator: ANNOUNCED,
            attribute: held.description.text(schema),
            values: &held.values,
        });
        let operations: Vec<_> = operations.collect();
        self.log(&RecordParts {
            kind: ChangeKind::Modify,
            id,
            identity,
            csn: number,
            session: 0,
            author: "",
            dn: entry.dn.pretty(),
            rename: None,
            operations: &operations,
        })
        .map(drop)
    }

    /// Logs that an entry goes.
    pub(super) fn log_delete(
        &mut self,
        id: EntryId,
        entry: &Entry,
        deletion: Deletion,
    ) -> ContentResult {
        let Some(identity) = self.identity_of(entry) else {
            return Ok(());
        };
        let has_left_only = deletion.csn.is_none() && !deletion.is_of_loser;
        let session = match has_left_only {
            true => self.provider(),
            false => 0,
        };
        let dn = entry.dn.pretty();
        let ends = deletion.ends.or(identity.csn);
        let numbered = Deletion { ends, ..deletion };
        self.log_deletion(id, identity, dn, (numbered, session))
    }

    /// Returns the number by which a record names the provider. No connection has it.
    fn provider(&self) -> u64 {
        u64::MAX - u64::from(self.content.rid)
    }

    /// Returns true if a deletion says only that the entry has left the content of this provider.
    pub(super) fn has_left_only(&self, deletion: &Tombstone<'_>) -> ContentResult<bool> {
        let record = self.writer.change(deletion.position)?;
        Ok(record.is_some_and(|record| {
            let is_it = record.kind == ChangeKind::Delete && record.uuid == deletion.uuid;
            is_it && record.session == self.provider()
        }))
    }

    /// Logs the deletion of an entry that has never been here. Another provider may still send it.
    pub(super) fn log_unknown(&mut self, uuid: &EntryUuid, csn: Deletion) -> ContentResult {
        if csn.ends.is_none() && self.writer.tombstone(*uuid)?.is_none() {
            self.content.lacks_deletions = true;
        }
        match self.content.multi_provider {
            true => self.end_unknown(uuid, "", csn),
            false => Ok(()),
        }
    }

    /// Logs that states of an entry that is not here are gone.
    pub(super) fn end_unknown(
        &mut self,
        uuid: &EntryUuid,
        dn: &str,
        deletion: Deletion,
    ) -> ContentResult {
        let ends = deletion.ends;
        let known = self.writer.tombstone(*uuid)?.map(|known| known.ends);
        if ends.is_none() || known >= ends {
            return Ok(());
        }
        let identity = EntryIdentity {
            uuid: *uuid,
            csn: None,
        };
        self.log_deletion(EntryId::ROOT, identity, dn, (deletion, 0))
    }

    fn log_deletion(
        &mut self,
        id: EntryId,
        identity: EntryIdentity,
        dn: &str,
        (deletion, session): (Deletion, u64),
    ) -> ContentResult {
        let number = self.log(&RecordParts {
            kind: ChangeKind::Delete,
            id,
            identity,
            csn: deletion.csn,
            session,
            author: "",
            dn,
            rename: None,
            operations: &[],
        })?;
        let is_merged = self.content.multi_provider && number.is_some();
        match deletion
            .ends
            .filter(|_| is_merged && number != deletion.ends)
        {
            Some(ends) => Ok(self.writer.limit_deletion(identity.uuid, ends)?),
            None => Ok(()),
        }
    }

    /// Logs a change. Returns the number of the record.
    fn log(&mut self, parts: &RecordParts<'_>) -> ContentResult<Option<PackedCsn>> {
        let number = parts.csn;
        let number = number.filter(|csn| !self.vector.covers(*csn) && !self.is_impossible(*csn));
        let own = match number {
            None if self.content.multi_provider => self.own_number(None),
            Some(csn) if self.content.multi_provider && csn.server() == self.core.csn.server() => {
                Some(csn)
            }
            _ => None,
        };
        let newest = self.newest_with(parts.identity.csn);
        let number = number.or(own);
        let Some(csn) = number.or(newest.map(|csn| csn.successor())) else {
            return Ok(None);
        };
        debug_assert!(!self.vector.covers(csn), "consumers would not look for it");
        let change = NewChange {
            kind: parts.kind,
            csn,
            previous: parts.identity.csn,
            uuid: parts.identity.uuid,
            entry: parts.id,
            time_us: self.core.clock.now().0,
            session: parts.session,
            author: parts.author,
            dn: parts.dn,
            rename: parts.rename,
            operations: parts.operations,
            is_unordered: own.is_none() && number.is_none_or(|csn| !self.reached_next.covers(csn)),
        };
        self.writer.log_change(&change)?;
        if let Some(own) = own {
            self.vector.raise(own);
            self.writer.raise_vector(own)?;
            self.has_reached = true;
        }
        Ok(Some(csn))
    }

    /// Returns the greatest number that a consumer without this change may know.
    ///
    /// Another provider may have brought it to any state before the one that this batch reaches.
    fn newest_with(&self, previous: Option<PackedCsn>) -> Option<PackedCsn> {
        let states = self.vector.iter().chain(self.reached_last.iter());
        states.chain(previous).max()
    }

    /// Returns the identity of an entry; `None` for glue.
    fn identity_of(&self, entry: &Entry) -> Option<EntryIdentity> {
        let types = &self.core.types;
        let first = |attribute| entry.values(attribute).first();
        let class = first(types.structural_object_class.attribute);
        if class.is_some_and(|class| class.eq_ignore_ascii_case(b"glue")) {
            return None;
        }
        let csn = first(types.entry_csn.attribute);
        Some(EntryIdentity {
            uuid: parse_uuid(first(types.entry_uuid.attribute)?)?,
            csn: csn.and_then(|csn| PackedCsn::parse(csn)),
        })
    }

    fn author_of(&self, entry: &Entry) -> String {
        let author = entry.values(self.core.types.modifiers_name.attribute);
        let author = author
            .first()
            .map_or(Cow::Borrowed(""), |name| String::from_utf8_lossy(name));
        author.into_owned()
    }
}

/// Returns the attributes that differ, with their values afterwards.
fn differences<'e>(
    before: &'e Entry,
    after: &'e Entry,
) -> impl Iterator<Item = (&'e Attribute, &'e [Vec<u8>])> {
    let gone = before.attributes.iter();
    let gone = gone.filter(|held| after.attribute(&held.description).is_none());
    let set = after.attributes.iter().filter(|new| {
        let held = before.attribute(&new.description);
        held.is_none_or(|held| held.values != new.values)
    });
    let set = set.map(|new| (new, new.values.as_slice()));
    gone.map(|held| (held, &[][..])).chain(set)
}
