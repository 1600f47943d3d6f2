//! Rules in the form they are evaluated in.

use fulgurite_schema::{AttributeIndex, Schema, normal_is_under};

use crate::decide::{Decisions, Subject};
use crate::level::Level;
use crate::parse::{self, RuleError};

/// An ordered list of rules, compiled against one schema.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) rules: Vec<Rule>,
}

/// `to <target> by <who> <level> ...`
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) scope: Scope,
    /// `None`: entries as a whole with all their attributes.
    pub(crate) attributes: Option<AttributeSet>,
    pub(crate) by: Vec<(Who, Level)>,
}

/// Names a rule speaks of, in normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Any,
    Base(String),
    One(String),
    Subtree(String),
    Children(String),
}

/// What part of an entry a rule speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeSet {
    pub(crate) entry: bool,
    pub(crate) children: bool,
    /// Ascending, with all subtypes.
    pub(crate) types: Vec<AttributeIndex>,
}

/// The part of an entry a decision is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Entry,
    Children,
    Attribute(AttributeIndex),
}

/// Subjects a `by` clause speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Anyone,
    Anonymous,
    Users,
    Itself,
    Dn(Scope),
}

impl Rules {
    /// What holds when nothing is configured: everybody reads everything except `userPassword`, which serves
    /// authentication only; nobody but the root writes.
    #[must_use]
    pub fn standard(schema: &Schema) -> Rules {
        let everyone = |scope, attributes, level| Rule {
            scope,
            attributes,
            by: vec![(Who::Anyone, level)],
        };
        let passwords = schema
            .attribute("userPassword")
            .map(|password| AttributeSet {
                types: password.subtypes.clone(),
                ..AttributeSet::default()
            });
        let mut rules = Vec::new();
        if let Some(passwords) = passwords {
            rules.push(everyone(Scope::Any, Some(passwords), Level::Auth));
        }
        rules.push(everyone(Scope::Any, None, Level::Read));
        Rules { rules }
    }

    /// Compiles rules written as `to <what> by <who> <level> ...`; no rules at all gives [`Rules::standard`].
    ///
    /// ```text
    /// what   *  |  [dn[.base|.one|.subtree|.children]="<DN>"]  [attrs=<type>,@<class>,entry,children,...]
    /// who    *  |  anonymous  |  users  |  self  |  dn[.base|.one|.subtree|.children]="<DN>"
    /// level  none  disclose  auth  compare  search  read  write
    /// ```
    /// # Errors
    /// [`RuleError`] with the number of the rule and the column where it went wrong.
    pub fn parse<'t>(
        schema: &Schema,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Rules, RuleError> {
        let mut rules = Vec::new();
        for (at, text) in texts.into_iter().enumerate() {
            rules.push(parse::rule(schema, at + 1, text)?);
        }
        if rules.is_empty() {
            return Ok(Rules::standard(schema));
        }
        Ok(Rules { rules })
    }

    /// Fixes the subject: what can be decided without knowing the entry is decided here, once per operation.
    #[must_use]
    pub fn decide(&self, subject: Subject<'_>) -> Decisions<'_> {
        Decisions::new(self, subject)
    }
}

impl Scope {
    pub(crate) fn contains(&self, normal: &str) -> bool {
        match self {
            Scope::Any => true,
            Scope::Base(base) => normal == base,
            Scope::One(base) => !normal.is_empty() && parent(normal) == base,
            Scope::Subtree(base) => {
                base.is_empty() || normal == base || normal_is_under(normal, base)
            }
            Scope::Children(base) => normal_is_under(normal, base),
        }
    }
}

/// A raw `,` occurs only between RDNs of a normal form.
fn parent(normal: &str) -> &str {
    normal.split_once(',').map_or("", |(_, above)| above)
}

impl Rule {
    pub(crate) fn speaks_of(&self, part: Part) -> bool {
        let Some(set) = &self.attributes else {
            return true;
        };
        match part {
            Part::Entry => set.entry,
            Part::Children => set.children,
            Part::Attribute(index) => set.types.binary_search(&index).is_ok(),
        }
    }

    /// The level this rule gives, for an entry that is the subject's own or not. A rule that speaks of the
    /// target but of none of its subjects closes it.
    pub(crate) fn level(&self, subject: Subject<'_>, own_entry: bool) -> Level {
        self.by
            .iter()
            .find(|(who, _)| who.fits(subject, own_entry))
            .map_or(Level::None, |&(_, level)| level)
    }
}

impl Who {
    fn fits(&self, subject: Subject<'_>, own_entry: bool) -> bool {
        match (self, subject) {
            (Who::Anyone, _) => true,
            (Who::Anonymous, subject) => subject == Subject::Anonymous,
            (Who::Users, subject) => subject != Subject::Anonymous,
            (Who::Itself, Subject::User(_)) => own_entry,
            (Who::Dn(scope), Subject::User(normal)) => scope.contains(normal),
            (Who::Itself | Who::Dn(_), _) => false,
        }
    }
}
