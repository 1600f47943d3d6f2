//! One walk through the rules for one part of one entry.

pub(crate) mod set;

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope};
use fulgurite_schema::{Dn, Filter};

use crate::context::{EntryContext, depends_on_entry};
use crate::facts::EntryRef;
use crate::names::{NameSet, NameTest, Style};
use crate::pattern::{Captures, SubMatches};
use crate::rights::Rights;
use crate::rule::{
    Clause, Control, Group, GroupName, Identity, Part, Rule, SubjectPattern, ValueTest,
};
use crate::subject::MatchResult;

/// Receives every step of a walk.
pub(crate) trait Trace {
    /// Receives a clause of a rule about the target, and the rights after it if it matches.
    fn clause(&mut self, rule: usize, clause: usize, fitted: Option<Rights>);
    /// Receives the end of a rule without a matching clause: `by * none stop`.
    fn ended(&mut self, rule: usize);
}

/// Drops every step.
pub(crate) struct NoTrace;

impl Trace for NoTrace {
    fn clause(&mut self, _: usize, _: usize, _: Option<Rights>) {}
    fn ended(&mut self, _: usize) {}
}

/// The rules, the target, the requester.
pub(crate) struct Evaluation<'e> {
    entry: &'e EntryContext<'e>,
    part: Part<'e>,
    value: Option<&'e [u8]>,
    looked_at_entry: bool,
}

impl<'e> Evaluation<'e> {
    pub(crate) fn new(
        entry: &'e EntryContext<'e>,
        part: Part<'e>,
        value: Option<&'e [u8]>,
    ) -> Evaluation<'e> {
        Evaluation {
            entry,
            part,
            value,
            looked_at_entry: false,
        }
    }

    /// Returns true if the outcome is valid for this entry only.
    pub(crate) fn looked_at_entry(&self) -> bool {
        self.looked_at_entry
    }

    pub(crate) fn run(&mut self, trace: &mut impl Trace) -> Rights {
        let operation = self.entry.operation;
        let mut rights = Rights::NONE;
        let mut left = &operation.matches[..];
        for (at, rule) in operation.rules.rules.iter().enumerate() {
            let (matches, others) = left.split_at(rule.by.len().min(left.len()));
            left = others;
            if !self.covers_target(at, rule) {
                continue;
            }
            match self.rule(at, rule, matches, &mut rights, trace) {
                Control::Break => {}
                Control::Stop | Control::Continue => return rights,
            }
        }
        Rights::NONE
    }

    fn covers_target(&mut self, at: usize, rule: &Rule) -> bool {
        let schema = &self.entry.operation.rules.schema;
        if !rule.covers_part(schema, self.part) || !self.entry.names_match(at, &rule.target.names) {
            return false;
        }
        if let Some(filter) = &rule.target.filter {
            self.looked_at_entry = true;
            if !self.entry.facts.matches(EntryRef::Target, filter) {
                return false;
            }
        }
        rule.target
            .value
            .as_ref()
            .is_none_or(|test| self.value_matches(test))
    }

    /// Walks through the clauses of a rule.
    fn rule(
        &mut self,
        at: usize,
        rule: &Rule,
        matches: &[MatchResult],
        rights: &mut Rights,
        trace: &mut impl Trace,
    ) -> Control {
        let mut found = None;
        for (number, (clause, matches)) in rule.by.iter().zip(matches).enumerate() {
            let fitting = match matches {
                MatchResult::No => false,
                MatchResult::Yes => true,
                MatchResult::Depends => clause
                    .subjects
                    .iter()
                    .all(|pattern| self.subject_matches(pattern, rule, &mut found)),
            };
            if !fitting || !self.is_own_value(clause) {
                trace.clause(at, number, None);
                continue;
            }
            *rights = clause.effect.apply(*rights);
            trace.clause(at, number, Some(*rights));
            if clause.control != Control::Continue {
                return clause.control;
            }
        }
        trace.ended(at);
        *rights = Rights::NONE;
        Control::Stop
    }

    fn value_matches(&self, test: &ValueTest) -> bool {
        let (Some(value), Part::Attribute(description)) = (self.value, self.part) else {
            return false;
        };
        let schema = &*self.entry.operation.rules.schema;
        match test {
            ValueTest::Equal(rule, normal) => rule.matches(schema, normal, value).is_true(),
            ValueTest::Class(class) => schema
                .object_class_by_bytes(value)
                .is_some_and(|named| named.is_kind_of(*class)),
            ValueTest::Regex(pattern) => {
                let normal = schema.normal_value(description.attribute, value);
                let text = normal.as_deref().unwrap_or(value);
                pattern.is_match(&String::from_utf8_lossy(text))
            }
            ValueTest::Names(names) => self
                .normal_name(value)
                .is_some_and(|name| names.contains(&name)),
        }
    }

    fn normal_name(&self, value: &[u8]) -> Option<String> {
        let schema = &self.entry.operation.rules.schema;
        let dn = Dn::parse_bytes(schema, value).ok()?;
        Some(dn.normal().to_owned())
    }

    fn is_own_value(&self, clause: &Clause) -> bool {
        let Some(identity) = clause.own_value else {
            return true;
        };
        let name = self.entry.operation.subject.name(identity);
        let value = self.value.and_then(|value| self.normal_name(value));
        !name.is_empty() && value.is_some_and(|value| value == name)
    }

    fn subject_matches(
        &mut self,
        pattern: &SubjectPattern,
        rule: &Rule,
        found: &mut Option<SubMatches>,
    ) -> bool {
        let subject = &self.entry.operation.subject;
        match subject.match_one(pattern) {
            MatchResult::No => return false,
            MatchResult::Yes => return true,
            MatchResult::Depends => {}
        }
        let own_only = matches!(pattern, SubjectPattern::SelfEntry(_, 0));
        self.looked_at_entry |= depends_on_entry(pattern) && !own_only;
        match pattern {
            SubjectPattern::SelfEntry(identity, level) => {
                subject.is_self(*identity, *level, self.entry.name)
            }
            SubjectPattern::Name(identity, NameTest::Expanded(style, template)) => {
                let text = template.expand(self.sub_matches(rule, found));
                let schema = &self.entry.operation.rules.schema;
                NameSet::new(schema, *style, &text)
                    .is_ok_and(|names| names.contains(subject.name(*identity)))
            }
            SubjectPattern::DnAttribute(identity, attribute) => {
                let name = subject.name(*identity);
                self.entry.facts.lists(EntryRef::Target, attribute, name)
            }
            SubjectPattern::Group(group) => self.is_member(group, rule, found),
            SubjectPattern::Set(set) => {
                let found = set.expands().then(|| self.sub_matches(rule, found).clone());
                set::holds(set, self.entry, found.as_ref())
            }
            SubjectPattern::Peer(_)
            | SubjectPattern::Socket(_)
            | SubjectPattern::Url(_)
            | SubjectPattern::Domain(_) => {
                let found = self.sub_matches(rule, found);
                subject
                    .connection_test(pattern)
                    .and_then(|(test, text)| test.test(text, Some(found)))
                    .unwrap_or(false)
            }
            SubjectPattern::Anyone
            | SubjectPattern::Anonymous(_)
            | SubjectPattern::Users(_)
            | SubjectPattern::Name(_, NameTest::Fixed(_))
            | SubjectPattern::Strength(..) => false,
        }
    }

    /// Returns the sub-matches of the rule's target, computed at first use.
    fn sub_matches<'f>(&self, rule: &Rule, found: &'f mut Option<SubMatches>) -> &'f SubMatches {
        found.get_or_insert_with(|| SubMatches {
            name: (
                self.entry.name.to_owned(),
                rule.target.names.captures(self.entry.name),
            ),
            value: self.value_captures(rule).unwrap_or_default(),
        })
    }

    fn value_captures(&self, rule: &Rule) -> Option<(String, Captures)> {
        let (Some(value), Part::Attribute(description)) = (self.value, self.part) else {
            return None;
        };
        let schema = &self.entry.operation.rules.schema;
        let normal = schema.normal_value(description.attribute, value)?;
        let text = String::from_utf8_lossy(&normal).into_owned();
        let found = match rule.target.value.as_ref()? {
            ValueTest::Equal(..) | ValueTest::Class(_) => vec![Some(0..text.len())],
            ValueTest::Regex(pattern) => pattern.captures(&text)?,
            ValueTest::Names(names) => names.captures(&text),
        };
        Some((text, found))
    }

    fn is_member(&self, group: &Group, rule: &Rule, found: &mut Option<SubMatches>) -> bool {
        let operation = self.entry.operation;
        let name = match &group.name {
            GroupName::Fixed(name) => name,
            GroupName::Expanded(template) => {
                let text = template.expand(self.sub_matches(rule, found));
                let dn = Dn::parse(&operation.rules.schema, &text);
                return dn.is_ok_and(|dn| self.is_listed(group, dn.normal()));
            }
        };
        let known = operation.groups.borrow().get(group.number).copied();
        if let Some(Some(known)) = known {
            return known;
        }
        let member = self.is_listed(group, name);
        let mut groups = operation.groups.borrow_mut();
        if groups.len() <= group.number {
            groups.resize(operation.rules.groups.max(group.number + 1), None);
        }
        if let Some(slot) = groups.get_mut(group.number) {
            *slot = Some(member);
        }
        member
    }

    fn is_listed(&self, group: &Group, name: &str) -> bool {
        let requester = self.entry.operation.subject.name(Identity::Effective);
        let facts = self.entry.facts;
        let of = if name == self.entry.name {
            EntryRef::Target
        } else {
            EntryRef::Entry(name)
        };
        if !facts.matches(of, &group.class) {
            return false;
        }
        if !group.dynamic {
            return facts.lists(of, &group.member, requester);
        }
        let mut urls = Vec::new();
        facts.values(of, &group.member, &mut |url| {
            urls.extend(std::str::from_utf8(url).map(str::to_owned));
        });
        urls.iter().any(|url| self.is_described(url, requester))
    }

    /// Returns true if the requester's entry is one that a search URL (RFC 4516) finds.
    fn is_described(&self, url: &str, requester: &str) -> bool {
        let text = url.split_ascii_whitespace().next().unwrap_or_default();
        let Ok(url) = text.parse::<LdapUrl>() else {
            return false;
        };
        let schema = &self.entry.operation.rules.schema;
        let style = match url.scope.unwrap_or(Scope::Base) {
            Scope::Base => Style::Base,
            Scope::One => Style::One,
            Scope::Subtree => Style::Subtree,
            Scope::Children => Style::Children,
        };
        if url.host.is_some()
            || !NameSet::new(schema, style, &url.dn).is_ok_and(|names| names.contains(requester))
        {
            return false;
        }
        let filter = url.filter.as_deref().map(FilterBuf::parse);
        let filter = match &filter {
            None => Filter::resolve(schema, &FilterText::present("objectClass")),
            Some(Ok(filter)) => Filter::resolve(schema, &filter.filter()),
            Some(Err(_)) => return false,
        };
        self.entry
            .facts
            .matches(EntryRef::Entry(requester), &filter)
    }
}
