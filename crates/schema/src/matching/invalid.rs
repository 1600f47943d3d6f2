//! The one error of matching rules.

use std::borrow::Cow;

use thiserror::Error;

/// The value does not have the syntax that its matching rule needs.
///
/// In a filter the item becomes Undefined. An update with such a value fails
/// (invalidAttributeSyntax).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the value does not have the syntax its matching rule needs")]
pub struct InvalidValue;

/// A normal form, borrowed from the value if the value is its own normal form.
pub(super) type Normal<'v> = Result<Cow<'v, [u8]>, InvalidValue>;
