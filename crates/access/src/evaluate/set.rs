//! Members of sets.

use std::collections::BTreeSet;

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope};
use fulgurite_schema::{AttributeDescription, Dn, Filter, Schema};

use crate::context::EntryContext;
use crate::facts::{EntryRef, Facts, RuleSearch};
use crate::names::parent;
use crate::parse::parse_set;
use crate::pattern::SubMatches;
use crate::rule::Identity;
use crate::set::{SetExpression, SetTest};

/// The OID of the OID syntax (RFC 4517, section 3.3.26): classes are compared by the names they
/// were given by.
const OID_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.38";

/// Members of a set at most; what is beyond is left out, and so grants nothing.
const MEMBERS_MAX: usize = 100_000;

pub(crate) type Members = BTreeSet<Vec<u8>>;

/// The names and entries that a set is about.
#[derive(Clone, Copy)]
pub(crate) struct SetContext<'e> {
    pub(crate) schema: &'e Schema,
    /// The name of the entry, in normal form.
    pub(crate) name: &'e str,
    /// The name of the requester, in normal form; empty for an anonymous one.
    pub(crate) user: &'e str,
    pub(crate) facts: &'e dyn Facts,
}

/// Tests that a set is not empty.
pub(super) fn holds(
    test: &SetTest,
    entry: &EntryContext<'_>,
    sub_matches: Option<&SubMatches>,
) -> bool {
    let context = SetContext {
        schema: &entry.operation.rules.schema,
        name: entry.name,
        user: entry.operation.subject.name(Identity::Effective),
        facts: entry.facts,
    };
    match (test, sub_matches) {
        (SetTest::Fixed(set), _) => !members(set, &context).is_empty(),
        (SetTest::Expanded(template), Some(sub_matches)) => {
            parse_set(context.schema, &template.expand(sub_matches))
                .is_ok_and(|set| !members(&set, &context).is_empty())
        }
        (SetTest::Expanded(_), None) => false,
    }
}

/// Returns the members of a set.
pub(crate) fn members(set: &SetExpression, entry: &SetContext<'_>) -> Members {
    match set {
        SetExpression::This => one(entry.name),
        SetExpression::User => match entry.user {
            "" => Members::new(),
            name => one(name),
        },
        SetExpression::Text(text) => one(text),
        SetExpression::Values {
            of,
            attribute,
            again,
        } => {
            let Some(attribute) = attribute else {
                return Members::new();
            };
            if let (SetExpression::Text(text), false) = (&**of, *again)
                && is_url(text)
            {
                return search(entry, text, attribute).unwrap_or_default();
            }
            values(entry, members(of, entry), attribute, *again)
        }
        SetExpression::Above { of, levels } => above(members(of, entry), *levels),
        SetExpression::Both(a, b) => {
            let (a, b) = (members(a, entry), members(b, entry));
            a.intersection(&b).cloned().collect()
        }
        SetExpression::Either(a, b) => {
            let mut all = members(a, entry);
            all.extend(members(b, entry));
            bounded(all)
        }
        SetExpression::Joined(a, b) => {
            let (a, b) = (members(a, entry), members(b, entry));
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            pairs
                .take(MEMBERS_MAX)
                .map(|(a, b)| [a.as_slice(), b.as_slice()].concat())
                .collect()
        }
    }
}

fn one(text: &str) -> Members {
    Members::from([text.as_bytes().to_vec()])
}

fn bounded(mut members: Members) -> Members {
    while members.len() > MEMBERS_MAX {
        members.pop_last();
    }
    members
}

fn is_url(text: &str) -> bool {
    text.get(..8)
        .is_some_and(|start| start.eq_ignore_ascii_case("ldap:///"))
}

/// Returns the values of an attribute in the entries named, and, if asked, in the entries that
/// those values name.
fn values(
    entry: &SetContext<'_>,
    names: Members,
    attribute: &AttributeDescription,
    again: bool,
) -> Members {
    let mut all = Members::new();
    let mut waiting: Vec<Vec<u8>> = names.into_iter().collect();
    while let Some(name) = waiting.pop() {
        for value in values_of(entry, &name, attribute) {
            let new = all.len() < MEMBERS_MAX && all.insert(value.clone());
            if new && again {
                waiting.push(value);
            }
        }
    }
    all
}

fn values_of(
    entry: &SetContext<'_>,
    name: &[u8],
    attribute: &AttributeDescription,
) -> Vec<Vec<u8>> {
    let schema = entry.schema;
    let Ok(dn) = Dn::parse_bytes(schema, name) else {
        return Vec::new();
    };
    if schema.attribute_at(attribute.attribute).name() == "entryDN" {
        return vec![dn.normal().as_bytes().to_vec()];
    }
    let of = if dn.normal() == entry.name {
        EntryRef::Target
    } else {
        EntryRef::Entry(dn.normal())
    };
    let mut values = Vec::new();
    entry.facts.values(of, attribute, &mut |value| {
        values.push(comparable(schema, attribute, value));
    });
    values
}

/// Returns a value as sets compare it: in normal form where that is a text that people can write.
fn comparable(schema: &Schema, attribute: &AttributeDescription, value: &[u8]) -> Vec<u8> {
    if schema.attribute_at(attribute.attribute).syntax.oid == OID_SYNTAX {
        return value.to_vec();
    }
    let normal = schema.normal_value(attribute.attribute, value);
    let textual = |normal: &[u8]| {
        std::str::from_utf8(normal).is_ok_and(|text| !text.chars().any(char::is_control))
    };
    match normal {
        Some(normal) if textual(&normal) => normal.into_owned(),
        _ => value.to_vec(),
    }
}

/// Returns the values of an attribute in the entries that a search URL finds.
fn search(entry: &SetContext<'_>, text: &str, attribute: &AttributeDescription) -> Option<Members> {
    let schema = entry.schema;
    let url: LdapUrl = text.parse().ok()?;
    let base = Dn::parse(schema, &url.dn).ok()?;
    let parsed = url.filter.as_deref().map(FilterBuf::parse);
    let filter = match &parsed {
        None => Filter::resolve(schema, &FilterText::present("objectClass")),
        Some(Ok(filter)) => Filter::resolve(schema, &filter.filter()),
        Some(Err(_)) => return None,
    };
    let mut members = Members::new();
    let mut visit = |value: &[u8]| {
        if members.len() < MEMBERS_MAX {
            members.insert(comparable(schema, attribute, value));
        }
    };
    let search = RuleSearch {
        base: base.normal(),
        scope: url.scope.unwrap_or(Scope::Base),
        filter: &filter,
        attributes: std::slice::from_ref(attribute),
    };
    entry.facts.search(&search, &mut visit);
    Some(members)
}

fn above(names: Members, levels: Option<usize>) -> Members {
    if levels == Some(0) {
        return names;
    }
    let mut all = Members::new();
    for name in names {
        let Ok(mut name) = String::from_utf8(name) else {
            continue;
        };
        let mut left = levels.unwrap_or(usize::MAX);
        while left > 0 && !name.is_empty() {
            name = parent(&name).to_owned();
            left -= 1;
            if (levels.is_none() || left == 0) && !name.is_empty() {
                all.insert(name.clone().into_bytes());
            }
        }
    }
    all
}
