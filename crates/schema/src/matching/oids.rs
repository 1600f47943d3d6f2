//! Object identifiers, and descriptions that are known by their first component.

use std::borrow::Cow;

use super::form::{Form, Test, decide};
use super::invalid::{InvalidValue, Normal};
use super::numbers::integer;
use super::resolver::NameResolver;
use crate::oid::{is_descriptor, is_numeric_oid};

/// objectIdentifierMatch.
pub(super) static OBJECT_IDENTIFIER: Form = Form {
    assertion: known_identifier,
    equality: Test::Stored(|names, assertion, value| {
        decide(object_identifier_matches(names, assertion, value), || None)
    }),
    ..Form::new(object_identifier)
};

/// objectIdentifierFirstComponentMatch.
pub(super) static OID_FIRST_COMPONENT: Form = Form {
    assertion: known_identifier,
    ..Form::new(|names, value| object_identifier(names, first_component(value).unwrap_or(value)))
};

/// integerFirstComponentMatch.
pub(super) static INTEGER_FIRST_COMPONENT: Form = Form {
    assertion: |_, assertion| integer(assertion),
    ..Form::new(|_, value| integer(first_component(value).unwrap_or(value)))
};

/// Returns an object identifier in numeric form; a name the schema does not know stays a name, in
/// lower case.
fn object_identifier<'v>(names: &dyn NameResolver, value: &'v [u8]) -> Normal<'v> {
    let text = std::str::from_utf8(value).map_err(|_| InvalidValue)?;
    if is_numeric_oid(text) {
        return Ok(Cow::Borrowed(value));
    }
    if let Some(oid) = names.oid_of(text) {
        return Ok(Cow::Owned(oid.as_bytes().to_vec()));
    }
    if !is_descriptor(text) {
        return Err(InvalidValue);
    }
    Ok(Cow::Owned(value.to_ascii_lowercase()))
}

/// Makes the normal form of an assertion. A name that the schema does not know has none (RFC 4517,
/// section 4.2.26).
fn known_identifier<'v>(names: &dyn NameResolver, assertion: &'v [u8]) -> Normal<'v> {
    let text = std::str::from_utf8(assertion).map_err(|_| InvalidValue)?;
    if !is_numeric_oid(text) && names.oid_of(text).is_none() {
        return Err(InvalidValue);
    }
    object_identifier(names, assertion)
}

/// Compares a stored identifier with a normalised assertion, without allocation. Returns `None` for
/// an invalid identifier.
fn object_identifier_matches(
    names: &dyn NameResolver,
    normal: &[u8],
    value: &[u8],
) -> Option<bool> {
    let text = std::str::from_utf8(value).ok()?;
    if is_numeric_oid(text) {
        return Some(value == normal);
    }
    if let Some(oid) = names.oid_of(text) {
        return Some(oid.as_bytes() == normal);
    }
    is_descriptor(text).then(|| value.eq_ignore_ascii_case(normal))
}

/// Returns the first word inside the parentheses of a description such as `( 2.5.4.3 NAME 'cn' )`.
pub(crate) fn first_component(value: &[u8]) -> Option<&[u8]> {
    let inner = value
        .trim_ascii_start()
        .strip_prefix(b"(")?
        .trim_ascii_start();
    let end = inner
        .iter()
        .position(|b| b.is_ascii_whitespace() || *b == b')')
        .unwrap_or(inner.len());
    inner.get(..end).filter(|word| !word.is_empty())
}
