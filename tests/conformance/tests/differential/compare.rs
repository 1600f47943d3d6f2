//! Two answers to one request: what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use crate::accepted::Fields;
use crate::conversation::{Answer, Attributes};

/// Attributes that each server sets for itself: that they are there is compared, not their values.
const INCOMPARABLE: &[&str] = &[
    "entryuuid",
    "entrycsn",
    "createtimestamp",
    "modifytimestamp",
    "contextcsn",
];
const SIZE_LIMIT_EXCEEDED: u32 = 4;
/// Lines shown of the entries of one difference.
const LINES_SHOWN: usize = 14;

/// A value as far as two servers can agree on it; the attribute's name is in small letters.
pub(crate) fn comparable(attribute: &str, value: &[u8]) -> String {
    let is_hash = attribute == "userpassword" && value.starts_with(b"{");
    if is_hash || INCOMPARABLE.contains(&attribute) {
        "...".to_owned()
    } else if ["creatorsname", "modifiersname"].contains(&attribute) {
        // slapd writes a proxied identity in normal form.
        value.to_ascii_lowercase().escape_ascii().to_string()
    } else {
        value.escape_ascii().to_string()
    }
}

/// One request that two servers answered differently.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    pub(crate) episode: u64,
    pub(crate) operation: &'static str,
    /// The differing part: `code`, `matched`, `referrals`, `entries`, `references`, `controls`,
    /// `value`, `pages` or `order`.
    pub(crate) what: &'static str,
    pub(crate) theirs: String,
    pub(crate) ours: String,
    pub(crate) request: String,
}

impl Fields for Difference {
    const NAMES: &'static [&'static str] =
        &["operation", "what", "theirs", "ours", "request", "lines"];

    /// `lines` are those that only one of the answers has; all must fit.
    fn fits(&self, field: &str, is_match: &dyn Fn(&str) -> bool) -> bool {
        match field {
            "operation" => is_match(self.operation),
            "what" => is_match(self.what),
            "theirs" => is_match(&self.theirs),
            "ours" => is_match(&self.ours),
            "lines" => {
                let theirs = self.theirs.lines().skip(1);
                theirs.chain(self.ours.lines().skip(1)).all(is_match)
            }
            _ => is_match(&self.request),
        }
    }
}

impl Difference {
    /// In short, for counting.
    pub(crate) fn kind(&self) -> String {
        match self.what {
            "code" | "controls" => format!(
                "{} {}: {} / {}",
                self.operation,
                self.what,
                first(&self.theirs),
                first(&self.ours)
            ),
            what => format!("{} {what}", self.operation),
        }
    }
}

fn first(text: &str) -> String {
    text.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(90)
        .collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "episode {}: {}\n  {}: reference {}\n  {}: ours      {}",
            self.episode, self.request, self.what, self.theirs, self.what, self.ours
        )
    }
}

/// Returns the most telling difference.
pub(crate) fn difference(theirs: &Answer, ours: &Answer) -> Option<(&'static str, String, String)> {
    if theirs.code != ours.code {
        return Some(("code", code(theirs), code(ours)));
    }
    if theirs.matched != ours.matched {
        return Some(("matched", theirs.matched.clone(), ours.matched.clone()));
    }
    if theirs.referrals != ours.referrals {
        return Some((
            "referrals",
            format!("{:?}", theirs.referrals),
            format!("{:?}", ours.referrals),
        ));
    }
    if theirs.code == Some(SIZE_LIMIT_EXCEEDED) {
        // The server chooses the entries before the limit.
        let (theirs, ours) = (theirs.entries.len(), ours.entries.len());
        return (theirs != ours).then(|| {
            (
                "entries",
                format!("{theirs} entries"),
                format!("{ours} entries"),
            )
        });
    }
    if let Some((theirs, ours)) = entries_differ(theirs, ours) {
        return Some(("entries", theirs, ours));
    }
    if theirs.references != ours.references {
        return Some((
            "references",
            format!("{:?}", theirs.references),
            format!("{:?}", ours.references),
        ));
    }
    if theirs.pages != ours.pages {
        return Some((
            "pages",
            format!("{:?}", theirs.pages),
            format!("{:?}", ours.pages),
        ));
    }
    if theirs.controls != ours.controls {
        return Some((
            "controls",
            format!("{:?}", theirs.controls),
            format!("{:?}", ours.controls),
        ));
    }
    if theirs.value != ours.value {
        return Some(("value", value(theirs), value(ours)));
    }
    None
}

fn code(answer: &Answer) -> String {
    match answer.code {
        None => "closed".to_owned(),
        Some(code) => format!("{code} {}", answer.diagnostic),
    }
}

fn value(answer: &Answer) -> String {
    answer
        .value
        .as_ref()
        .map_or("none".to_owned(), |value| value.escape_ascii().to_string())
}

fn entries_differ(theirs: &Answer, ours: &Answer) -> Option<(String, String)> {
    let (a, b) = (lines(&theirs.entries), lines(&ours.entries));
    if a == b {
        return None;
    }
    let only = |these: &BTreeMap<String, BTreeSet<String>>,
                others: &BTreeMap<String, BTreeSet<String>>| {
        let mut text = String::new();
        let mut shown = 0;
        for (dn, values) in these {
            let missing: Vec<String> = match others.get(dn) {
                None => vec!["(the entry)".to_owned()],
                Some(other) => values.difference(other).cloned().collect(),
            };
            for line in missing {
                shown += 1;
                if shown <= LINES_SHOWN {
                    let _ = write!(text, "\n      {dn}: {line}");
                }
            }
        }
        format!("only:{text}")
    };
    Some((only(&a, &b), only(&b, &a)))
}

fn lines(entries: &[(String, Attributes)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (dn, attributes) in entries {
        let is_again = all.contains_key(dn);
        let lines = all.entry(dn.clone()).or_default();
        if is_again {
            lines.insert("(twice)".to_owned());
        }
        for (name, values) in attributes {
            if values.is_empty() {
                lines.insert(format!("{name}:"));
            }
            for value in values {
                lines.insert(format!("{name}: {}", comparable(name, value)));
            }
        }
    }
    all
}
