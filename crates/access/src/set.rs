//! Set algebra in rules: `set="[cn=admins,dc=example,dc=com]/member* & user"`.
//!
//! ```text
//!   this  user          the name of the entry, of the requester
//!   [text]              that text
//!   set/attr  set->attr the values of just that attribute in the entries that the set names, or finds: a text may be a
//!                       search URL
//!   set/attr*           and the values in the entries that those name, and so on
//!   set/-n  set/-*      the names n levels above; all names above
//!   a & b   a | b       what both have; what either has
//!   a + b               each text of the one followed by each of the other
//! ```
//! Operators have no precedence, parentheses do. A condition holds if the set is not empty. Texts are compared octet
//! by octet, in normal form where they are values of attributes or names.

use std::collections::BTreeSet;

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope};
use fulgurite_schema::{AttributeDescription, Dn, Filter, Schema};

use crate::decide::EntryRights;
use crate::facts::{Reach, Whose};
use crate::names::parent;
use crate::pattern::{SubMatches, Template};
use crate::rule::Which;

/// The OID of the OID syntax (RFC 4517, section 3.3.26): classes are compared by the names they were given by.
const OID_SYNTAX: &str = "1.3.6.1.4.1.1466.115.121.1.38";

/// Nesting of parentheses.
const DEPTH_MAX: usize = 32;

/// Members of a set at most; what is beyond is left out, and so grants nothing.
const MEMBERS_MAX: usize = 100_000;

/// A condition that a set is not empty.
#[derive(Clone, Debug)]
pub(crate) enum SetTest {
    Fixed(Set),
    /// Sub-matches are put in first.
    Expanded(Template),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    This,
    User,
    Text(String),
    Values {
        of: Box<Set>,
        /// `None` for an attribute that is not defined: there are no values.
        attribute: Option<AttributeDescription>,
        again: bool,
    },
    Above {
        of: Box<Set>,
        /// `None` for all levels.
        levels: Option<usize>,
    },
    Both(Box<Set>, Box<Set>),
    Either(Box<Set>, Box<Set>),
    Joined(Box<Set>, Box<Set>),
}

type Members = BTreeSet<Vec<u8>>;

impl SetTest {
    pub(crate) fn expands(&self) -> bool {
        matches!(self, SetTest::Expanded(_))
    }

    pub(crate) fn holds(&self, rights: &EntryRights<'_>, found: Option<&SubMatches>) -> bool {
        match (self, found) {
            (SetTest::Fixed(set), _) => !set.members(rights).is_empty(),
            (SetTest::Expanded(template), Some(found)) => {
                let schema = &rights.decisions.rules.schema;
                Set::parse(schema, &template.expand(found))
                    .is_ok_and(|set| !set.members(rights).is_empty())
            }
            (SetTest::Expanded(_), None) => false,
        }
    }
}

impl Set {
    pub(crate) fn parse(schema: &Schema, text: &str) -> Result<Set, String> {
        let mut parser = Parser {
            schema,
            rest: text.trim(),
        };
        let set = parser.expression(0)?;
        if parser.rest.is_empty() {
            Ok(set)
        } else {
            Err(format!("unexpected {:?} in a set", parser.rest))
        }
    }

    fn members(&self, rights: &EntryRights<'_>) -> Members {
        match self {
            Set::This => one(rights.name),
            Set::User => match rights.decisions.asker.name(Which::Effective) {
                "" => Members::new(),
                name => one(name),
            },
            Set::Text(text) => one(text),
            Set::Values {
                of,
                attribute,
                again,
            } => {
                let Some(attribute) = attribute else {
                    return Members::new();
                };
                if let (Set::Text(text), false) = (&**of, *again)
                    && is_url(text)
                {
                    return search(rights, text, attribute).unwrap_or_default();
                }
                values(rights, of.members(rights), attribute, *again)
            }
            Set::Above { of, levels } => above(of.members(rights), *levels),
            Set::Both(a, b) => {
                let (a, b) = (a.members(rights), b.members(rights));
                a.intersection(&b).cloned().collect()
            }
            Set::Either(a, b) => {
                let mut all = a.members(rights);
                all.extend(b.members(rights));
                bounded(all)
            }
            Set::Joined(a, b) => {
                let (a, b) = (a.members(rights), b.members(rights));
                let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
                pairs
                    .take(MEMBERS_MAX)
                    .map(|(a, b)| [a.as_slice(), b.as_slice()].concat())
                    .collect()
            }
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

/// The values of an attribute in the entries named, and, if asked, in the entries that those values name.
fn values(
    rights: &EntryRights<'_>,
    names: Members,
    attribute: &AttributeDescription,
    again: bool,
) -> Members {
    let mut all = Members::new();
    let mut waiting: Vec<Vec<u8>> = names.into_iter().collect();
    while let Some(name) = waiting.pop() {
        for value in values_of(rights, &name, attribute) {
            let new = all.len() < MEMBERS_MAX && all.insert(value.clone());
            if new && again {
                waiting.push(value);
            }
        }
    }
    all
}

fn values_of(
    rights: &EntryRights<'_>,
    name: &[u8],
    attribute: &AttributeDescription,
) -> Vec<Vec<u8>> {
    let schema = &rights.decisions.rules.schema;
    let Ok(dn) = Dn::parse_octets(schema, name) else {
        return Vec::new();
    };
    if schema.attribute_at(attribute.attribute).name() == "entryDN" {
        return vec![dn.normal().as_bytes().to_vec()];
    }
    let of = if dn.normal() == rights.name {
        Whose::Target
    } else {
        Whose::Entry(dn.normal())
    };
    let mut values = Vec::new();
    rights.facts.values(of, attribute, &mut |value| {
        values.push(comparable(schema, attribute, value));
    });
    values
}

/// A value as sets compare it: in normal form where that is a text that people can write.
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

/// The values of an attribute in the entries that a search URL finds.
fn search(
    rights: &EntryRights<'_>,
    text: &str,
    attribute: &AttributeDescription,
) -> Option<Members> {
    let schema = &rights.decisions.rules.schema;
    let url: LdapUrl = text.parse().ok()?;
    let base = Dn::parse(schema, &url.dn).ok()?;
    let parsed = url.filter.as_deref().map(FilterBuf::parse);
    let filter = match &parsed {
        None => Filter::resolve(schema, &FilterText::present("objectClass")),
        Some(Ok(filter)) => Filter::resolve(schema, &filter.filter()),
        Some(Err(_)) => return None,
    };
    let reach = match url.scope.unwrap_or(Scope::Base) {
        Scope::Base => Reach::Base,
        Scope::One => Reach::OneLevel,
        Scope::Subtree => Reach::Subtree,
        Scope::Children => Reach::Subordinates,
    };
    let mut members = Members::new();
    let mut visit = |value: &[u8]| {
        if members.len() < MEMBERS_MAX {
            members.insert(comparable(schema, attribute, value));
        }
    };
    let attributes = std::slice::from_ref(attribute);
    rights
        .facts
        .select(base.normal(), reach, &filter, attributes, &mut visit);
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

struct Parser<'t> {
    schema: &'t Schema,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Operands from left to right.
    fn expression(&mut self, depth: usize) -> Result<Set, String> {
        if depth > DEPTH_MAX {
            return Err("a set is nested too deeply".to_owned());
        }
        let mut set = self.operand(depth)?;
        loop {
            self.skip_blanks();
            let join: fn(Box<Set>, Box<Set>) -> Set = match self.rest.as_bytes().first() {
                Some(b'&') => Set::Both,
                Some(b'|') => Set::Either,
                Some(b'+') => Set::Joined,
                _ => return Ok(set),
            };
            self.skip(1);
            let right = self.operand(depth)?;
            set = join(Box::new(set), Box::new(right));
        }
    }

    fn operand(&mut self, depth: usize) -> Result<Set, String> {
        self.skip_blanks();
        let mut set = if let Some(rest) = self.rest.strip_prefix('(') {
            self.rest = rest;
            let inner = self.expression(depth + 1)?;
            self.skip_blanks();
            self.rest = self.rest.strip_prefix(')').ok_or("expected ) in a set")?;
            inner
        } else if let Some(rest) = self.rest.strip_prefix('[') {
            let (text, left) = rest.split_once(']').ok_or("expected ] in a set")?;
            self.rest = left;
            Set::Text(text.to_owned())
        } else {
            match self.word() {
                "this" => Set::This,
                "user" => Set::User,
                other => {
                    return Err(format!(
                        "expected this, user, [text] or ( in a set, not {other:?}"
                    ));
                }
            }
        };
        loop {
            self.skip_blanks();
            let step = self.rest.strip_prefix("->").or(self.rest.strip_prefix('/'));
            let Some(rest) = step else {
                return Ok(set);
            };
            self.rest = rest;
            set = self.step(set)?;
        }
    }

    fn step(&mut self, of: Set) -> Result<Set, String> {
        self.skip_blanks();
        if let Some(rest) = self.rest.strip_prefix('-') {
            self.rest = rest;
            let levels = match self.rest.strip_prefix('*') {
                Some(rest) => {
                    self.rest = rest;
                    None
                }
                None => {
                    let levels = self.word().parse();
                    Some(levels.map_err(|_| "expected a number of levels after /- in a set")?)
                }
            };
            return Ok(Set::Above {
                of: Box::new(of),
                levels,
            });
        }
        let word = self.word();
        if word.is_empty() {
            return Err("expected an attribute in a set".to_owned());
        }
        let attribute = self.schema.describe(word.as_bytes()).ok();
        let again = self.rest.starts_with('*');
        self.skip(usize::from(again));
        Ok(Set::Values {
            of: Box::new(of),
            attribute,
            again,
        })
    }

    fn word(&mut self) -> &'t str {
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ';');
        let mut end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        // `attr->next` is a step, not a hyphen.
        if self
            .rest
            .get(end.saturating_sub(1)..)
            .is_some_and(|rest| rest.starts_with("->"))
        {
            end -= 1;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn skip(&mut self, octets: usize) {
        self.rest = self.rest.get(octets..).unwrap_or_default();
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}
