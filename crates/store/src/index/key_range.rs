//! Ranges of keys, for comparisons by order and for prefixes.

use super::key::{END, LITERAL_LEN, escape, header, is_literal, literal_part};
use crate::ids::AttributeId;

/// A range of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    /// First key that may belong to it.
    pub(crate) start: Vec<u8>,
    /// First key behind it.
    pub(crate) end: Vec<u8>,
    /// True if the range contains no value outside the requested values.
    pub(crate) exact: bool,
}

impl KeyRange {
    /// Returns the range of the values that begin with `prefix`.
    pub(crate) fn prefix(attribute: AttributeId, code: u8, prefix: &[u8]) -> KeyRange {
        let mut start = Vec::new();
        header(&mut start, attribute, code);
        escape(&mut start, literal_part(prefix));
        KeyRange {
            end: successor(&start),
            start,
            exact: prefix.len() <= LITERAL_LEN,
        }
    }

    /// Returns the range of the values at or above `value`.
    pub(crate) fn at_least(attribute: AttributeId, code: u8, value: &[u8]) -> KeyRange {
        let KeyRange { start, .. } = KeyRange::prefix(attribute, code, value);
        let mut end = Vec::new();
        header(&mut end, attribute, code);
        KeyRange {
            start,
            end: successor(&end),
            exact: is_literal(value),
        }
    }

    /// Returns the range of the values at or below `value`.
    pub(crate) fn at_most(attribute: AttributeId, code: u8, value: &[u8]) -> KeyRange {
        let mut start = Vec::new();
        header(&mut start, attribute, code);
        let mut end = start.clone();
        escape(&mut end, literal_part(value));
        // The value itself continues with END, every longer value with a larger byte.
        end.push(END + 1);
        KeyRange {
            start,
            end,
            exact: is_literal(value),
        }
    }
}

/// Returns the first key behind all keys with this prefix. The prefix does not consist of 0xff
/// only.
fn successor(prefix: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    while let Some(last) = out.pop() {
        if last < u8::MAX {
            out.push(last + 1);
            break;
        }
    }
    out
}
