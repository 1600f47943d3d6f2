//! From names to entries, and what to say when there is none.
//!
//! Whoever lacks the right `disclose` to an entry is answered as if there were none: by the name of the nearest ancestor
//! that he may know of. See `docs/access.md`.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeDescription, Dn, Entry};
use fulgurite_store::{EntryId, Snapshot, StoreError, View};

use crate::core::result::{self, Answer};
use crate::directory::Directory;
use crate::request::referral::Referrals;
use crate::rights::computed::{Asker, Computed};
use crate::rights::facts::EntryFacts;

/// The entry of a name, or noSuchObject with the nearest ancestor, or a referral.
pub(crate) fn locate(
    view: &View<'_>,
    dn: &Dn,
    decisions: &Decisions<'_>,
    referrals: Referrals<'_>,
) -> Answer<EntryId> {
    let found = view.find(dn).map_err(|error| result::store(&error))?;
    referrals.resolve(view, decisions, dn, found)
}

/// A copy of an entry, with the attributes that are computed on reading, but for the number of its children.
pub(crate) fn whole_entry<T: Snapshot>(
    view: &View<'_, T>,
    asker: Asker<'_>,
    id: EntryId,
) -> Result<Entry, StoreError> {
    let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
    let mut entry = entry.to_entry()?;
    for computed in Computed::OPERATIONAL {
        if let Some(attribute) = computed.attribute(&asker.directory.known) {
            let description = AttributeDescription::plain(attribute);
            entry.set(&description, vec![computed.value_within(asker, view, id)?]);
        }
    }
    Ok(entry)
}

/// noSuchObject, with the nearest entry at or above `above` that the asker may know of.
pub(crate) fn no_such_object<T: Snapshot>(
    directory: &Directory,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    above: Option<EntryId>,
) -> LdapResult {
    let result = LdapResult::new(ResultCode::NoSuchObject);
    match nearest(directory, view, decisions, above) {
        Ok(Some((_, name))) => result.matched(name.pretty()),
        Ok(None) => result,
        Err(error) => result::store(&error),
    }
}

/// The first entry from `above` upwards that the asker may know of. Climbs.
pub(crate) fn nearest<T: Snapshot>(
    directory: &Directory,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    above: Option<EntryId>,
) -> Result<Option<(EntryId, Dn)>, StoreError> {
    let mut next = above;
    while let Some(id) = next {
        if let Some(name) = shown_name(directory, view, decisions, id)? {
            return Ok(Some((id, name)));
        }
        next = view.parent(id)?;
    }
    Ok(None)
}

/// The name of an entry, if the asker may know that it exists.
pub(crate) fn shown_name<T: Snapshot>(
    directory: &Directory,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    id: EntryId,
) -> Result<Option<Dn>, StoreError> {
    let dn = view.resolved_dn(id)?;
    let facts = EntryFacts::of(directory, view, id)?;
    let rights = facts.rights(decisions, dn.normal()).entry();
    Ok(rights.allows(Rights::DISCLOSE).then_some(dn))
}
