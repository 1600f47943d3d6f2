//! Compare (RFC 4511, section 4.10).

use fulgurite_access::{Decisions, EntryRights, Rights};
use fulgurite_ldap::{CompareRequest, Controls, LdapResult, Operation, ResultCode};
use fulgurite_schema::{
    AttributeDescription, AttributeSelector, Dn, Entry, EntrySubject, Filter, FilterSubject,
    MatchingRule, Schema, Truth,
};
use fulgurite_store::{EntryView, NameLookup, StoreError, Values, View};

use crate::core::database::Database;
use crate::core::result::{self, OpResult, refuse};
use crate::core::session::Session;
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::request::controls::RequestKind;
use crate::request::modifiers::Modifiers;
use crate::request::referral::{Referrals, has_referrals};
use crate::rights::assertion;
use crate::rights::computed::{self, Computed};
use crate::rights::expansion::Expansion;
use crate::rights::facts::{EntryFacts, EntrySource, UnstoredFacts};
use crate::rights::group_cache::ListEntry;
use crate::rights::requester_rights::RequesterRights;
use crate::rights::snapshots::Snapshots;

/// A resolved compare request.
struct CompareTarget {
    dn: Dn,
    /// True if a referral object is meant itself.
    managed: bool,
    /// The filter of the assertion control.
    asserted: Option<Filter<AttributeSelector>>,
    assertion: PreparedAssertion,
}

/// A resolved assertion.
struct PreparedAssertion {
    description: AttributeDescription,
    rule: &'static MatchingRule,
    /// The value as sent.
    value: Vec<u8>,
    /// The normal forms, any of which matches. An object class has several, because derived classes
    /// imply it.
    normals: Vec<Box<[u8]>>,
}

/// An entry whose values are compared.
struct ComparedEntry<'e, 's> {
    view: &'e View<'s>,
    entry: &'e EntryView<'e>,
    rights: &'e EntryRights<'e>,
}

impl PreparedAssertion {
    fn matches(&self, schema: &Schema, value: &[u8]) -> Truth {
        let each = self
            .normals
            .iter()
            .map(|normal| self.rule.matches(schema, normal, value));
        each.fold(Truth::False, Truth::or)
    }
}

impl Directory {
    /// Compares a value with those of an entry. Returns compareTrue, compareFalse, or an error
    /// result.
    #[must_use]
    pub fn compare(
        &self,
        session: &Session,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
    ) -> LdapResult {
        self.compare_on(&mut Snapshots::default(), session, request, controls)
    }

    /// Does the same as [`compare`](Self::compare) with the thread's cached views.
    #[must_use]
    pub fn compare_on<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
    ) -> LdapResult {
        self.try_compare(snapshots, session, request, controls)
            .unwrap_or_else(|result| result)
    }

    fn try_compare<'d>(
        &'d self,
        snapshots: &mut Snapshots<'d>,
        session: &Session,
        request: &CompareRequest<'_>,
        controls: &Controls<'_>,
    ) -> OpResult<LdapResult> {
        let (controls, acting) = self.controls_of(
            session,
            RequestKind::Operation(Operation::Compare),
            controls,
        )?;
        let session = acting.as_ref().unwrap_or(session);
        let asserted = Modifiers::resolve(self.schema(), &controls)?.assertion;
        let dn = snapshots.dn(self.schema(), request.dn)?;
        let assertion = self.prepare_assertion(request)?;
        let request = CompareTarget {
            dn,
            managed: controls.manage_dsa_it,
            asserted,
            assertion,
        };
        let target = self.target(&request.dn);
        self.policy()
            .permit_reading(session, &target, Operation::Compare)?;
        let generated = self.generated();
        match target {
            NamespaceTarget::RootDse => {
                let root_dse = self.root_dse(session);
                self.compare_generated(&generated.decisions(session), &request, &root_dse)
            }
            NamespaceTarget::Subschema => {
                let decisions = generated.decisions(session);
                self.compare_generated(&decisions, &request, &generated.subschema)
            }
            NamespaceTarget::Tree(tree) => {
                let entry = tree.entry(self.schema(), &request.dn)?;
                let entry = entry.ok_or_else(|| LdapResult::new(ResultCode::NoSuchObject))?;
                self.compare_generated(&tree.decisions(session), &request, &entry)
            }
            NamespaceTarget::Database(database) => {
                let decisions = database.decisions(session);
                let view = snapshots.take(&database.store);
                let view = view.map_err(|error| result::store(&error))?;
                let result = self.compare_stored(&view, database, &decisions, &request);
                snapshots.give(view);
                result
            }
            NamespaceTarget::Outside => {
                Err(self.elsewhere(&request.dn, None, ResultCode::NoSuchObject))
            }
        }
    }

    /// Compares with an entry that no store holds.
    fn compare_generated(
        &self,
        decisions: &Decisions<'_>,
        request: &CompareTarget,
        entry: &Entry,
    ) -> OpResult<LdapResult> {
        let schema = self.schema();
        let facts = UnstoredFacts::unstored(self.core(), Some(entry));
        let rights = decisions.at(request.dn.normal(), &facts);
        let permitted = require_rights(&rights, &request.assertion);
        let asserted = permitted.and_then(|()| match &request.asserted {
            None => Ok(()),
            Some(filter) => {
                let rights = decisions.at(request.dn.normal(), &facts);
                assertion::require(schema, rights, entry, filter)
            }
        });
        let subject = EntrySubject { schema, entry };
        let outcome = asserted.and_then(|()| self.outcome(&subject, &request.assertion));
        outcome.map_err(|refused| {
            if rights.entry().allows(Rights::DISCLOSE) {
                refused
            } else {
                LdapResult::new(ResultCode::NoSuchObject)
            }
        })
    }

    fn prepare_assertion(&self, request: &CompareRequest<'_>) -> OpResult<PreparedAssertion> {
        let description = result::asked(self.schema(), request.assertion.attribute)?;
        let definition = self.schema().attribute_at(description.attribute);
        let rule = definition.equality.ok_or_else(|| {
            refuse(
                ResultCode::InappropriateMatching,
                "inappropriate matching request",
            )
        })?;
        let value = request.assertion.value;
        // As in slapd, a class implies its superiors, also as the structural one.
        let types = &self.core().types;
        let classes = [&types.object_class, &types.structural_object_class];
        let names_class = |class: &&AttributeDescription| class.attribute == description.attribute;
        let normals = if classes.iter().any(names_class) {
            self.implying_classes(value)
        } else {
            let normal = rule.normalise_assertion(&**self.schema(), value);
            normal.ok().map(|normal| vec![normal.into_owned().into()])
        };
        let normals = normals.ok_or_else(|| {
            refuse(
                ResultCode::InvalidAttributeSyntax,
                "value does not conform to assertion syntax",
            )
        })?;
        Ok(PreparedAssertion {
            description,
            rule,
            value: value.to_vec(),
            normals,
        })
    }

    /// Returns the classes that imply the named class; `None` for an unknown class.
    fn implying_classes(&self, name: &[u8]) -> Option<Vec<Box<[u8]>>> {
        let oids = self
            .schema()
            .class_closure(std::str::from_utf8(name).ok()?)?;
        Some(oids.into_iter().map(|oid| oid.as_bytes().into()).collect())
    }

    fn compare_stored(
        &self,
        view: &View<'_>,
        database: &Database,
        decisions: &Decisions<'_>,
        request: &CompareTarget,
    ) -> OpResult<LdapResult> {
        let (dn, assertion) = (&request.dn, &request.assertion);
        let referrals = Referrals {
            core: self.core(),
            scope: None,
            managed: request.managed,
            ignored: false,
        };
        let failed = |error| result::store(&error);
        let located = match view.find(dn).map_err(failed)? {
            NameLookup::Entry(id) if !has_referrals(self.core(), database, view, id)? => Ok(id),
            found => referrals.resolve(view, decisions, dn, found),
        };
        let requester = RequesterRights {
            stored_only: request.managed,
            ..RequesterRights::new(self.core(), database, decisions)
        };
        let computed = requester.computed(&assertion.description);
        // Like slapd, refuse to compare entryDN and subschemaSubentry, even of missing entries.
        if matches!(
            computed,
            Some(Computed::EntryDn | Computed::SubschemaSubentry)
        ) {
            let name = assertion.description.text(self.schema());
            let text = format!("{name} compare not supported");
            return Err(refuse(ResultCode::UnwillingToPerform, text));
        }
        let id = located?;
        let refusal = |refused| referrals.refusal(view, decisions, (dn, id), refused);
        let entry = view.entry(id).map_err(failed)?;
        let entry = entry.ok_or_else(|| LdapResult::new(ResultCode::NoSuchObject))?;
        let facts = EntryFacts::new(self.core(), view, EntrySource::Stored(entry));
        let rights = facts.rights(decisions, dn.normal());
        require_rights(&rights, assertion).map_err(refusal)?;
        if let Some(filter) = &request.asserted {
            let entry = computed::whole_entry(view, requester, id).map_err(failed)?;
            let rights = facts.rights(decisions, dn.normal());
            assertion::require(self.schema(), rights, &entry, filter).map_err(refusal)?;
        }
        if let Some(computed) = computed {
            let values = computed.values(requester, view, id).map_err(failed)?;
            let shown = |value: &&Vec<u8>| {
                let rights = rights.value(&assertion.description, value);
                computed.is_visible(requester) && rights.allows(Rights::COMPARE)
            };
            let truths = values.as_slice().iter().filter(shown);
            let truth = truths
                .map(|value| assertion.matches(self.schema(), value))
                .reduce(Truth::or);
            let missing = || refusal(LdapResult::new(ResultCode::NoSuchAttribute));
            return truth.map(compare_result).ok_or_else(missing);
        }
        let outcome = self.outcome_of(view, &entry, &rights, assertion);
        if database.lists.is_none() || outcome.as_ref().is_ok_and(is_true) {
            return outcome.map_err(refusal);
        }
        let shown = self.shown_outcome(view, requester, &entry, (&rights, assertion))?;
        // A stored value that differs and a list without the value are both false.
        shown.map_or(outcome, Ok).map_err(refusal)
    }

    /// Compares what a dynamic list shows in addition to its stored values. `None` if it shows
    /// nothing of the attribute.
    fn shown_outcome(
        &self,
        view: &View<'_>,
        requester: RequesterRights<'_>,
        entry: &EntryView<'_>,
        (rights, assertion): (&EntryRights<'_>, &PreparedAssertion),
    ) -> OpResult<Option<LdapResult>> {
        let failed = |error| result::store(&error);
        let (schema, asked) = (self.schema(), &assertion.description);
        let mut outcome = None;
        for set in requester
            .database
            .lists
            .iter()
            .flat_map(|lists| &lists.sets)
        {
            if set.shows_names_in(asked.attribute) && asked.options().is_none() {
                let list = ListEntry::read(requester, view, set, entry).map_err(failed)?;
                if let Some(list) = list {
                    let found = finds(view, requester, &list, assertion).map_err(failed)?;
                    outcome = outcome.or(Some(false)).map(|before| before || found);
                }
            }
        }
        let wants = |shown: &AttributeDescription| asked.covers(schema, shown);
        let lists_names = outcome.is_some();
        let expansion = Expansion::begin(requester, view, entry, &wants).map_err(failed)?;
        if let Some(mut expansion) = expansion.filter(|_| !lists_names) {
            let expanded = expansion.run(requester, view, entry, &wants);
            expanded.map_err(failed)?;
            for added in expansion.into_attributes() {
                let may = |value: &&Vec<u8>| {
                    rights
                        .value(&added.description, value)
                        .allows(Rights::COMPARE)
                };
                let mut values = added.values.iter().filter(may);
                let found = values.any(|value| assertion.matches(schema, value).is_true());
                outcome = outcome.or(Some(false)).map(|before| before || found);
            }
        }
        Ok(outcome.map(|found| compare_result(found.into())))
    }

    /// Compares the attributes that the description covers, in their order.
    ///
    /// It skips attributes and values that may not be compared, so that their existence stays
    /// hidden.
    fn outcome_of(
        &self,
        view: &View<'_>,
        entry: &EntryView<'_>,
        rights: &EntryRights<'_>,
        assertion: &PreparedAssertion,
    ) -> OpResult<LdapResult> {
        let asked = &assertion.description;
        let place = ComparedEntry {
            view,
            entry,
            rights,
        };
        let missing = || LdapResult::new(ResultCode::NoSuchAttribute);
        if view.attributes().covers_itself(asked) {
            // The usual case: no other attribute of the store is covered.
            let values = entry.values(asked).ok_or_else(missing)?;
            let matching = self.matching(&place, (asked, &values), assertion)?;
            return matching
                .map(|matching| compare_result(matching.into()))
                .ok_or_else(missing);
        }
        let mut outcome = None;
        for held in entry.attributes() {
            let description = &held.info.description;
            if !asked.covers(self.schema(), description) {
                continue;
            }
            let Some(matching) = self.matching(&place, (description, &held.values), assertion)?
            else {
                continue;
            };
            outcome = Some(compare_result(matching.into()));
            if matching {
                break;
            }
        }
        outcome.ok_or_else(missing)
    }

    /// Returns true if one attribute of the entry has the asserted value. Returns `None` if the
    /// requester may compare none of its values.
    fn matching(
        &self,
        place: &ComparedEntry<'_, '_>,
        (description, held): (&AttributeDescription, &Values<'_>),
        assertion: &PreparedAssertion,
    ) -> OpResult<Option<bool>> {
        let may = |value: &[u8]| {
            let rights = place.rights.value(description, value);
            rights.allows(Rights::COMPARE)
        };
        if *description != assertion.description && !may(&assertion.value) {
            return Ok(None);
        }
        let mut values = held.iter().filter(|value| may(value)).peekable();
        if values.peek().is_none() {
            return Ok(None);
        }
        let is_found = held.are_overflow() && self.is_value(description, assertion);
        let matching = if is_found {
            let id = place.entry.id();
            let held = place.view.holds_value(id, description, &assertion.value);
            held.map_err(|error| result::store(&error))?
        } else {
            values.any(|value| assertion.matches(self.schema(), value).is_true())
        };
        Ok(Some(matching))
    }

    /// Returns true if the assertion means one value in normal form, which the store can look up.
    fn is_value(&self, description: &AttributeDescription, assertion: &PreparedAssertion) -> bool {
        let definition = self.schema().attribute_at(description.attribute);
        let [normal] = assertion.normals.as_slice() else {
            return false;
        };
        let value = self
            .schema()
            .normal_value(description.attribute, &assertion.value);
        definition
            .equality
            .is_some_and(|rule| std::ptr::eq(rule, assertion.rule))
            && value.is_some_and(|value| *value == **normal)
    }

    fn outcome(
        &self,
        subject: &dyn FilterSubject<AttributeSelector>,
        assertion: &PreparedAssertion,
    ) -> OpResult<LdapResult> {
        if !subject.present(&assertion.description).is_true() {
            return Err(LdapResult::new(ResultCode::NoSuchAttribute));
        }
        let truth = subject.values(&assertion.description, &mut |value| {
            assertion.matches(self.schema(), value)
        });
        Ok(compare_result(truth))
    }
}

/// Returns true if a list finds the entry that an assertion names.
fn finds(
    view: &View<'_>,
    requester: RequesterRights<'_>,
    list: &ListEntry,
    assertion: &PreparedAssertion,
) -> Result<bool, StoreError> {
    for normal in &assertion.normals {
        let Ok(name) = std::str::from_utf8(normal) else {
            continue;
        };
        if let Some(id) = view.find_normal(name)?.entry()
            && let Some(found) = view.entry(id)?
            && list.finds(requester, view, &found, &view.resolved_dn(id)?)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_true(result: &LdapResult) -> bool {
    result.code == ResultCode::CompareTrue
}

fn compare_result(truth: Truth) -> LdapResult {
    LdapResult::new(if truth.is_true() {
        ResultCode::CompareTrue
    } else {
        ResultCode::CompareFalse
    })
}

fn require_rights(rights: &EntryRights<'_>, assertion: &PreparedAssertion) -> OpResult {
    require_value(rights, &assertion.description, assertion)
}

fn require_value(
    rights: &EntryRights<'_>,
    description: &AttributeDescription,
    assertion: &PreparedAssertion,
) -> OpResult {
    if rights
        .value(description, &assertion.value)
        .allows(Rights::COMPARE)
    {
        return Ok(());
    }
    Err(LdapResult::new(ResultCode::InsufficientAccessRights))
}
