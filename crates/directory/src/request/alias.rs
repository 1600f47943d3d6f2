//! Aliases (RFC 4512, section 2.6): entries that are another name of an entry of the same database.
//!
//! ```text
//!   cn=x,cn=alias,dc=org          cn=alias,dc=org --aliasedObjectName--> ou=people,dc=org
//!   `-----------------> cn=x,ou=people,dc=org          and again, if that meets an alias
//! ```
//!
//! An alias that the requester may not know of does not exist. An alias whose target the requester
//! may not know of has no target.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, EntryView, NameLookup, StoreError, View};

use crate::core::foundation::Core;
use crate::core::result::refuse;
use crate::core::well_known_types::WellKnownTypes;
use crate::rights::disclosure;
use crate::rights::facts::{EntryFacts, EntrySource};

/// The result of following aliases along a name.
pub(crate) enum AliasResolution {
    /// A name without aliases, and the entry found for it.
    Resolved(Dn, NameLookup),
    /// An alias without a target, or a circle of aliases.
    Problem(LdapResult),
    /// More aliases than `depth_max`.
    TooMany,
}

/// Follows at most `depth_max` aliases along a name.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub(crate) fn follow(
    view: &View<'_>,
    core: &Core,
    decisions: &Decisions<'_>,
    name: &Dn,
    depth_max: u32,
) -> Result<AliasResolution, StoreError> {
    let types = &core.types;
    let mut name = name.clone();
    let mut seen: Vec<EntryId> = Vec::new();
    loop {
        let found = view.find(&name)?;
        let (id, depth) = match found {
            NameLookup::Entry(id) => (id, name.depth()),
            NameLookup::Missing {
                deepest: Some((id, depth)),
            } => (id, depth),
            NameLookup::Missing { deepest: None } => {
                return Ok(AliasResolution::Resolved(name, found));
            }
        };
        let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        if !types.is_alias(&entry) {
            return Ok(AliasResolution::Resolved(name, found));
        }
        let alias = view.resolved_dn(id)?;
        let facts = EntryFacts::new(core, view, EntrySource::Stored(entry));
        let rights = facts.rights(decisions, alias.normal());
        if !rights.entry().allows(Rights::DISCLOSE) {
            let above = depth.saturating_sub(1);
            let hidden = NameLookup::Missing {
                deepest: entry.parent().map(|parent| (parent, above)),
            };
            return Ok(AliasResolution::Resolved(name, hidden));
        }
        if seen.contains(&id) {
            return Ok(problem(&alias, "circular alias"));
        }
        if seen.len() >= depth_max as usize {
            return Ok(AliasResolution::TooMany);
        }
        seen.push(id);
        let target = known_target(view, core, decisions, &entry)?;
        let below = name.depth().saturating_sub(alias.depth());
        let grafted = target.and_then(|target| graft(view, &name, below, &target));
        match grafted {
            Some(grafted) => name = grafted,
            None => return Ok(problem(&alias, "aliasedObject not found")),
        }
    }
}

fn problem(alias: &Dn, text: &str) -> AliasResolution {
    AliasResolution::Problem(refuse(ResultCode::AliasProblem, text).matched(alias.pretty()))
}

/// Returns the target of an alias if the requester may know of it.
fn known_target(
    view: &View<'_>,
    core: &Core,
    decisions: &Decisions<'_>,
    alias: &EntryView<'_>,
) -> Result<Option<Dn>, StoreError> {
    let Some(target) = aliased(view, alias, &core.types) else {
        return Ok(None);
    };
    // The target must be the name of an entry itself, not a name that leads through other aliases.
    let Some(id) = view.find(&target)?.entry() else {
        return Ok(None);
    };
    let name = disclosure::shown_name(core, view, decisions, id)?;
    Ok(name.map(|_| target))
}

fn aliased(view: &View<'_>, entry: &EntryView<'_>, types: &WellKnownTypes) -> Option<Dn> {
    let values = entry.plain_values(types.aliased_object?)?;
    let target = values.iter().next()?;
    Dn::parse_bytes(view.schema(), target).ok()
}

/// Returns `target` with the first `below` RDNs of `name` in front.
fn graft(view: &View<'_>, name: &Dn, below: usize, target: &Dn) -> Option<Dn> {
    if below == 0 {
        return Some(target.clone());
    }
    let rdns: Vec<&str> = name.rdns().take(below).map(|rdn| rdn.pretty()).collect();
    Dn::parse(
        view.schema(),
        &format!("{},{}", rdns.join(","), target.pretty()),
    )
    .ok()
}
