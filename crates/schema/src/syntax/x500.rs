//! Syntaxes X.500 left behind, and binary ones.

use super::text::is_printable_string;
use crate::matching::first_component;
use crate::oid::is_numeric_oid;

/// Returns true for a Delivery Method: names of media between `$` (RFC 4517, section 3.3.5).
pub(super) fn is_delivery_method(value: &[u8]) -> bool {
    const METHODS: [&str; 10] = [
        "any",
        "mhs",
        "physical",
        "telex",
        "teletex",
        "g3fax",
        "g4fax",
        "ia5",
        "videotex",
        "telephone",
    ];
    value.split(|&b| b == b'$').all(|method| {
        let method = method.trim_ascii();
        METHODS
            .iter()
            .any(|known| method.eq_ignore_ascii_case(known.as_bytes()))
    })
}

/// Returns true for a Teletex Terminal Identifier: an identifier and `key:value` parameters (RFC
/// 4517, section 3.3.32).
pub(super) fn is_teletex_terminal(value: &[u8]) -> bool {
    const KEYS: [&[u8]; 5] = [b"graphic", b"control", b"misc", b"page", b"private"];
    let mut parts = value.split(|&b| b == b'$');
    parts.next().is_some_and(is_printable_string)
        && parts.all(|part| {
            let key = part.split(|&b| b == b':').next().unwrap_or_default();
            part.contains(&b':') && KEYS.iter().any(|known| key.eq_ignore_ascii_case(known))
        })
}

/// Returns a SEQUENCE in definite length form that is as long as the value.
pub(super) fn is_ber_sequence(value: &[u8]) -> bool {
    let Some([0x30, rest @ ..]) = Some(value) else {
        return false;
    };
    let Some((&first, rest)) = rest.split_first() else {
        return false;
    };
    if first < 0x80 {
        return usize::from(first) == rest.len();
    }
    let count = usize::from(first & 0x7f);
    if !(1..=8).contains(&count) {
        return false;
    }
    let Some((bytes, content)) = rest.split_at_checked(count) else {
        return false;
    };
    let length = bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
    length == content.len() as u64
}

/// Returns a description of RFC 4512, section 4.1: parentheses around an identifier and more.
pub(super) fn is_description(value: &[u8]) -> bool {
    let Some(first) = first_component(value) else {
        return false;
    };
    let identifier = std::str::from_utf8(first)
        .is_ok_and(|text| is_numeric_oid(text) || text.bytes().all(|b| b.is_ascii_digit()));
    identifier && std::str::from_utf8(value).is_ok() && value.trim_ascii_end().ends_with(b")")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::is_printable;

    #[test]
    fn binary_shapes() {
        assert!(is_ber_sequence(&[0x30, 0x02, 5, 0]));
        assert!(is_ber_sequence(&[0x30, 0x81, 0x01, 0]));
        for bad in [
            &[][..],
            &[0x30],
            &[0x30, 0x03, 5, 0],
            &[0x31, 0],
            &[0x30, 0x80, 0, 0],
            &[0x30, 0x89],
        ] {
            assert!(!is_ber_sequence(bad), "{bad:?}");
        }
        assert!(is_printable(b'?') && !is_printable(b'*'));
    }
}
