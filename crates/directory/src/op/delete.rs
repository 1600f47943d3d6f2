//! Delete (RFC 4511, section 4.8).

use fulgurite_ldap::{DeleteRequest, ResultCode};
use fulgurite_schema::Dn;

use crate::answer::{self, Answer, refuse};
use crate::directory::{Directory, Place};
use crate::write::Context;

/// Resolves the request.
pub(crate) fn prepare(directory: &Directory, request: &DeleteRequest<'_>) -> Answer<Dn> {
    let dn = answer::dn(&directory.schema, request.dn)?;
    match directory.place(&dn) {
        Place::RootDse => Err(refuse(
            ResultCode::UnwillingToPerform,
            "cannot delete the root DSE",
        )),
        Place::Subschema => Err(refuse(
            ResultCode::UnwillingToPerform,
            "cannot delete the subschema subentry",
        )),
        Place::Nowhere | Place::In(_) | Place::Tree(_) => directory.updatable(&dn).map(|_| dn),
    }
}

/// Deletes the entry, or leaves the store as it was.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn) -> Answer {
    let id = context.locate(dn)?;
    context.require_placing(dn)?;
    if context.has_children(id)? {
        return Err(refuse(
            ResultCode::NotAllowedOnNonLeaf,
            "subordinate objects must be deleted first",
        ));
    }
    context
        .writer
        .delete(id)
        .map_err(|error| context.failed(&error))
}
