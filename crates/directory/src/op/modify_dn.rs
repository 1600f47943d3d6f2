//! Modify DN (RFC 4511, section 4.9): a new RDN, a new place, or both. Descendants come along untouched.

use fulgurite_access::Rights;
use fulgurite_ldap::{LdapResult, ModifyDnRequest, ResultCode};
use fulgurite_schema::{Attribute, AttributeDescription, Dn, Entry, Schema};
use fulgurite_store::{EntryId, Found};

use crate::answer::{self, Answer, refuse};
use crate::context::Context;
use crate::directory::{Directory, Place};
use crate::rights::require;

/// What is to become of the name.
#[derive(Clone, Debug)]
pub(crate) struct Renaming {
    pub(crate) dn: Dn,
    new_rdn: Dn,
    delete_old_rdn: bool,
    new_superior: Option<Dn>,
}

/// A value that goes with the old name.
struct Gone {
    description: AttributeDescription,
    value: Vec<u8>,
}

/// Resolves the request.
pub(crate) fn prepare(directory: &Directory, request: &ModifyDnRequest<'_>) -> Answer<Renaming> {
    let schema = &directory.schema;
    let dn = answer::dn(schema, request.dn)?;
    let invalid = |text| refuse(ResultCode::InvalidDnSyntax, text);
    let new_rdn = answer::dn(schema, request.new_rdn)
        .ok()
        .filter(|rdn| rdn.depth() == 1)
        .ok_or_else(|| invalid("invalid new RDN"))?;
    let new_superior = request
        .new_superior
        .map(|text| answer::dn(schema, text).map_err(|_| invalid("invalid newSuperior")))
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
    match directory.place(&dn) {
        Place::RootDse => unwilling("cannot rename the root DSE"),
        Place::Subschema => unwilling("cannot rename the subschema subentry"),
        Place::Nowhere | Place::In(_) | Place::Tree(_) => {
            directory.updatable(&dn)?;
            Ok(Renaming {
                dn,
                new_rdn,
                delete_old_rdn: request.delete_old_rdn,
                new_superior,
            })
        }
    }
}

/// Whether names made of these attributes can be told apart.
fn can_name(schema: &Schema, rdn: &Dn) -> bool {
    let mut avas = rdn.rdn().into_iter().flat_map(|rdn| rdn.avas());
    avas.all(|ava| schema.attribute_at(ava.attribute).equality.is_some())
}

/// Renames the entry, or leaves the store as it was.
pub(crate) fn run(context: &mut Context<'_, '_>, renaming: &Renaming) -> Answer {
    let schema = &context.directory.schema;
    let dn = &renaming.dn;
    let old_superior = stays_in_suffix(context, renaming)?;
    let superior = renaming.new_superior.as_ref().unwrap_or(&old_superior);
    let new_dn = superior.child(&renaming.new_rdn);
    if !context.is_here(&new_dn) {
        return Err(between_databases());
    }
    if dn.is_under(&new_dn) {
        return Err(refuse(
            ResultCode::UnwillingToPerform,
            "cannot place an entry above itself",
        ));
    }
    require_leaving(context, renaming, &old_superior)?;
    let id = locate(context, dn)?;
    context.require_assertion(id)?;
    let wanted = context.on_entry(Rights::WRITE);
    let allowed = context.rights(dn, |rights| rights.entry().allows(wanted))?;
    require(allowed, "no write access to old entry")?;
    context.refuse_elsewhere(dn, id)?;
    require_arriving(context, renaming, superior)?;
    let parent = new_parent(context, superior)?;
    if new_dn != *dn && context.find(&new_dn)?.entry().is_some() {
        return Err(refuse(ResultCode::EntryAlreadyExists, ""));
    }
    let mut entry = context.entry(id)?;
    let options = context.check_options(&entry);
    let gone = rename(schema, &mut entry, new_dn, renaming.delete_old_rdn);
    require_values(context, dn, &entry.dn, &gone)?;
    context.mark(&mut entry, std::iter::empty());
    let checked = context.check(entry, &options)?;
    context.begin_change(Some(id))?;
    let renamed = context.writer.rename(id, parent, &checked);
    renamed.map_err(|error| context.failed(&error))?;
    context.end_change(id)
}

/// The entry, or why it cannot be found. As in slapd, an ancestor is named only if it is the superior.
fn locate(context: &Context<'_, '_>, dn: &Dn) -> Answer<EntryId> {
    let located = context.locate_itself(dn);
    let superior_exists = match context.find(dn)? {
        Found::Entry(_) => true,
        Found::Missing { deepest } => deepest.is_some_and(|(_, depth)| depth + 1 == dn.depth()),
    };
    located.map_err(|result| match result.code {
        ResultCode::NoSuchObject if !superior_exists => result.matched(""),
        _ => result,
    })
}

/// The present superior, after making sure that neither it nor the new one is beyond the naming context.
fn stays_in_suffix(context: &Context<'_, '_>, renaming: &Renaming) -> Answer<Dn> {
    let suffix = context
        .suffix_of(&renaming.dn)
        .ok_or_else(between_databases)?;
    let above = renaming
        .dn
        .parent()
        .filter(|above| above.is_within(suffix))
        .ok_or_else(between_databases)?;
    match &renaming.new_superior {
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

fn new_parent(context: &mut Context<'_, '_>, superior: &Dn) -> Answer<EntryId> {
    match context.find(superior)? {
        Found::Entry(id) => {
            context.refuse_alias(id, "new superior is an alias")?;
            context.refuse_referral(id)?;
            Ok(id)
        }
        Found::Missing { .. } => Err(refuse(ResultCode::NoSuchObject, "new superior not found")),
    }
}

/// Gives the entry its new name and the attribute values that follow from it. Returns the values
/// that go.
fn rename(schema: &Schema, entry: &mut Entry, new_dn: Dn, delete_old_rdn: bool) -> Vec<Gone> {
    let mut gone = Vec::new();
    let old_dn = std::mem::replace(&mut entry.dn, new_dn);
    if delete_old_rdn {
        for ava in old_dn.rdn().into_iter().flat_map(|rdn| rdn.avas()) {
            let description = AttributeDescription::plain(ava.attribute);
            remove_value(schema, entry, &description, ava.value);
            gone.push(Gone {
                description,
                value: ava.value.to_vec(),
            });
        }
    }
    let new_dn = entry.dn.clone();
    // The last one first, as slapd does it: the order of attributes is kept and shown.
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
    gone
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

/// The right to take an entry away from its superior comes before the question whether it is there.
fn require_leaving(context: &Context<'_, '_>, renaming: &Renaming, superior: &Dn) -> Answer {
    if context.find(superior)?.entry().is_none() {
        return Ok(());
    }
    let leaving = match renaming.new_superior {
        None => Rights::WRITE,
        Some(_) => Rights::DELETE,
    };
    context.require_children(superior, leaving, "no write access to parent's children")
}

/// The right to add to the new superior.
fn require_arriving(context: &Context<'_, '_>, renaming: &Renaming, superior: &Dn) -> Answer {
    if renaming.new_superior.is_none() {
        return Ok(());
    }
    let text = "no write access to new superior's children";
    context.require_children(superior, Rights::ADD, text)
}

/// The right to delete each value that goes with the old name, from the entry under its new one. What comes with the new
/// name takes no right beyond that to the name itself, as in slapd.
fn require_values(context: &Context<'_, '_>, dn: &Dn, new_dn: &Dn, gone: &[Gone]) -> Answer {
    let allowed = context.rights_under(dn, new_dn, |rights| {
        gone.iter().all(|gone| {
            let rights = rights.value(&gone.description, &gone.value);
            rights.allows(Rights::DELETE)
        })
    })?;
    require(allowed, "")
}
