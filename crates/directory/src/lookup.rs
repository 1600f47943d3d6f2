//! From names to entries, and what to say when there is none.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::{AttributeDescription, Dn, Entry};
use fulgurite_store::{EntryId, Found, Snapshot, StoreError, View};

use crate::answer::{self, Answer};
use crate::computed::Computed;
use crate::directory::Directory;
use crate::facts::EntryFacts;
use crate::known::Known;
use crate::referral::Referrals;

/// The entry of a name, or noSuchObject with the deepest existing ancestor, or a referral.
pub(crate) fn locate(
    view: &View<'_>,
    dn: &Dn,
    decisions: &Decisions<'_>,
    referrals: Referrals<'_>,
) -> Answer<EntryId> {
    let found = view.find(dn).map_err(|error| answer::store(&error))?;
    if let Some(referral) = referrals.instead(view, decisions, dn, found)? {
        return Err(referral);
    }
    match found {
        Found::Entry(id) => Ok(id),
        missing => Err(no_such_object(
            referrals.directory,
            view,
            decisions,
            missing,
        )),
    }
}

/// A copy of an entry, with the attributes that are computed on reading, but for the number of its children.
pub(crate) fn whole_entry<T: Snapshot>(
    view: &View<'_, T>,
    known: &Known,
    id: EntryId,
) -> Result<Entry, StoreError> {
    let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
    let mut entry = entry.to_entry()?;
    for computed in Computed::OPERATIONAL {
        if let Some(attribute) = computed.attribute(known) {
            let description = AttributeDescription::plain(attribute);
            entry.set(&description, vec![computed.value_within(view, id)?]);
        }
    }
    Ok(entry)
}

/// noSuchObject. The ancestor is named only to those who may know of it.
pub(crate) fn no_such_object<T: Snapshot>(
    directory: &Directory,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    missing: Found,
) -> LdapResult {
    let result = LdapResult::new(ResultCode::NoSuchObject);
    let Found::Missing {
        deepest: Some((id, _)),
    } = missing
    else {
        return result;
    };
    match shown_name(directory, view, decisions, id) {
        Ok(Some(matched)) => result.matched(matched),
        Ok(None) => result,
        Err(error) => answer::store(&error),
    }
}

/// The name of an entry, if the asker may know that it exists.
pub(crate) fn shown_name<T: Snapshot>(
    directory: &Directory,
    view: &View<'_, T>,
    decisions: &Decisions<'_>,
    id: EntryId,
) -> Result<Option<String>, StoreError> {
    let dn = view.resolved_dn(id)?;
    let facts = EntryFacts::of(directory, view, id)?;
    let rights = facts.rights(decisions, dn.normal());
    Ok(rights
        .entry()
        .allows(Rights::DISCLOSE)
        .then(|| dn.pretty().to_owned()))
}
