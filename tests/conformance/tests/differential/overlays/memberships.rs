//! The right groups of each entry, computed from the groups. Both servers have the same groups, but
//! slapd's `memberOf` tells of past ones.

use std::collections::BTreeSet;

use crate::conversation::Attributes;

use super::findings::{Entries, Finding};
use super::worlds::World;

/// The stored entries of both servers after the last update.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) theirs: Entries,
    pub(crate) ours: Entries,
}

/// Explains a difference of memberships, if our side is right and slapd's is not.
pub(crate) fn explanation(
    world: &World,
    states: &States,
    finding: &Finding,
) -> Option<&'static str> {
    if !world.has("memberof") {
        return None;
    }
    let is_update = finding.operation == "contents";
    match finding.what.as_str() {
        "attribute memberof" => {
            let right = groups_of(&finding.dn, &states.ours);
            let said = |text: &str| -> BTreeSet<String> {
                let values = text.split(" | ").filter(|value| !value.is_empty());
                values.map(normal).collect()
            };
            (said(&finding.ours) == right && said(&finding.theirs) != right)
                .then_some("memberOf: slapd keeps or misses groups of renamed and later entries")
        }
        "entry" if !is_update && finding.request.contains("memberOf") => {
            let theirs = memberships(&finding.dn, &states.theirs);
            let ours = memberships(&finding.dn, &states.ours);
            (theirs != ours && ours == groups_of(&finding.dn, &states.ours))
                .then_some("filters about memberOf: the same")
        }
        _ => None,
    }
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
pub(crate) fn normal(dn: &str) -> String {
    dn.to_lowercase().replace(" , ", ",")
}
