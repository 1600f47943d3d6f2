//! Evaluating a filter on an entry.

use std::cmp::Ordering;

use super::{Assertion, Filter, FilterSubject};
use crate::description::AttributeDescription;
use crate::dn::Dn;
use crate::entry::Entry;
use crate::matching::{MatchingRule, Truth};
use crate::registry::{AttributeIndex, Schema};

impl<A> Filter<A> {
    /// Evaluates the filter. Stops as soon as the outcome is certain.
    pub fn test<S: FilterSubject<A> + ?Sized>(&self, schema: &Schema, subject: &S) -> Truth {
        match self {
            Filter::Constant(truth) => *truth,
            Filter::And(items) => Junction::AND.test(items, schema, subject),
            Filter::Or(items) => Junction::OR.test(items, schema, subject),
            Filter::Not(item) => item.test(schema, subject).not(),
            Filter::Present(attribute) => subject.present(attribute),
            Filter::Entries(numbers) => match subject.number() {
                Some(number) => numbers.binary_search(&number).is_ok().into(),
                None => Truth::Undefined,
            },
            Filter::ObjectClass {
                attribute, class, ..
            } => subject.values(attribute, &mut |value| {
                schema
                    .object_class_by_bytes(value)
                    .is_some_and(|found| found.is_kind_of(*class))
                    .into()
            }),
            Filter::Equality(Assertion {
                attribute,
                rule,
                normal,
            }) => subject.values(attribute, &mut |value| rule.matches(schema, normal, value)),
            Filter::Approximate {
                attribute, words, ..
            } => subject.values(attribute, &mut |value| words.matches(value).into()),
            Filter::InChain { .. } => Truth::Undefined,
            Filter::GreaterOrEqual(assertion) => {
                ordered(assertion, Ordering::is_ge, schema, subject)
            }
            Filter::LessOrEqual(assertion) => ordered(assertion, Ordering::is_le, schema, subject),
            Filter::Substrings {
                attribute,
                rule,
                pieces,
            } => subject.values(attribute, &mut |value| {
                rule.substring_matches(schema, pieces, value)
            }),
            Filter::Extensible {
                attribute,
                attribute_type,
                rule,
                normal,
                dn_attributes,
            } => {
                let extensible = Extensible {
                    schema,
                    rule,
                    normal,
                };
                let found = extensible.test_values(attribute.as_ref(), subject);
                if *dn_attributes && !found.is_true() {
                    found.or(extensible.test_name(*attribute_type, subject))
                } else {
                    found
                }
            }
        }
    }
}

/// A way to combine the outcomes of several items.
struct Junction {
    /// The outcome of no items.
    neutral: Truth,
    /// The outcome of an item that decides alone.
    decisive: Truth,
    combine: fn(Truth, Truth) -> Truth,
}

impl Junction {
    const AND: Junction = Junction {
        neutral: Truth::True,
        decisive: Truth::False,
        combine: Truth::and,
    };
    const OR: Junction = Junction {
        neutral: Truth::False,
        decisive: Truth::True,
        combine: Truth::or,
    };

    /// Combines items until one decides.
    #[inline]
    fn test<A, S: FilterSubject<A> + ?Sized>(
        &self,
        items: &[Filter<A>],
        schema: &Schema,
        subject: &S,
    ) -> Truth {
        let mut outcome = self.neutral;
        for item in items {
            outcome = (self.combine)(outcome, item.test(schema, subject));
            if outcome == self.decisive {
                break;
            }
        }
        outcome
    }
}

fn ordered<A, S: FilterSubject<A> + ?Sized>(
    assertion: &Assertion<A>,
    wanted: fn(Ordering) -> bool,
    schema: &Schema,
    subject: &S,
) -> Truth {
    subject.values(&assertion.attribute, &mut |value| {
        assertion
            .rule
            .compare(schema, value, &assertion.normal)
            .map_or(Truth::Undefined, |order| wanted(order).into())
    })
}

/// The rule and the assertion of an extensible match.
struct Extensible<'f> {
    schema: &'f Schema,
    rule: &'f MatchingRule,
    normal: &'f [u8],
}

impl Extensible<'_> {
    /// Tests the values of one attribute, or of every attribute that the rule applies to.
    fn test_values<A, S: FilterSubject<A> + ?Sized>(
        &self,
        attribute: Option<&A>,
        subject: &S,
    ) -> Truth {
        match attribute {
            Some(attribute) => subject.values(attribute, &mut |value| {
                self.rule.matches(self.schema, self.normal, value)
            }),
            None => subject.all_values(&mut |index, value| self.test_applicable(index, value)),
        }
    }

    /// Tests the values in the entry's name, those of one attribute type or of all.
    fn test_name<A, S: FilterSubject<A> + ?Sized>(
        &self,
        attribute_type: Option<AttributeIndex>,
        subject: &S,
    ) -> Truth {
        subject.dn_values(&mut |index, value| {
            let wanted = attribute_type.is_none_or(|of| self.schema.attribute_at(of).covers(index));
            if wanted {
                self.test_applicable(index, value)
            } else {
                Truth::False
            }
        })
    }

    /// Tests a value of any attribute. It does not match if the rule does not apply to it.
    fn test_applicable(&self, index: AttributeIndex, value: &[u8]) -> Truth {
        let attribute = self.schema.attribute_at(index);
        if self
            .rule
            .applies_to(attribute.equality, attribute.syntax.oid)
        {
            self.rule.matches(self.schema, self.normal, value)
        } else {
            Truth::False
        }
    }
}

/// An owned entry with the schema it was resolved by: what a filter needs to look at it.
#[derive(Clone, Copy, Debug)]
pub struct EntrySubject<'e> {
    /// The schema of the descriptions.
    pub schema: &'e Schema,
    /// The entry.
    pub entry: &'e Entry,
}

impl EntrySubject<'_> {
    fn visit(
        &self,
        covered: impl Fn(&AttributeDescription) -> bool,
        visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth,
    ) -> Truth {
        let mut outcome = Truth::False;
        for attribute in self
            .entry
            .attributes
            .iter()
            .filter(|attribute| covered(&attribute.description))
        {
            for value in &attribute.values {
                outcome = outcome.or(visit(attribute.description.attribute, value));
                if outcome.is_true() {
                    return outcome;
                }
            }
        }
        outcome
    }
}

impl FilterSubject<AttributeDescription> for EntrySubject<'_> {
    fn values(
        &self,
        attribute: &AttributeDescription,
        visit: &mut dyn FnMut(&[u8]) -> Truth,
    ) -> Truth {
        self.visit(
            |held| attribute.covers(self.schema, held),
            &mut |_, value| visit(value),
        )
    }

    fn present(&self, attribute: &AttributeDescription) -> Truth {
        self.entry
            .attributes
            .iter()
            .any(|held| attribute.covers(self.schema, &held.description))
            .into()
    }

    fn all_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        self.visit(|_| true, visit)
    }

    fn dn_values(&self, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
        visit_dn(&self.entry.dn, visit)
    }
}

/// Visits the values of a resolved name, as [`FilterSubject::dn_values`] does.
pub fn visit_dn(dn: &Dn, visit: &mut dyn FnMut(AttributeIndex, &[u8]) -> Truth) -> Truth {
    let mut outcome = Truth::False;
    for ava in dn.rdns().flat_map(|rdn| rdn.avas()) {
        outcome = outcome.or(visit(ava.attribute, ava.value));
        if outcome.is_true() {
            break;
        }
    }
    outcome
}
