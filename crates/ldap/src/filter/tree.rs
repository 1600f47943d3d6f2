//! The filter as a tree.

use crate::Values;

/// Greatest nesting of `and`, `or` and `not`, whatever a configuration says. A small thread's stack
/// suffices to drop, clone and compare a tree of this depth.
pub const FILTER_DEPTH_CEILING: u16 = 1000;

/// One filter, borrowed.
#[derive(Clone, PartialEq, Eq)]
pub enum Filter<'a> {
    /// All of these; true if there are none (RFC 4526).
    And(Vec<Filter<'a>>),
    /// Any of these; false if there are none (RFC 4526).
    Or(Vec<Filter<'a>>),
    /// Not this.
    Not(Box<Filter<'a>>),
    /// A value equals the assertion.
    Equality(Assertion<'a>),
    /// A value is made of these pieces.
    Substrings(Substrings<'a>),
    /// A value is not less than the assertion.
    GreaterOrEqual(Assertion<'a>),
    /// A value is not greater than the assertion.
    LessOrEqual(Assertion<'a>),
    /// The attribute has a value.
    Present(&'a [u8]),
    /// A value is roughly the assertion.
    Approximate(Assertion<'a>),
    /// A value matches by a rule.
    Extensible(Extensible<'a>),
}

/// An attribute and a value to compare with (RFC 4511 section 4.1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion<'a> {
    /// Type and options.
    pub attribute: &'a [u8],
    /// The value asserted; may be empty.
    pub value: &'a [u8],
}

/// Pieces of a value in their order; none is empty, and there is at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Substrings<'a> {
    /// Type and options.
    pub attribute: &'a [u8],
    /// The beginning of the value.
    pub initial: Option<&'a [u8]>,
    /// Later pieces, in order, without overlap.
    pub any: Values<'a>,
    /// The end of the value.
    pub final_: Option<&'a [u8]>,
}

/// A match by a named rule (RFC 4511 section 4.5.1.7.7); has an attribute, a rule, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensible<'a> {
    /// Name or OID of the rule; absent, the attribute's equality rule.
    pub rule: Option<&'a [u8]>,
    /// Type and options; absent, every attribute to which the rule applies.
    pub attribute: Option<&'a [u8]>,
    /// The value asserted.
    pub value: &'a [u8],
    /// True if the components of the entry's DN count as attributes.
    pub dn_attributes: bool,
}

impl<'a> Filter<'a> {
    /// Matches entries with this attribute.
    #[must_use]
    pub const fn present(attribute: &'a str) -> Self {
        Filter::Present(attribute.as_bytes())
    }

    /// Matches entries with this value.
    #[must_use]
    pub const fn equality(attribute: &'a str, value: &'a [u8]) -> Self {
        Filter::Equality(Assertion {
            attribute: attribute.as_bytes(),
            value,
        })
    }
}
