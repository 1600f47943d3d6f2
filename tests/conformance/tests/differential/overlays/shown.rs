//! Differences about values that dynlist computes. The entry decides, as both servers show it.
//!
//! slapd's filters miss values that slapd itself shows, and find some that it does not show. So a
//! difference is meant if the shown entry says what our server says.

use std::collections::BTreeSet;

use crate::conversation::Attributes;

use super::explained::{States, is_wider, names_in, normal};
use super::findings::Finding;

/// Attributes whose values are names.
const NAMES: [&str; 5] = ["member", "memberof", "owner", "manager", "seealso"];

/// An entry as both servers show it, and the stored entries.
pub(crate) struct ShownEntry<'s> {
    pub(crate) states: &'s States,
    pub(crate) theirs: Attributes,
    pub(crate) ours: Attributes,
}

/// Returns the name of the entry that decides about a difference.
pub(crate) fn deciding_entry(finding: &Finding) -> Option<String> {
    match (finding.operation, finding.what.as_str()) {
        ("search", "entry") => Some(finding.dn.clone()),
        ("compare", "code") => finding.request.split('"').nth(1).map(str::to_owned),
        _ => None,
    }
}

/// Returns the reason of a difference, if the shown entry agrees with our server.
pub(crate) fn explanation(shown: &ShownEntry<'_>, finding: &Finding) -> Option<&'static str> {
    let (_, text) = finding.request.split_once(": ")?;
    let (_, rest) = text.split_once('"')?;
    let (name, rest) = rest.split_once('"')?;
    if finding.operation == "compare" {
        let item = rest.lines().next()?.trim_start();
        let is_true = item_matches(shown, name, item)?;
        let code = if is_true { "6 " } else { "5 " };
        return finding
            .ours
            .starts_with(code)
            .then_some("dynlist: compares know the values that are shown");
    }
    let filter = &rest[rest.find('(')?..];
    let (is_found, _) = filter_matches(shown, &finding.dn, filter)?;
    ((finding.ours == "found") == is_found)
        .then_some("dynlist: filters know the values that are shown, and no others")
}

/// Returns true if the entry matches the filter at the beginning of a text, and what follows.
fn filter_matches<'t>(shown: &ShownEntry<'_>, dn: &str, text: &'t str) -> Option<(bool, &'t str)> {
    let inner = text.strip_prefix('(')?;
    let Some(operator) = inner.chars().next().filter(|first| "&|!".contains(*first)) else {
        let end = end_of_item(inner)?;
        let is_true = item_matches(shown, dn, &inner[..end])?;
        return Some((is_true, &inner[end + 1..]));
    };
    let mut rest = &inner[1..];
    let mut parts = Vec::new();
    while rest.starts_with('(') {
        let (is_true, behind) = filter_matches(shown, dn, rest)?;
        parts.push(is_true);
        rest = behind;
    }
    let is_true = match operator {
        '&' => parts.iter().all(|part| *part),
        '|' => parts.contains(&true),
        _ => !parts.first()?,
    };
    Some((is_true, rest.strip_prefix(')')?))
}

/// Returns the place of the parenthesis that ends an item. URLs have others in pairs.
fn end_of_item(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns true if the entry matches `attribute=value` or `attribute=*`. Returns `None` if the
/// servers do not agree about the values.
fn item_matches(shown: &ShownEntry<'_>, dn: &str, item: &str) -> Option<bool> {
    let (attribute, value) = item.split_once('=')?;
    let attribute = attribute.to_lowercase();
    let values = |entry: &Attributes| -> BTreeSet<String> {
        let values = entry.get(&attribute).into_iter().flatten();
        let values = values.map(|value| same(&attribute, &String::from_utf8_lossy(value)));
        values.collect()
    };
    let (theirs, ours) = (values(&shown.theirs), values(&shown.ours));
    let is_meant = match attribute.as_str() {
        "memberof" => is_wider(shown.states, dn, &theirs, &ours),
        // slapd adds classes of the entries that a list finds.
        "objectclass" => ours.is_subset(&theirs),
        _ => false,
    };
    if theirs != ours && !is_meant {
        return None;
    }
    Some(match value {
        "*" => !ours.is_empty(),
        // The only superclass in question.
        "person" if attribute == "objectclass" && ours.contains("inetorgperson") => true,
        value => ours.contains(&same(&attribute, value)),
    })
}

/// Returns a value in a form that equal values share.
fn same(attribute: &str, value: &str) -> String {
    match attribute {
        "memberurl" => value.to_owned(),
        _ if NAMES.contains(&attribute) => normal(value),
        _ => {
            let lower = value.to_lowercase();
            lower.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

/// Explains the order of values, if some of them are computed.
pub(crate) fn order(stored: &Attributes, finding: &Finding) -> Option<&'static str> {
    let attribute = finding.what.strip_prefix("order ")?;
    let stored = stored.get(attribute).into_iter().flatten();
    let stored: Vec<String> = stored
        .map(|value| value.escape_ascii().to_string())
        .collect();
    let mut shown = finding.ours.split(" | ");
    shown
        .any(|value| !stored.iter().any(|stored| stored == value))
        .then_some("dynlist: computed values have no order")
}

/// Explains a computed value in other letters. Of equal values an entry shows the first one found.
pub(crate) fn case(stored: &Attributes, finding: &Finding) -> Option<&'static str> {
    let attribute = finding.what.strip_prefix("attribute ")?;
    let folded = |values: &str| -> BTreeSet<String> {
        let values = values.split(" | ");
        values.map(|value| same(attribute, value)).collect()
    };
    let stored = stored.get(attribute).into_iter().flatten();
    let stored: BTreeSet<String> = stored
        .map(|value| value.escape_ascii().to_string())
        .collect();
    let shown: BTreeSet<String> = finding.ours.split(" | ").map(str::to_owned).collect();
    (folded(&finding.theirs) == folded(&finding.ours) && !shown.is_subset(&stored))
        .then_some("dynlist: of values that are equal, slapd shows another one")
}

/// Explains members of members. A group shows them if the client selects memberOf; in slapd also
/// if the filter is about it.
pub(crate) fn members_of_members(finding: &Finding) -> Option<&'static str> {
    let (_, wanted) = finding.request.rsplit_once(" [")?;
    let is_asked = wanted.contains("memberOf") || wanted.contains('+');
    let (theirs, ours) = (names_in(&finding.theirs), names_in(&finding.ours));
    let is_meant = finding.what == "attribute member"
        && finding.request.contains("(memberOf=")
        && !is_asked
        && ours.is_subset(&theirs);
    is_meant.then_some("dynlist: a filter about memberOf does not show members of members")
}

/// Explains the value of a single-valued attribute. It is that of the entry that is found first.
pub(crate) fn single(states: &States, finding: &Finding) -> Option<&'static str> {
    let attribute = finding.what.strip_prefix("attribute ")?;
    let is_found = |value: &str| {
        let mut others = states.ours.iter().filter(|(name, _)| **name != finding.dn);
        others.any(|(_, entry)| {
            let mut values = entry.get(attribute).into_iter().flatten();
            values.any(|held| held == value.as_bytes())
        })
    };
    let is_list = states.ours.get(&finding.dn)?.contains_key("memberurl");
    (is_list && is_found(&finding.theirs) && is_found(&finding.ours))
        .then_some("dynlist: a single-valued attribute has the value found first")
}

/// Explains values of lists that a list finds. slapd shows them only to a filter about a value that
/// the list shows. The stored entry does not match such a filter.
pub(crate) fn lists_of_lists(states: &States, finding: &Finding) -> Option<&'static str> {
    let attribute = finding.what.strip_prefix("attribute ")?;
    let stored = states.ours.get(&finding.dn)?;
    let shows_all = |url: &Vec<u8>| {
        let url = String::from_utf8_lossy(url).into_owned();
        url.split('?').nth(1).is_none_or(str::is_empty)
    };
    if !stored.get("memberurl")?.iter().any(shows_all) {
        return None;
    }
    let folded = |values: &str| -> BTreeSet<String> {
        let values = values.split(" | ").filter(|value| !value.is_empty());
        values.map(|value| same(attribute, value)).collect()
    };
    let (theirs, ours) = (folded(&finding.theirs), folded(&finding.ours));
    let held: BTreeSet<String> = (states.ours.values())
        .flat_map(|entry| entry.get(attribute).into_iter().flatten())
        .map(|value| same(attribute, &value.escape_ascii().to_string()))
        .collect();
    let has_more =
        ours.is_subset(&theirs) && theirs.difference(&ours).all(|one| held.contains(one));
    let lists = states.ours.values();
    let others = lists
        .filter(|entry| entry.contains_key("memberurl"))
        .count()
        - 1;
    if !has_more || others == 0 {
        return None;
    }
    let as_stored = ShownEntry {
        states,
        theirs: stored.clone(),
        ours: stored.clone(),
    };
    let filter = &finding.request[finding.request.find('(')?..];
    let (is_found, _) = filter_matches(&as_stored, &finding.dn, filter)?;
    (!is_found)
        .then_some("dynlist: values of lists within a list, which slapd shows to some filters")
}

#[test]
fn filters_are_read() {
    let values = |values: &[&str]| {
        values
            .iter()
            .map(|value| value.as_bytes().to_vec())
            .collect()
    };
    let mut ours = Attributes::new();
    ours.insert("title".to_owned(), values(&["Two  2"]));
    ours.insert("member".to_owned(), values(&["uid=p1 , dc=x"]));
    let states = States::default();
    let shown = ShownEntry {
        states: &states,
        theirs: ours.clone(),
        ours,
    };
    let matches =
        |filter| filter_matches(&shown, "uid=p1,dc=x", filter).map(|(is_true, _)| is_true);
    assert_eq!(matches("(title=two 2) rest"), Some(true));
    assert_eq!(matches("(member=UID=p1,dc=x)"), Some(true));
    assert_eq!(matches("(!(title=*))"), Some(false));
    assert_eq!(matches("(&(title=*)(|(mail=a)(!(mail=a))))"), Some(true));
    assert_eq!(
        matches("(memberURL=ldap:///dc=x??sub?(&(a=b)(c=d)))"),
        Some(false)
    );
    assert_eq!(matches("(title=two 2"), None);
}
