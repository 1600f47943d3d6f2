//! The rule of references: the values of an entry after another one is renamed or deleted.

use std::collections::BTreeSet;

use super::explained::{States, names_in, normal};
use super::findings::Finding;

/// The entry that takes the place of the last value in the world refint-nothing.
const NOBODY: &str = "cn=nobody,dc=refint-nothing";

/// Returns true if our values of a finding are those before the update, changed as our references
/// follow. `new` is the name after a rename, and all names are in normal form.
///
/// Values that are the old name get the new one, or are removed. With descendants, those below it
/// get the new one too. An entry that has the new name already stays as it is. So does one that
/// would lose its last value.
pub(crate) fn is_right(states: &States, finding: &Finding, old: &str, new: Option<&str>) -> bool {
    let entry = normal(&finding.dn);
    let (below, attribute) = (format!(",{old}"), finding.what.strip_prefix("attribute "));
    // The entry itself may have moved.
    let entry_before = match new {
        Some(new) => moved(&entry, new, old),
        None => entry,
    };
    let mut entries = states.ours_before.iter();
    let stored = entries.find(|(name, _)| normal(name) == entry_before);
    let values = stored.and_then(|(_, stored)| stored.get(attribute?));
    let values = values.into_iter().flatten();
    let before: BTreeSet<String> = values
        .map(|value| normal(&String::from_utf8_lossy(value)))
        .collect();
    let mut names = states.ours_before.keys();
    let had_descendants = names.any(|name| normal(name).ends_with(&below));
    let follow = |value: &String| match new {
        Some(new) if had_descendants || value == old => Some(moved(value, old, new)),
        None if value == old => None,
        _ => Some(value.clone()),
    };
    let after: BTreeSet<String> = before.iter().filter_map(follow).collect();
    let ours = names_in(&finding.ours);
    let stays = after.is_empty() || new.is_some_and(|new| before.contains(new));
    let is_nobody = after.is_empty() && ours.iter().eq([NOBODY]);
    ours == after || is_nobody || stays && ours == before
}

/// Returns a name that is another one or below it, under the new name of that one.
fn moved(name: &str, old: &str, new: &str) -> String {
    let own = name.strip_suffix(old);
    match own.filter(|own| own.is_empty() || own.ends_with(',')) {
        Some(own) => format!("{own}{new}"),
        None => name.to_owned(),
    }
}

#[test]
fn values_follow_their_entries() {
    let judged = |before: &[&str], ours: &str, new: Option<&str>| {
        let mut states = States::default();
        for name in ["cn=g", "uid=a,ou=x", "ou=x"] {
            let mut entry = crate::conversation::Attributes::new();
            if name == "cn=g" {
                let values = before.iter().map(|value| value.as_bytes().to_vec());
                entry.insert("member".to_owned(), values.collect());
            }
            states.ours_before.insert(name.to_owned(), entry);
        }
        let finding = Finding {
            world: "refint",
            episode: 0,
            operation: "contents",
            what: "attribute member".to_owned(),
            dn: "cn=g".to_owned(),
            theirs: String::new(),
            ours: ours.to_owned(),
            request: String::new(),
        };
        is_right(&states, &finding, "ou=x", new)
    };
    let new = Some("ou=y");
    assert!(judged(&["ou=x", "uid=b,ou=x"], "uid=b,ou=y | ou=y", new));
    assert!(!judged(&["ou=x", "uid=b,ou=x"], "uid=b,ou=x | ou=y", new));
    assert!(!judged(&["ou=x", "cn=z"], "ou=x | cn=z", new));
    assert!(!judged(&["ou=x", "cn=z"], "ou=y", new));
    // It has the new name already.
    assert!(judged(&["ou=x", "ou=y"], "ou=x | ou=y", new));
    assert!(judged(&["ou=x", "uid=b,ou=x"], "uid=b,ou=x", None));
    assert!(!judged(&["ou=x", "uid=b,ou=x"], "", None));
    assert!(judged(&["ou=x"], "ou=x", None));
    assert!(judged(&["ou=x"], NOBODY, None));
}
