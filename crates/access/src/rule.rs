//! Rules in the form they are evaluated in.

use std::sync::Arc;

use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Filter, MatchingRule,
    ObjectClassIndex, Schema,
};

use crate::names::{NameSet, NameTest};
use crate::pattern::{Pattern, Template};
use crate::peer::TextTest;
use crate::rights::Rights;
use crate::set::SetTest;

/// The text of one rule, and where it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleText {
    /// `to <what> by <who> <access> ...`
    pub text: String,
    /// For people: `slapd.conf:12`. May be empty.
    pub origin: Arc<str>,
}

impl From<String> for RuleText {
    fn from(text: String) -> RuleText {
        RuleText {
            text,
            origin: "".into(),
        }
    }
}

impl From<&str> for RuleText {
    fn from(text: &str) -> RuleText {
        text.to_owned().into()
    }
}

/// `to <what> by <who> <access> ...`
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// From 1, in the list it was written in.
    pub(crate) number: usize,
    pub(crate) origin: Arc<str>,
    /// The part of its text that describes the target.
    pub(crate) target_text: String,
    pub(crate) target: Target,
    pub(crate) by: Vec<Clause>,
}

/// The target of a rule: the conditions that an entry and attribute have to meet, all at once.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) names: NameSet,
    pub(crate) filter: Option<Filter<AttributeSelector>>,
    /// `None`: entries as a whole with all their attributes.
    pub(crate) attributes: Option<AttributeSet>,
    pub(crate) value: Option<ValueTest>,
}

/// The parts of an entry that a rule is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeSet {
    pub(crate) entry: bool,
    pub(crate) children: bool,
    /// A bit for each attribute type, subtypes included.
    pub(crate) types: Vec<u64>,
    /// Descriptions with options.
    pub(crate) optioned: Vec<AttributeDescription>,
}

/// The values of an attribute that a rule is about.
#[derive(Clone, Debug)]
pub(crate) enum ValueTest {
    Equal(&'static MatchingRule, Box<[u8]>),
    /// Names of the class or of one derived from it.
    Class(ObjectClassIndex),
    Regex(Box<Pattern>),
    Names(NameSet),
}

/// The part of an entry a decision is about.
#[derive(Clone, Copy, Debug)]
pub enum Part<'p> {
    /// The entry as such.
    Entry,
    /// The set of its children.
    Children,
    /// An attribute.
    Attribute(&'p AttributeDescription),
}

/// `by <who> <access> <control>`
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) text: String,
    /// All of them have to match.
    pub(crate) subjects: Vec<SubjectPattern>,
    pub(crate) effect: Effect,
    /// Only for the value that is the requester's own name.
    pub(crate) own_value: Option<Identity>,
    pub(crate) control: Control,
}

/// The change that a matching clause makes to the rights collected so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A level by its name.
    Level(Rights),
    Set(Rights),
    Add(Rights),
    Remove(Rights),
}

/// Where evaluation continues after a clause that matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    Stop,
    /// With the next clause.
    Continue,
    /// With the next rule.
    Break,
}

/// One of the two names of a requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The name for which access is decided.
    Effective,
    /// The authenticated name.
    Real,
}

/// A condition on the requester.
#[derive(Clone, Debug)]
pub(crate) enum SubjectPattern {
    Anyone,
    Anonymous(Identity),
    Users(Identity),
    /// The requester's own entry, or an ancestor or descendant of it. A positive number of levels
    /// selects the ancestor of the requester's entry, a negative one its descendants.
    SelfEntry(Identity, i32),
    Name(Identity, NameTest),
    /// An attribute of the entry names the requester.
    DnAttribute(Identity, AttributeDescription),
    Group(Box<Group>),
    Set(Box<SetTest>),
    Peer(TextTest),
    Socket(TextTest),
    Url(TextTest),
    Domain(TextTest),
    /// Protection of at least this strength.
    Strength(Layer, u32),
}

/// The layer that protects the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    Any,
    Transport,
    Tls,
    Sasl,
}

/// Membership in a group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Among the groups of all rules, for remembering.
    pub(crate) number: usize,
    pub(crate) name: GroupName,
    /// objectClass is that class.
    pub(crate) class: Filter<AttributeSelector>,
    pub(crate) member: AttributeDescription,
    /// True if the attribute holds URLs of searches rather than names.
    pub(crate) dynamic: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum GroupName {
    /// In normal form.
    Fixed(String),
    Expanded(Template),
}

impl Rule {
    pub(crate) fn looks_at_values(&self) -> bool {
        self.target.value.is_some() || self.by.iter().any(|clause| clause.own_value.is_some())
    }

    pub(crate) fn looks_at_wire(&self) -> bool {
        let ends = |pattern: &SubjectPattern| {
            matches!(
                pattern,
                SubjectPattern::Peer(_)
                    | SubjectPattern::Socket(_)
                    | SubjectPattern::Url(_)
                    | SubjectPattern::Domain(_)
            )
        };
        self.by.iter().flat_map(|clause| &clause.subjects).any(ends)
    }

    pub(crate) fn group_count(&self) -> usize {
        let patterns = self.by.iter().flat_map(|clause| &clause.subjects);
        patterns
            .filter(|pattern| matches!(pattern, SubjectPattern::Group(_)))
            .count()
    }

    pub(crate) fn covers_part(&self, schema: &Schema, part: Part<'_>) -> bool {
        self.target
            .attributes
            .as_ref()
            .is_none_or(|set| set.contains(schema, part))
    }
}

impl Clause {
    /// Returns the texts of the clause that may name entries: names in normal form, and the texts
    /// of sets. Patterns and templates name none.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for pattern in &self.subjects {
            match pattern {
                SubjectPattern::Name(_, NameTest::Fixed(set)) => {
                    names.extend(set.base().map(str::to_owned));
                }
                SubjectPattern::Group(group) => {
                    if let GroupName::Fixed(name) = &group.name {
                        names.push(name.clone());
                    }
                }
                SubjectPattern::Set(set) => set.each_text(&mut |text| names.push(text.to_owned())),
                _ => {}
            }
        }
        names
    }
}

impl AttributeSet {
    pub(crate) fn insert(&mut self, index: AttributeIndex) {
        let (word, bit) = position(index);
        if self.types.len() <= word {
            self.types.resize(word + 1, 0);
        }
        if let Some(word) = self.types.get_mut(word) {
            *word |= bit;
        }
    }

    /// Takes in another set, but for what is in a third.
    pub(crate) fn add(&mut self, other: AttributeSet, but: &AttributeSet) {
        self.entry |= other.entry && !but.entry;
        self.children |= other.children && !but.children;
        if self.types.len() < other.types.len() {
            self.types.resize(other.types.len(), 0);
        }
        let masks = but.types.iter().copied().chain(std::iter::repeat(0));
        for ((word, new), not) in self.types.iter_mut().zip(other.types).zip(masks) {
            *word |= new & !not;
        }
        let within = |description: &AttributeDescription| but.has(description.attribute);
        let optioned = other.optioned.into_iter();
        self.optioned
            .extend(optioned.filter(|description| !within(description)));
    }

    pub(crate) fn has(&self, index: AttributeIndex) -> bool {
        let (word, bit) = position(index);
        self.types.get(word).is_some_and(|word| word & bit != 0)
    }

    fn contains(&self, schema: &Schema, part: Part<'_>) -> bool {
        match part {
            Part::Entry => self.entry,
            Part::Children => self.children,
            Part::Attribute(description) => {
                self.has(description.attribute)
                    || self
                        .optioned
                        .iter()
                        .any(|optioned| optioned.covers(schema, description))
            }
        }
    }
}

fn position(index: AttributeIndex) -> (usize, u64) {
    (index.0 as usize / 64, 1 << (index.0 % 64))
}

impl Effect {
    pub(crate) fn apply(self, rights: Rights) -> Rights {
        match self {
            Effect::Level(to) | Effect::Set(to) => to,
            Effect::Add(more) => rights | more,
            Effect::Remove(less) => rights.without(less),
        }
    }
}
