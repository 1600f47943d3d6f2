//! Answers in a form that can be compared, and the list of what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fulgurite_client::{
    Client, Control, Entry, LdapResult, ResultCode, Scope, SearchOutcome, SearchRequest,
};
use fulgurite_ldap::FilterBuf;

use crate::data::SUFFIX;
use crate::queries::Query;
use crate::servers::Server;

/// Operational attributes that each server sets for itself.
pub(crate) const INCOMPARABLE: &[&str] = &[
    "entryuuid",
    "entrycsn",
    "createtimestamp",
    "modifytimestamp",
    "contextcsn",
];

/// An answer: a word for the outcome, and the entries in canonical text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    outcome: String,
    entries: BTreeMap<String, BTreeSet<String>>,
    /// How the entries are to be compared.
    only: Compared,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Compared {
    #[default]
    Everything,
    /// The server chooses the entries before a size limit.
    Count(usize),
    /// The reference may have more.
    Superset,
}

impl Answer {
    /// Of an operation without entries.
    pub(crate) fn of(result: &LdapResult) -> Self {
        Self {
            outcome: outcome(result),
            ..Self::default()
        }
    }

    /// Returns true if the answer is that of the reference.
    pub(crate) fn matches(&self, expected: &Answer) -> bool {
        let entries = match expected.only {
            Compared::Superset => self
                .entries
                .iter()
                .all(|(dn, values)| expected.entries.get(dn) == Some(values)),
            _ => self.entries == expected.entries,
        };
        self.outcome == expected.outcome && entries && self.only == expected.only
    }
}

fn outcome(result: &LdapResult) -> String {
    let mut text = format!("{:?}", result.code);
    if !result.matched_dn.is_empty() {
        let _ = write!(text, ", matched \"{}\"", result.matched_dn);
    }
    for url in &result.referrals {
        let _ = write!(text, ", referral {url}");
    }
    text
}

/// Asks and brings the answer into comparable form.
pub(crate) fn ask(client: &mut Client, query: &Query) -> Answer {
    let filter =
        FilterBuf::parse(&query.filter).unwrap_or_else(|error| panic!("{}: {error}", query.filter));
    let mut request = SearchRequest::new(&query.base, query.scope, filter.filter());
    request.attributes = query.attributes.iter().map(String::as_bytes).collect();
    request.types_only = query.types_only;
    request.size_limit = query.size_limit;
    let controls = [Control::manage_dsa_it()];
    let controls = if query.manage_dsa_it {
        &controls[..]
    } else {
        &[]
    };
    let found = client
        .search_with(&request, controls)
        .unwrap_or_else(|error| panic!("{query}: {error}"));
    let limited = found.result.code == ResultCode::SizeLimitExceeded;
    let mut answer = answer(&found);
    if limited {
        answer.only = Compared::Count(found.entries.len());
        answer.entries.clear();
    } else if query.is_approximate() {
        answer.only = Compared::Superset;
    }
    answer
}

fn answer(found: &SearchOutcome) -> Answer {
    let mut outcome = outcome(&found.result);
    if found.result.code != ResultCode::SizeLimitExceeded {
        let references: BTreeSet<&String> = found.references.iter().collect();
        for url in references {
            let _ = write!(outcome, ", continued at {url}");
        }
    }
    let mut entries = BTreeMap::new();
    for entry in &found.entries {
        if entries.insert(entry.dn.clone(), values(entry)).is_some() {
            let _ = write!(outcome, ", {} twice", entry.dn);
        }
    }
    Answer {
        outcome,
        entries,
        only: Compared::Everything,
    }
}

fn values(entry: &Entry) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for (name, values) in &entry.attributes {
        let name = name.to_ascii_lowercase();
        if INCOMPARABLE.contains(&name.as_str()) {
            // Its presence and its number can be compared all the same.
            all.insert(format!("{name}: {} values", values.len()));
            continue;
        }
        if values.is_empty() {
            all.insert(format!("{name}:"));
        }
        all.extend(
            values
                .iter()
                .map(|value| format!("{name}: {}", value.escape_ascii())),
        );
    }
    all
}

/// Everything below the suffix with all attributes.
pub(crate) fn dump(client: &mut Client) -> Answer {
    let filter = FilterBuf::parse("(objectClass=*)").expect("a filter");
    let mut request = SearchRequest::new(SUFFIX, Scope::Subtree, filter.filter());
    request.attributes = vec![b"*", b"+"];
    let found = client
        .search_with(&request, &[Control::manage_dsa_it()])
        .expect("read everything");
    answer(&found)
}

/// The differences.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    compared: usize,
    found: Vec<String>,
    /// How often the reference gave each result code: a test whose questions all fail proves
    /// little.
    outcomes: BTreeMap<String, usize>,
    entries: usize,
}

/// Lines shown of one difference.
const LINES_SHOWN: usize = 24;

impl Differences {
    /// Compares one pair of answers.
    pub(crate) fn note(&mut self, what: &str, expected: &Answer, got: &Answer) {
        self.compared += 1;
        let code = expected.outcome.split(',').next().unwrap_or_default();
        *self.outcomes.entry(code.to_owned()).or_default() += 1;
        self.entries += expected.entries.len();
        if got.matches(expected) {
            return;
        }
        let mut text = what.to_owned();
        if (&expected.outcome, expected.only) != (&got.outcome, got.only) {
            let _ = write!(
                text,
                "\n  reference: {} {:?}",
                expected.outcome, expected.only
            );
            let _ = write!(text, "\n  ours:      {} {:?}", got.outcome, got.only);
        }
        let mut lines = Vec::new();
        let names: BTreeSet<&String> = expected.entries.keys().chain(got.entries.keys()).collect();
        for dn in names {
            match (expected.entries.get(dn), got.entries.get(dn)) {
                (Some(_), None) if expected.only == Compared::Superset => {}
                (Some(_), None) => lines.push(format!("- {dn}")),
                (None, Some(_)) => lines.push(format!("+ {dn}")),
                (Some(theirs), Some(mine)) => {
                    lines.extend(
                        theirs
                            .difference(mine)
                            .map(|value| format!("- {dn}: {value}")),
                    );
                    lines.extend(
                        mine.difference(theirs)
                            .map(|value| format!("+ {dn}: {value}")),
                    );
                }
                (None, None) => {}
            }
        }
        for line in lines.iter().take(LINES_SHOWN) {
            let _ = write!(text, "\n  {line}");
        }
        if lines.len() > LINES_SHOWN {
            let _ = write!(text, "\n  ... and {} lines more", lines.len() - LINES_SHOWN);
        }
        self.found.push(text);
    }

    /// Pairs compared so far.
    pub(crate) fn compared(&self) -> usize {
        self.compared
    }

    /// Fails with all that differed.
    pub(crate) fn finish(self, reference: &Server, ours: &Server) {
        println!(
            "{} entries compared; results: {:?}",
            self.entries, self.outcomes
        );
        for (number, difference) in self.found.iter().enumerate() {
            println!("{}. {difference}", number + 1);
        }
        assert!(
            self.found.is_empty(),
            "{} of {} answers of {} differ from {}'s (- reference only, + ours only), listed above\n{}",
            self.found.len(),
            self.compared,
            ours.name(),
            reference.name(),
            ours.log()
        );
    }
}
