//! Modify (RFC 4511, section 4.6).

use fulgurite_access::Level;
use fulgurite_ldap::{ModifyRequest, ResultCode};
use fulgurite_schema::Dn;

use crate::answer::{self, Answer, refuse};
use crate::changes::{self, Change};
use crate::directory::{Directory, Place};
use crate::write::{Context, require_user_modification};

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
    require_user_modification(schema, changes.iter().map(|change| &change.attribute))?;
    let id = context.locate(dn)?;
    require_rights(context, dn, changes)?;
    let mut entry = context.entry(id)?;
    let options = context.check_options(&entry);
    changes::apply(schema, &mut entry, changes)?;
    context.stamp().modify(&mut entry, &context.directory.known);
    let checked = schema.check(entry, &options).map_err(answer::violation)?;
    context
        .writer
        .modify(id, &checked)
        .map_err(|error| context.failed(&error))
}

fn require_rights(context: &Context<'_, '_>, dn: &Dn, changes: &[Change]) -> Answer {
    let rights = context.decisions.at(dn.normal());
    let refused = changes
        .iter()
        .map(|change| &change.attribute.description)
        .find(|description| rights.attribute(description.attribute) < Level::Write);
    match refused {
        None => Ok(()),
        Some(_) => Err(refuse(ResultCode::InsufficientAccessRights, "")),
    }
}
