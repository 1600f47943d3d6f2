//! Modify (RFC 4511, section 4.6).

use std::collections::HashSet;

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::{ModifyOperation, ModifyRequest, ResultCode};
use fulgurite_schema::{Attribute, Dn, Entry};

use crate::answer::{self, Answer, refuse};
use crate::changes::{self, Change};
use crate::context::Context;
use crate::directory::{Directory, Place};
use crate::rights::require;

/// Resolves the request: name, attributes, values.
pub(crate) fn prepare(
    directory: &Directory,
    request: &ModifyRequest<'_>,
) -> Answer<(Dn, Vec<Change>)> {
    let dn = answer::dn(&directory.schema, request.dn)?;
    let unwilling = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    let changes = changes::resolve(&directory.schema, request)?;
    match directory.place(&dn) {
        Place::RootDse => return unwilling("modify upon the root DSE not supported"),
        Place::Subschema => return unwilling("modification of subschema subentry not supported"),
        Place::Nowhere | Place::In(_) | Place::Tree(_) => {}
    }
    directory.updatable(&dn)?;
    Ok((dn, changes))
}

/// Applies all changes and checks the outcome, or leaves the store as it was. What is `derived` from the changes goes
/// with them.
pub(crate) fn run(
    context: &mut Context<'_, '_>,
    dn: &Dn,
    changes: &[Change],
    derived: &[Change],
) -> Answer {
    let schema = &context.directory.schema;
    context.require_settable(changes.iter().map(|change| &change.attribute))?;
    let id = context.locate(dn)?;
    context.guarded(dn, id, context.require_assertion(id))?;
    context.guarded(dn, id, require_rights(context, dn, changes))?;
    let mut entry = context.entry(id)?;
    let options = context.check_options(&entry);
    changes::apply(schema, &mut entry, changes, context.modifiers.permissive)?;
    drop_stale_keys(context.directory, &mut entry, changes);
    changes::apply(schema, &mut entry, derived, context.modifiers.permissive)?;
    context.mark(&mut entry, changes.iter().map(|change| &change.attribute));
    let mut checked = context.check(entry, &options)?;
    context.note_structural_class(&mut checked);
    context.begin_change(Some(id))?;
    let modified = context.writer.modify(id, &checked);
    modified.map_err(|error| context.failed(&error))?;
    context.end_change(id)
}

/// With the password go the keys derived from it, or the old password would still let its owner in. Only those stay
/// that the request itself sets.
fn drop_stale_keys(directory: &Directory, entry: &mut Entry, changes: &[Change]) {
    let Some(keys) = &directory.known.auth_password else {
        return;
    };
    let schema = &directory.schema;
    let password = schema.attribute_at(directory.known.user_password.attribute);
    let is_password = |change: &Change| {
        password
            .subtypes
            .contains(&change.attribute.description.attribute)
    };
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
    entry.attributes.retain_mut(|held| {
        if held.description.attribute != keys.attribute {
            return true;
        }
        held.values.retain(|value| set.contains(value.as_slice()));
        !held.values.is_empty()
    });
}

fn require_rights(context: &Context<'_, '_>, dn: &Dn, changes: &[Change]) -> Answer {
    let allowed = context.rights(dn, |rights| {
        changes.iter().all(|change| may_change(&rights, change))
    })?;
    require(allowed, "")?;
    context.require_management(dn, changes.iter().map(|change| &change.attribute))
}

/// Values come with the right to add them and go with the right to delete them; to replace takes both, to delete
/// whatever is there the right to the attribute as a whole.
fn may_change(rights: &EntryRights<'_>, change: &Change) -> bool {
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
