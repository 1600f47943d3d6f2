//! Aliases (RFC 4512, section 2.6): entries that are another name of an entry of the same database.
//!
//! ```text
//!   cn=x,cn=alias,dc=org          cn=alias,dc=org --aliasedObjectName--> ou=people,dc=org
//!   `-----------------> cn=x,ou=people,dc=org          and again, should that meet an alias
//! ```
//!
//! An alias that somebody may not know of does not exist for him.

use fulgurite_access::{Decisions, Rights};
use fulgurite_ldap::{LdapResult, ResultCode};
use fulgurite_schema::Dn;
use fulgurite_store::{EntryId, EntryView, Found, StoreError, View};

use crate::answer::refuse;
use crate::directory::Directory;
use crate::facts::{EntryFacts, Target};
use crate::known::Known;
use crate::referral::is_alias;

/// What following aliases along a name came to.
pub(crate) enum Followed {
    /// No alias stands in the way any more: the name that was arrived at, and whether it exists.
    Arrived(Dn, Found),
    /// An alias points nowhere, or in a circle.
    Problem(LdapResult),
    /// More aliases than are followed.
    TooMany,
}

/// Follows aliases along a name, `depth_max` of them at most.
///
/// # Errors
/// [`StoreError`] when the store fails.
pub(crate) fn follow(
    view: &View<'_>,
    directory: &Directory,
    decisions: &Decisions<'_>,
    name: &Dn,
    depth_max: u32,
) -> Result<Followed, StoreError> {
    let known = &directory.known;
    let mut name = name.clone();
    // How many RDNs at the front of `name` are still the client's own.
    let mut own = name.depth();
    let mut seen: Vec<(EntryId, Dn)> = Vec::new();
    loop {
        let found = view.find(&name)?;
        let (id, depth) = match found {
            Found::Entry(id) => (id, name.depth()),
            Found::Missing {
                deepest: Some((id, depth)),
            } => (id, depth),
            Found::Missing { deepest: None } => return Ok(arrived(&seen, own, name, found, 0)),
        };
        let entry = view.entry(id)?.ok_or(StoreError::NoSuchEntry(id))?;
        if !is_alias(&entry, known) {
            return Ok(arrived(&seen, own, name, found, depth));
        }
        let alias = view.resolved_dn(id)?;
        let facts = EntryFacts::new(directory, view, Target::Stored(entry));
        let rights = facts.rights(decisions, alias.normal());
        if !rights.entry().allows(Rights::DISCLOSE) {
            let hidden = Found::Missing {
                deepest: entry.parent().map(|parent| (parent, depth - 1)),
            };
            return Ok(arrived(&seen, own, name, hidden, depth - 1));
        }
        if seen.iter().any(|(before, _)| *before == id) {
            return Ok(problem(&alias, "circular alias"));
        }
        if seen.len() >= depth_max as usize {
            return Ok(Followed::TooMany);
        }
        let target = aliased(view, &entry, known).and_then(|target| {
            let below = name.depth().saturating_sub(alias.depth());
            own = own.min(below);
            graft(view, &name, below, &target)
        });
        match target {
            Some(grafted) => name = grafted,
            None => return Ok(problem(&alias, "aliasedObject not found")),
        }
        seen.push((id, alias));
    }
}

/// The end of the way. What is missing above the client's own RDNs is what the last alias points to.
fn arrived(
    seen: &[(EntryId, Dn)],
    own: usize,
    name: Dn,
    found: Found,
    existing: usize,
) -> Followed {
    match (found, seen.last()) {
        (Found::Missing { .. }, Some((_, alias))) if existing < name.depth() - own => {
            problem(alias, "aliasedObject not found")
        }
        _ => Followed::Arrived(name, found),
    }
}

fn problem(alias: &Dn, text: &str) -> Followed {
    Followed::Problem(refuse(ResultCode::AliasProblem, text).matched(alias.pretty()))
}

fn aliased(view: &View<'_>, entry: &EntryView<'_>, known: &Known) -> Option<Dn> {
    let values = entry.plain_values(known.aliased_object?)?;
    let target = values.iter().next()?;
    Dn::parse_octets(view.schema(), target).ok()
}

/// The first `below` RDNs of `name`, on top of `target`.
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
