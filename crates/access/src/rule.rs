//! Rules in the form they are evaluated in.

use std::sync::Arc;

use fulgurite_schema::{
    AttributeDescription, AttributeIndex, AttributeSelector, Filter, MatchingRule,
    ObjectClassIndex, Schema,
};

use crate::common::Patterns;
use crate::decide::Decisions;
use crate::names::{NameTest, Names};
use crate::parse::{self, RuleError};
use crate::pattern::{Pattern, Template};
use crate::peer::TextTest;
use crate::requester::Requester;
use crate::rights::{Level, Rights};
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

/// What holds where no rule is given at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutRules {
    /// Everybody reads everything except `userPassword`, which serves authentication only.
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
    pub(crate) patterns: Patterns,
}

/// `to <what> by <who> <access> ...`
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// From 1, in the list it was written in.
    pub(crate) number: usize,
    pub(crate) origin: Arc<str>,
    /// The part of its text that says what it is about.
    pub(crate) what_text: String,
    pub(crate) what: What,
    pub(crate) by: Vec<Clause>,
}

/// What a rule speaks of: all of these at once.
#[derive(Clone, Debug)]
pub(crate) struct What {
    pub(crate) names: Names,
    pub(crate) filter: Option<Filter<AttributeSelector>>,
    /// `None`: entries as a whole with all their attributes.
    pub(crate) attributes: Option<AttributeSet>,
    pub(crate) value: Option<ValueTest>,
}

/// What part of an entry a rule speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeSet {
    pub(crate) entry: bool,
    pub(crate) children: bool,
    /// A bit for each attribute type, subtypes included.
    pub(crate) types: Vec<u64>,
    /// Descriptions with options.
    pub(crate) optioned: Vec<AttributeDescription>,
}

/// Which values of an attribute a rule speaks of.
#[derive(Clone, Debug)]
pub(crate) enum ValueTest {
    Equal(&'static MatchingRule, Box<[u8]>),
    /// Names of the class or one derived from it.
    Class(ObjectClassIndex),
    Regex(Box<Pattern>),
    Names(Names),
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
    /// All of them have to fit.
    pub(crate) who: Vec<Who>,
    pub(crate) effect: Effect,
    /// Only for the value that is the requester's own name.
    pub(crate) own_value: Option<Which>,
    pub(crate) control: Control,
}

/// What a clause that fits does to the rights collected so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A level by its name.
    Level(Rights),
    Set(Rights),
    Add(Rights),
    Remove(Rights),
}

/// Where it goes on after a clause that fits.
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
pub(crate) enum Which {
    /// For whom access is decided.
    Effective,
    /// Who has authenticated.
    Real,
}

/// A condition on the requester.
#[derive(Clone, Debug)]
pub(crate) enum Who {
    Anyone,
    Anonymous(Which),
    Users(Which),
    /// The entry itself; the entry that many levels above the requester's, or, negative, an entry whose ancestor that
    /// many levels above is the requester's.
    Itself(Which, i32),
    Name(Which, NameTest),
    /// An attribute of the entry names the requester.
    Named(Which, AttributeDescription),
    Group(Box<Group>),
    Set(Box<SetTest>),
    Peer(TextTest),
    Socket(TextTest),
    Url(TextTest),
    Domain(TextTest),
    /// At least that strong a protection.
    Strength(Layer, u32),
}

/// Whose protection.
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
    /// Whether the attribute holds URLs of searches rather than names.
    pub(crate) dynamic: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum GroupName {
    /// In normal form.
    Fixed(String),
    Expanded(Template),
}

/// What nobody reads where there are no rules: passwords, and keys that a password can be guessed from.
const PASSWORDS: [&str; 2] = ["userPassword", "authPassword"];

impl Rules {
    /// What holds when nothing is configured.
    #[must_use]
    pub fn empty(schema: &Arc<Schema>, without: WithoutRules) -> Rules {
        Rules {
            schema: Arc::clone(schema),
            rules: Vec::new(),
            without,
            groups: 0,
            by_value: false,
            by_wire: false,
            patterns: Patterns::default(),
        }
    }

    /// Everybody reads everything except `userPassword` and `authPassword`, which serve authentication only; nobody but
    /// the root writes.
    #[must_use]
    pub fn standard(schema: &Arc<Schema>) -> Rules {
        Rules::empty(schema, WithoutRules::Protected).completed()
    }

    /// Compiles rules written in the language of slapd.access(5); `without` holds if there are none.
    ///
    /// ```text
    /// to      *  [dn[.<style>]=<pattern>]  [filter=<filter>]  [attrs=<list> [val[/<rule>][.<style>]=<value>]]
    /// by      *  anonymous  users  self[.level{n}]  dn[.<style>[,expand]]=  dnattr=  group[/<class>[/<attr>]][.expand]=
    ///         set[.expand]=  peername[.<style>]=  sockname=  sockurl=  domain=  [transport_|tls_|sasl_]ssf=  real...
    /// access  [real][self]{none|disclose|auth|compare|search|read|add|delete|write|manage | {=|+|-}{0dxcsrwazim}}
    /// control stop  continue  break
    /// ```
    /// # Errors
    /// [`RuleError`] with the origin and number of the rule and the column where it went wrong.
    pub fn parse<'t>(
        schema: &Arc<Schema>,
        texts: impl IntoIterator<Item = &'t RuleText>,
        without: WithoutRules,
    ) -> Result<Rules, RuleError> {
        let mut rules = Rules::empty(schema, without);
        for (at, text) in texts.into_iter().enumerate() {
            rules.push(Arc::new(parse::rule(schema, at + 1, text)?));
        }
        Ok(rules.completed())
    }

    /// These rules, then those: how the rules of a database are followed by the global ones.
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

    fn push(&mut self, mut rule: Arc<Rule>) {
        self.by_value |= rule.looks_at_values();
        self.by_wire |= rule.looks_at_wire();
        if rule.group_count() > 0 {
            let first = self.groups;
            let mut numbered = (*rule).clone();
            let groups = numbered.by.iter_mut().flat_map(|clause| &mut clause.who);
            for who in groups {
                if let Who::Group(group) = who {
                    group.number = self.groups;
                    self.groups += 1;
                }
            }
            debug_assert_eq!(self.groups - first, numbered.group_count());
            rule = Arc::new(numbered);
        }
        self.rules.push(rule);
    }

    /// Puts in what holds without rules, as rules with the number 0.
    fn completed(mut self) -> Rules {
        if !self.rules.is_empty() {
            return self;
        }
        let everyone = |attributes, level: Level| {
            let effect = Effect::Level(level.rights());
            Arc::new(Rule::built_in(attributes, effect, level.keyword()))
        };
        match self.without {
            WithoutRules::Everything(level) => self.rules.push(everyone(None, level)),
            WithoutRules::Protected => {
                let named = PASSWORDS.map(|name| self.schema.attribute(name));
                let mut passwords = AttributeSet::default();
                named
                    .iter()
                    .flatten()
                    .flat_map(|attribute| &attribute.subtypes)
                    .for_each(|&index| passwords.insert(index));
                self.rules.push(everyone(Some(passwords), Level::Auth));
                self.rules.push(everyone(None, Level::Read));
            }
        }
        self
    }

    /// Whether [`Requester::wire`] has to be filled in, apart from its strength.
    #[must_use]
    pub fn looks_at_wire(&self) -> bool {
        self.by_wire
    }

    /// Fixes the requester: what can be decided without knowing the entry is decided here, once per operation.
    #[must_use]
    pub fn decide(&self, requester: &Requester<'_>) -> Decisions<'_> {
        Decisions::new(self, requester)
    }
}

impl Rule {
    fn built_in(attributes: Option<AttributeSet>, effect: Effect, level: &str) -> Rule {
        Rule {
            number: 0,
            origin: "built in".into(),
            what_text: match &attributes {
                None => "to *".to_owned(),
                Some(_) => format!("to attrs={}", PASSWORDS.join(",")),
            },
            what: What {
                names: Names::Any,
                filter: None,
                attributes,
                value: None,
            },
            by: vec![Clause {
                text: format!("by * {level}"),
                who: vec![Who::Anyone],
                effect,
                own_value: None,
                control: Control::Stop,
            }],
        }
    }

    fn looks_at_values(&self) -> bool {
        self.what.value.is_some() || self.by.iter().any(|clause| clause.own_value.is_some())
    }

    fn looks_at_wire(&self) -> bool {
        let ends = |who: &Who| {
            matches!(
                who,
                Who::Peer(_) | Who::Socket(_) | Who::Url(_) | Who::Domain(_)
            )
        };
        self.by.iter().flat_map(|clause| &clause.who).any(ends)
    }

    fn group_count(&self) -> usize {
        let who = self.by.iter().flat_map(|clause| &clause.who);
        who.filter(|who| matches!(who, Who::Group(_))).count()
    }

    pub(crate) fn speaks_of(&self, schema: &Schema, part: Part<'_>) -> bool {
        self.what
            .attributes
            .as_ref()
            .is_none_or(|set| set.contains(schema, part))
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
