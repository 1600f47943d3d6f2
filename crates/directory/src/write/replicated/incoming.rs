//! An entry of a provider as an entry of this server.

use fulgurite_ldap::{ContentAttribute, ContentEntry};
use fulgurite_schema::{Attribute, AttributeDescription, CheckOptions, CheckedEntry, Dn, Entry};
use fulgurite_store::{EntryId, EntryView};

use super::applier::Applier;
use super::bind_values::{BindValues, added};
use super::content::CopiedContent;
use super::entry_state::csn_of;
use super::error::{ContentError, ContentResult, refused};
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::rights::computed::Computed;

/// The time of a lock.
const LOCK: &str = "pwdAccountLockedTime";

/// Makes entries as they are here. It looks at no other entry.
pub(super) struct IncomingReader<'r> {
    pub(super) core: &'r Core,
    pub(super) database: &'r Database,
    pub(super) content: &'r CopiedContent,
}

impl IncomingReader<'_> {
    /// Makes an entry under its name here.
    pub(super) fn incoming(&self, given: &ContentEntry) -> ContentResult<Entry> {
        let schema = &self.core.schema;
        let dn = self.name_of(&given.dn)?;
        let mut entry = Entry::new(dn);
        for attribute in &given.attributes {
            let Some(attribute) = self.attribute(attribute)? else {
                continue;
            };
            // A record has each attribute once, whatever a provider sends.
            match entry.attribute_mut(&attribute.description) {
                Some(held) => held.values.extend(attribute.values),
                None => entry.attributes.push(attribute),
            }
        }
        let uuid = uuid::Uuid::from_bytes(given.uuid).hyphenated().to_string();
        let types = &self.core.types;
        match entry
            .attributes
            .iter_mut()
            .find(|held| held.description == types.entry_uuid)
        {
            Some(held) => held.values = vec![uuid.into_bytes()],
            None => entry.set(&types.entry_uuid, vec![uuid.into_bytes()]),
        }
        entry.drop_repeated_values(schema);
        Ok(entry)
    }

    /// Returns the name of an entry here. It must be within the content and this database.
    pub(super) fn name_of(&self, text: &str) -> ContentResult<Dn> {
        let schema = &self.core.schema;
        let remote = Dn::parse(schema, text);
        let remote = remote.map_err(|error| ContentError::Refused(error.to_string()))?;
        if !remote.is_within(&self.content.remote_base) {
            return refused(format!("{text} is outside the search base"));
        }
        let dn = self.content.local_name(&remote);
        let database = self.core.databases.database_of(&dn);
        match database {
            Some(database) if std::ptr::eq(database, self.database) => Ok(dn),
            _ => refused(format!("{} is outside the database", dn.pretty())),
        }
    }

    /// Returns an attribute to store; `None` for one that this server computes or does not copy.
    pub(super) fn attribute(&self, given: &ContentAttribute) -> ContentResult<Option<Attribute>> {
        let schema = &self.core.schema;
        let description = schema.describe(given.description.as_bytes());
        let description = description
            .map_err(|error| ContentError::Refused(format!("{}: {error}", given.description)))?;
        let kind = description.attribute;
        let is_ours = Computed::of(&self.core.types, kind).is_some()
            || self.database.memberships.compute(kind);
        if is_ours || given.values.is_empty() || !self.content.selection.has(schema, &description) {
            return Ok(None);
        }
        let mut attribute = Attribute {
            description,
            values: given.values.clone(),
        };
        attribute.make_pretty(schema);
        if self.content.is_massaged() && schema.attribute_at(kind).syntax.is_name() {
            self.massage(&mut attribute);
        }
        Ok(Some(attribute))
    }

    /// Moves the names among values that are below the search base.
    fn massage(&self, attribute: &mut Attribute) {
        for value in &mut attribute.values {
            if let Ok(dn) = Dn::parse_bytes(&self.core.schema, value)
                && dn.is_within(&self.content.remote_base)
            {
                *value = self.content.local_name(&dn).pretty().into();
            }
        }
    }

    /// Returns an entry as a provider among several may tell it. Merged ones are not checked: no
    /// server may refuse what others take.
    pub(super) fn admitted(&self, entry: Entry) -> ContentResult<Entry> {
        if self.content.is_checked && self.content.multi_provider {
            let checked = self
                .core
                .schema
                .check(entry.clone(), &CheckOptions::default());
            checked.map_err(|violation| ContentError::Refused(violation.to_string()))?;
        }
        Ok(entry)
    }

    /// Checks an entry as far as the settings want it, and puts values in order.
    pub(super) fn checked(&self, mut entry: Entry) -> ContentResult<CheckedEntry> {
        let (schema, types) = (&self.core.schema, &self.core.types);
        for attribute in &mut entry.attributes {
            let kind = attribute.description.attribute;
            if self.core.sorted_values.contains(&kind) {
                attribute.values.sort_by_cached_key(|value| {
                    let normal = schema.normal_value(kind, value);
                    normal.map(std::borrow::Cow::into_owned)
                });
            }
        }
        let mut checked = match self.content.is_checked && !self.content.multi_provider {
            true => schema
                .check(entry, &CheckOptions::default())
                .map_err(|violation| ContentError::Refused(violation.to_string()))?,
            false => CheckedEntry::on_trust(entry, schema),
        };
        let class = &types.structural_object_class;
        if checked.entry().attribute(class).is_none() {
            let name = schema.object_class_at(checked.structural_class()).name();
            let name = name.as_bytes().to_vec();
            checked.set_operational(schema, class, vec![name]);
        }
        Ok(checked)
    }
}

impl Applier<'_, '_> {
    fn reader(&self) -> IncomingReader<'_> {
        IncomingReader {
            core: self.core,
            database: self.database,
            content: self.content,
        }
    }

    /// Makes an entry under its name here.
    pub(super) fn incoming(&self, given: &ContentEntry) -> ContentResult<Entry> {
        self.reader().incoming(given)
    }

    /// Returns the name of an entry here. It must be within the content and this database.
    pub(super) fn name_of(&self, text: &str) -> ContentResult<Dn> {
        self.reader().name_of(text)
    }

    /// Returns an attribute to store; `None` for one that this server computes or does not copy.
    pub(super) fn attribute(&self, given: &ContentAttribute) -> ContentResult<Option<Attribute>> {
        self.reader().attribute(given)
    }

    /// Checks an entry as far as the settings want it, and puts values in order.
    pub(super) fn checked(&self, entry: Entry) -> ContentResult<CheckedEntry> {
        self.reader().checked(entry)
    }

    /// Returns an entry as a provider among several may tell it.
    pub(super) fn admitted(&self, entry: Entry) -> ContentResult<Entry> {
        self.reader().admitted(entry)
    }

    /// Adds the attributes of the held entry that the provider has no say in.
    pub(super) fn keep_others(&self, entry: &mut Entry, held: &Entry) {
        let schema = &self.core.schema;
        for attribute in &held.attributes {
            let is_copied = self.content.selection.has(schema, &attribute.description);
            if !is_copied && entry.attribute(&attribute.description).is_none() {
                entry.attributes.push(attribute.clone());
            }
        }
    }

    /// Keeps what binds at this server have changed, unless the provider has changed the same
    /// attribute or the password. A lock ends with the next change of the entry, as in slapd.
    /// Otherwise nobody could end one that has no duration.
    ///
    /// Returns the times that both have added to, as they shall be when the entry is stored.
    pub(super) fn keep_bind_state(
        &self,
        id: EntryId,
        entry: &mut Entry,
        held: &Entry,
    ) -> ContentResult<BindValues> {
        let (schema, types) = (&self.core.schema, &self.core.types);
        let password = types.user_password.attribute;
        let Some(stored) = self.writer.entry(id)?.filter(EntryView::has_bind_state) else {
            return Ok(Vec::new());
        };
        if entry.values(password) != held.values(password) {
            return Ok(Vec::new());
        }
        let stored = stored.without_bind_state();
        let has_changed = csn_of(self, entry) != csn_of(self, held);
        let mut kept = types.of_binds.clone();
        kept.retain(|attribute| {
            let recorded = stored.plain_values(*attribute).into_iter().flatten();
            let is = |values: &[Vec<u8>]| recorded.clone().eq(values.iter().map(Vec::as_slice));
            let is_lock = schema.attribute_at(*attribute).name() == LOCK;
            is(entry.values(*attribute))
                && !is(held.values(*attribute))
                && !(is_lock && has_changed)
        });
        let is_kept = |held: &Attribute| {
            types.is_of_binds(&held.description) && kept.contains(&held.description.attribute)
        };
        entry.attributes.retain(|given| !is_kept(given));
        let own = held.attributes.iter().filter(|held| is_kept(held));
        entry.attributes.extend(own.cloned());
        let mut both = Vec::new();
        for attribute in types.of_binds.iter().filter(|held| !kept.contains(held)) {
            if schema.attribute_at(*attribute).single_value {
                continue;
            }
            let (given, own) = (entry.values(*attribute), held.values(*attribute));
            let recorded = stored.plain_values(*attribute).into_iter().flatten();
            let recorded: Vec<&[u8]> = recorded.collect();
            both.extend(added(&recorded, given, own).map(|values| {
                let description = AttributeDescription::plain(*attribute);
                (description, values)
            }));
        }
        Ok(both)
    }
}
