//! The context of one update on the writer: lookups, checks and stamps.

use std::cell::Cell;

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ModifyOperation, ResultCode};
use fulgurite_schema::{
    Attribute, AttributeDescription, AttributeIndex, CheckOptions, CheckedEntry, Dn, Entry,
};
use fulgurite_store::{EntryId, NameLookup, StoreError, ValueSelection, View, Writer};

use crate::auth::AuthOptions;
use crate::core::clock::Timestamp;
use crate::core::database::Database;
use crate::core::entry_identity::EntryIdentity;
use crate::core::foundation::Core;
use crate::core::result::{self, OpResult, refuse, require};
use crate::core::session::Session;
use crate::core::well_known_types::WellKnownTypes;
use crate::features::set::Features;
use crate::request::change::Change;
use crate::request::modifiers::Modifiers;
use crate::request::referral::Referrals;
use crate::rights::assertion;
use crate::rights::computed::{self};
use crate::rights::disclosure;
use crate::rights::read_entry;
use crate::rights::requester_rights::RequesterRights;
use crate::rights::selection::Selection;
use crate::write::multi_value::MultiValueAttributes;
use crate::write::request::SHORT_BYTES_MAX;
use crate::write::stamp::Stamp;

/// The work that an update may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkBudget {
    /// A little: other clients of the worker thread wait. A large update ends the transaction.
    Short,
    Unlimited,
}

/// The attributes of a password's state that the relax control opens, as in slapd: all but
/// `pwdLastSuccess`. A copy forwards the last of them, `authTimestamp`.
const MANAGEABLE_STATE: [&str; 6] = [
    "1.3.6.1.4.1.42.2.27.8.1.16",
    "1.3.6.1.4.1.42.2.27.8.1.19",
    "1.3.6.1.4.1.42.2.27.8.1.20",
    "1.3.6.1.4.1.42.2.27.8.1.21",
    "1.3.6.1.4.1.42.2.27.8.1.33",
    "1.3.6.1.4.1.453.16.2.188",
];
/// The OID of `memberOf`.
const MEMBER_OF: &str = "1.2.840.113556.1.2.102";

/// One update on the writer.
pub(crate) struct Context<'w, 'd> {
    pub(crate) core: &'d Core,
    pub(crate) auth: &'d AuthOptions,
    pub(crate) session: &'w Session,
    pub(crate) decisions: Decisions<'d>,
    pub(crate) features: &'d Features,
    pub(crate) writer: &'w mut Writer<'d>,
    pub(crate) database: &'d Database,
    pub(crate) modifiers: &'w Modifiers,
    pub(crate) now: Timestamp,
    /// The values of the response controls.
    pub(crate) returned: ResponseValues,
    pub(crate) budget: WorkBudget,
    /// The entry as it was before the change.
    pub(crate) before: Option<EntryIdentity>,
    /// The entry as it was, if the log shall have old values of it.
    pub(crate) old: Option<Entry>,
    /// The identity of the entry that was copied last.
    pub(crate) read_identity: Cell<Option<(EntryId, Option<EntryIdentity>)>>,
    /// The records for the file of changes.
    pub(crate) audit: Vec<u8>,
    /// Set if the store failed during a change, or the update is too large. The transaction must
    /// not be committed then.
    pub(crate) broken: bool,
}

/// The values of response controls. Those of pre-read and post-read are search result entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResponseValues {
    pub(crate) pre_read: Option<Vec<u8>>,
    pub(crate) post_read: Option<Vec<u8>>,
    pub(crate) password_policy: Option<Vec<u8>>,
    /// The entry that gets a new password from a connection that must change its password.
    pub(crate) new_password_of: Option<Box<Dn>>,
    /// True if a bind has changed its entry. Other servers learn of that.
    pub(crate) bind_changed_entry: bool,
}

impl<'d> Context<'_, 'd> {
    /// Looks a name up in the state that the batch has made so far.
    pub(crate) fn find(&self, dn: &Dn) -> OpResult<NameLookup> {
        self.writer.find(dn).map_err(|error| result::store(&error))
    }

    /// Returns the entry of a name.
    ///
    /// # Errors
    /// noSuchObject or a referral.
    pub(crate) fn locate(&self, dn: &Dn) -> OpResult<EntryId> {
        let found = self.find(dn)?;
        self.referrals()
            .resolve(self.writer, &self.decisions, dn, found)
    }

    /// Returns the entry of a name, even if it is a referral object.
    ///
    /// Rights and assertions are checked before the [referral](Self::refuse_elsewhere).
    pub(crate) fn locate_itself(&self, dn: &Dn) -> OpResult<EntryId> {
        match self.find(dn)? {
            NameLookup::Entry(id) => Ok(id),
            NameLookup::Missing { deepest } => Err(self.missing(dn, deepest.map(|(id, _)| id))),
        }
    }

    /// Fails with a referral if the entry is a referral object.
    pub(crate) fn refuse_elsewhere(&self, dn: &Dn, id: EntryId) -> OpResult {
        let instead = self
            .referrals()
            .instead_of(self.writer, &self.decisions, dn, id)?;
        instead.map_or(Ok(()), Err)
    }

    /// Returns the result for a name without an entry; `above` is its deepest ancestor in the
    /// store.
    pub(crate) fn missing(&self, dn: &Dn, above: Option<EntryId>) -> LdapResult {
        let refused = self
            .referrals()
            .missing(self.writer, &self.decisions, dn, above);
        debug_assert!(!refused.is_success(), "a refusal is no success");
        refused
    }

    /// Passes a check of rights on. A requester that may not know of the entry gets the result for
    /// a missing one.
    pub(crate) fn guarded(&self, dn: &Dn, id: EntryId, answer: OpResult) -> OpResult {
        answer.map_err(|refused| {
            debug_assert!(!refused.is_success(), "a refusal is no success");
            self.referrals()
                .refusal(self.writer, &self.decisions, (dn, id), refused)
        })
    }

    /// Returns true if the requester may know that an entry exists.
    pub(crate) fn shows(&self, id: EntryId) -> OpResult<bool> {
        disclosure::shown_name(self.core, self.writer, &self.decisions, id)
            .map(|name| name.is_some())
            .map_err(|error| result::store(&error))
    }

    /// Returns the parent of an entry; `None` for a suffix entry.
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

    /// Fails for an alias as parent: no name would reach the entries below it.
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

    /// Returns true for a referral object.
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

    /// Returns a copy of an entry.
    pub(crate) fn entry(&self, id: EntryId) -> OpResult<Entry> {
        let entry = self.writer.entry(id).and_then(|entry| {
            entry
                .ok_or(StoreError::NoSuchEntry(id))
                .and_then(|entry| entry.to_entry())
        });
        entry.map_err(|error| result::store(&error))
    }

    /// Returns a copy of an entry for a modify, without the values that nothing examines.
    ///
    /// A large attribute has one value in the copy if the changes name single values. Rules by
    /// value and size bounds need all values. Without large attributes, attributes that nothing
    /// examines have no value in the copy and stay as they are. Guards may need all values.
    pub(crate) fn entry_for(
        &self,
        id: EntryId,
        dn: &Dn,
        changes: &[&[Change]],
    ) -> OpResult<(Entry, MultiValueAttributes<'_>)> {
        let whole = self.features.needs_whole_entry(changes) || self.decisions.by_value();
        self.copy_for(id, dn, changes, whole)
    }

    /// Does the same without a look at rights and guards. A `whole` copy has all values.
    pub(crate) fn copy_for(
        &self,
        id: EntryId,
        dn: &Dn,
        changes: &[&[Change]],
        whole: bool,
    ) -> OpResult<(Entry, MultiValueAttributes<'_>)> {
        let failed = |error| result::store(&error);
        let view: &View<'_, _> = self.writer;
        let entry = view.entry(id).map_err(failed)?;
        let entry = entry.ok_or_else(|| failed(StoreError::NoSuchEntry(id)))?;
        if self.database.last_mod {
            let identity = EntryIdentity::of(&self.core.types, &entry);
            self.read_identity.set(Some((id, identity)));
        }
        let has_large = entry.has_overflow_values();
        let large = if whole || !has_large || view.store().limits_entries() {
            MultiValueAttributes::none()
        } else {
            MultiValueAttributes::of(self.core, view, (&entry, dn), changes)
        };
        let may_stay = !whole && !has_large;
        let schema = &self.core.schema;
        let examined_types = self.examined_types(dn, changes);
        let copy = entry.to_entry_named(dn, &mut |description, values| {
            let attribute = description.attribute;
            // The refusal of too many values names the attribute.
            let is_crowded = || values.len() > 1 && schema.attribute_at(attribute).single_value;
            if may_stay && !examined_types.contains(&attribute) && !is_crowded() {
                ValueSelection::None
            } else if values.are_overflow() && large.has(description) {
                ValueSelection::First
            } else {
                ValueSelection::All
            }
        });
        let copy = copy.map_err(failed)?;
        debug_assert!(copy.dn == *dn, "the copy has the name of the request");
        Ok((copy, large))
    }

    /// Returns the attribute types whose values are changed or checked. Of all others only the
    /// presence counts.
    fn examined_types(&self, dn: &Dn, changes: &[&[Change]]) -> Vec<AttributeIndex> {
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
        let mut examined_types = self.core.sorted_values.clone();
        examined_types.extend(changes.map(|change| change.attribute.description.attribute));
        examined_types.extend(names.map(|ava| ava.attribute));
        examined_types.extend(kept.into_iter().flatten().map(|types| types.attribute));
        examined_types.extend(types.aliased_object);
        debug_assert!(
            dn.rdn()
                .into_iter()
                .flat_map(|rdn| rdn.avas())
                .all(|ava| examined_types.contains(&ava.attribute)),
            "the schema check compares the values of the RDN"
        );
        examined_types
    }

    /// Returns the options to check a changed entry. Its values are checked already, or come from
    /// the store.
    pub(crate) fn check_options(&self, entry: &Entry) -> CheckOptions {
        let class = entry
            .values(self.core.types.structural_object_class.attribute)
            .first()
            .and_then(|name| std::str::from_utf8(name).ok())
            .and_then(|name| self.core.schema.object_class(name));
        CheckOptions {
            // The relax control permits another structural class.
            structural_class: class
                .filter(|_| !self.modifiers.relaxed)
                .map(|class| class.index),
            skip_values: true,
            is_new: false,
            allow_obsolete: self.modifiers.relaxed,
        }
    }

    /// Fails unless the assertion of the client is true of the entry.
    pub(crate) fn require_assertion(&mut self, id: EntryId) -> OpResult {
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

    /// Does the same for an entry to add.
    pub(crate) fn require_assertion_of(&self, entry: &Entry) -> OpResult {
        match &self.modifiers.assertion {
            None => Ok(()),
            Some(filter) => self.rights_of(entry, |rights| {
                assertion::require(&self.core.schema, rights, entry, filter)
            }),
        }
    }

    /// Fails for a large entry with a short work budget; the writer thread then repeats the batch.
    pub(crate) fn require_small(&mut self, id: EntryId) -> OpResult {
        debug_assert!(!self.broken, "a broken transaction must not go on");
        if self.budget == WorkBudget::Unlimited {
            return Ok(());
        }
        match self.writer.is_larger_than(id, SHORT_BYTES_MAX) {
            Ok(false) => Ok(()),
            Ok(true) => Err(self.defer()),
            Err(error) => Err(result::store(&error)),
        }
    }

    /// Ends the transaction of a short batch. No client sees the result.
    pub(crate) fn defer(&mut self) -> LdapResult {
        debug_assert_eq!(self.budget, WorkBudget::Short, "the writer thread has time");
        self.broken = true;
        LdapResult::new(ResultCode::Busy)
    }

    /// Ends the checks: the update changes the store from here on, except with the no-op control.
    pub(crate) fn begin_change(&mut self, before: Option<EntryId>) -> OpResult {
        debug_assert!(!self.broken, "a broken transaction must not change more");
        debug_assert!(
            self.returned.pre_read.is_none(),
            "an update begins its change once"
        );
        if self.modifiers.no_op {
            return Err(LdapResult::new(ResultCode::NoOperation));
        }
        if let (Some(id), Some(selection)) = (before, &self.modifiers.pre_read) {
            self.returned.pre_read = self.read(id, selection)?;
        }
        Ok(())
    }

    /// Ends the change.
    pub(crate) fn end_change(&mut self, after: EntryId) -> OpResult {
        debug_assert!(!self.broken, "a failed change has no end");
        debug_assert!(!self.modifiers.no_op, "no-op ends before the change");
        debug_assert_ne!(
            after,
            EntryId::ROOT,
            "the place above all entries is not written"
        );
        if let Some(selection) = &self.modifiers.post_read {
            self.returned.post_read = self.read(after, selection)?;
        }
        Ok(())
    }

    fn read(&mut self, id: EntryId, selection: &Selection) -> OpResult<Option<Vec<u8>>> {
        let entry = self.whole_entry(id)?;
        let schema = &self.core.schema;
        Ok(self.rights_of(&entry, |rights| {
            read_entry::value(schema, rights, &entry, selection)
        }))
    }

    /// Returns a copy of an entry with its computed attributes.
    fn whole_entry(&mut self, id: EntryId) -> OpResult<Entry> {
        let failed = |error| result::store(&error);
        let memberships = &self.database.memberships;
        let requester = RequesterRights::new(self.core, self.database, &self.decisions);
        let entry = computed::entry_without_groups(self.writer, requester, id);
        let mut entry = entry.map_err(failed)?;
        let completed = memberships.complete(&mut entry, |attribute, name| {
            memberships.names_in_writer(self.writer, attribute, name)
        });
        completed.map_err(failed)?;
        Ok(entry)
    }

    /// Fails if the request gives values of an obsolete type, except with the relax control.
    ///
    /// Stored values of such types stay, and can be removed as a whole.
    pub(crate) fn require_current<'a>(
        &self,
        attributes: impl Iterator<Item = &'a Attribute>,
    ) -> OpResult {
        let schema = &self.core.schema;
        let mut given = attributes.filter(|attribute| !attribute.values.is_empty());
        let is_obsolete = |attribute: &&Attribute| {
            let definition = schema.attribute_at(attribute.description.attribute);
            definition.obsolete
        };
        match given.find(is_obsolete) {
            Some(attribute) if !self.modifiers.relaxed => {
                let name = attribute.description.text(schema);
                let text = format!("{name}: attribute is obsolete");
                Err(refuse(ResultCode::ConstraintViolation, text))
            }
            _ => Ok(()),
        }
    }

    /// Fails for attributes that only the server sets, except with the relax control. The attribute
    /// of the overlay `memberof` is one of them, also if its definition lets clients write it.
    pub(crate) fn require_settable<'a>(
        &self,
        attributes: impl Iterator<Item = &'a Attribute>,
    ) -> OpResult {
        let (schema, types) = (&self.core.schema, &self.core.types);
        for attribute in attributes {
            let description = &attribute.description;
            let definition = schema.attribute_at(description.attribute);
            let lists_groups = self.lists_groups(description);
            if !definition.no_user_modification && !lists_groups {
                continue;
            }
            let text = if !self.modifiers.relaxed {
                "no user modification allowed"
            } else if lists_groups
                || !is_manageable(types, attribute) && !MANAGEABLE_STATE.contains(&&*definition.oid)
            {
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

    /// Returns true if the overlay `memberof` computes the attribute.
    fn lists_groups(&self, description: &AttributeDescription) -> bool {
        let memberships = &self.database.memberships;
        description.options().is_none() && memberships.compute_for_all(description.attribute)
    }

    /// Returns true if a change removes stored values of `memberOf` with the relax control. Another
    /// server may have left them, and nothing else would remove them. The same holds for another
    /// attribute of the overlay.
    pub(crate) fn may_remove(&self, change: &Change) -> bool {
        let removes = change.operation == ModifyOperation::Delete
            || (change.operation == ModifyOperation::Replace && change.attribute.values.is_empty());
        let description = &change.attribute.description;
        let definition = self.core.schema.attribute_at(description.attribute);
        let lists_groups = definition.oid == MEMBER_OF || self.lists_groups(description);
        self.modifiers.relaxed && removes && lists_groups
    }

    /// Requires the right `manage` for attributes that the server maintains.
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

    /// Stamps a changed entry, except for attributes that the client has set.
    pub(crate) fn stamp_change<'a>(
        &self,
        entry: &mut Entry,
        changed: impl Iterator<Item = &'a Attribute>,
    ) {
        let set: Vec<_> = changed.map(|attribute| &attribute.description).collect();
        if self.database.last_mod {
            self.stamp().modify(entry, &self.core.types, &set);
            let csn = entry.attribute(&self.core.types.entry_csn);
            debug_assert!(csn.is_some(), "every change has a number");
        }
    }

    /// Checks an entry against the schema and sorts values where configured.
    pub(crate) fn check(&self, mut entry: Entry, options: &CheckOptions) -> OpResult<CheckedEntry> {
        let (schema, types) = (&self.core.schema, &self.core.types);
        // slapd reports too many values first.
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

    /// Updates the structural class to the object classes, which the relax control may have
    /// changed.
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
        debug_assert_eq!(
            checked.entry().values(description.attribute).len(),
            1,
            "an entry has one structural class"
        );
    }

    /// Returns the naming context of a name.
    pub(crate) fn suffix_of(&self, dn: &Dn) -> Option<&'d Dn> {
        let suffix = self.database.suffix_of(dn);
        debug_assert!(
            suffix.is_none_or(|suffix| dn.is_within(suffix)),
            "a naming context is above its entries"
        );
        suffix
    }

    /// Returns true if an entry of this name has no parent in the database.
    pub(crate) fn is_top(&self, dn: &Dn) -> bool {
        self.database.store.is_top(dn)
    }

    /// Returns true for the empty suffix, which has entries below it but is none.
    pub(crate) fn is_empty_suffix(&self, dn: &Dn) -> bool {
        dn.is_root() && self.database.store.holds_everything()
    }

    /// Returns true if a name belongs to this database.
    pub(crate) fn is_here(&self, dn: &Dn) -> bool {
        let database = self.core.databases.database_of(dn);
        database.is_some_and(|database| std::ptr::eq(database, self.database))
    }

    /// Makes the stamp of this operation, with a new CSN.
    pub(crate) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            time: self.now,
            csn: self.next_csn(),
            by: self.session.name(),
            kept: self.database.last_mod,
        }
    }

    /// Returns the result of a store error during a change. The transaction must not be committed
    /// after a failure.
    pub(crate) fn failed(&mut self, error: &StoreError) -> LdapResult {
        debug_assert!(!self.broken, "a broken transaction must not go on");
        self.broken = matches!(
            error,
            StoreError::Engine(_) | StoreError::Damaged(_) | StoreError::Poisoned
        );
        result::store(error)
    }
}

/// Returns the refusal of an attribute that needs an object class.
fn misplaced(attribute: &str, class: &str) -> LdapResult {
    refuse(
        ResultCode::ObjectClassViolation,
        format!("attribute \"{attribute}\" only allowed in the {class}"),
    )
}

/// Returns true if the relax control permits setting the attribute.
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
