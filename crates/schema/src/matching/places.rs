//! Values that carry their places in an order (draft-chu-ldap-xordered): `{0}first`, `{1}second`.

/// Returns true if the normal forms of a value and of an assertion are the same but for the places.
/// As in slapd, an assertion with another place matches too, and a mere place matches nothing.
pub(super) fn same_without_place(value: &[u8], assertion: &[u8]) -> bool {
    let assertion = without_place(assertion);
    !assertion.is_empty() && without_place(value) == assertion
}

fn without_place(normal: &[u8]) -> &[u8] {
    let Some(rest) = normal.strip_prefix(b"{") else {
        return normal;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match rest.get(digits..) {
        Some([b'}', behind @ ..]) if digits > 0 => behind,
        _ => normal,
    }
}

#[cfg(test)]
mod tests {
    use super::same_without_place;

    #[test]
    fn places_do_not_count() {
        for (value, assertion, expected) in [
            ("{1}ppolicy", "ppolicy", true),
            ("{1}ppolicy", "{1}ppolicy", true),
            ("{1}ppolicy", "{0}ppolicy", true),
            ("{1}ppolicy", "{01}ppolicy", true),
            ("ppolicy", "{7}ppolicy", true),
            ("{1}ppolicy", "{1}", false),
            ("{1}", "{1}", false),
            ("{1}ppolicy", "{}ppolicy", false),
            ("{1}ppolicy", "{x}ppolicy", false),
            ("{1}ppolicy", "{1} ppolicy", false),
            ("{1}ppolicy", "{1ppolicy", false),
            ("{1}ppolicy", "ppolic", false),
        ] {
            let is_same = same_without_place(value.as_bytes(), assertion.as_bytes());
            assert_eq!(is_same, expected, "{value} {assertion}");
        }
    }
}
