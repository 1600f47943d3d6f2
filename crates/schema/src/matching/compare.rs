//! Comparing a raw value with a normalised assertion, in place where the value is plain ASCII.

use super::text::split_uid;
use super::{Form, Relation, Truth, normal, numbers, oids, time};
use crate::dn;
use crate::prep::Case;
use crate::registry::Schema;

/// Evaluates one rule on one value.
pub(super) fn matches(
    form: Form,
    relation: Relation,
    schema: &Schema,
    assertion: &[u8],
    value: &[u8],
) -> Truth {
    match relation {
        // Of a chain, the direct step; those behind it are the searcher's to take.
        Relation::Equality | Relation::Substrings | Relation::InChain => {
            equality(form, schema, assertion, value)
        }
        Relation::BitAnd | Relation::BitOr => bits(relation, assertion, value),
        Relation::Ordering => with_normal(form, schema, value, |n| n < assertion),
        Relation::ServerId => with_normal(form, schema, value, |n| {
            time::csn_server_id(n) == Some(assertion)
        }),
        Relation::NameAndPerhapsUid => with_normal(form, schema, value, |n| {
            let ((name, uid), (wanted, wanted_uid)) = (split_uid(n), split_uid(assertion));
            name == wanted && (uid.is_none() || wanted_uid.is_none() || uid == wanted_uid)
        }),
        Relation::DnSubtree => with_normal(form, schema, value, |n| {
            n == assertion || is_under(n, assertion)
        }),
        Relation::DnSubordinate => with_normal(form, schema, value, |n| is_under(n, assertion)),
        Relation::DnSuperior => with_normal(form, schema, value, |n| is_under(assertion, n)),
        Relation::DnOneLevel => with_normal(form, schema, value, |n| {
            is_under(n, assertion) && depth(n) == depth(assertion) + 1
        }),
    }
}

fn equality(form: Form, schema: &Schema, assertion: &[u8], value: &[u8]) -> Truth {
    let in_place = match form {
        Form::CaseIgnore if !value.is_empty() => ascii_text_matches(assertion, value, Case::Ignore),
        Form::CaseExact if !value.is_empty() => ascii_text_matches(assertion, value, Case::Exact),
        Form::CaseIgnoreIa5 => ascii_text_matches(assertion, value, Case::Ignore),
        Form::CaseExactIa5 => ascii_text_matches(assertion, value, Case::Exact),
        Form::Telephone => telephone_matches(assertion, value),
        Form::ObjectIdentifier => oids::object_identifier_matches(schema, assertion, value),
        Form::Uuid => numbers::uuid_octets(value).map(|octets| octets == assertion),
        Form::Dn => dn::matches_in_place(schema, assertion, value),
        Form::OctetString | Form::Encoded | Form::Boolean | Form::BitString => {
            Some(assertion == value)
        }
        _ => None,
    };
    match in_place {
        Some(outcome) => outcome.into(),
        None => with_normal(form, schema, value, |n| n == assertion),
    }
}

fn with_normal(
    form: Form,
    schema: &Schema,
    value: &[u8],
    test: impl FnOnce(&[u8]) -> bool,
) -> Truth {
    match normal::value(form, schema, value) {
        Ok(normal) => test(&normal).into(),
        Err(_) => Truth::Undefined,
    }
}

/// Walks the value as preparation would, comparing as it goes. `None` leaves the decision to full preparation:
/// a character outside printable ASCII may combine with its neighbour or vanish.
pub(crate) fn ascii_text_matches(normal: &[u8], value: &[u8], case: Case) -> Option<bool> {
    let fold = |b: u8| {
        if case == Case::Ignore {
            b.to_ascii_lowercase()
        } else {
            b
        }
    };
    let mut rest = normal;
    let mut gap = false;
    let mut started = false;
    for (at, &b) in value.iter().enumerate() {
        if b == b' ' {
            gap = true;
            continue;
        }
        if !(0x21..0x7f).contains(&b) {
            return None;
        }
        if gap && started {
            match rest.split_first() {
                Some((b' ', tail)) => rest = tail,
                _ => return decided(value.get(at + 1)),
            }
        }
        gap = false;
        started = true;
        match rest.split_first() {
            Some((&expected, tail)) if expected == fold(b) => rest = tail,
            _ => return decided(value.get(at + 1)),
        }
    }
    Some(if started {
        rest.is_empty()
    } else {
        normal == b" "
    })
}

/// A mismatch counts only when nothing after it could change the character just seen.
fn decided(next: Option<&u8>) -> Option<bool> {
    match next {
        None | Some(0x20..0x7f) => Some(false),
        Some(_) => None,
    }
}

fn telephone_matches(normal: &[u8], value: &[u8]) -> Option<bool> {
    if !value.iter().all(|b| (0x20..0x7f).contains(b)) {
        return None;
    }
    let significant = value
        .iter()
        .filter(|b| !matches!(b, b' ' | b'-'))
        .map(u8::to_ascii_lowercase);
    Some(significant.eq(normal.iter().copied()))
}

fn bits(relation: Relation, assertion: &[u8], value: &[u8]) -> Truth {
    let (Ok(mask), Some(number)) = (
        <[u8; 8]>::try_from(assertion),
        numbers::small_integer(value),
    ) else {
        return Truth::Undefined;
    };
    let common = number & i64::from_be_bytes(mask);
    Truth::from(match relation {
        Relation::BitAnd => common == i64::from_be_bytes(mask),
        _ => common != 0,
    })
}

/// Whether one normal DN lies properly below another.
fn is_under(name: &[u8], base: &[u8]) -> bool {
    if base.is_empty() {
        return !name.is_empty();
    }
    name.strip_suffix(base)
        .is_some_and(|above| above.ends_with(b","))
}

/// Number of RDNs; a raw comma in a normal DN is always a separator.
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
    fn ascii_in_place() {
        let check = |normal: &str, value: &str| {
            ascii_text_matches(normal.as_bytes(), value.as_bytes(), Case::Ignore)
        };
        assert_eq!(check("foo bar", "  FOO   Bar "), Some(true));
        assert_eq!(check("foo bar", "foobar"), Some(false));
        assert_eq!(check("foobar", "foo bar"), Some(false));
        assert_eq!(check("foo", "foo bar"), Some(false));
        assert_eq!(check("foo bar", "foo"), Some(false));
        assert_eq!(check(" ", "   "), Some(true));
        assert_eq!(check("é", "e\u{301}"), None);
        assert_eq!(check("é", "e\u{ad}\u{301}"), None);
        assert_eq!(ascii_text_matches(b"Foo", b"foo", Case::Exact), Some(false));
    }

    #[test]
    fn names_above_and_below() {
        assert!(is_under(b"a=1,b=2", b"b=2") && is_under(b"b=2", b""));
        assert!(!is_under(b"xb=2", b"b=2") && !is_under(b"b=2", b"b=2") && !is_under(b"", b""));
        assert_eq!((depth(b""), depth(b"a=1"), depth(b"a=1,b=2")), (0, 1, 2));
    }
}
