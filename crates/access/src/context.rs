//! The inputs of a decision: the rules, the requester, one entry.

use std::cell::RefCell;
use std::sync::Arc;

use crate::facts::Facts;
use crate::names::{NameSet, NameTest};
use crate::peer::TextTest;
use crate::requester::Requester;
use crate::rule::{Clause, GroupName, Rule, SubjectPattern};
use crate::rules::Rules;
use crate::subject::{MatchResult, Subject};

/// Number of rules that have a bit in an [`EntryKind`]; the other two bits are the entry's owner.
pub(crate) const RULES_IN_KIND: usize = 62;

/// The rules whose names an entry matches, and its owner: a bit each. Entries of the same kind get
/// the same decisions, unless a clause looks at the entry.
pub(crate) type EntryKind = u64;

/// The rules as they apply to one requester.
#[derive(Debug)]
pub(crate) struct SubjectContext<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) subject: Subject,
    /// For each clause of each rule, in order: the match with the requester, as far as known in
    /// advance.
    pub(crate) matches: Box<[MatchResult]>,
    /// Every entry gets the same decisions.
    pub(crate) uniform: bool,
    /// Memberships found so far, by number of the group.
    pub(crate) groups: RefCell<Vec<Option<bool>>>,
}

/// One entry, and the rules as they apply to one requester.
#[derive(Clone, Copy)]
pub(crate) struct EntryContext<'d> {
    pub(crate) operation: &'d SubjectContext<'d>,
    /// In normal form.
    pub(crate) name: &'d str,
    pub(crate) facts: &'d dyn Facts,
    pub(crate) kind: EntryKind,
}

impl<'r> SubjectContext<'r> {
    pub(crate) fn new(rules: &'r Rules, requester: &Requester<'_>) -> SubjectContext<'r> {
        let subject = Subject::new(requester);
        let clauses = || rules.rules.iter().flat_map(|rule| &rule.by);
        let mut matches = Vec::with_capacity(rules.rules.iter().map(|rule| rule.by.len()).sum());
        matches.extend(clauses().map(|clause| subject.match_all(&clause.subjects)));
        let depends = |(clause, matches): (&Clause, &MatchResult)| {
            *matches == MatchResult::Depends && clause.subjects.iter().any(depends_on_entry)
        };
        let of_all = |rule: &Arc<Rule>| rule.target.names.is_any() && rule.target.filter.is_none();
        let uniform = requester.root
            || rules.rules.iter().all(of_all) && !clauses().zip(&matches).any(depends);
        SubjectContext {
            rules,
            subject,
            matches: matches.into_boxed_slice(),
            uniform,
            groups: RefCell::new(Vec::new()),
        }
    }

    /// Adds an entry.
    pub(crate) fn at<'d>(&'d self, normal: &'d str, facts: &'d dyn Facts) -> EntryContext<'d> {
        EntryContext {
            operation: self,
            name: normal,
            facts,
            kind: if self.uniform { 0 } else { self.kind(normal) },
        }
    }

    fn kind(&self, normal: &str) -> EntryKind {
        let mut kind = 0;
        for (at, rule) in self.rules.rules.iter().take(RULES_IN_KIND).enumerate() {
            kind |= u64::from(rule.target.names.contains(normal)) << at;
        }
        kind | self.subject.ownership_bits(normal) << RULES_IN_KIND
    }
}

impl EntryContext<'_> {
    /// Returns true if the names of a rule contain the entry. The kind knows it for the first
    /// rules.
    pub(crate) fn names_match(&self, rule: usize, names: &NameSet) -> bool {
        if names.is_any() {
            true
        } else if rule < RULES_IN_KIND && !self.operation.uniform {
            self.kind >> rule & 1 == 1
        } else {
            names.contains(self.name)
        }
    }
}

/// Returns true if the same requester may match for one entry and not for another.
pub(crate) fn depends_on_entry(pattern: &SubjectPattern) -> bool {
    match pattern {
        SubjectPattern::Anyone
        | SubjectPattern::Anonymous(_)
        | SubjectPattern::Users(_)
        | SubjectPattern::Name(_, NameTest::Fixed(_))
        | SubjectPattern::Strength(..) => false,
        SubjectPattern::SelfEntry(..)
        | SubjectPattern::Name(_, NameTest::Expanded(..))
        | SubjectPattern::DnAttribute(..)
        | SubjectPattern::Set(_) => true,
        SubjectPattern::Group(group) => matches!(group.name, GroupName::Expanded(_)),
        SubjectPattern::Peer(test)
        | SubjectPattern::Socket(test)
        | SubjectPattern::Url(test)
        | SubjectPattern::Domain(test) => {
            matches!(
                test,
                TextTest::Expanded(_) | TextTest::RegexExpanded(_) | TextTest::DomainExpanded(_)
            )
        }
    }
}
