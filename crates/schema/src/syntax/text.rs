//! Syntaxes of plain text.

use crate::matching::is_printable;

/// Returns true for a Directory String: UTF-8, not empty (RFC 4517, section 3.3.6).
pub(super) fn is_directory_string(value: &[u8]) -> bool {
    !value.is_empty() && std::str::from_utf8(value).is_ok()
}

/// Returns true for a Printable String: letters, digits, and `'()+,-./:? =`, not empty (RFC 4517,
/// section 3.3.29).
pub(super) fn is_printable_string(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().copied().all(is_printable)
}

/// Returns true for a Country String: two printable characters (RFC 4517, section 3.3.4).
pub(super) fn is_country_string(value: &[u8]) -> bool {
    value.len() == 2 && is_printable_string(value)
}

/// Returns true for a Telex Number (RFC 4517, section 3.3.33) and Facsimile Telephone Number
/// (section 3.3.11): printable strings between `$`, none empty. How many there are and which words
/// stand for fax parameters is not looked at.
pub(super) fn is_printable_parts(value: &[u8]) -> bool {
    value.split(|&b| b == b'$').all(is_printable_string)
}

/// Returns true for a Numeric String: digits and spaces, not empty (RFC 4517, section 3.3.23).
pub(super) fn is_numeric_string(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|b| b.is_ascii_digit() || *b == b' ')
}

/// Returns true for a Substring Assertion: text with at least one `*` and nothing empty but the
/// ends (RFC 4517, section 3.3.30).
pub(super) fn is_substring_assertion(value: &[u8]) -> bool {
    is_directory_string(value) && value.contains(&b'*') && !value.windows(2).any(|w| w == b"**")
}

/// Returns true for an NIS netgroup triple: `(host,user,domain)`, each a key string or empty (RFC
/// 2307, section 2.4). Dots and underscores are allowed, because host and user names have them.
pub(super) fn is_netgroup_triple(value: &[u8]) -> bool {
    let Some(inner) = value
        .strip_prefix(b"(")
        .and_then(|rest| rest.strip_suffix(b")"))
    else {
        return false;
    };
    let key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b';');
    inner.split(|&b| b == b',').count() == 3
        && inner.split(|&b| b == b',').all(|part| part.iter().all(key))
}

/// Returns true for a Boot parameter: `key=server:path` (RFC 2307, section 2.4), any of which may
/// be empty.
pub(super) fn is_boot_parameter(value: &[u8]) -> bool {
    let Some((key, rest)) = split_at_byte(value, b'=') else {
        return false;
    };
    let Some((server, path)) = split_at_byte(rest, b':') else {
        return false;
    };
    let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b';');
    key.iter().all(word) && server.iter().all(word) && path.is_ascii()
}

fn split_at_byte(value: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(separator, value)?;
    Some((value.get(..at)?, value.get(at + 1..)?))
}
