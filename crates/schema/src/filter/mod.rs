//! Search filters, resolved against the schema.

mod evaluate;
mod resolve;

pub use evaluate::{EntrySubject, visit_dn};

use std::sync::Arc;

use crate::description::AttributeDescription;
use crate::matching::{ApproximateAssertion, MatchingRule, SubstringAssertion, Truth};
use crate::registry::{AttributeIndex, ObjectClassIndex};

/// The attributes of an entry that an item looks at. A description implies its subtypes and its
/// forms with more options ([`AttributeDescription::covers`]).
/// `schema.attribute_at(d.attribute).subtypes` lists the types.
pub type AttributeSelector = AttributeDescription;

/// A filter whose items are ready to be evaluated. `A` says where an item's values are: an
/// [`AttributeSelector`] after [`Filter::resolve`], anything the store likes after [`Filter::map`].
#[derive(Clone, Debug, PartialEq)]
pub enum Filter<A> {
    /// `(&)`, `(|)`, and items that make no sense.
    Constant(Truth),
    /// All of them.
    And(Vec<Filter<A>>),
    /// One of them.
    Or(Vec<Filter<A>>),
    /// The opposite.
    Not(Box<Filter<A>>),
    /// The attribute has a value.
    Present(A),
    /// The entry is of an object class: one of its values names the class or one derived from it.
    ObjectClass {
        /// The objectClass attribute.
        attribute: A,
        /// The class asked for.
        class: ObjectClassIndex,
        /// Normal forms (objectIdentifierMatch) that imply the class, itself included: what to look
        /// up in an index.
        implied_by: Vec<Box<[u8]>>,
    },
    /// Some value equals the assertion. Approximate match arrives here where a type's values have
    /// no sound.
    Equality(Assertion<A>),
    /// Some value is greater than or equal to the assertion.
    GreaterOrEqual(Assertion<A>),
    /// Some value is less than or equal to the assertion.
    LessOrEqual(Assertion<A>),
    /// Some value has words that sound like these, in this order (`~=`).
    Approximate {
        /// Where the values are.
        attribute: A,
        /// The type's equality rule.
        rule: &'static MatchingRule,
        /// The words.
        words: ApproximateAssertion,
    },
    /// The attribute's names lead to an entry, directly or through the same attribute of the
    /// entries they name (LDAP_MATCHING_RULE_IN_CHAIN). Only a search can follow them:
    /// [`Filter::replace_chains`] serves it. Elsewhere the item is Undefined.
    InChain {
        /// Where the values are, the rule of direct steps, and the name to arrive at.
        assertion: Assertion<A>,
        /// The attribute's type.
        attribute_type: AttributeIndex,
    },
    /// Some value has these pieces in this order.
    Substrings {
        /// Where the values are.
        attribute: A,
        /// The type's substrings rule.
        rule: &'static MatchingRule,
        /// The pieces. They are shared, because filters are copied and every item has their room.
        pieces: Arc<SubstringAssertion>,
    },
    /// The entry is one of these, by their numbers in the store, ascending. A search computes them
    /// in advance.
    Entries(Arc<[u64]>),
    /// A rule named by the client (RFC 4511, section 4.5.1.7.7).
    Extensible {
        /// Where the values are; `None` means every attribute the rule applies to.
        attribute: Option<A>,
        /// The type of `attribute`, for the AVAs of the name when `dn_attributes`.
        attribute_type: Option<AttributeIndex>,
        /// The rule.
        rule: &'static MatchingRule,
        /// Normal form of the assertion.
        normal: Box<[u8]>,
        /// True if the AVAs of the entry's name count as values too.
        dn_attributes: bool,
    },
}

/// Attribute, rule and normalised assertion value.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion<A> {
    /// Where the values are.
    pub attribute: A,
    /// How they are compared.
    pub rule: &'static MatchingRule,
    /// Normal form of the assertion value: also the index key.
    pub normal: Box<[u8]>,
}

/// An entry against which a filter is tested, as one requester sees it.
///
/// `values` and its relatives call `visit` for each value until one answers [`Truth::True`]. They
/// return the [`Truth::or`] of the answers, which is False without values. A subject that hides
/// attributes from the requester answers Undefined for them.
pub trait FilterSubject<A> {
    /// Visits the values the selector covers: the type, its subtypes, and forms with more options.
    fn values(&self, attribute: &A, visit: &mut dyn FnMut(&[u8]) -> Truth) -> Truth;
    /// Returns True if the selector covers at least one value.
    fn present(&self, attribute: &A) -> Truth;
    /// Visits every value of every attribute, with its type: for extensible match without
    /// attribute.
    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth;
    /// Visits the attributes and values of the entry's DN, every level.
    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth;
    /// Returns the entry's number in its store, for one that has it.
    fn number(&self) -> Option<u64> {
        None
    }
}

impl<A> Filter<A> {
    /// Returns the number of items that a test may have to look at, each substring piece counted.
    /// It bounds the cost of testing one entry.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Filter::And(items) | Filter::Or(items) => items
                .iter()
                .map(Filter::weight)
                .fold(1, usize::saturating_add),
            Filter::Not(item) => item.weight(),
            Filter::Substrings { pieces, .. } => pieces.any().count() + 2,
            Filter::Approximate { words, .. } => words.words().count() + 1,
            _ => 1,
        }
    }

    /// Replaces every [`Filter::InChain`] by the result of `follow`. It receives the assertion,
    /// with the rule of direct steps and the final name, and the attribute's type. It may return
    /// [`Filter::Entries`], or a choice of direct steps to names. It has to bound the work; an
    /// error ends the whole.
    ///
    /// # Errors
    /// The error of `follow`.
    pub fn replace_chains<E>(
        self,
        follow: &mut impl FnMut(Assertion<A>, AttributeIndex) -> Result<Filter<A>, E>,
    ) -> Result<Filter<A>, E> {
        let mut all = |items: Vec<Filter<A>>| -> Result<Vec<Filter<A>>, E> {
            items
                .into_iter()
                .map(|item| item.replace_chains(follow))
                .collect()
        };
        Ok(match self {
            Filter::And(items) => Filter::And(all(items)?),
            Filter::Or(items) => Filter::Or(all(items)?),
            Filter::Not(item) => Filter::Not(Box::new(item.replace_chains(follow)?)),
            Filter::InChain {
                assertion,
                attribute_type,
            } => follow(assertion, attribute_type)?,
            other => other,
        })
    }

    /// Returns true if there is an [`Filter::InChain`] in it.
    #[must_use]
    pub fn has_chains(&self) -> bool {
        match self {
            Filter::And(items) | Filter::Or(items) => items.iter().any(Filter::has_chains),
            Filter::Not(item) => item.has_chains(),
            Filter::InChain { .. } => true,
            _ => false,
        }
    }

    /// Replaces the selectors, for instance by positions in a store's records.
    pub fn map<B>(self, to: &mut impl FnMut(A) -> B) -> Filter<B> {
        match self {
            Filter::Constant(truth) => Filter::Constant(truth),
            Filter::And(items) => Filter::And(items.into_iter().map(|item| item.map(to)).collect()),
            Filter::Or(items) => Filter::Or(items.into_iter().map(|item| item.map(to)).collect()),
            Filter::Not(item) => Filter::Not(Box::new(item.map(to))),
            Filter::Present(attribute) => Filter::Present(to(attribute)),
            Filter::Entries(numbers) => Filter::Entries(numbers),
            Filter::ObjectClass {
                attribute,
                class,
                implied_by,
            } => Filter::ObjectClass {
                attribute: to(attribute),
                class,
                implied_by,
            },
            Filter::Equality(assertion) => Filter::Equality(assertion.map(to)),
            Filter::Approximate {
                attribute,
                rule,
                words,
            } => Filter::Approximate {
                attribute: to(attribute),
                rule,
                words,
            },
            Filter::InChain {
                assertion,
                attribute_type,
            } => Filter::InChain {
                assertion: assertion.map(to),
                attribute_type,
            },
            Filter::GreaterOrEqual(assertion) => Filter::GreaterOrEqual(assertion.map(to)),
            Filter::LessOrEqual(assertion) => Filter::LessOrEqual(assertion.map(to)),
            Filter::Substrings {
                attribute,
                rule,
                pieces,
            } => Filter::Substrings {
                attribute: to(attribute),
                rule,
                pieces,
            },
            Filter::Extensible {
                attribute,
                attribute_type,
                rule,
                normal,
                dn_attributes,
            } => Filter::Extensible {
                attribute: attribute.map(to),
                attribute_type,
                rule,
                normal,
                dn_attributes,
            },
        }
    }
}

impl<A> Assertion<A> {
    fn map<B>(self, to: &mut impl FnMut(A) -> B) -> Assertion<B> {
        Assertion {
            attribute: to(self.attribute),
            rule: self.rule,
            normal: self.normal,
        }
    }
}
