//! Delete (RFC 4511, section 4.8).

use fulgurite_access::Rights;
use fulgurite_ldap::ResultCode;
use fulgurite_schema::Dn;
use fulgurite_store::EntryId;

use crate::core::result::{self, OpResult, refuse};
use crate::directory::Directory;
use crate::generated::namespace::NamespaceTarget;
use crate::write::context::Context;
use crate::write::context::WorkBudget;

/// Fails for a name that no delete can have.
pub(crate) fn prepare(directory: &Directory, dn: Dn) -> OpResult<Dn> {
    match directory.target(&dn) {
        NamespaceTarget::RootDse => Err(refuse(
            ResultCode::UnwillingToPerform,
            "cannot delete the root DSE",
        )),
        NamespaceTarget::Subschema => Err(refuse(
            ResultCode::UnwillingToPerform,
            "cannot delete the subschema subentry",
        )),
        NamespaceTarget::Outside | NamespaceTarget::Database(_) | NamespaceTarget::Tree(_) => {
            directory.updatable(&dn).map(|_| dn)
        }
    }
}

/// Deletes the entry, or leaves the store unchanged.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn) -> OpResult {
    let id = context.locate_itself(dn)?;
    context.require_small(id)?;
    context.guarded(dn, id, context.require_taking_away(dn))?;
    let asserted = context.require_assertion(id);
    context.guarded(dn, id, asserted)?;
    context.guarded(dn, id, context.require_entry(dn, Rights::DELETE))?;
    context.refuse_elsewhere(dn, id)?;
    if context.modifiers.tree_delete {
        if context.budget == WorkBudget::Short {
            return Err(context.defer());
        }
        return tree(context, id, dn);
    }
    if context.has_children(id)? {
        return Err(refuse(
            ResultCode::NotAllowedOnNonLeaf,
            "subordinate objects must be deleted first",
        ));
    }
    context.begin_change(Some(id))?;
    context.note_identity(id)?;
    context.note_old(id)?;
    let deleted = context.writer.delete(id);
    deleted.map_err(|error| context.failed(&error))?;
    context.record_delete(dn);
    context.log_delete(id, dn, context.before)?;
    context.follow_delete(dn)
}

/// Deletes the entry and its whole subtree, or nothing (draft-armijo-ldap-treedelete).
fn tree(context: &mut Context<'_, '_>, top: EntryId, top_dn: &Dn) -> OpResult {
    let subtree_ids = subtree(context, top)?;
    let mut dns = vec![top_dn.clone()];
    // A damaged record is to be found before anything is deleted.
    let mut identities = vec![context.identity(top)?];
    for &id in subtree_ids.iter().skip(1) {
        let dn = context.writer.resolved_dn(id);
        let dn = dn.map_err(|error| result::store(&error))?;
        context.require_removal(&dn)?;
        dns.push(dn);
        identities.push(context.identity(id)?);
    }
    context.begin_change(Some(top))?;
    // Parents come before their children in the list.
    let deleted = subtree_ids.iter().zip(&dns).zip(identities);
    for ((&id, dn), identity) in deleted.rev() {
        context.before = identity;
        context.note_old(id)?;
        let deleted = context.writer.delete(id);
        deleted.map_err(|error| context.failed(&error))?;
        context.record_delete(dn);
        context.log_delete(id, dn, context.before)?;
    }
    dns.iter().try_for_each(|dn| context.follow_delete(dn))
}

/// Returns an entry and its whole subtree, parents first.
fn subtree(context: &Context<'_, '_>, top: EntryId) -> OpResult<Vec<EntryId>> {
    let max = context.database.tree_delete_max;
    let mut found = vec![top];
    let mut looked_at = 0;
    while let Some(&id) = found.get(looked_at) {
        looked_at += 1;
        let children = context.writer.children(id);
        found.extend(children.map_err(|error| result::store(&error))?);
        if found.len() > max {
            return Err(refuse(
                ResultCode::AdminLimitExceeded,
                format!("a tree of more than {max} entries is to be deleted in parts"),
            ));
        }
    }
    debug_assert_eq!(found.first(), Some(&top), "parents come first");
    Ok(found)
}
