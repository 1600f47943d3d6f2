//! Differences that are meant, and that the stored entries of both servers explain.

use std::collections::BTreeSet;

use crate::conversation::Attributes;

use super::findings::{Entries, Finding, seconds};
use super::worlds::World;

/// The stored entries of both servers after the last update.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) theirs: Entries,
    pub(crate) ours: Entries,
}

/// Returns the reason of a difference, if the entries explain it.
pub(crate) fn explanation(
    world: &World,
    states: &States,
    finding: &Finding,
) -> Option<&'static str> {
    if world.has("memberof")
        && let Some(reason) = membership(states, finding)
    {
        return Some(reason);
    }
    if finding.operation == "bind" && finding.what == "code" {
        return reset(states, finding);
    }
    if world.has("dynlist") && finding.what == "attribute memberof" {
        return groups_of_group(finding);
    }
    if finding.operation != "contents" {
        return None;
    }
    match finding.what.as_str() {
        "attribute pwdhistory" => history(world, states, finding),
        "attribute pwdfailuretime" => failures(world, states, finding),
        what if what.starts_with("attribute ") => below(world, finding),
        _ => None,
    }
}

/// Explains a difference of memberships, if our side is right and slapd's is not.
fn membership(states: &States, finding: &Finding) -> Option<&'static str> {
    let right = groups_of(&finding.dn, &states.ours);
    match finding.what.as_str() {
        "attribute memberof" => (names_in(&finding.ours) == right
            && names_in(&finding.theirs) != right)
            .then_some("memberOf: slapd keeps or misses groups of renamed and later entries"),
        "entry" if finding.operation == "search" && finding.request.contains("(memberOf=") => {
            let theirs = memberships(&finding.dn, &states.theirs);
            let ours = memberships(&finding.dn, &states.ours);
            (theirs != ours && ours == right).then_some("filters about memberOf: the same")
        }
        _ => None,
    }
}

/// Explains values at or below a name that is gone. The overlay refint of slapd changes those
/// below even if the entry had no descendants. Its memberof-refint never does, and leaves groups
/// alone that move with the name.
fn below(world: &World, finding: &Finding) -> Option<&'static str> {
    let (_, text) = finding.request.split_once(": ")?;
    let rename = text.strip_prefix("modrdn \"");
    let old = rename.or_else(|| text.strip_prefix("delete \""))?;
    let (old, new) = old.split_once('"')?;
    let (old, entry) = (normal(old), normal(&finding.dn));
    let below = format!(",{old}");
    let rdn = new.split('"').nth(1).map(normal).unwrap_or_default();
    let is_below_new = entry.starts_with(&rdn) || entry.contains(&format!(",{rdn},"));
    let has_moved = rename.is_some() && is_below_new;
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    let are_below = |these: &BTreeSet<String>, others: &BTreeSet<String>, is_old: bool| {
        let mut only = these.difference(others).peekable();
        let is_gone = |value: &String| value.ends_with(&below) || is_old && *value == old;
        only.peek().is_some() && only.all(is_gone)
    };
    if world.has("refint") && are_below(&ours, &theirs, false) {
        return Some("refint: slapd changes values below a name that had no descendants");
    }
    let is_left = world.name == "memberof-follow" && are_below(&theirs, &ours, has_moved);
    is_left.then_some("memberof-refint: slapd does not follow renames of whole subtrees")
}

/// Explains the passwords that are kept. Of those changed within a second, slapd chooses by time.
/// It drops all if the policy keeps none.
fn history(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    let keeps = |policy: &Attributes| policy.contains_key("pwdinhistory");
    if finding.theirs.is_empty() && !policy_of(world, states, &finding.dn).is_some_and(keeps) {
        return Some("pwdHistory: slapd drops all with a change if the policy keeps none");
    }
    let times = |values: &str| {
        let values = values.split(" | ");
        let mut times: Vec<i64> = values
            .filter_map(|value| seconds(value.get(..14)?))
            .collect();
        times.sort_unstable();
        times
    };
    let (theirs, ours) = (times(&finding.theirs), times(&finding.ours));
    let is_near = |pair: &[i64]| pair[1] - pair[0] <= 1;
    let mut pairs = theirs.iter().zip(&ours);
    let is_same = pairs.all(|(theirs, ours)| (theirs - ours).abs() <= 1);
    (theirs.len() == ours.len() && (is_same || ours.windows(2).any(is_near)))
        .then_some("pwdHistory: of passwords changed within a second, slapd drops another one")
}

/// Explains failures that only one server keeps. slapd removes all at a bind without a policy, and
/// keeps those that are too old to count.
fn failures(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    if !finding.request.contains(": bind ") {
        return None;
    }
    if finding.theirs.is_empty() {
        return policy_of(world, states, &finding.dn)
            .is_none()
            .then_some("pwdFailureTime: slapd removes failures at a bind also without a policy");
    }
    let times = |text: &str| -> Vec<i64> {
        let values = text.split(" | ");
        values
            .filter_map(|value| seconds(value.get(..14)?))
            .collect()
    };
    let (theirs, ours) = (times(&finding.theirs), times(&finding.ours));
    let newest = theirs.iter().max()?;
    let recent = theirs.iter().filter(|time| newest - **time <= 600);
    (recent.count() == ours.len() && theirs.len() > ours.len())
        .then_some("pwdFailureTime: slapd keeps failures that are too old to count")
}

/// Returns the entry of the policy that is in effect.
fn policy_of<'s>(world: &World, states: &'s States, dn: &str) -> Option<&'s Attributes> {
    let entry = states.ours.get(dn)?;
    let named = entry
        .get("pwdpolicysubentry")
        .and_then(|values| values.first());
    let default = format!("cn=default,ou=other,{}", world.suffix());
    let policy = named.map_or(default, |name| String::from_utf8_lossy(name).into_owned());
    states.ours.get(&policy)
}

/// Explains a bind under an expired password that must be changed.
fn reset(states: &States, finding: &Finding) -> Option<&'static str> {
    let name = finding.request.split('"').nth(1)?;
    let is_reset = states.ours.get(name)?.contains_key("pwdreset");
    (is_reset && finding.theirs.starts_with("0 ") && finding.ours.starts_with("49 "))
        .then_some("bind: slapd lets a password expire only if no reset is pending")
}

/// Explains memberships of groups within groups that slapd leaves out.
fn groups_of_group(finding: &Finding) -> Option<&'static str> {
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    (finding.dn.starts_with("cn=") && theirs.is_subset(&ours))
        .then_some("memberOf of a group: slapd leaves groups out")
}

/// Returns names in a text of values.
fn names_in(values: &str) -> BTreeSet<String> {
    let values = values.split(" | ").filter(|value| !value.is_empty());
    values.map(normal).collect()
}

/// Returns the groups that name an entry.
fn groups_of(dn: &str, entries: &Entries) -> BTreeSet<String> {
    let dn = normal(dn);
    let is_group = |entry: &Attributes| {
        let has = |class: &str| {
            let mut classes = entry.get("objectclass").into_iter().flatten();
            classes.any(|value| value.eq_ignore_ascii_case(class.as_bytes()))
        };
        let names = |attribute: &str| {
            let mut values = entry.get(attribute).into_iter().flatten();
            values.any(|value| normal(&String::from_utf8_lossy(value)) == dn)
        };
        (has("groupOfNames") || has("team")) && names("member")
            || has("groupOfUniqueNames") && names("uniquemember")
    };
    let groups = entries.iter().filter(|(_, entry)| is_group(entry));
    groups.map(|(name, _)| normal(name)).collect()
}

/// Returns the memberships that a server shows.
fn memberships(dn: &str, entries: &Entries) -> BTreeSet<String> {
    let values = entries.get(dn).and_then(|entry| entry.get("memberof"));
    let values = values.into_iter().flatten();
    values
        .map(|value| normal(&String::from_utf8_lossy(value)))
        .collect()
}

/// Returns a name in small letters without the spaces that the histories write.
fn normal(dn: &str) -> String {
    dn.to_lowercase().replace(" , ", ",")
}
