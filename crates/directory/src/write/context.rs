//! The writer's side of one update: what it looks up, demands and leaves behind.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{Attribute, AttributeIndex, CheckOptions, CheckedEntry, Dn, Entry};
use fulgurite_store::{EntryId, NameLookup, StoreError, View, ValueSelection, Writer};

use crate::core::clock::Timestamp;
use crate::core::database::Database;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, refuse, require};
use crate::core::session::Session;
use crate::core::well_known_types::WellKnownTypes;
use crate::request::modifiers::Modifiers;
use crate::request::referral::Referrals;
use crate::rights::assertion;
use crate::rights::computed::{self, RequesterRights};
use crate::rights::disclosure;
use crate::rights::read_entry;
use crate::rights::selection::Selection;
use crate::write::change::Change;
use crate::write::multi_value::MultiValueAttributes;
use crate::write::request::SHORT_BYTES_MAX;
use crate::write::stamp::Stamp;

/// How long an update may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkBudget {
    /// Others wait beside it: what touches much ends the transaction.
    Short,
    Unlimited,
}

/// One update, on the writer.
pub(crate) struct Context<'w, 'd> {
    pub(crate) core: &'d Core,
    pub(crate) session: &'w Session,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) writer: &'w mut Writer<'d>,
    pub(crate) database: &'d Database,
    pub(crate) modifiers: &'w Modifiers,
    pub(crate) now: Timestamp,
    /// What the result comes with.
    pub(crate) returned: ReadEntryValues,
    pub(crate) budget: WorkBudget,
    /// Set when the store failed in the midst of a change, or the update would take too long: the transaction is not to be
    /// committed.
    pub(crate) broken: bool,
}

/// Values of response controls: search result entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadEntryValues {
    pub(crate) pre_read: Option<Vec<u8>>,
    pub(crate) post_read: Option<Vec<u8>>,
}

impl<'d> Context<'_, 'd> {
    /// Looks a name up in what the batch has made of the store so far.
    pub(crate) fn find(&self, dn: &Dn) -> OpResult<NameLookup> {
        self.writer.find(dn).map_err(|error| result::store(&error))
    }

    /// The entry of a name, or noSuchObject, or a referral.
    pub(crate) fn locate(&self, dn: &Dn) -> OpResult<EntryId> {
        let found = self.find(dn)?;
        self.referrals()
            .resolve(self.writer, &self.decisions, dn, found)
    }

    /// As [`locate`](Self::locate), but a referral object that is named is found itself: rights and assertions come
    /// before [what it says](Self::refuse_elsewhere).
    pub(crate) fn locate_itself(&self, dn: &Dn) -> OpResult<EntryId> {
        match self.find(dn)? {
            NameLookup::Entry(id) => Ok(id),
            NameLookup::Missing { deepest } => Err(self.missing(dn, deepest.map(|(id, _)| id))),
        }
    }

    /// Sends the client elsewhere if the entry found is a referral object.
    pub(crate) fn refuse_elsewhere(&self, dn: &Dn, id: EntryId) -> OpResult {
        let instead = self
            .referrals()
            .instead_of(self.writer, &self.decisions, dn, id)?;
        instead.map_or(Ok(()), Err)
    }

    /// What is said of a name that nothing is found by, nor anything between it and `above`.
    pub(crate) fn missing(&self, dn: &Dn, above: Option<EntryId>) -> LdapResult {
        self.referrals()
            .missing(self.writer, &self.decisions, dn, above)
    }

    /// The answer of a check of rights to an entry: to those who may not know of it there is no entry.
    pub(crate) fn guarded(&self, dn: &Dn, id: EntryId, answer: OpResult) -> OpResult {
        answer.map_err(|refused| {
            self.referrals()
                .refusal(self.writer, &self.decisions, (dn, id), refused)
        })
    }

    /// Whether the asker may know that an entry exists.
    pub(crate) fn shows(&self, id: EntryId) -> OpResult<bool> {
        disclosure::shown_name(self.core, self.writer, &self.decisions, id)
            .map(|name| name.is_some())
            .map_err(|error| result::store(&error))
    }

    /// The parent of an entry; `None` for a suffix entry.
    pub(crate) fn parent(&self, id: EntryId) -> OpResult<Option<EntryId>> {
        self.writer
            .parent(id)
            .map_err(|error| result::store(&error))
    }

    fn referrals(&self) -> Referrals<'d> {
        Referrals {
            core: self.core,
            scope: None,
            managed: self.modifiers.managed,
            ignored: false,
        }
    }

    /// Refuses an alias as parent: what is below it could never be reached by its name.
    pub(crate) fn refuse_alias(&self, parent: EntryId, text: &str) -> OpResult {
        let entry = self
            .writer
            .entry(parent)
            .map_err(|error| result::store(&error))?;
        match entry {
            Some(entry) if self.core.types.is_alias(&entry) => {
                Err(refuse(ResultCode::AliasProblem, text))
            }
            _ => Ok(()),
        }
    }

    /// Whether an entry is a referral object: what is below it is elsewhere.
    pub(crate) fn is_referral(&self, id: EntryId) -> OpResult<bool> {
        let entry = self.writer.entry(id);
        let entry = entry.map_err(|error| result::store(&error))?;
        Ok(entry.is_some_and(|entry| self.core.types.is_referral(&entry)))
    }

    pub(crate) fn has_children(&self, id: EntryId) -> OpResult<bool> {
        self.writer
            .has_children(id)
            .map_err(|error| result::store(&error))
    }

    /// A copy of an entry, to be changed.
    pub(crate) fn entry(&self, id: EntryId) -> OpResult<Entry> {
        let entry = self.writer.entry(id).and_then(|entry| {
            entry
                .ok_or(StoreError::NoSuchEntry(id))
                .and_then(|entry| entry.to_entry())
        });
        entry.map_err(|error| result::store(&error))
    }

    /// A copy of an entry, to be changed so. Of large attributes it has one value, if single values of them are changed
    /// and neither rules nor a bound of the entry's size want to see all of them. Where no attribute is large, those that
    /// nobody looks at have no value, and stay as they are.
    pub(crate) fn entry_for(
        &self,
        id: EntryId,
        dn: &Dn,
        changes: &[&[Change]],
    ) -> OpResult<(Entry, MultiValueAttributes<'_>)> {
        let failed = |error| result::store(&error);
        let view: &View<'_, _> = self.writer;
        let entry = view.entry(id).map_err(failed)?;
        let entry = entry.ok_or_else(|| failed(StoreError::NoSuchEntry(id)))?;
        let large = if self.decisions.by_value() || view.store().limits_entries() {
            MultiValueAttributes::none()
        } else {
            MultiValueAttributes::of(self.core, view, (&entry, dn), changes)
        };
        let may_stay = !entry.has_overflow_values() && !self.decisions.by_value();
        let schema = &self.core.schema;
        let looked_at = self.looked_at(dn, changes);
        let copy = entry.to_entry_named(dn, &mut |description, values| {
            let attribute = description.attribute;
            // Whoever has too many values is refused, and named.
            let is_crowded = || values.len() > 1 && schema.attribute_at(attribute).single_value;
            if may_stay && !looked_at.contains(&attribute) && !is_crowded() {
                ValueSelection::None
            } else if values.are_overflow() && large.has(description) {
                ValueSelection::First
            } else {
                ValueSelection::All
            }
        });
        Ok((copy.map_err(failed)?, large))
    }

    /// The attribute types that are changed, or whose values matter to what is checked of the entry. Of all others it only
    /// matters that they are there.
    fn looked_at(&self, dn: &Dn, changes: &[&[Change]]) -> Vec<AttributeIndex> {
        let types = &self.core.types;
        let changes = changes.iter().copied().flatten();
        let rdn = dn.rdn();
        let names = rdn.iter().flat_map(|rdn| rdn.avas());
        let kept = [
            Some(&types.object_class),
            Some(&types.structural_object_class),
            Some(&types.reference),
            types.auth_password.as_ref(),
        ];
        let mut looked_at = self.core.sorted_values.clone();
        looked_at.extend(changes.map(|change| change.attribute.description.attribute));
        looked_at.extend(names.map(|ava| ava.attribute));
        looked_at.extend(kept.into_iter().flatten().map(|types| types.attribute));
        looked_at.extend(types.aliased_object);
        looked_at
    }

    /// How a changed entry is checked: its values have been looked at one by one already, or come from the store.
    pub(crate) fn check_options(&self, entry: &Entry) -> CheckOptions {
        let class = entry
            .values(self.core.types.structural_object_class.attribute)
            .first()
            .and_then(|name| std::str::from_utf8(name).ok())
            .and_then(|name| self.core.schema.object_class(name));
        CheckOptions {
            // Whoever relaxes the rules may make something else of the entry.
            structural_class: class
                .filter(|_| !self.modifiers.relaxed)
                .map(|class| class.index),
            skip_values: true,
            allow_obsolete: self.modifiers.relaxed,
        }
    }

    /// Refuses unless what the assertion control says is true of the entry.
    pub(crate) fn require_assertion(&self, id: EntryId) -> OpResult {
        match &self.modifiers.assertion {
            None => Ok(()),
            Some(filter) => {
                let entry = self.whole_entry(id)?;
                self.rights_of(&entry, |rights| {
                    assertion::require(&self.core.schema, rights, &entry, filter)
                })
            }
        }
    }

    /// The same for an entry that is to be added.
    pub(crate) fn require_assertion_of(&self, entry: &Entry) -> OpResult {
        match &self.modifiers.assertion {
            None => Ok(()),
            Some(filter) => self.rights_of(entry, |rights| {
                assertion::require(&self.core.schema, rights, entry, filter)
            }),
        }
    }

    /// Refuses to change a large entry while others wait beside; then all of the batch begins again elsewhere.
    pub(crate) fn keep_short(&mut self, id: EntryId) -> OpResult {
        if self.budget == WorkBudget::Unlimited {
            return Ok(());
        }
        match self.writer.is_larger_than(id, SHORT_BYTES_MAX) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.put_off()),
            Err(error) => Err(result::store(&error)),
        }
    }

    /// Ends the transaction because the update would take too long beside others. Nobody sees the result.
    pub(crate) fn put_off(&mut self) -> LdapResult {
        self.broken = true;
        LdapResult::new(ResultCode::Busy)
    }

    /// Everything is checked: from here on something happens, unless nothing is to.
    pub(crate) fn begin_change(&mut self, before: Option<EntryId>) -> OpResult {
        if self.modifiers.no_op {
            return Err(LdapResult::new(ResultCode::NoOperation));
        }
        if let (Some(id), Some(selection)) = (before, &self.modifiers.pre_read) {
            self.returned.pre_read = self.read(id, selection)?;
        }
        Ok(())
    }

    /// The update is done.
    pub(crate) fn end_change(&mut self, after: EntryId) -> OpResult {
        if let Some(selection) = &self.modifiers.post_read {
            self.returned.post_read = self.read(after, selection)?;
        }
        Ok(())
    }

    fn read(&self, id: EntryId, selection: &Selection) -> OpResult<Option<Vec<u8>>> {
        let entry = self.whole_entry(id)?;
        let schema = &self.core.schema;
        Ok(self.rights_of(&entry, |rights| {
            read_entry::value(schema, rights, &entry, selection)
        }))
    }

    /// An entry with its computed attributes.
    fn whole_entry(&self, id: EntryId) -> OpResult<Entry> {
        let requester = RequesterRights {
            core: self.core,
            decisions: &self.decisions,
        };
        computed::whole_entry(self.writer, requester, id).map_err(|error| result::store(&error))
    }

    /// Attributes that the server keeps are not for clients to set, unless they relax the rules.
    pub(crate) fn require_settable<'a>(
        &self,
        attributes: impl Iterator<Item = &'a Attribute>,
    ) -> OpResult {
        let (schema, types) = (&self.core.schema, &self.core.types);
        for attribute in attributes {
            let description = &attribute.description;
            let definition = schema.attribute_at(description.attribute);
            if !definition.no_user_modification {
                continue;
            }
            let text = if !self.modifiers.relaxed {
                "no user modification allowed"
            } else if !is_manageable(types, attribute) {
                "no-user-modification attribute not manageable"
            } else {
                continue;
            };
            let name = description.text(schema);
            let text = format!("{name}: {text}");
            return Err(refuse(ResultCode::ConstraintViolation, text));
        }
        Ok(())
    }

    /// What the server keeps is set by those only who may manage it.
    pub(crate) fn require_management<'a>(
        &self,
        dn: &Dn,
        attributes: impl Iterator<Item = &'a Attribute>,
    ) -> OpResult {
        let kept = |attribute: &Attribute| {
            let schema = &self.core.schema;
            let definition = schema.attribute_at(attribute.description.attribute);
            definition.no_user_modification
        };
        let mut kept = attributes.filter(|attribute| kept(attribute)).peekable();
        if kept.peek().is_none() {
            return Ok(());
        }
        let allowed = self.rights(dn, |rights| {
            kept.all(|attribute| {
                let rights = rights.attribute(&attribute.description);
                rights.allows(Rights::MANAGE)
            })
        })?;
        require(allowed, "")
    }

    /// Marks a changed entry: who, when, in which order. What the client has set itself stays.
    pub(crate) fn mark<'a>(&self, entry: &mut Entry, changed: impl Iterator<Item = &'a Attribute>) {
        let set: Vec<_> = changed.map(|attribute| &attribute.description).collect();
        if self.database.last_mod {
            self.stamp().modify(entry, &self.core.types, &set);
        }
    }

    /// An entry as it is to be stored, if it obeys the schema.
    pub(crate) fn check(&self, mut entry: Entry, options: &CheckOptions) -> OpResult<CheckedEntry> {
        let (schema, types) = (&self.core.schema, &self.core.types);
        // Too many values are found first, as in slapd.
        let crowded = entry.attributes.iter().any(|held| {
            let definition = schema.attribute_at(held.description.attribute);
            definition.single_value && held.values.len() > 1
        });
        if crowded {
            return schema.check(entry, options).map_err(result::violation);
        }
        if entry.attribute(&types.reference).is_some()
            && !types.is_of_class(&entry, &types.referral_class)
        {
            return Err(misplaced("ref", "referral"));
        }
        let aliased = types.aliased_object;
        if aliased.is_some_and(|aliased| !entry.values(aliased).is_empty())
            && !types.is_of_class(&entry, &types.alias_class)
        {
            return Err(misplaced("aliasedObjectName", "alias"));
        }
        for attribute in &mut entry.attributes {
            let kind = attribute.description.attribute;
            if self.core.sorted_values.contains(&kind) {
                let values = &mut attribute.values;
                values.sort_by_cached_key(|value| {
                    let normal = schema.normal_value(kind, value);
                    normal.map(std::borrow::Cow::into_owned)
                });
            }
        }
        schema.check(entry, options).map_err(result::violation)
    }

    /// Keeps the structural class in step with the classes, where the rules have been relaxed.
    pub(crate) fn note_structural_class(&self, checked: &mut CheckedEntry) {
        let description = &self.core.types.structural_object_class;
        let held = checked.entry().values(description.attribute);
        let name = self
            .core
            .schema
            .object_class_at(checked.structural_class())
            .name();
        if held.first().is_none_or(|held| held != name.as_bytes()) {
            let schema = &self.core.schema;
            let class = vec![name.as_bytes().to_vec()];
            checked.set_operational(schema, description, class);
        }
    }

    /// The naming context a name belongs to.
    pub(crate) fn suffix_of(&self, dn: &Dn) -> Option<&'d Dn> {
        self.database.suffix_of(dn)
    }

    /// Whether an entry of this name hangs below no other one of the database.
    pub(crate) fn is_top(&self, dn: &Dn) -> bool {
        self.database.store.is_top(dn)
    }

    /// Whether a name is the empty suffix, which has entries below it without being one.
    pub(crate) fn is_empty_suffix(&self, dn: &Dn) -> bool {
        dn.is_root() && self.database.store.holds_everything()
    }

    /// Whether a name belongs to the database at hand.
    pub(crate) fn is_here(&self, dn: &Dn) -> bool {
        let database = self.core.databases.database_of(dn);
        database.is_some_and(|database| std::ptr::eq(database, self.database))
    }

    /// The marks of this operation. Each call takes a new CSN.
    pub(crate) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            time: self.now,
            csn: self.core.csn.next(self.now),
            by: self.session.name(),
            kept: self.database.last_mod,
        }
    }

    /// A change that the store refused although all had been checked: the transaction is not to be trusted any more.
    pub(crate) fn failed(&mut self, error: &StoreError) -> LdapResult {
        self.broken = matches!(
            error,
            StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned
        );
        result::store(error)
    }
}

/// An attribute that gives an entry a meaning which its classes do not.
fn misplaced(attribute: &str, class: &str) -> LdapResult {
    refuse(
        ResultCode::ObjectClassViolation,
        format!("attribute \"{attribute}\" only allowed in the {class}"),
    )
}

/// Whether the server keeps an attribute only as long as nobody relaxes the rules.
fn is_manageable(types: &WellKnownTypes, attribute: &Attribute) -> bool {
    let manageable = [
        &types.entry_uuid,
        &types.creators_name,
        &types.create_timestamp,
        &types.modifiers_name,
        &types.modify_timestamp,
    ];
    manageable.contains(&&attribute.description)
}
