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
    if finding.operation != "contents" {
        return None;
    }
    match finding.what.as_str() {
        "attribute pwdhistory" => history(finding),
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

/// Explains values below a name that is gone. The overlay refint of slapd changes them even if the
/// entry had no descendants. Its memberof-refint never does.
fn below(world: &World, finding: &Finding) -> Option<&'static str> {
    let (_, text) = finding.request.split_once(": ")?;
    let old = text
        .strip_prefix("modrdn \"")
        .or_else(|| text.strip_prefix("delete \""))?;
    let below = format!(",{}", normal(old.split_once('"')?.0));
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    let are_below = |these: &BTreeSet<String>, others: &BTreeSet<String>| {
        let mut only = these.difference(others).peekable();
        only.peek().is_some() && only.all(|value| value.ends_with(&below))
    };
    if world.has("refint") && are_below(&ours, &theirs) {
        return Some("refint: slapd changes values below a name that had no descendants");
    }
    (world.name == "memberof-follow" && are_below(&theirs, &ours))
        .then_some("memberof-refint: slapd does not follow renames of whole subtrees")
}

/// Explains the passwords that are kept of those changed within a second. slapd chooses by time.
fn history(finding: &Finding) -> Option<&'static str> {
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
    (theirs.len() == ours.len() && ours.windows(2).any(is_near))
        .then_some("pwdHistory: of passwords changed within a second, slapd drops another one")
}

/// Explains failures that a bind leaves in an entry for which no policy is in effect.
fn failures(world: &World, states: &States, finding: &Finding) -> Option<&'static str> {
    let entry = states.ours.get(&finding.dn)?;
    let named = entry
        .get("pwdpolicysubentry")
        .and_then(|values| values.first());
    let default = format!("cn=default,ou=other,{}", world.suffix());
    let policy = named.map_or(default, |name| String::from_utf8_lossy(name).into_owned());
    let is_bind = finding.request.contains(": bind ");
    (is_bind && finding.theirs.is_empty() && !states.ours.contains_key(&policy))
        .then_some("pwdFailureTime: slapd removes failures at a bind also without a policy")
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
            let classes = entry.get("objectclass").into_iter().flatten();
            classes
                .into_iter()
                .any(|value| value.eq_ignore_ascii_case(class.as_bytes()))
        };
        let names = |attribute: &str| {
            let values = entry.get(attribute).into_iter().flatten();
            values
                .into_iter()
                .any(|value| normal(&String::from_utf8_lossy(value)) == dn)
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
