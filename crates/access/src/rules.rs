//! An ordered list of rules, and what holds without any.

use std::sync::Arc;

use fulgurite_schema::Schema;

use crate::names::NameSet;
use crate::rights::Level;
use crate::rule::{AttributeSet, Clause, Control, Effect, Rule, SubjectPattern, Target};
use crate::uniform_rights::UniformCache;

/// The rights of everybody where no rule is given at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutRules {
    /// Everybody reads everything except passwords, which serve authentication only.
    #[default]
    Protected,
    /// Everybody has that level on everything; slapd's is [`Level::Read`].
    Everything(Level),
}

/// An ordered list of rules, compiled against one schema. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) schema: Arc<Schema>,
    pub(crate) rules: Vec<Arc<Rule>>,
    without: WithoutRules,
    /// Number of `by` clauses that ask for a group.
    pub(crate) groups: usize,
    /// Some rule looks at single values.
    pub(crate) by_value: bool,
    /// Some rule looks at the ends of the connection.
    by_wire: bool,
    /// Rights of requesters met so far.
    pub(crate) uniform: UniformCache,
}

/// Attributes that serve authentication only where there are no rules: passwords, and keys that
/// reveal passwords.
const PASSWORDS: [&str; 2] = ["userPassword", "authPassword"];

impl Rules {
    /// Returns a list without rules, in which nothing is allowed.
    #[must_use]
    pub fn empty(schema: &Arc<Schema>, without: WithoutRules) -> Rules {
        Rules {
            schema: Arc::clone(schema),
            rules: Vec::new(),
            without,
            groups: 0,
            by_value: false,
            by_wire: false,
            uniform: UniformCache::default(),
        }
    }

    /// Returns the default rules. Everybody reads everything except `userPassword` and
    /// `authPassword`, which serve authentication only. Only the root writes.
    #[must_use]
    pub fn standard(schema: &Arc<Schema>) -> Rules {
        Rules::empty(schema, WithoutRules::Protected).completed()
    }

    /// Returns these rules followed by `global`: a database's rules come before the global ones.
    #[must_use]
    pub fn followed_by(&self, global: &Rules) -> Rules {
        let mut all = Rules::empty(&self.schema, self.without);
        let written = |rules: &Rules| -> Vec<Arc<Rule>> {
            let written = rules.rules.iter().filter(|rule| rule.number > 0);
            written.cloned().collect()
        };
        for rule in written(self).into_iter().chain(written(global)) {
            all.push(rule);
        }
        all.completed()
    }

    /// Returns true if decisions need [`Requester::wire`](crate::Requester::wire) in full, beyond
    /// its strength.
    #[must_use]
    pub fn looks_at_wire(&self) -> bool {
        self.by_wire
    }

    /// Appends a rule and numbers its groups.
    pub(crate) fn push(&mut self, mut rule: Arc<Rule>) {
        self.by_value |= rule.looks_at_values();
        self.by_wire |= rule.looks_at_wire();
        if rule.group_count() > 0 {
            let first = self.groups;
            let mut numbered = (*rule).clone();
            let patterns = numbered
                .by
                .iter_mut()
                .flat_map(|clause| &mut clause.subjects);
            for pattern in patterns {
                if let SubjectPattern::Group(group) = pattern {
                    group.number = self.groups;
                    self.groups += 1;
                }
            }
            debug_assert_eq!(self.groups - first, numbered.group_count());
            rule = Arc::new(numbered);
        }
        self.rules.push(rule);
    }

    /// Adds the rights without rules, as rules with the number 0, if the list is empty.
    pub(crate) fn completed(mut self) -> Rules {
        if !self.rules.is_empty() {
            return self;
        }
        match self.without {
            WithoutRules::Everything(level) => self.rules.push(for_everybody(None, level)),
            WithoutRules::Protected => {
                let named = PASSWORDS.map(|name| self.schema.attribute(name));
                let mut passwords = AttributeSet::default();
                named
                    .iter()
                    .flatten()
                    .flat_map(|attribute| &attribute.subtypes)
                    .for_each(|&index| passwords.insert(index));
                self.rules.push(for_everybody(Some(passwords), Level::Auth));
                self.rules.push(for_everybody(None, Level::Read));
            }
        }
        self
    }
}

/// Returns a built-in rule that gives everybody one level.
fn for_everybody(attributes: Option<AttributeSet>, level: Level) -> Arc<Rule> {
    Arc::new(Rule {
        number: 0,
        origin: "built in".into(),
        target_text: match &attributes {
            None => "to *".to_owned(),
            Some(_) => format!("to attrs={}", PASSWORDS.join(",")),
        },
        target: Target {
            names: NameSet::Any,
            filter: None,
            attributes,
            value: None,
        },
        by: vec![Clause {
            text: format!("by * {}", level.keyword()),
            subjects: vec![SubjectPattern::Anyone],
            effect: Effect::Level(level.rights()),
            own_value: None,
            control: Control::Stop,
        }],
    })
}
