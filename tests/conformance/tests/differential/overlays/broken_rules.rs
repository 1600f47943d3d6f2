//! Refusals of the overlay constraint, where both servers count values differently.

use std::collections::BTreeSet;

use crate::conversation::Attributes;

use super::explained::States;
use super::findings::Finding;
use super::requests::PERMISSIVE;

/// Attributes with the number of values that the rules permit.
const COUNTED: [(&str, usize); 3] = [("title", 2), ("street", 1), ("pager", 0)];

/// Explains a refusal by slapd. For too many values it names the first attribute of the request. It
/// counts them also where the request changes other attributes, and counts added ones twice.
pub(crate) fn explanation(states: &States, finding: &Finding) -> Option<&'static str> {
    let broken = |text: &str| {
        let (_, attribute) = text.split_once("modify breaks constraint on ")?;
        Some(attribute.to_owned())
    };
    let theirs = broken(&finding.theirs)?;
    let changed = changed_attributes(finding);
    let is_first = match finding.operation {
        "modify" => changed.first() == Some(&theirs),
        _ => changed.contains(&theirs),
    };
    let entry = states.ours.get(finding.request.split('"').nth(1)?);
    let has_too_many = |(attribute, limit): &(&str, usize)| {
        let values = entry.and_then(|entry| entry.get(*attribute));
        values.is_some_and(|values| values.len() > *limit)
    };
    if is_first && COUNTED.iter().any(has_too_many) {
        return Some("constraint: slapd counts values at each change of the entry");
    }
    if is_first
        && let Some(entry) = entry
        && counts_twice(entry, finding)
    {
        return Some("constraint: slapd counts values that permissive modify leaves out");
    }
    let is_changed = |counted: &(&str, usize)| changed.iter().any(|name| name == counted.0);
    let ours = broken(&finding.ours)?;
    (is_first && COUNTED.iter().any(is_changed) && changed.contains(&ours))
        .then_some("constraint: for too many values slapd names the first attribute of the request")
}

/// Returns true if values that are there already, which permissive modify does not add again, make
/// the difference. Without them the entry has no more values than permitted.
fn counts_twice(entry: &Attributes, finding: &Finding) -> bool {
    let has_twice = |(attribute, limit): &(&str, usize)| {
        let stored = entry.get(*attribute).into_iter().flatten();
        let stored = stored.map(|value| String::from_utf8_lossy(value).to_lowercase());
        let mut present: BTreeSet<String> = stored.collect();
        let mut counted = present.len();
        for line in finding.request.lines().skip(1) {
            let change = line.trim_start().split_once(' ');
            let Some((verb, change)) = change else {
                continue;
            };
            let Some((name, values)) = change.split_once(": ") else {
                continue;
            };
            if name != *attribute {
                continue;
            }
            let values = values.to_lowercase();
            let values: Vec<&str> = match values.as_str() {
                "(none)" => Vec::new(),
                values => values.split(" | ").collect(),
            };
            if verb == "replace" || values.is_empty() {
                present.clear();
                counted = 0;
            }
            for value in values {
                if verb == "delete" {
                    present.remove(value);
                    counted = counted.saturating_sub(1);
                } else {
                    present.insert(value.to_owned());
                    counted += 1;
                }
            }
        }
        counted > *limit && present.len() <= *limit
    };
    finding.operation == "modify"
        && finding.ours.starts_with("0 ")
        && finding.request.contains(PERMISSIVE)
        && COUNTED.iter().any(has_twice)
}

/// Returns the attributes that a request changes. A rename changes those of both RDNs.
fn changed_attributes(finding: &Finding) -> Vec<String> {
    let of_rdn = |rdn: &str| -> Vec<String> {
        let rdn = rdn.split(',').next().unwrap_or_default();
        let avas = rdn.split('+').filter_map(|ava| ava.split_once('='));
        avas.map(|(attribute, _)| attribute.to_owned()).collect()
    };
    if finding.operation == "modrdn" {
        let mut quoted = finding.request.split('"').skip(1).step_by(2);
        let names = quoted.by_ref().take(2);
        return names.flat_map(of_rdn).collect();
    }
    let lines = finding.request.lines().skip(1);
    let changes = lines.filter_map(|line| line.trim_start().split_once(' ')?.1.split_once(':'));
    changes.map(|(attribute, _)| attribute.to_owned()).collect()
}

#[test]
fn only_values_that_are_there_count_twice() {
    let explained = |stored: &[&str], changes: &str, control: &str| {
        let values = stored.iter().map(|value| value.as_bytes().to_vec());
        let entry = Attributes::from([("title".to_owned(), values.collect())]);
        let finding = Finding {
            world: "together",
            episode: 0,
            operation: "modify",
            what: "code".to_owned(),
            dn: String::new(),
            theirs: "19 modify breaks constraint on title".to_owned(),
            ours: "0 ".to_owned(),
            request: format!("Root: modify \"uid=p\"\n{changes}    control {control} critical"),
        };
        let mut states = States::default();
        states.ours.insert("uid=p".to_owned(), entry);
        explanation(&states, &finding).is_some()
    };
    let twice = "    add title: one\n    delete mail: c@x.org\n    add title: One\n";
    assert!(explained(&["two"], twice, PERMISSIVE));
    assert!(explained(
        &["two", "one"],
        "    add title: one\n",
        PERMISSIVE
    ));
    assert!(!explained(&["two"], twice, "1.1"));
    // slapd has no reason here.
    assert!(!explained(&[], twice, PERMISSIVE));
    assert!(!explained(
        &["two"],
        "    replace title: one | two\n",
        PERMISSIVE
    ));
    // We would have to refuse these.
    assert!(!explained(&["two", "three"], twice, PERMISSIVE));
    assert!(!explained(
        &["two"],
        "    add title: one | three\n",
        PERMISSIVE
    ));
}
