//! Add (RFC 4511, section 4.7).

use std::collections::HashSet;
use std::sync::Arc;

use fulgurite_access::Rights;
use fulgurite_ldap::{AddRequest, LdapResult, ResultCode};
use fulgurite_schema::{Attribute, CheckOptions, Dn, Entry, Schema};
use fulgurite_store::{EntryId, NameLookup};

use crate::core::result::{OpResult, refuse, require};
use crate::directory::Directory;
use crate::features::set::GuardTurn;
use crate::generated::namespace::NamespaceTarget;
use crate::write::changes;
use crate::write::context::Context;

/// Resolves the request and checks it without a look at entries.
pub(crate) fn prepare(directory: &Directory, dn: Dn, request: &AddRequest<'_>) -> OpResult<Entry> {
    require_free(directory, &dn)?;
    let entry = requested_entry(directory.schema(), dn, request)?;
    directory.updatable(&entry.dn)?;
    Ok(entry)
}

/// Does the same for an entry that is resolved already.
pub(crate) fn admit(directory: &Directory, entry: Entry) -> OpResult<Entry> {
    require_free(directory, &entry.dn)?;
    directory.updatable(&entry.dn)?;
    Ok(entry)
}

/// Fails for the names of generated entries.
fn require_free(directory: &Directory, dn: &Dn) -> OpResult {
    let exists = |text| Err(refuse(ResultCode::EntryAlreadyExists, text));
    match directory.target(dn) {
        NamespaceTarget::RootDse => exists("root DSE already exists"),
        NamespaceTarget::Subschema => exists("subschema subentry already exists"),
        NamespaceTarget::Outside | NamespaceTarget::Database(_) | NamespaceTarget::Tree(_) => {
            Ok(())
        }
    }
}

/// Adds the entry, or leaves the store unchanged.
pub(crate) fn run(context: &mut Context<'_, '_>, mut entry: Entry) -> OpResult {
    let core = context.core;
    let (schema, types) = (&core.schema, &core.types);
    context.require_current(entry.attributes.iter())?;
    context.require_settable(entry.attributes.iter())?;
    require_once(schema, &entry)?;
    let passwords = context.passwords_of(&entry);
    let given = entry.attributes.len();
    let count = |entry: &Entry| entry.attributes.iter().map(|held| held.values.len()).sum();
    let values_given: usize = count(&entry);
    entry.add_missing_rdn_values(schema);
    let implied = entry.attributes.iter().skip(given);
    let implied: Vec<_> = implied.map(|held| held.description.clone()).collect();
    let options = CheckOptions {
        allow_obsolete: context.modifiers.relaxed,
        // The values of the request have been checked when it was resolved.
        skip_values: count(&entry) == values_given,
        is_new: true,
        ..CheckOptions::default()
    };
    let mut checked = context.check(entry, &options)?;
    if context.modifiers.assertion.is_some() {
        // The assertion is about the entry as it will be, with stamps and computed attributes.
        let mut marked = checked.clone();
        context
            .stamp()
            .create(&mut marked, schema, types, &*core.entropy, &implied);
        let mut whole = marked.into_entry();
        types.add_computed(&mut whole);
        context.require_assertion_of(&whole)?;
    }
    let dn = checked.entry().dn.clone();
    let place = place(context, &dn)?;
    require_rights(context, checked.entry())?;
    context.require_management(&dn, checked.entry().attributes.iter())?;
    context.require_weights(&dn, checked.entry().attributes.iter())?;
    if place.taken {
        return Err(exists());
    }
    if let Some(remaining) = context.drop_members_of(checked.entry())? {
        checked = context.check(remaining, &options)?;
    }
    context.guard_add(checked.entry(), GuardTurn::BeforePolicy)?;
    let password_time = context.judge_add(checked.entry(), &passwords)?;
    if let Some(hashed) = context.hash_added(checked.entry(), &passwords)? {
        checked = context.check(hashed, &options)?;
    }
    context.guard_add(checked.entry(), GuardTurn::AfterPolicy)?;
    context
        .stamp()
        .create(&mut checked, schema, types, &*core.entropy, &implied);
    if let Some(description) = password_time {
        let time = context.now.generalized().into_bytes();
        checked.set_operational(schema, &description, vec![time]);
    }
    context.begin_change(None)?;
    let checked = Arc::new(checked);
    let added = context.writer.add_shared(place.parent, &checked);
    let id = added.map_err(|error| context.failed(&error))?;
    context.record_add(checked.entry());
    context.end_change(id)?;
    context.log_add(id, checked.entry())
}

/// Requires the right to add to the superior.
fn require_parent(context: &Context<'_, '_>, dn: &Dn) -> OpResult {
    let superior = dn.parent().unwrap_or_else(Dn::root);
    context.require_children(&superior, Rights::ADD, "no write access to parent")
}

/// Requires the right to add the entry, and each of its values if the database is configured so.
fn require_rights(context: &Context<'_, '_>, entry: &Entry) -> OpResult {
    let contents = context.database.add_content_acl;
    let wanted = context.on_entry(Rights::ADD);
    let (allowed, values) = context.rights_of(entry, |rights| {
        let value = |held: &Attribute, value: &[u8]| {
            rights.value(&held.description, value).allows(Rights::ADD)
        };
        let whole = |held: &Attribute| held.values.iter().all(|given| value(held, given));
        let values = !contents || entry.attributes.iter().all(whole);
        (rights.entry().allows(wanted), values)
    });
    require(allowed, "no write access to entry")?;
    require(values, "")
}

/// Resolves the entry of the request.
pub(crate) fn requested_entry(
    schema: &Schema,
    dn: Dn,
    request: &AddRequest<'_>,
) -> OpResult<Entry> {
    if request.attributes.is_empty() {
        return Err(refuse(ResultCode::ProtocolError, "no attributes provided"));
    }
    let mut entry = Entry::new(dn);
    for given in &request.attributes {
        let attribute = changes::attribute(schema, given)?;
        entry.attributes.push(attribute);
    }
    Ok(entry)
}

/// Fails if two names of the request mean the same attribute.
pub(crate) fn require_once(schema: &Schema, entry: &Entry) -> OpResult {
    let mut seen = HashSet::with_capacity(entry.attributes.len());
    for attribute in &entry.attributes {
        if !seen.insert(&attribute.description) {
            let name = attribute.description.text(schema);
            let text = format!("attribute '{name}' provided more than once");
            return Err(refuse(ResultCode::AttributeOrValueExists, text));
        }
    }
    Ok(())
}

/// The position of a new entry.
struct AddPosition {
    /// The parent; [`EntryId::ROOT`] at the top.
    parent: EntryId,
    /// True if a hidden entry has the name. Only a requester with the right to add it learns so,
    /// because no other answer is possible.
    taken: bool,
}

/// Finds the position of a name, which the requester may add to.
fn place(context: &Context<'_, '_>, dn: &Dn) -> OpResult<AddPosition> {
    let (above, taken) = match context.find(dn)? {
        NameLookup::Entry(id) if context.shows(id)? => return Err(exists()),
        NameLookup::Entry(id) => (context.parent(id)?, true),
        NameLookup::Missing {
            deepest: Some((parent, depth)),
        } if depth + 1 == dn.depth() => (Some(parent), false),
        NameLookup::Missing { deepest: None } if context.is_top(dn) => (None, false),
        NameLookup::Missing { deepest } => {
            return Err(context.missing(dn, deepest.map(|(id, _)| id)));
        }
    };
    let Some(parent) = above else {
        require_parent(context, dn)?;
        return Ok(AddPosition {
            parent: EntryId::ROOT,
            taken,
        });
    };
    context.guarded(dn, parent, require_parent(context, dn))?;
    context.refuse_alias(parent, "parent is an alias")?;
    if context.is_referral(parent)? {
        return Err(context.missing(dn, above));
    }
    Ok(AddPosition { parent, taken })
}

fn exists() -> LdapResult {
    refuse(ResultCode::EntryAlreadyExists, "")
}
