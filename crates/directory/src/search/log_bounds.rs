//! The records of a log that a filter can match at all, as their fixed parts tell.

use fulgurite_schema::{Assertion, AttributeIndex, AttributeSelector, Filter, Schema};

use crate::core::clock::Timestamp;
use crate::core::logged_operations::{LoggedKind, LoggedKinds};

/// Bounds that all matching records keep. Others are skipped without making their entries.
pub(super) struct LogBounds {
    /// The first and the last second of the start.
    pub(super) from_s: u64,
    pub(super) to_s: u64,
    kinds: LoggedKinds,
    result: Option<Assertion<AttributeSelector>>,
    target: Option<Assertion<AttributeSelector>>,
}

/// The parts of a record that are known without its entry.
pub(super) struct RecordParts<'r> {
    pub(super) start_us: u64,
    pub(super) kind: LoggedKind,
    pub(super) result: Option<u32>,
    pub(super) target: Option<&'r [u8]>,
}

/// The attributes that give bounds.
struct Types {
    start: Option<AttributeIndex>,
    kind: Option<AttributeIndex>,
    result: Option<AttributeIndex>,
    target: Option<AttributeIndex>,
}

impl LogBounds {
    pub(super) fn of(schema: &Schema, filter: &Filter<AttributeSelector>) -> LogBounds {
        let index = |name: &str| schema.attribute(name).map(|attribute| attribute.index);
        let types = Types {
            start: index("reqStart"),
            kind: index("reqType"),
            result: index("reqResult"),
            target: index("reqDN"),
        };
        let mut bounds = LogBounds {
            from_s: 0,
            to_s: u64::MAX,
            kinds: LoggedKinds::all(),
            result: None,
            target: None,
        };
        bounds.narrow(&types, filter);
        bounds
    }

    fn narrow(&mut self, types: &Types, filter: &Filter<AttributeSelector>) {
        match filter {
            Filter::And(items) => items.iter().for_each(|item| self.narrow(types, item)),
            Filter::Equality(assertion) => self.equal(types, assertion),
            Filter::GreaterOrEqual(assertion) => {
                if let Some(second) = second_of(types, assertion) {
                    self.from_s = self.from_s.max(second);
                }
            }
            Filter::LessOrEqual(assertion) => {
                if let Some(second) = second_of(types, assertion) {
                    self.to_s = self.to_s.min(second);
                }
            }
            _ => {}
        }
    }

    fn equal(&mut self, types: &Types, assertion: &Assertion<AttributeSelector>) {
        if let Some(second) = second_of(types, assertion) {
            self.from_s = self.from_s.max(second);
            self.to_s = self.to_s.min(second);
        }
        let is = |of: Option<AttributeIndex>| of == Some(assertion.attribute.attribute);
        if is(types.kind) {
            let word = str::from_utf8(&assertion.normal).unwrap_or_default();
            let only = LoggedKinds::of_name(word);
            self.kinds.keep(only);
        } else if is(types.result) {
            self.result = Some(assertion.clone());
        } else if is(types.target) {
            self.target = Some(assertion.clone());
        }
    }

    /// Returns false for a record that the filter does not match.
    pub(super) fn admit(&self, schema: &Schema, record: &RecordParts<'_>) -> bool {
        let second = Timestamp(record.start_us).seconds();
        let equals = |asserted: &Option<Assertion<_>>, value: Option<&[u8]>| {
            let Some(asserted) = asserted else {
                return true;
            };
            let normal = value.and_then(|value| asserted.rule.normalise(schema, value).ok());
            normal.is_some_and(|normal| *normal == *asserted.normal)
        };
        let code = record.result.map(|code| code.to_string());
        (self.from_s..=self.to_s).contains(&second)
            && self.kinds.contains(record.kind)
            && equals(&self.result, code.as_ref().map(|code| code.as_bytes()))
            && equals(&self.target, record.target)
    }
}

/// Returns the second that an assertion about the start names.
fn second_of(types: &Types, assertion: &Assertion<AttributeSelector>) -> Option<u64> {
    if types.start != Some(assertion.attribute.attribute) {
        return None;
    }
    let text = str::from_utf8(&assertion.normal).ok()?;
    Timestamp::parse_generalized(text).map(Timestamp::seconds)
}
