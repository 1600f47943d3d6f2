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
    subject: Subject<'r>,
    kind: Kind<'r>,
}

#[derive(Clone, Debug)]
enum Kind<'r> {
    /// The same for every entry.
    Uniform(Table),
    /// The entry's name matters. One verdict per rule.
    Named(&'r Rules, Vec<Verdict>),
}

#[derive(Clone, Debug)]
struct Table {
    entry: Level,
    children: Level,
    attributes: Vec<Level>,
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
    pub(crate) fn new(rules: &'r Rules, subject: Subject<'r>) -> Decisions<'r> {
        let verdicts: Vec<Verdict> = rules
            .rules
            .iter()
            .map(|rule| Verdict {
                own_entry: rule.level(subject, true),
                other_entry: rule.level(subject, false),
            })
            .collect();
        let uniform = rules.rules.iter().zip(&verdicts).all(|(rule, verdict)| {
            rule.scope == Scope::Any && verdict.own_entry == verdict.other_entry
        });
        let kind = if uniform || subject == Subject::Root {
            Kind::Uniform(Table::new(rules, &verdicts, subject))
        } else {
            Kind::Named(rules, verdicts)
        };
        Decisions { subject, kind }
    }

    /// Whether every entry gets the same decisions, so that [`at`](Self::at) need not be given a name.
    #[must_use]
    pub fn uniform(&self) -> bool {
        matches!(self.kind, Kind::Uniform(_))
    }

    /// Decisions about the entry with this name, in normal form.
    #[must_use]
    pub fn at<'d>(&'d self, normal: &'d str) -> EntryRights<'d> {
        EntryRights {
            decisions: self,
            name: normal,
            own_entry: self.subject == Subject::User(normal),
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

    /// The level on the values of one attribute type.
    #[must_use]
    pub fn attribute(&self, index: AttributeIndex) -> Level {
        self.level(Part::Attribute(index))
    }

    fn level(&self, part: Part) -> Level {
        match &self.decisions.kind {
            Kind::Uniform(table) => table.level(part),
            Kind::Named(rules, verdicts) => rules
                .rules
                .iter()
                .zip(verdicts)
                .find(|(rule, _)| rule.speaks_of(part) && rule.scope.contains(self.name))
                .map_or(Level::None, |(_, verdict)| {
                    if self.own_entry {
                        verdict.own_entry
                    } else {
                        verdict.other_entry
                    }
                }),
        }
    }
}

impl Table {
    fn new(rules: &Rules, verdicts: &[Verdict], subject: Subject<'_>) -> Table {
        let level = |part| {
            if subject == Subject::Root {
                return Level::Write;
            }
            rules
                .rules
                .iter()
                .zip(verdicts)
                .find(|(rule, _)| rule.speaks_of(part))
                .map_or(Level::None, |(_, verdict)| verdict.other_entry)
        };
        let count = u32::try_from(rules.attribute_count).unwrap_or(u32::MAX);
        Table {
            entry: level(Part::Entry),
            children: level(Part::Children),
            attributes: (0..count)
                .map(|index| level(Part::Attribute(AttributeIndex(index))))
                .collect(),
        }
    }

    fn level(&self, part: Part) -> Level {
        match part {
            Part::Entry => self.entry,
            Part::Children => self.children,
            Part::Attribute(index) => self
                .attributes
                .get(index.0 as usize)
                .copied()
                .unwrap_or(Level::None),
        }
    }
}

#[cfg(test)]
mod tests;
