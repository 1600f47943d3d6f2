//! Operations of an access log, done as they were logged.
//!
//! An operation that does not fit is a sign that the copy differs: the consumer then reads the
//! entries again. Where clients update the copy, too, operations are [merged](super::logged_merge).

use fulgurite_ldap::{ContentAttribute, LoggedKind, LoggedOperation, ModifyOperation};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry};
use fulgurite_store::{EntryId, PackedCsn};

use super::applier::Applier;
use super::entry_state::csn_of;
use super::error::{ContentError, ContentResult};
use super::numbers::Deletion;
use crate::request::change::Change;
use crate::write::audit::RecordedRename;
use crate::write::changes;
use crate::write::multi_value::MultiValueAttributes;

pub(super) type LoggedChanges = [(ModifyOperation, ContentAttribute)];

/// Fails because the log does not fit the copy.
pub(super) fn lost<T>(dn: &Dn, text: &str) -> ContentResult<T> {
    Err(ContentError::LostSync(format!("{}: {text}", dn.pretty())))
}

impl Applier<'_, '_> {
    /// Does a logged operation.
    pub(super) fn logged(&mut self, operation: &LoggedOperation) -> ContentResult {
        // Names among the values are others at the provider.
        self.operation = (!self.content.is_massaged()).then(|| operation.clone());
        let done = self.do_logged(operation);
        self.operation = None;
        // Nothing is put aside: the log goes on only where the copy fits it.
        done.map_err(|error| match error {
            ContentError::Refused(text) => ContentError::LostSync(text),
            error => error,
        })
    }

    fn do_logged(&mut self, operation: &LoggedOperation) -> ContentResult {
        let dn = self.name_of(&operation.dn)?;
        let found = self.target(operation, &dn)?;
        let merges = self.content.multi_provider;
        match (&operation.kind, found) {
            (LoggedKind::Add(attributes), _) if merges => self.merge_add(operation, attributes),
            (LoggedKind::Delete, found) if merges => self.merge_delete(operation, found),
            (_, None) if merges => self.merge_without_entry(operation, &dn),
            (LoggedKind::Modify(list), Some(id)) if merges => {
                self.merge_modify(id, operation, list)
            }
            (LoggedKind::Add(attributes), None) => self.logged_add(dn, attributes),
            (LoggedKind::Add(attributes), Some(id)) if self.is_glue(id)? => {
                self.logged_add(dn, attributes)
            }
            (LoggedKind::Add(_), Some(_)) => lost(&dn, "the new entry exists"),
            (LoggedKind::Delete, Some(id)) => {
                let number = PackedCsn::parse(operation.csn.as_bytes());
                self.remove(id, Deletion::numbered(number))
            }
            // It is what the log says.
            (LoggedKind::Delete, None) => Ok(()),
            (_, None) => lost(&dn, "no such entry"),
            (LoggedKind::Modify(list), Some(id)) => self.logged_modify(id, list),
            (LoggedKind::Rename { .. }, Some(id)) => self.logged_rename(id, operation),
        }
    }

    /// Returns true if clients may update the copy, and have changed the entry later.
    fn is_older(&self, held: &Entry, csn: &str) -> bool {
        self.content.multi_provider && csn_of(self, held).as_str() >= csn
    }

    fn logged_add(&mut self, dn: Dn, attributes: &[ContentAttribute]) -> ContentResult {
        let mut entry = Entry::new(dn);
        for attribute in attributes {
            if let Some(attribute) = self.attribute(attribute)? {
                for value in attribute.values {
                    entry.push(&attribute.description, value);
                }
            }
        }
        self.add(entry).map(drop)
    }

    fn logged_modify(&mut self, id: EntryId, list: &LoggedChanges) -> ContentResult {
        let held = self.copy_of(id)?;
        let changes = self.resolved(&held.dn, list)?;
        if changes.is_empty() {
            return Ok(());
        }
        let entry = self.changed(held.clone(), &changes)?;
        let checked = self.checked(entry)?;
        self.writer.modify(id, &checked)?;
        self.log_change(id, &held, checked.entry())
    }

    /// Returns an entry with logged changes.
    fn changed(&self, mut entry: Entry, changes: &[Change]) -> ContentResult<Entry> {
        let schema = &self.core.schema;
        let mut large = MultiValueAttributes::none();
        for change in changes {
            // Binds here have changed these values in another way.
            let permissive = self.core.types.is_of_binds(&change.attribute.description);
            let change = std::slice::from_ref(change);
            let applied = changes::apply(schema, &mut entry, &mut large, change, permissive);
            if let Err(result) = applied {
                return lost(&entry.dn, &format!("result {}", result.code.number()));
            }
        }
        Ok(entry)
    }

    /// Resolves logged changes of an entry. None are left of the state that slapd notes in the log
    /// as a change of the suffix.
    pub(super) fn resolved(&self, dn: &Dn, list: &LoggedChanges) -> ContentResult<Vec<Change>> {
        let mut resolved = Vec::with_capacity(list.len());
        for (operation, attribute) in list {
            if changes::count(*operation, attribute.values.len()).is_err() {
                return lost(dn, "a change with a wrong number of values");
            }
            if let Some(attribute) = self.logged_attribute(attribute)? {
                resolved.push(Change {
                    operation: *operation,
                    attribute,
                });
            }
        }
        Ok(resolved)
    }

    /// Returns a changed attribute, which may have no values.
    fn logged_attribute(&self, given: &ContentAttribute) -> ContentResult<Option<Attribute>> {
        if !given.values.is_empty() {
            return self.attribute(given);
        }
        let schema = &self.core.schema;
        let description = schema.describe(given.description.as_bytes());
        let description = description.map_err(|error| ContentError::Refused(error.to_string()))?;
        let is_copied = self.content.selection.has(schema, &description);
        Ok(is_copied.then_some(Attribute {
            description,
            values: Vec::new(),
        }))
    }

    fn logged_rename(&mut self, id: EntryId, operation: &LoggedOperation) -> ContentResult {
        let LoggedKind::Rename {
            new_rdn,
            delete_old_rdn,
            new_superior,
            changes,
        } = &operation.kind
        else {
            return Ok(());
        };
        let schema = &self.core.schema;
        let held = self.copy_of(id)?;
        if self.is_older(&held, &operation.csn) {
            return lost(&held.dn, "the entry has a later change");
        }
        let rdn = Dn::parse(schema, new_rdn);
        let rdn = rdn.map_err(|error| ContentError::Refused(error.to_string()))?;
        let above = match new_superior {
            Some(superior) => self.name_of(superior)?,
            None => held.dn.parent().unwrap_or_else(Dn::root),
        };
        let mut entry = held.clone();
        if *delete_old_rdn {
            for ava in held.dn.rdn().into_iter().flat_map(|rdn| rdn.avas()) {
                let description = AttributeDescription::plain(ava.attribute);
                let normal = schema.normal_value(ava.attribute, ava.value);
                let values = entry
                    .attribute(&description)
                    .map(|held| held.values.clone());
                let mut values = values.unwrap_or_default();
                values.retain(|value| schema.normal_value(ava.attribute, value) != normal);
                entry.set(&description, values);
            }
        }
        entry.dn = above.child(&rdn);
        let avas = rdn.rdn().into_iter().flat_map(|rdn| rdn.avas());
        let avas = avas.filter(|ava| held.has_value(schema, ava.attribute, ava.value));
        let kept: Vec<_> = avas.map(|ava| ava.attribute).collect();
        entry.add_missing_rdn_values(schema);
        let changes = self.resolved(&entry.dn, changes)?;
        let entry = self.changed(entry, &changes)?;
        if let Some(holder) = self.writer.find(&entry.dn)?.entry()
            && holder != id
            && !self.is_glue(holder)?
        {
            return lost(&entry.dn, "the new name is taken");
        }
        self.rename(id, entry, &operation.csn)?;
        let rename = RecordedRename {
            dn: &held.dn,
            new_rdn: &rdn,
            delete_old_rdn: *delete_old_rdn,
            new_superior: new_superior.as_ref().map(|_| &above),
            held: &kept,
        };
        self.note_logged_rename(&held, operation, &rename)
    }
}
