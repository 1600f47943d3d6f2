//! From rules and a subject to levels, doing per operation what need not be done per entry.

use fulgurite_schema::AttributeIndex;

use crate::level::Level;
use crate::rule::{Part, Rules, Scope};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject<'s> {
    /// Nobody has authenticated.
    Anonymous,
    /// The bound name, in normal form.
    User(&'s str),
    /// The root of the directory: no rule applies.
    Root,
}

/// The rules, seen by one subject.
#[derive(Clone, Debug)]
pub struct Decisions<'r> {
    rules: &'r Rules,
    /// What each rule gives the subject; `None` for the root, to whom no rule applies.
    verdicts: Option<Vec<Verdict>>,
    /// Name of the subject's own entry, in normal form.
    own: Option<Box<str>>,
    uniform: bool,
}

/// What a rule gives the subject.
#[derive(Clone, Copy, Debug)]
struct Verdict {
    own_entry: Level,
    other_entry: Level,
}

/// What the subject may do with one entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryRights<'d> {
    decisions: &'d Decisions<'d>,
    name: &'d str,
    own_entry: bool,
}

impl<'r> Decisions<'r> {
    pub(crate) fn new(rules: &'r Rules, subject: Subject<'_>) -> Decisions<'r> {
        let own = match subject {
            Subject::User(name) => Some(name.into()),
            Subject::Anonymous | Subject::Root => None,
        };
        let verdicts: Vec<Verdict> = rules
            .rules
            .iter()
            .map(|rule| Verdict {
                own_entry: rule.level(subject, true),
                other_entry: rule.level(subject, false),
            })
            .collect();
        let uniform = subject == Subject::Root
            || rules.rules.iter().zip(&verdicts).all(|(rule, verdict)| {
                rule.scope == Scope::Any && verdict.own_entry == verdict.other_entry
            });
        Decisions {
            rules,
            verdicts: (subject != Subject::Root).then_some(verdicts),
            own,
            uniform,
        }
    }

    /// Whether every entry gets the same decisions, so that it does not matter which name [`at`](Self::at) is given.
    #[must_use]
    pub fn uniform(&self) -> bool {
        self.uniform
    }

    /// Decisions about the entry with this name, in normal form.
    #[must_use]
    pub fn at<'d>(&'d self, normal: &'d str) -> EntryRights<'d> {
        EntryRights {
            decisions: self,
            name: normal,
            own_entry: self.own.as_deref() == Some(normal),
        }
    }
}

impl EntryRights<'_> {
    /// The level on the entry as such.
    #[must_use]
    pub fn entry(&self) -> Level {
        self.level(Part::Entry)
    }

    /// The level on the set of the entry's children.
    #[must_use]
    pub fn children(&self) -> Level {
        self.level(Part::Children)
    }

    /// The level on the values of one attribute type. Costs a look at the rules in order: worth remembering
    /// where decisions are [uniform](Decisions::uniform).
    #[must_use]
    pub fn attribute(&self, index: AttributeIndex) -> Level {
        self.level(Part::Attribute(index))
    }

    fn level(&self, part: Part) -> Level {
        let Some(verdicts) = &self.decisions.verdicts else {
            return Level::Write;
        };
        let rules = &self.decisions.rules.rules;
        rules
            .iter()
            .zip(verdicts)
            .find(|(rule, _)| rule.speaks_of(part) && rule.scope.contains(self.name))
            .map_or(Level::None, |(_, verdict)| {
                if self.own_entry {
                    verdict.own_entry
                } else {
                    verdict.other_entry
                }
            })
    }
}

#[cfg(test)]
mod tests;
