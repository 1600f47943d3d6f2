//! Modify (RFC 4511, section 4.6).

use std::collections::HashSet;

use fulgurite_access::{EntryRights, Rights};
use fulgurite_ldap::{LdapResult, ModifyOperation, ModifyRequest, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry, Schema};

use crate::answer::{self, Answer, refuse};
use crate::changes::{self, Change};
use crate::context::Context;
use crate::derived_keys;
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
    let permissive = context.modifiers.permissive;
    let (mut entry, mut large) = context.entry_for(id, dn, &[changes, derived])?;
    let options = context.check_options(&entry);
    let unseen = unseen(context, &entry, changes);
    changes::apply(schema, &mut entry, &mut large, changes, permissive)
        .map_err(|refused| without_unseen(schema, &unseen, refused))?;
    drop_stale_keys(context.directory, &mut entry, changes);
    changes::apply(schema, &mut entry, &mut large, derived, permissive)?;
    let values = large.finish(&mut entry);
    context.mark(&mut entry, changes.iter().map(|change| &change.attribute));
    let mut checked = context.check(entry, &options)?;
    context.note_structural_class(&mut checked);
    context.begin_change(Some(id))?;
    let modified = if values.is_empty() {
        context.writer.modify(id, &checked)
    } else {
        context.writer.modify_values(id, &checked, &values)
    };
    modified.map_err(|error| context.failed(&error))?;
    context.end_change(id)
}

/// With the password go the keys derived from it, or the old password would still let its owner in. Only those stay
/// that the request itself sets.
fn drop_stale_keys(directory: &Directory, entry: &mut Entry, changes: &[Change]) {
    let Some(keys) = &directory.known.auth_password else {
        return;
    };
    let is_password = |change: &Change| {
        derived_keys::is_password(directory, change.attribute.description.attribute)
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
    derived_keys::drop_but(directory, entry, &set);
}

/// Attributes of which values are to be deleted, and all values there are are hidden from the asker.
fn unseen<'c>(
    context: &Context<'_, '_>,
    entry: &Entry,
    changes: &'c [Change],
) -> Vec<&'c AttributeDescription> {
    if !context.decisions.by_value() {
        return Vec::new();
    }
    let deleted = changes.iter().enumerate().filter(|(at, change)| {
        // What the request itself has put there he knows.
        let mut before = changes.iter().take(*at);
        let same = |other: &Change| {
            other.attribute.description == change.attribute.description
                && other.operation != ModifyOperation::Delete
        };
        change.operation == ModifyOperation::Delete && !before.any(same)
    });
    let deleted = deleted.map(|(_, change)| &change.attribute.description);
    context.rights_of(entry, |rights| {
        deleted
            .filter(|description| {
                let held = entry.attribute(description);
                held.is_some_and(|held| {
                    let shown =
                        |value: &Vec<u8>| rights.value(description, value).allows(Rights::DISCLOSE);
                    !held.values.iter().any(shown)
                })
            })
            .collect()
    })
}

/// That a value is not among those of an attribute says that there are others: where they are hidden, there is no such
/// attribute.
fn without_unseen(
    schema: &Schema,
    unseen: &[&AttributeDescription],
    refused: LdapResult,
) -> LdapResult {
    let about = |description: &&&AttributeDescription| {
        refused.diagnostic == changes::no_such_value(&description.text(schema))
    };
    match unseen.iter().find(about) {
        Some(description) => LdapResult {
            diagnostic: changes::no_such_attribute(&description.text(schema)),
            ..refused
        },
        None => refused,
    }
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
