//! The normal form of a family of rules: how values become comparable bytes.
//!
//! The equality, ordering and substrings rules of one family share a [`Form`], so that one index
//! serves all of them. Each family defines its form as a static in its own file.

use super::invalid::Normal;
use super::prepare::Case;
use super::resolver::NameResolver;
use super::substring::PreparePiece;
use super::truth::Truth;

/// Makes the normal form of a value or of an assertion.
pub(super) type Normalise = for<'v> fn(&dyn NameResolver, &'v [u8]) -> Normal<'v>;

/// The functions and facts that the rules of one family share. Two forms are the same if their
/// addresses are.
#[derive(Debug)]
pub(super) struct Form {
    /// Makes the normal form of an attribute value.
    pub(super) normalise: Normalise,
    /// Makes the normal form of an assertion.
    pub(super) assertion: Normalise,
    /// Tests a value for equality.
    pub(super) equality: Test,
    /// Prepares a piece of a substrings assertion; `None` if the family has no substrings rule.
    pub(super) piece: Option<PreparePiece>,
    /// True if case matters, if the normal form is prepared text (RFC 4518).
    pub(super) case: Option<Case>,
    /// The content of a normal form.
    pub(super) content: Content,
}

/// The content of a normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Text that people can read.
    Text,
    /// A distinguished name.
    Name,
    /// Bytes without a meaning for people.
    Bytes,
}

/// How a rule tests a value against the normal form of an assertion.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// Looks at the value as it is stored. The arguments are the resolver, the assertion and the
    /// value.
    Stored(fn(&dyn NameResolver, &[u8], &[u8]) -> Truth),
    /// Looks at the normal form of the value, the first argument. The second is the assertion.
    Normal(fn(&[u8], &[u8]) -> bool),
}

impl Form {
    /// Returns a form of bytes whose assertions look like values and whose equality is that of
    /// normal forms.
    pub(super) const fn new(normalise: Normalise) -> Form {
        Form {
            normalise,
            assertion: normalise,
            equality: Test::Normal(|value, assertion| value == assertion),
            piece: None,
            case: None,
            content: Content::Bytes,
        }
    }
}

/// Returns the outcome of a comparison in place, or compares normal forms if that comparison could
/// not decide.
#[inline]
pub(super) fn decide(in_place: Option<bool>, normal: impl FnOnce() -> Option<bool>) -> Truth {
    match in_place.or_else(normal) {
        Some(outcome) => outcome.into(),
        None => Truth::Undefined,
    }
}
