//! One walk through the rules for one part of one entry.

use fulgurite_ldap::{Filter as FilterText, FilterBuf, LdapUrl, Scope};
use fulgurite_schema::{Dn, Filter};

use crate::decide::EntryRights;
use crate::facts::Whose;
use crate::names::{NameTest, Names, Style};
use crate::pattern::{Found, SubMatches};
use crate::rights::Rights;
use crate::rule::{Clause, Control, Group, GroupName, Part, Rule, ValueTest, Which, Who};

/// Whether a clause fits the requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fits {
    No,
    Yes,
    /// On the entry, or on a group.
    Depends,
}

impl Fits {
    pub(crate) fn of(yes: bool) -> Fits {
        if yes { Fits::Yes } else { Fits::No }
    }
}

/// Told of every step.
pub(crate) trait Trace {
    /// A clause of a rule that speaks of the target; what the rights are after it, if it fits.
    fn clause(&mut self, rule: usize, clause: usize, fitted: Option<Rights>);
    /// No clause of a rule fits: it ends with `by * none stop`.
    fn ended(&mut self, rule: usize);
}

/// Nobody is told.
pub(crate) struct Quiet;

impl Trace for Quiet {
    fn clause(&mut self, _: usize, _: usize, _: Option<Rights>) {}
    fn ended(&mut self, _: usize) {}
}

/// The rules, the target, the requester.
pub(crate) struct Evaluation<'e> {
    rights: &'e EntryRights<'e>,
    part: Part<'e>,
    value: Option<&'e [u8]>,
    looked_at_entry: bool,
}

impl<'e> Evaluation<'e> {
    pub(crate) fn new(
        rights: &'e EntryRights<'e>,
        part: Part<'e>,
        value: Option<&'e [u8]>,
    ) -> Evaluation<'e> {
        Evaluation {
            rights,
            part,
            value,
            looked_at_entry: false,
        }
    }

    /// Whether the outcome holds for this entry only.
    pub(crate) fn looked_at_entry(&self) -> bool {
        self.looked_at_entry
    }

    pub(crate) fn run(&mut self, trace: &mut impl Trace) -> Rights {
        let decisions = self.rights.decisions;
        let mut rights = Rights::NONE;
        let mut left = &decisions.fits[..];
        for (at, rule) in decisions.rules.rules.iter().enumerate() {
            let (fits, others) = left.split_at(rule.by.len().min(left.len()));
            left = others;
            if !self.speaks_of_target(at, rule) {
                continue;
            }
            match self.rule(at, rule, fits, &mut rights, trace) {
                Control::Break => {}
                Control::Stop | Control::Continue => return rights,
            }
        }
        Rights::NONE
    }

    fn speaks_of_target(&mut self, at: usize, rule: &Rule) -> bool {
        let schema = &self.rights.decisions.rules.schema;
        if !rule.speaks_of(schema, self.part) || !self.rights.names_fit(at, &rule.what.names) {
            return false;
        }
        if let Some(filter) = &rule.what.filter {
            self.looked_at_entry = true;
            if !self.rights.facts.matches(Whose::Target, filter) {
                return false;
            }
        }
        rule.what
            .value
            .as_ref()
            .is_none_or(|test| self.value_fits(test))
    }

    /// Walks through the clauses of a rule.
    fn rule(
        &mut self,
        at: usize,
        rule: &Rule,
        fits: &[Fits],
        rights: &mut Rights,
        trace: &mut impl Trace,
    ) -> Control {
        let mut found = None;
        for (number, (clause, fits)) in rule.by.iter().zip(fits).enumerate() {
            let fitting = match fits {
                Fits::No => false,
                Fits::Yes => true,
                Fits::Depends => clause
                    .who
                    .iter()
                    .all(|who| self.fits(who, rule, &mut found)),
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

    fn value_fits(&self, test: &ValueTest) -> bool {
        let (Some(value), Part::Attribute(description)) = (self.value, self.part) else {
            return false;
        };
        let schema = &self.rights.decisions.rules.schema;
        match test {
            ValueTest::Equal(rule, normal) => rule.matches(schema, normal, value).is_true(),
            ValueTest::Class(class) => schema
                .object_class_by_octets(value)
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
        let schema = &self.rights.decisions.rules.schema;
        let dn = Dn::parse_octets(schema, value).ok()?;
        Some(dn.normal().to_owned())
    }

    fn is_own_value(&self, clause: &Clause) -> bool {
        let Some(which) = clause.own_value else {
            return true;
        };
        let name = self.rights.decisions.asker.name(which);
        let value = self.value.and_then(|value| self.normal_name(value));
        !name.is_empty() && value.is_some_and(|value| value == name)
    }

    fn fits(&mut self, who: &Who, rule: &Rule, found: &mut Option<SubMatches>) -> bool {
        let asker = &self.rights.decisions.asker;
        match asker.fits_one(who) {
            Fits::No => return false,
            Fits::Yes => return true,
            Fits::Depends => {}
        }
        let own_only = matches!(who, Who::Itself(_, 0));
        self.looked_at_entry |= who.depends_on_entry() && !own_only;
        match who {
            Who::Itself(which, level) => asker.is_itself(*which, *level, self.rights.name),
            Who::Name(which, NameTest::Expanded(style, template)) => {
                let text = template.expand(self.found(rule, found));
                let schema = &self.rights.decisions.rules.schema;
                Names::new(schema, *style, &text)
                    .is_ok_and(|names| names.contains(asker.name(*which)))
            }
            Who::Named(which, attribute) => {
                let name = asker.name(*which);
                self.rights.facts.lists(Whose::Target, attribute, name)
            }
            Who::Group(group) => self.is_member(group, rule, found),
            Who::Set(set) => {
                let found = set.expands().then(|| self.found(rule, found).clone());
                set.holds(self.rights, found.as_ref())
            }
            Who::Peer(_) | Who::Socket(_) | Who::Url(_) | Who::Domain(_) => {
                let found = self.found(rule, found);
                asker
                    .end(who)
                    .and_then(|(test, text)| test.test(text, Some(found)))
                    .unwrap_or(false)
            }
            Who::Anyone
            | Who::Anonymous(_)
            | Who::Users(_)
            | Who::Name(_, NameTest::Fixed(_))
            | Who::Strength(..) => false,
        }
    }

    /// What the rule's target has matched.
    fn found<'f>(&self, rule: &Rule, found: &'f mut Option<SubMatches>) -> &'f SubMatches {
        found.get_or_insert_with(|| SubMatches {
            name: (
                self.rights.name.to_owned(),
                rule.what.names.found_in(self.rights.name),
            ),
            value: self.found_in_value(rule).unwrap_or_default(),
        })
    }

    fn found_in_value(&self, rule: &Rule) -> Option<(String, Found)> {
        let (Some(value), Part::Attribute(description)) = (self.value, self.part) else {
            return None;
        };
        let schema = &self.rights.decisions.rules.schema;
        let normal = schema.normal_value(description.attribute, value)?;
        let text = String::from_utf8_lossy(&normal).into_owned();
        let found = match rule.what.value.as_ref()? {
            ValueTest::Equal(..) | ValueTest::Class(_) => vec![Some(0..text.len())],
            ValueTest::Regex(pattern) => pattern.captures(&text)?,
            ValueTest::Names(names) => names.found_in(&text),
        };
        Some((text, found))
    }

    fn is_member(&self, group: &Group, rule: &Rule, found: &mut Option<SubMatches>) -> bool {
        let decisions = self.rights.decisions;
        let name = match &group.name {
            GroupName::Fixed(name) => name,
            GroupName::Expanded(template) => {
                let text = template.expand(self.found(rule, found));
                let dn = Dn::parse(&decisions.rules.schema, &text);
                return dn.is_ok_and(|dn| self.is_listed(group, dn.normal()));
            }
        };
        let known = decisions.groups.borrow().get(group.number).copied();
        if let Some(Some(known)) = known {
            return known;
        }
        let member = self.is_listed(group, name);
        let mut groups = decisions.groups.borrow_mut();
        if groups.len() <= group.number {
            groups.resize(decisions.rules.groups.max(group.number + 1), None);
        }
        if let Some(slot) = groups.get_mut(group.number) {
            *slot = Some(member);
        }
        member
    }

    fn is_listed(&self, group: &Group, name: &str) -> bool {
        let asker = self.rights.decisions.asker.name(Which::Effective);
        let facts = self.rights.facts;
        let of = if name == self.rights.name {
            Whose::Target
        } else {
            Whose::Entry(name)
        };
        if !facts.matches(of, &group.class) {
            return false;
        }
        if !group.dynamic {
            return facts.lists(of, &group.member, asker);
        }
        let mut urls = Vec::new();
        facts.values(of, &group.member, &mut |url| {
            urls.extend(std::str::from_utf8(url).map(str::to_owned));
        });
        urls.iter().any(|url| self.is_described(url, asker))
    }

    /// Whether the requester's entry is one that a search URL (RFC 4516) finds.
    fn is_described(&self, url: &str, asker: &str) -> bool {
        let text = url.split_ascii_whitespace().next().unwrap_or_default();
        let Ok(url) = text.parse::<LdapUrl>() else {
            return false;
        };
        let schema = &self.rights.decisions.rules.schema;
        let style = match url.scope.unwrap_or(Scope::Base) {
            Scope::Base => Style::Base,
            Scope::One => Style::One,
            Scope::Subtree => Style::Subtree,
            Scope::Children => Style::Children,
        };
        if url.host.is_some()
            || !Names::new(schema, style, &url.dn).is_ok_and(|names| names.contains(asker))
        {
            return false;
        }
        let filter = url.filter.as_deref().map(FilterBuf::parse);
        let filter = match &filter {
            None => Filter::resolve(schema, &FilterText::present("objectClass")),
            Some(Ok(filter)) => Filter::resolve(schema, &filter.filter()),
            Some(Err(_)) => return false,
        };
        self.rights.facts.matches(Whose::Entry(asker), &filter)
    }
}
