//! The names that a requester may know of.
//!
//! An entry without the right `disclose` is answered like a missing one. The answer has the nearest
//! ancestor that the requester may know of. See `docs/access.md`.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use crate::core::foundation::Core;
use crate::core::result;
use crate::rights::facts::EntryFacts;

/// Returns noSuchObject with the nearest entry at or above `above` that the requester may know of.
pub(crate) fn no_such_object<T: Snapshot>(
    core: &Core,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    above: Option<EntryId>,
) -> LdapResult {
    let result = LdapResult::new(ResultCode::NoSuchObject);
    match nearest(core, view, decisions, above) {
        Ok(Some((_, name))) => result.matched(name.pretty()),
        Ok(None) => result,
        Err(error) => result::store(&error),
    }
}

/// Returns the first entry from `above` upwards that the requester may know of.
pub(crate) fn nearest<T: Snapshot>(
    core: &Core,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    above: Option<EntryId>,
) -> Result<Option<(EntryId, Dn)>, StoreError> {
    let mut next = above;
    while let Some(id) = next {
        if let Some(name) = shown_name(core, view, decisions, id)? {
            return Ok(Some((id, name)));
        }
        next = view.parent(id)?;
    }
    Ok(None)
}

/// Returns the name of an entry if the requester may know that the entry exists.
pub(crate) fn shown_name<T: Snapshot>(
    core: &Core,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    id: EntryId,
) -> Result<Option<Dn>, StoreError> {
    let dn = view.resolved_dn(id)?;
    let facts = EntryFacts::of(core, view, id)?;
    let rights = facts.rights(decisions, dn.normal()).entry();
    Ok(rights.allows(Rights::DISCLOSE).then_some(dn))
}
