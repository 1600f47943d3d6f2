//! Modify (RFC 4511, section 4.6).

use fulgurite_access::Level;
use fulgurite_ldap::{ModifyRequest, ResultCode};
use fulgurite_schema::Dn;

use crate::answer::{self, Answer, refuse};
use crate::changes::{self, Change};
use crate::context::Context;
use crate::directory::{Directory, Place};

/// Resolves the request: name, attributes, values.
pub(crate) fn prepare(
    directory: &Directory,
    request: &ModifyRequest<'_>,
) -> Answer<(Dn, Vec<Change>)> {
    let dn = answer::dn(&directory.schema, request.dn)?;
    let unwilling = |text| Err(refuse(ResultCode::UnwillingToPerform, text));
    match directory.place(&dn) {
        Place::RootDse => return unwilling("modify upon the root DSE not supported"),
        Place::Subschema => return unwilling("modification of subschema subentry not supported"),
        Place::Nowhere | Place::In(_) | Place::Tree(_) => {}
    }
    let changes = changes::resolve(&directory.schema, request)?;
    directory.updatable(&dn)?;
    Ok((dn, changes))
}

/// Applies all changes and checks the outcome, or leaves the store as it was.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn, changes: &[Change]) -> Answer {
    let schema = &context.directory.schema;
    context.require_settable(changes.iter().map(|change| &change.attribute))?;
    let id = context.locate(dn)?;
    context.require_assertion(id)?;
    require_rights(context, dn, changes)?;
    let mut entry = context.entry(id)?;
    let options = context.check_options(&entry);
    changes::apply(schema, &mut entry, changes, context.modifiers.permissive)?;
    context.mark(&mut entry, changes.iter().map(|change| &change.attribute));
    let mut checked = schema.check(entry, &options).map_err(answer::violation)?;
    context.note_structural_class(&mut checked);
    context.begin_change(Some(id))?;
    let modified = context.writer.modify(id, &checked);
    modified.map_err(|error| context.failed(&error))?;
    context.end_change(id)
}

fn require_rights(context: &Context<'_, '_>, dn: &Dn, changes: &[Change]) -> Answer {
    let rights = context.decisions.at(dn.normal());
    let refused = changes
        .iter()
        .map(|change| &change.attribute.description)
        .find(|description| rights.attribute(description.attribute) < Level::Write);
    match refused {
        None => context.require_management(dn, changes.iter().map(|change| &change.attribute)),
        Some(_) => Err(refuse(ResultCode::InsufficientAccessRights, "")),
    }
}
