//! Weights of values (valsort): how both servers show values without one, and refuse them.

use super::findings::Finding;

/// The attributes whose values need weights, in the order of the directives.
const WEIGHTED: [&str; 2] = ["title", "l"];

/// Explains a difference in the world of valsort.
pub(crate) fn explanation(finding: &Finding) -> Option<&'static str> {
    let is_refusal = ["code", "text"].contains(&finding.what.as_str());
    if finding.operation == "modify" && is_refusal {
        return later_change(finding);
    }
    shown(finding)
}

/// Explains a refusal by us for a value that slapd does not look at. It checks only the first
/// change of an attribute in a request.
fn later_change(finding: &Finding) -> Option<&'static str> {
    let (text, in_later) = first_wrong(&finding.request)?;
    let ours = finding.ours.strip_prefix("19 ").unwrap_or(&finding.ours);
    (in_later && ours == text && finding.theirs != finding.ours)
        .then_some("valsort: slapd checks only the first change of an attribute")
}

/// Returns the refusal of the first wrong value of a request. True means that an earlier change
/// has the same attribute.
fn first_wrong(request: &str) -> Option<(&'static str, bool)> {
    WEIGHTED.iter().find_map(|attribute| {
        let lines = request.lines().skip(1);
        let changes =
            lines.filter_map(|line| line.trim_start().split_once(' ')?.1.split_once(": "));
        let changes = changes.filter(|(name, _)| name == attribute);
        let mut wrong = changes.enumerate().filter_map(|(at, (_, values))| {
            let mut values = values.split(" | ").filter(|value| *value != "(none)");
            Some((values.find_map(refusal)?, at > 0))
        });
        wrong.next()
    })
}

/// Returns the refusal of a value.
fn refusal(value: &str) -> Option<&'static str> {
    let Some((_, text)) = value.split_once('{') else {
        return Some("weight missing from attribute");
    };
    let weight = text.split_once('}').map(|(weight, _)| weight);
    let is_weight = weight.is_some_and(|text| text.is_empty() || text.parse::<i64>().is_ok());
    (!is_weight).then_some("weight is misformatted")
}

/// Explains values of which one has no weight. slapd shows those before it without their weights.
fn shown(finding: &Finding) -> Option<&'static str> {
    if !["attribute title", "attribute l"].contains(&finding.what.as_str()) {
        return None;
    }
    let word = |value: &'_ str| {
        let (weight, word) = value.strip_prefix('{')?.split_once('}')?;
        // Both take an empty weight for zero.
        let is_weight = weight.is_empty() || weight.parse::<i64>().is_ok();
        is_weight.then(|| word.to_owned())
    };
    let mut has_weight = true;
    let expected = finding.ours.split(" | ").map(|value| {
        let word = word(value).filter(|_| has_weight);
        has_weight = word.is_some();
        word.unwrap_or_else(|| value.to_owned())
    });
    let expected: Vec<String> = expected.collect();
    (!has_weight && finding.theirs == expected.join(" | "))
        .then_some("valsort: if a value has no weight, slapd shows the earlier ones without theirs")
}

#[test]
fn only_later_changes_are_explained() {
    let explained = |changes: &str, theirs: &str, ours: &str| {
        let finding = Finding {
            world: "valsort",
            episode: 0,
            operation: "modify",
            what: "code".to_owned(),
            dn: String::new(),
            theirs: theirs.to_owned(),
            ours: ours.to_owned(),
            request: format!("Root: modify \"uid=p\"{changes}"),
        };
        explanation(&finding).is_some()
    };
    let (missing, wrong) = ("weight missing from attribute", "weight is misformatted");
    let later = "\n    add title: {1}a\n    add l: {1b\n    replace title: two";
    assert!(explained(later, wrong, missing));
    assert!(explained(later, "0 ", &format!("19 {missing}")));
    assert!(!explained(later, missing, wrong));
    assert!(!explained(later, "0 ", "0 x"));
    let first = "\n    add title: a\n    replace title: {1}b";
    assert!(!explained(first, "0 ", &format!("19 {missing}")));
    let none = "\n    add title: {1}a\n    delete title: (none)";
    assert!(!explained(none, "0 ", &format!("19 {missing}")));
}
