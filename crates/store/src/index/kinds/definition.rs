//! The parts of an index kind. Its word is in the crate `policy`, for the settings.

use std::borrow::Cow;

use super::class_keys::ClassKeys;
use crate::ids::AttributeId;
use crate::index::gram;
use crate::index::key;
use crate::index::key_list::KeyList;
use crate::index::key_range::KeyRange;
use fulgurite_policy::IndexKind;
use fulgurite_schema::{AttributeSelector, AttributeType, Filter, MatchingRule, Schema};

/// A row of the table of kinds.
pub(crate) struct KindDefinition {
    /// The third byte of the keys. Files contain it, so it never changes.
    pub(crate) code: u8,
    /// The sign between attribute and value in the text of a plan.
    pub(crate) sign: &'static str,
    /// The matching rule whose normal forms are in the keys; `None` for kinds without a rule.
    pub(crate) rule: Option<fn(&AttributeType) -> Option<&'static MatchingRule>>,
    /// Says whether an attribute type can have such an index.
    pub(crate) support: fn(&AttributeType) -> Support,
    /// Passes the keys of a value to a sink.
    pub(crate) keys: fn(&KindContext<'_>, &mut IndexedValue<'_>, &mut Vec<u8>, &mut dyn KeySink),
    /// Returns the postings that answer a filter item; `None` if this kind cannot answer it.
    pub(crate) lookup: fn(&KindContext<'_>, &Filter<AttributeSelector>) -> Option<Lookup>,
    /// Returns the attribute of a filter item for which this kind is the one to recommend.
    pub(crate) recommended:
        for<'f> fn(&Schema, &'f Filter<AttributeSelector>) -> Option<&'f AttributeSelector>,
}

/// The answer of a kind to an attribute type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// It can.
    Yes,
    /// This kind answers in its place.
    Instead(IndexKind),
    /// It cannot, for this reason.
    No(&'static str),
}

/// One kind of index of one attribute.
#[derive(Clone, Copy)]
pub(crate) struct KindContext<'a> {
    /// The attribute's number.
    pub(crate) id: AttributeId,
    /// The rule of the kind, for kinds that have one.
    pub(crate) rule: Option<&'static MatchingRule>,
    /// The keys of object classes, if the attribute is objectClass.
    pub(crate) classes: Option<&'a ClassKeys>,
}

impl KindContext<'_> {
    /// Returns the rule of the kind if its normal forms are those of `other`.
    pub(crate) fn rule_like(&self, other: &MatchingRule) -> Option<&'static MatchingRule> {
        self.rule.filter(|rule| rule.same_normal_form(other))
    }
}

/// The postings that answer a filter item.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// The posting of a key.
    Posting {
        key: Vec<u8>,
        /// True if the posting lists matching entries only.
        exact: bool,
    },
    /// All postings of a range of keys.
    Range {
        range: KeyRange,
        /// True if the postings list matching entries only.
        exact: bool,
    },
    /// The entries that are in the postings of all these keys. Never exact.
    AllPostings(KeyList),
    /// The entries that are in all of these ranges. Never exact.
    AllRanges(Vec<KeyRange>),
}

/// A value on its way into the indexes of one attribute. Kinds whose rules have the same normal
/// form share it.
pub(crate) struct IndexedValue<'v> {
    schema: &'v Schema,
    /// The value as stored.
    pub(crate) value: &'v [u8],
    normal: Option<(&'static MatchingRule, Cow<'v, [u8]>)>,
}

impl<'v> IndexedValue<'v> {
    pub(crate) fn new(schema: &'v Schema, value: &'v [u8]) -> IndexedValue<'v> {
        IndexedValue {
            schema,
            value,
            normal: None,
        }
    }

    pub(crate) fn schema(&self) -> &'v Schema {
        self.schema
    }

    /// Returns the normal form under a rule. A value without a normal form matches no assertion, so
    /// it needs no key.
    pub(crate) fn normal(&mut self, rule: &'static MatchingRule) -> Option<&[u8]> {
        let is_made = |(made_by, _): &(&'static MatchingRule, _)| made_by.same_normal_form(rule);
        if !self.normal.as_ref().is_some_and(is_made) {
            let normal = rule.normalise(self.schema, self.value).ok();
            self.normal = normal.map(|normal| (rule, normal));
        }
        self.normal.as_ref().map(|(_, normal)| &**normal)
    }
}

/// Receives the keys of the postings that list an entry. A key may come more than once.
pub(crate) trait KeySink {
    /// Takes the key of a posting.
    fn key(&mut self, key: &[u8]);

    /// Takes the grams of a value in normal form. Sinks that store grams in a shorter form than
    /// keys override it. `scratch` is room for one key.
    fn grams(&mut self, attribute: AttributeId, normal: &[u8], scratch: &mut Vec<u8>) {
        gram::each_gram(normal, |gram| match gram::of_gram(attribute, gram) {
            Some(key) => self.key(&key),
            None => {
                key::posting(scratch, attribute, gram::CODE, gram);
                self.key(scratch);
            }
        });
    }
}
