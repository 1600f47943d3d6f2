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

/// Entries that one tree delete may take along: other updates wait for it, and its transaction is held in memory.
const TREE_ENTRIES_MAX: usize = 100_000;

/// Finds out whether an entry of that name can be deleted at all.
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

/// Deletes the entry, or leaves the store as it was.
pub(crate) fn run(context: &mut Context<'_, '_>, dn: &Dn) -> OpResult {
    let id = context.locate_itself(dn)?;
    context.keep_short(id)?;
    context.guarded(dn, id, context.require_taking_away(dn))?;
    context.guarded(dn, id, context.require_assertion(id))?;
    context.guarded(dn, id, context.require_entry(dn, Rights::DELETE))?;
    context.refuse_elsewhere(dn, id)?;
    if context.modifiers.tree_delete {
        if context.budget == WorkBudget::Short {
            return Err(context.put_off());
        }
        return tree(context, id);
    }
    if context.has_children(id)? {
        return Err(refuse(
            ResultCode::NotAllowedOnNonLeaf,
            "subordinate objects must be deleted first",
        ));
    }
    context.begin_change(Some(id))?;
    context
        .writer
        .delete(id)
        .map_err(|error| context.failed(&error))
}

/// Deletes the entry and everything below it (draft-armijo-ldap-treedelete): all of it or nothing.
fn tree(context: &mut Context<'_, '_>, top: EntryId) -> OpResult {
    let doomed = subtree(context, top)?;
    for &id in doomed.iter().skip(1) {
        let dn = context.writer.resolved_dn(id);
        let dn = dn.map_err(|error| result::store(&error))?;
        context.require_removal(&dn)?;
    }
    context.begin_change(Some(top))?;
    // Children stand behind their parents.
    for &id in doomed.iter().rev() {
        let deleted = context.writer.delete(id);
        deleted.map_err(|error| context.failed(&error))?;
    }
    Ok(())
}

/// An entry and everything below it, parents first.
fn subtree(context: &Context<'_, '_>, top: EntryId) -> OpResult<Vec<EntryId>> {
    let mut found = vec![top];
    let mut looked_at = 0;
    while let Some(&id) = found.get(looked_at) {
        looked_at += 1;
        let children = context.writer.children(id);
        found.extend(children.map_err(|error| result::store(&error))?);
        if found.len() > TREE_ENTRIES_MAX {
            return Err(refuse(
                ResultCode::AdminLimitExceeded,
                format!("a tree of more than {TREE_ENTRIES_MAX} entries is to be deleted in parts"),
            ));
        }
    }
    Ok(found)
}
