//! From names to entries, and what to say when there is none.
//!
//! Whoever lacks the right `disclose` to an entry is answered as if there were none: by the name of the nearest ancestor
//! that he may know of. See `docs/access.md`.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use crate::core::foundation::Core;
use crate::core::result;
use crate::rights::facts::EntryFacts;

/// noSuchObject, with the nearest entry at or above `above` that the asker may know of.
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

/// The first entry from `above` upwards that the asker may know of. Climbs.
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

/// The name of an entry, if the asker may know that it exists.
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
