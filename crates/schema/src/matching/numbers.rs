//! Integers, booleans, bit strings and UUIDs.

use std::borrow::Cow;

use super::form::{Form, Test, decide};
use super::invalid::{InvalidValue, Normal};
use super::resolver::NameResolver;
use super::truth::Truth;

/// integerMatch and its relatives.
pub(super) static INTEGER: Form = Form::new(|_, value| integer(value));

/// booleanMatch.
pub(super) static BOOLEAN: Form = Form {
    equality: STORED_BYTES,
    ..Form::new(|_, value| boolean(value))
};

/// bitStringMatch.
pub(super) static BIT_STRING: Form = Form {
    equality: STORED_BYTES,
    ..Form::new(|_, value| bit_string(value))
};

/// UUIDMatch and its relatives.
pub(super) static UUID: Form = Form {
    equality: Test::Stored(|_, assertion, value| {
        decide(uuid_bytes(value).map(|bytes| bytes == assertion), || None)
    }),
    ..Form::new(|_, value| uuid(value))
};

/// Compares values whose normal form is the value itself.
const STORED_BYTES: Test = Test::Stored(|_, assertion, value| (assertion == value).into());

/// Returns true if the value is an Integer: an optional minus sign and digits without leading zeros
/// (RFC 4517, section 3.3.16).
pub(crate) fn is_integer(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    match digits {
        [] => false,
        [b'0'] => digits.len() == value.len(),
        [first, rest @ ..] => (b'1'..=b'9').contains(first) && rest.iter().all(u8::is_ascii_digit),
    }
}

/// Returns an integer of any size as bytes whose order is the numbers' order.
///
/// ```text
/// positive   0x80 + n, digits           n digits, n up to 125
///            0xfe, n as u32, digits     more
/// zero       0x80
/// negative   every byte of the positive form inverted
/// ```
pub(super) fn integer(value: &[u8]) -> Normal<'_> {
    if !is_integer(value) {
        return Err(InvalidValue);
    }
    let (negative, digits) = match value {
        b"0" => (false, &b""[..]),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut out = Vec::with_capacity(digits.len() + 5);
    match u8::try_from(digits.len()) {
        Ok(few) if few <= 125 => out.push(0x80 + few),
        _ => {
            out.push(0xfe);
            out.extend_from_slice(
                &u32::try_from(digits.len())
                    .map_err(|_| InvalidValue)?
                    .to_be_bytes(),
            );
        }
    }
    out.extend_from_slice(digits);
    if negative {
        out.iter_mut().for_each(|b| *b = !*b);
    }
    Ok(Cow::Owned(out))
}

/// Makes the normal form of a mask for the bit rules.
pub(super) fn bit_mask<'v>(_: &dyn NameResolver, assertion: &'v [u8]) -> Normal<'v> {
    let bits = small_integer(assertion).ok_or(InvalidValue)?;
    Ok(Cow::Owned(bits.to_be_bytes().to_vec()))
}

/// Tests that all bits of the mask are set in the value.
pub(super) fn has_all_bits(_: &dyn NameResolver, mask: &[u8], value: &[u8]) -> Truth {
    with_bits(mask, value, |mask, number| mask & number == mask)
}

/// Tests that some bit of the mask is set in the value.
pub(super) fn has_some_bit(_: &dyn NameResolver, mask: &[u8], value: &[u8]) -> Truth {
    with_bits(mask, value, |mask, number| mask & number != 0)
}

fn with_bits(mask: &[u8], value: &[u8], test: impl FnOnce(i64, i64) -> bool) -> Truth {
    match (<[u8; 8]>::try_from(mask), small_integer(value)) {
        (Ok(mask), Some(number)) => test(i64::from_be_bytes(mask), number).into(),
        _ => Truth::Undefined,
    }
}

/// Returns the number itself, for bit rules; `None` beyond 64 bits.
fn small_integer(value: &[u8]) -> Option<i64> {
    if !is_integer(value) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Makes the normal form of `TRUE` or `FALSE`.
fn boolean(value: &[u8]) -> Normal<'_> {
    match value {
        b"TRUE" | b"FALSE" => Ok(Cow::Borrowed(value)),
        _ => Err(InvalidValue),
    }
}

/// Returns true if the value is `'0101'B`.
pub(crate) fn is_bit_string(value: &[u8]) -> bool {
    value
        .strip_prefix(b"'")
        .and_then(|rest| rest.strip_suffix(b"'B"))
        .is_some_and(|bits| bits.iter().all(|b| matches!(b, b'0' | b'1')))
}

/// Returns a bit string as it is written.
fn bit_string(value: &[u8]) -> Normal<'_> {
    if is_bit_string(value) {
        Ok(Cow::Borrowed(value))
    } else {
        Err(InvalidValue)
    }
}

/// Returns true if the value is a UUID in its 36 character form (RFC 4530).
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    uuid_bytes(value).is_some()
}

/// Returns a UUID as its 16 bytes.
fn uuid(value: &[u8]) -> Normal<'_> {
    uuid_bytes(value)
        .map(|bytes| Cow::Owned(bytes.to_vec()))
        .ok_or(InvalidValue)
}

/// Returns the bytes of a UUID text.
fn uuid_bytes(value: &[u8]) -> Option<[u8; 16]> {
    let mut bytes = [0u8; 16];
    let mut nibbles = 0;
    for (at, &b) in value.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if b != b'-' {
                return None;
            }
            continue;
        }
        let digit = u8::try_from((b as char).to_digit(16)?).ok()?;
        let byte = bytes.get_mut(nibbles / 2)?;
        *byte = *byte << 4 | digit;
        nibbles += 1;
    }
    (nibbles == 32).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_sort_as_numbers() {
        let long = "9".repeat(200);
        let longer = format!("1{}", "0".repeat(200));
        let minus_long = format!("-{long}");
        let ordered = [
            minus_long.as_str(),
            "-1000",
            "-999",
            "-10",
            "-9",
            "-1",
            "0",
            "1",
            "9",
            "10",
            "99",
            "100",
            &long,
            &longer,
        ];
        let normal: Vec<_> = ordered
            .iter()
            .map(|v| integer(v.as_bytes()).unwrap())
            .collect();
        assert!(normal.windows(2).all(|w| w[0] < w[1]), "{normal:?}");
        for bad in ["", "-", "01", "-0", "+1", "1a", " 1", "--1", "1.0"] {
            assert!(integer(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn uuids_and_bits() {
        let upper = uuid(b"597AE2F6-16A6-1027-98F4-D28B5365DC14").unwrap();
        assert_eq!(
            upper,
            uuid(b"597ae2f6-16a6-1027-98f4-d28b5365dc14").unwrap()
        );
        assert_eq!(upper.len(), 16);
        for bad in [
            "",
            "597AE2F616A6102798F4D28B5365DC14",
            "597AE2F6-16A6-1027-98F4-D28B5365DC1",
            "597AE2F6-16A6-1027-98F4-D28B5365DC1400",
            "597AE2F6-16A6-1027-98F4-D28B5365DC1g",
        ] {
            assert!(uuid(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(is_bit_string(b"'0101'B") && is_bit_string(b"''B"));
        assert!(!is_bit_string(b"'012'B") && !is_bit_string(b"'01'b") && !is_bit_string(b"'B"));
        assert!(boolean(b"TRUE").is_ok() && boolean(b"true").is_err());
    }
}
