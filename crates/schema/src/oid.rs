//! Object identifiers and descriptors (RFC 4512, section 1.4).

/// Returns true if `text` is a numeric OID: at least two arcs of digits without leading zeros.
#[must_use]
pub fn is_numeric_oid(text: &str) -> bool {
    let mut arcs = 0;
    for arc in text.split('.') {
        let digits = !arc.is_empty() && arc.bytes().all(|b| b.is_ascii_digit());
        if !digits || (arc.len() > 1 && arc.starts_with('0')) {
            return false;
        }
        arcs += 1;
    }
    arcs > 1
}

/// Returns true if `text` is a descriptor (short name): a letter, then letters, digits and hyphens.
///
/// The underscore is accepted too, because real schemas of other servers use it.
#[must_use]
pub fn is_descriptor(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Returns true if `text` is either form of an object identifier.
#[must_use]
pub fn is_descriptor_or_oid(text: &str) -> bool {
    is_descriptor(text) || is_numeric_oid(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_and_descriptors() {
        for good in ["2.5.4.3", "0.9.2342.19200300.100.1.1", "1.0"] {
            assert!(is_numeric_oid(good), "{good}");
        }
        for bad in ["", "1", "1.", ".1", "1..2", "1.02", "1.a", "2.5.4.3 "] {
            assert!(!is_numeric_oid(bad), "{bad}");
        }
        for good in ["cn", "x-foo", "A1"] {
            assert!(is_descriptor(good), "{good}");
        }
        for bad in ["", "1a", "-a", "a b", "é"] {
            assert!(!is_descriptor(bad), "{bad}");
        }
    }
}
