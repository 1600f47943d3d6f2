//! Distinguished names: equality, and names above and below others.
//!
//! A normal name has a raw comma only between its RDNs and no raw `#` at all.

use std::borrow::Cow;

use super::form::{Content, Form, Test, decide};
use super::invalid::Normal;
use super::numbers::is_bit_string;
use super::resolver::NameResolver;

/// distinguishedNameMatch and the rules for names above and below.
pub(super) static DN: Form = Form {
    equality: Test::Stored(|names, assertion, value| {
        decide(names.dn_matches(assertion, value), || {
            Some(normal_dn(names, value).ok()? == assertion)
        })
    }),
    content: Content::Name,
    ..Form::new(normal_dn)
};

/// uniqueMemberMatch.
pub(super) static NAME_AND_OPTIONAL_UID: Form = Form {
    content: Content::Name,
    ..Form::new(normal_name_and_uid)
};

fn normal_dn<'v>(names: &dyn NameResolver, value: &'v [u8]) -> Normal<'v> {
    Ok(Cow::Owned(names.normal_dn(value)?.into_bytes()))
}

/// Returns the normal DN and, after `#`, the bit string.
fn normal_name_and_uid<'v>(names: &dyn NameResolver, value: &'v [u8]) -> Normal<'v> {
    let (name, uid) = split_uid(value);
    let mut normal = names.normal_dn(name)?.into_bytes();
    if let Some(uid) = uid {
        normal.push(b'#');
        normal.extend_from_slice(uid);
    }
    Ok(Cow::Owned(normal))
}

/// Splits Name And Optional UID at its `#'...'B`, if it has one.
pub(crate) fn split_uid(value: &[u8]) -> (&[u8], Option<&[u8]>) {
    if let Some(at) = memchr::memrchr(b'#', value)
        && let (Some(name), Some(uid)) = (value.get(..at), value.get(at + 1..))
        && is_bit_string(uid)
    {
        return (name, Some(uid));
    }
    (value, None)
}

/// Tests that names are equal, and so are their identifiers if both have one.
pub(super) fn same_name_and_perhaps_uid(value: &[u8], assertion: &[u8]) -> bool {
    let ((name, uid), (wanted, wanted_uid)) = (split_uid(value), split_uid(assertion));
    name == wanted && (uid.is_none() || wanted_uid.is_none() || uid == wanted_uid)
}

/// Tests that the value is the assertion or below it.
pub(super) fn is_within(value: &[u8], assertion: &[u8]) -> bool {
    value == assertion || is_below(value, assertion)
}

/// Tests that the value is below the assertion.
pub(super) fn is_below(value: &[u8], assertion: &[u8]) -> bool {
    if assertion.is_empty() {
        return !value.is_empty();
    }
    value
        .strip_suffix(assertion)
        .is_some_and(|above| above.ends_with(b","))
}

/// Tests that the value is above the assertion.
pub(super) fn is_above(value: &[u8], assertion: &[u8]) -> bool {
    is_below(assertion, value)
}

/// Tests that the value is an immediate child of the assertion.
pub(super) fn is_child(value: &[u8], assertion: &[u8]) -> bool {
    is_below(value, assertion) && depth(value) == depth(assertion) + 1
}

/// Returns the number of RDNs of a normal name.
fn depth(name: &[u8]) -> usize {
    if name.is_empty() {
        0
    } else {
        1 + memchr::memchr_iter(b',', name).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_above_and_below_by_their_rdns() {
        assert!(is_below(b"a=1,b=2", b"b=2") && is_below(b"b=2", b""));
        assert!(!is_below(b"xb=2", b"b=2") && !is_below(b"b=2", b"b=2") && !is_below(b"", b""));
        assert_eq!((depth(b""), depth(b"a=1"), depth(b"a=1,b=2")), (0, 1, 2));
    }
}
