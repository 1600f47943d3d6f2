//! Byte strings: values that are their own normal form.

use std::borrow::Cow;

use super::form::{Form, Test};
use super::substring::Piece;

/// octetStringMatch and its relatives: compared byte by byte.
pub(super) static OCTET_STRING: Form = Form {
    equality: Test::Stored(|_, assertion, value| (assertion == value).into()),
    piece: Some(|piece| Ok(Piece::Exact(piece.to_vec()))),
    ..Form::new(|_, value| Ok(Cow::Borrowed(value)))
};
