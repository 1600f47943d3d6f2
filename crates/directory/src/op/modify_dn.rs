//! Modify DN (RFC 4511, section 4.9): a new RDN, a new superior, or both. Descendants are not
//! written.

use std::collections::HashSet;

use fulgurite_access::Rights;
use fulgurite_ldap::{LdapResult, ModifyDnRequest, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, AttributeIndex, Dn, Entry, Schema};
use fulgurite_store::EntryId;

use crate::core::result::{self, OpResult, refuse, require};
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::write::audit::RecordedRename;
use crate::write::context::Context;
use crate::write::derived_keys;

/// A resolved modify DN request.
#[derive(Clone, Debug)]
pub(crate) struct Rename {
    pub(crate) dn: Dn,
    new_rdn: Dn,
    delete_old_rdn: bool,
    new_superior: Option<Dn>,
}

/// A value that goes with the old RDN.
struct RemovedValue {
    description: AttributeDescription,
    value: Vec<u8>,
}

/// Resolves the request.
pub(crate) fn prepare(directory: &Directory, request: &ModifyDnRequest<'_>) -> OpResult<Rename> {
    let schema = directory.schema();
    let dn = result::dn(schema, request.dn)?;
    let invalid = |text| refuse(ResultCode::InvalidDnSyntax, text);
    let new_rdn = result::dn(schema, request.new_rdn)
        .ok()
        .filter(|rdn| rdn.depth() == 1)
        .ok_or_else(|| invalid("invalid new RDN"))?;
    let new_superior = request
        .new_superior
        .map(|text| result::dn(schema, text).map_err(|_| invalid("invalid newSuperior")))
        .transpose()?;
    let unwilling = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    if !can_name(schema, &new_rdn) {
        let text = "naming attribute has no equality matching rule";
        return Err(refuse(ResultCode::NamingViolation, text));
    }
    let superior = new_superior.as_ref();
    if superior.is_some_and(|superior| superior.is_within(&dn)) {
        return unwilling("cannot place an entry below itself");
    }
    let above = dn.parent().unwrap_or_else(Dn::root);
    if dn.is_under(&superior.unwrap_or(&above).child(&new_rdn)) {
        return unwilling("cannot place an entry above itself");
    }
    match directory.target(&dn) {
        NamespaceTarget::RootDse => unwilling("cannot rename the root DSE"),
        NamespaceTarget::Subschema => unwilling("cannot rename the subschema subentry"),
        NamespaceTarget::Outside | NamespaceTarget::Database(_) | NamespaceTarget::Tree(_) => {
            directory.updatable(&dn)?;
            Ok(Rename {
                dn,
                new_rdn,
                delete_old_rdn: request.delete_old_rdn,
                new_superior,
            })
        }
    }
}

/// Returns true if the attributes of an RDN have equality rules.
fn can_name(schema: &Schema, rdn: &Dn) -> bool {
    let mut avas = rdn.rdn().into_iter().flat_map(|rdn| rdn.avas());
    avas.all(|ava| schema.attribute_at(ava.attribute).equality.is_some())
}

/// Renames the entry, or leaves the store unchanged.
pub(crate) fn run(context: &mut Context<'_, '_>, request: &Rename) -> OpResult {
    let schema = &context.core.schema;
    let dn = &request.dn;
    let old_superior = stays_in_suffix(context, request)?;
    let superior = request.new_superior.as_ref().unwrap_or(&old_superior);
    let new_dn = superior.child(&request.new_rdn);
    if !context.is_here(&new_dn) {
        return Err(between_databases());
    }
    let id = require_leaving(context, request, &old_superior)
        .and_then(|()| locate(context, dn))
        .map_err(|result| without_far_ancestor(schema, dn, &old_superior, result))?;
    context.require_small(id)?;
    let parent = new_parent(context, request, superior)?;
    let taken = if new_dn == *dn {
        None
    } else {
        context.find(&new_dn)?.entry()
    };
    if let Some(taken) = taken
        && context.shows(taken)?
    {
        return Err(exists());
    }
    let mut entry = context.entry(id)?;
    let options = context.check_options(&entry);
    let passwords = derived_keys::passwords(context.core, &entry);
    let held = named_before(schema, &entry, &request.new_rdn);
    let removed = rename(schema, &mut entry, new_dn.clone(), request.delete_old_rdn);
    if derived_keys::passwords(context.core, &entry) != passwords {
        derived_keys::drop_but(context.core, &mut entry, &HashSet::new());
    }
    require_values(context, dn, &entry.dn, &removed)?;
    context.guard_rename(id, dn, &entry)?;
    context.note_identity(id)?;
    context.stamp_change(&mut entry, std::iter::empty());
    let checked = context.check(entry, &options)?;
    // Only a requester that may rename and name so learns of a hidden entry, because no other
    // answer is possible.
    if taken.is_some() {
        return Err(exists());
    }
    context.note_old(id)?;
    context.begin_change(Some(id))?;
    let renamed = context.writer.rename(id, parent, &checked);
    renamed.map_err(|error| context.failed(&error))?;
    // As in slapd, the logs do not name a superior that stays.
    let new_superior = request.new_superior.as_ref();
    let recorded = RecordedRename {
        dn,
        new_rdn: &request.new_rdn,
        delete_old_rdn: request.delete_old_rdn,
        new_superior: new_superior.filter(|superior| **superior != old_superior),
        held: &held,
    };
    context.record_rename(&recorded);
    context.follow_rename(id, dn, &new_dn)?;
    context.end_change(id)?;
    context.log_rename(id, &recorded, checked.entry())
}

/// Returns the types of an RDN whose value the entry has.
fn named_before(schema: &Schema, entry: &Entry, rdn: &Dn) -> Vec<AttributeIndex> {
    let avas = rdn.rdn().into_iter().flat_map(|rdn| rdn.avas());
    let held = avas.filter(|ava| entry.has_value(schema, ava.attribute, ava.value));
    held.map(|ava| ava.attribute).collect()
}

/// Returns the entry, which the requester may rename.
fn locate(context: &mut Context<'_, '_>, dn: &Dn) -> OpResult<EntryId> {
    let id = context.locate_itself(dn)?;
    let wanted = context.on_entry(Rights::WRITE);
    let allowed = context.rights(dn, |rights| rights.entry().allows(wanted))?;
    let allowed = context
        .require_assertion(id)
        .and_then(|()| require(allowed, "no write access to old entry"));
    context.guarded(dn, id, allowed)?;
    context.refuse_elsewhere(dn, id)?;
    Ok(id)
}

/// Drops the matched name of noSuchObject unless it is the superior, like slapd.
fn without_far_ancestor(schema: &Schema, dn: &Dn, superior: &Dn, result: LdapResult) -> LdapResult {
    let is_near = || {
        let matched = Dn::parse(schema, &result.matched_dn);
        matched.is_ok_and(|matched| matched == *superior || matched == *dn)
    };
    if result.code == ResultCode::NoSuchObject && !is_near() {
        return result.matched("");
    }
    result
}

/// Returns the present superior. Fails if it or the new one is outside the naming context.
fn stays_in_suffix(context: &Context<'_, '_>, request: &Rename) -> OpResult<Dn> {
    let suffix = context
        .suffix_of(&request.dn)
        .ok_or_else(between_databases)?;
    let above = request
        .dn
        .parent()
        .filter(|above| above.is_within(suffix))
        .ok_or_else(between_databases)?;
    match &request.new_superior {
        Some(superior) if !context.is_here(superior) => Err(between_databases()),
        _ => Ok(above),
    }
}

fn between_databases() -> LdapResult {
    refuse(
        ResultCode::AffectsMultipleDsas,
        "cannot rename between DSAs",
    )
}

fn exists() -> LdapResult {
    refuse(ResultCode::EntryAlreadyExists, "")
}

/// Returns the new superior, which the requester may add to unless it is the present one.
fn new_parent(context: &Context<'_, '_>, request: &Rename, superior: &Dn) -> OpResult<EntryId> {
    let not_found = || refuse(ResultCode::NoSuchObject, "new superior not found");
    let arriving = || match request.new_superior {
        None => Ok(()),
        Some(_) => {
            let text = "no write access to new superior's children";
            context.require_children(superior, Rights::ADD, text)
        }
    };
    if context.is_empty_suffix(superior) {
        return arriving().map(|()| EntryId::ROOT);
    }
    let id = context.find(superior)?.entry().ok_or_else(not_found)?;
    let arriving = arriving();
    if arriving.is_err() && !context.shows(id)? {
        return Err(not_found());
    }
    arriving?;
    context.refuse_alias(id, "new superior is an alias")?;
    if context.is_referral(id)? {
        return Err(refuse(ResultCode::Other, "new superior is a referral"));
    }
    Ok(id)
}

/// Gives the entry its new name, and the attribute values of the RDN. Returns the removed values.
fn rename(
    schema: &Schema,
    entry: &mut Entry,
    new_dn: Dn,
    delete_old_rdn: bool,
) -> Vec<RemovedValue> {
    let mut removed = Vec::new();
    let old_dn = std::mem::replace(&mut entry.dn, new_dn);
    if delete_old_rdn {
        for ava in old_dn.rdn().into_iter().flat_map(|rdn| rdn.avas()) {
            let description = AttributeDescription::plain(ava.attribute);
            remove_value(schema, entry, &description, ava.value);
            removed.push(RemovedValue {
                description,
                value: ava.value.to_vec(),
            });
        }
    }
    let new_dn = entry.dn.clone();
    // slapd adds the last one first, and the order of attributes is visible.
    let avas: Vec<_> = new_dn
        .rdn()
        .into_iter()
        .flat_map(|rdn| rdn.avas())
        .collect();
    for ava in avas.into_iter().rev() {
        if !entry.has_value(schema, ava.attribute, ava.value) {
            let description = AttributeDescription::plain(ava.attribute);
            entry.push(&description, ava.value.to_vec());
        }
    }
    removed
}

fn remove_value(
    schema: &Schema,
    entry: &mut Entry,
    description: &AttributeDescription,
    value: &[u8],
) {
    let normal = schema.normal_value(description.attribute, value);
    let Some(Attribute { values, .. }) = entry.attribute_mut(description) else {
        return;
    };
    values.retain(|held| schema.normal_value(description.attribute, held) != normal);
    if values.is_empty() {
        entry.set(description, Vec::new());
    }
}

/// Requires the right to take an entry away from its superior, before it is clear that the entry
/// exists.
///
/// A hidden superior counts as missing, and so does every entry below it.
fn require_leaving(context: &Context<'_, '_>, request: &Rename, superior: &Dn) -> OpResult {
    let found = context.find(superior)?.entry();
    if found.is_none() && !context.is_empty_suffix(superior) {
        return Ok(());
    }
    let leaving = match request.new_superior {
        None => Rights::WRITE,
        Some(_) => Rights::DELETE,
    };
    let allowed =
        context.require_children(superior, leaving, "no write access to parent's children");
    match found {
        Some(id) => context.guarded(&request.dn, id, allowed),
        None => allowed,
    }
}

/// Requires the right to delete each value of the old RDN from the entry under its new name.
///
/// Like slapd, values of the new RDN need no other right.
fn require_values(
    context: &Context<'_, '_>,
    dn: &Dn,
    new_dn: &Dn,
    removed: &[RemovedValue],
) -> OpResult {
    let allowed = context.rights_under(dn, new_dn, |rights| {
        removed.iter().all(|removed| {
            let rights = rights.value(&removed.description, &removed.value);
            rights.allows(Rights::DELETE)
        })
    })?;
    require(allowed, "")
}
