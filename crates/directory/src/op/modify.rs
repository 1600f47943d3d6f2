//! Modify (RFC 4511, section 4.6).

use std::collections::HashSet;

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::{ModifyOperation, ModifyRequest, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry};
use fulgurite_store::EntryId;

use crate::core::foundation::Core;
use crate::core::result::{OpResult, refuse, require};
use crate::directory::Directory;
use crate::features::set::GuardTurn;
use crate::generated::namespace::NamespaceTarget;
use crate::request::change::Change;
use crate::write::changes;
use crate::write::context::Context;
use crate::write::derived_keys;
use crate::write::multi_value::MultiValueAttributes;
use crate::write::request::PasswordExchange;

/// Resolves the attributes and values of the request.
pub(crate) fn prepare(
    directory: &Directory,
    dn: Dn,
    request: &ModifyRequest<'_>,
) -> OpResult<(Dn, Vec<Change>)> {
    let unwilling = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    let changes = changes::resolve(directory.schema(), request)?;
    match directory.target(&dn) {
        NamespaceTarget::RootDse => return unwilling("modify upon the root DSE not supported"),
        NamespaceTarget::Subschema => {
            return unwilling("modification of subschema subentry not supported");
        }
        NamespaceTarget::Outside | NamespaceTarget::Database(_) | NamespaceTarget::Tree(_) => {}
    }
    directory.updatable(&dn)?;
    Ok((dn, changes))
}

/// The additions of the server to the changes of a client.
pub(crate) struct Additions<'a> {
    /// The changes that the server derives from those of the client.
    pub(crate) derived: &'a [Change],
    /// The passwords of a password modify.
    pub(crate) exchange: Option<&'a PasswordExchange>,
}

/// Applies all changes and checks the result, or leaves the store unchanged.
pub(crate) fn run(
    context: &mut Context<'_, '_>,
    dn: &Dn,
    changes: &[Change],
    additions: &Additions<'_>,
) -> OpResult {
    let derived = additions.derived;
    let schema = &context.core.schema;
    context.require_current(changes.iter().map(|change| &change.attribute))?;
    let set = changes.iter().filter(|change| !context.may_remove(change));
    context.require_settable(set.map(|change| &change.attribute))?;
    let id = context.locate(dn)?;
    context.require_small(id)?;
    let asserted = context.require_assertion(id);
    context.guarded(dn, id, asserted)?;
    context.guarded(dn, id, require_rights(context, dn, changes))?;
    context.require_weights(dn, changes.iter().map(|change| &change.attribute))?;
    let remaining = context.drop_members(id, changes)?;
    let changes = remaining.as_deref().unwrap_or(changes);
    let turn = guard_before_policy(context, id, dn, changes)?;
    let judged = context.judge_modify(id, dn, changes, additions.exchange)?;
    let (changes, state) = (&*judged.changes, judged.state.as_slice());
    let permissive = context.modifiers.permissive;
    let (mut entry, mut large) = context.entry_for(id, dn, &[changes, derived, state])?;
    let options = context.check_options(&entry);
    apply(context, &mut entry, &mut large, changes)?;
    drop_stale_keys(context.core, &mut entry, changes);
    changes::apply(schema, &mut entry, &mut large, derived, permissive)?;
    changes::apply(schema, &mut entry, &mut large, state, permissive)?;
    let values = large.finish(&mut entry);
    context.guard_modify(id, changes, &entry, turn)?;
    context.note_copied_identity(id)?;
    context.stamp_change(&mut entry, changes.iter().map(|change| &change.attribute));
    let mut checked = context.check(entry, &options)?;
    context.note_structural_class(&mut checked);
    context.note_old(id)?;
    context.begin_change(Some(id))?;
    let modified = if values.is_empty() {
        context.writer.modify(id, &checked)
    } else {
        context.writer.modify_values(id, &checked, &values)
    };
    modified.map_err(|error| context.failed(&error))?;
    // A password without keys derives changes without values.
    let has_keys = derived.iter().any(|keys| !keys.attribute.values.is_empty());
    let derived = if has_keys { derived } else { &[] };
    let changes = [changes, derived, state];
    context.record_modify(dn, &changes, checked.entry());
    context.end_change(id)?;
    context.log_modify(id, dn, &changes, checked.entry())
}

/// Asks the guards that come before the password policy. Returns the turn of the others.
///
/// They see the entry with its new password, which the policy may still refuse or hash.
fn guard_before_policy(
    context: &mut Context<'_, '_>,
    id: EntryId,
    dn: &Dn,
    changes: &[Change],
) -> OpResult<GuardTurn> {
    if !context.has_guards_before_policy(changes) {
        return Ok(GuardTurn::All);
    }
    context.require_time_for_hashes()?;
    let password = &context.core.types.user_password;
    let is_password = |change: &&Change| change.attribute.description == *password;
    let others = changes.iter().filter(|change| !is_password(change));
    let others: Vec<Change> = others.cloned().collect();
    let (mut entry, mut large) = context.entry_for(id, dn, &[changes])?;
    apply(context, &mut entry, &mut large, &others)?;
    for change in changes.iter().filter(is_password) {
        if change.operation == ModifyOperation::Delete {
            delete_passwords(&mut entry, &change.attribute);
        } else {
            let (schema, change) = (&context.core.schema, std::slice::from_ref(change));
            changes::apply(schema, &mut entry, &mut large, change, true)?;
        }
    }
    large.finish(&mut entry);
    context.guard_modify(id, changes, &entry, GuardTurn::BeforePolicy)?;
    Ok(GuardTurn::AfterPolicy)
}

/// Deletes passwords from an entry for the guards that come before the policy.
///
/// A password in clear deletes some hash. The policy finds out later which one it is, or the
/// request fails.
fn delete_passwords(entry: &mut Entry, deleted: &Attribute) {
    let held = entry.attribute(&deleted.description);
    let mut left = held.map_or_else(Vec::new, |held| held.values.clone());
    if deleted.values.is_empty() {
        left.clear();
    }
    for value in &deleted.values {
        let same = left.iter().position(|held| held == value);
        let hash = || left.iter().position(|held| held.starts_with(b"{"));
        if let Some(place) = same.or_else(hash) {
            left.remove(place);
        }
    }
    entry.set(&deleted.description, left);
}

/// Removes keys derived from a password that changes, or the old password would still be valid.
///
/// Keys that the request itself sets stay.
fn drop_stale_keys(core: &Core, entry: &mut Entry, changes: &[Change]) {
    let Some(keys) = &core.types.auth_password else {
        return;
    };
    let is_password =
        |change: &Change| derived_keys::derives_keys(core, change.attribute.description.attribute);
    if !changes.iter().any(is_password) {
        return;
    }
    let sets = |change: &&Change| {
        change.attribute.description.attribute == keys.attribute
            && change.operation != ModifyOperation::Delete
    };
    let set: HashSet<&[u8]> = changes
        .iter()
        .filter(sets)
        .flat_map(|change| change.attribute.values.iter().map(Vec::as_slice))
        .collect();
    derived_keys::drop_but(core, entry, &set);
}

/// Applies the changes in their order.
///
/// An attribute of which the requester sees no value is treated as missing. It moves to the end,
/// and has no value to delete.
fn apply(
    context: &Context<'_, '_>,
    entry: &mut Entry,
    large: &mut MultiValueAttributes<'_>,
    changes: &[Change],
) -> OpResult {
    let (schema, permissive) = (&context.core.schema, context.modifiers.permissive);
    let mut unseen = unseen(context, entry, changes);
    for change in changes {
        let description = &change.attribute.description;
        let place = unseen.iter().position(|other| *other == description);
        let is_deletion = change.operation == ModifyOperation::Delete;
        if let Some(place) = place.filter(|_| !is_deletion) {
            unseen.swap_remove(place);
            move_to_end(entry, description);
        }
        let change = std::slice::from_ref(change);
        let applied = changes::apply(schema, entry, large, change, permissive);
        applied.map_err(|refused| match place {
            Some(_) if is_deletion => changes::without_value(schema, description, refused),
            _ => refused,
        })?;
    }
    Ok(())
}

/// Returns the changed attributes whose values are all hidden from the requester.
fn unseen<'c>(
    context: &Context<'_, '_>,
    entry: &Entry,
    changes: &'c [Change],
) -> Vec<&'c AttributeDescription> {
    if !context.decisions.by_value() {
        return Vec::new();
    }
    let changed = changes.iter().map(|change| &change.attribute.description);
    context.rights_of(entry, |rights| {
        let is_hidden = |description: &AttributeDescription, value: &[u8]| {
            !rights.value(description, value).allows(Rights::DISCLOSE)
        };
        let mut unseen: Vec<&AttributeDescription> = Vec::new();
        for description in changed {
            let held = entry.attribute(description);
            let is_unseen = held.is_some_and(|held| {
                let mut values = held.values.iter();
                values.all(|value| is_hidden(description, value))
            });
            if is_unseen && !unseen.contains(&description) {
                unseen.push(description);
            }
        }
        unseen
    })
}

fn move_to_end(entry: &mut Entry, description: &AttributeDescription) {
    let mut attributes = entry.attributes.iter();
    if let Some(at) = attributes.position(|held| held.description == *description) {
        let held = entry.attributes.remove(at);
        entry.attributes.push(held);
    }
}

fn require_rights(context: &Context<'_, '_>, dn: &Dn, changes: &[Change]) -> OpResult {
    let allowed = context.rights(dn, |rights| {
        changes.iter().all(|change| may_change(&rights, change))
    })?;
    require(allowed, "")?;
    context.require_management(dn, changes.iter().map(|change| &change.attribute))
}

/// Returns true if the requester may make a change.
///
/// Adding a value needs the right to add it, and deleting one the right to delete it. Replacing
/// needs both. Deleting all values needs the right to the whole attribute.
pub(crate) fn may_change(rights: &EntryRights<'_>, change: &Change) -> bool {
    let Attribute {
        description,
        values,
    } = &change.attribute;
    let whole = |wanted| rights.attribute(description).allows(wanted);
    let each = |wanted| {
        let mut values = values.iter();
        values.all(|value| rights.value(description, value).allows(wanted))
    };
    match change.operation {
        ModifyOperation::Add => each(Rights::ADD),
        ModifyOperation::Delete if values.is_empty() => whole(Rights::DELETE),
        ModifyOperation::Delete => each(Rights::DELETE),
        ModifyOperation::Replace => whole(Rights::DELETE) && each(Rights::ADD),
        ModifyOperation::Increment => rights.attribute(description).increments(),
    }
}
