//! The names of result codes in slapd's configuration. Some differ from those of the RFCs.

/// The numbers that have a name, each with it.
const NAMES: &[(u32, &str)] = &[
    (0, "success"),
    (1, "operationsError"),
    (2, "protocolError"),
    (3, "timelimitExceeded"),
    (4, "sizelimitExceeded"),
    (5, "compareFalse"),
    (6, "compareTrue"),
    (7, "authMethodNotSupported"),
    (8, "strongAuthRequired"),
    (10, "referral"),
    (11, "adminlimitExceeded"),
    (12, "unavailableCriticalExtension"),
    (13, "confidentialityRequired"),
    (14, "saslBindInProgress"),
    (16, "noSuchAttribute"),
    (17, "undefinedType"),
    (18, "inappropriateMatching"),
    (19, "constraintViolation"),
    (20, "typeOrValueExists"),
    (21, "invalidSyntax"),
    (32, "noSuchObject"),
    (33, "aliasProblem"),
    (34, "invalidDnSyntax"),
    (36, "aliasDerefProblem"),
    (47, "proxyAuthzFailure"),
    (48, "inappropriateAuth"),
    (49, "invalidCredentials"),
    (50, "insufficientAccess"),
    (51, "busy"),
    (52, "unavailable"),
    (53, "unwillingToPerform"),
    (54, "loopDetect"),
    (64, "namingViolation"),
    (65, "objectClassViolation"),
    (66, "notAllowedOnNonleaf"),
    (67, "notAllowedOnRdn"),
    (68, "alreadyExists"),
    (69, "noObjectClassMods"),
    (70, "resultsTooLarge"),
    (71, "affectsMultipleDsas"),
    (80, "other"),
    (113, "cupResourcesExhausted"),
    (114, "cupSecurityViolation"),
    (115, "cupInvalidData"),
    (116, "cupUnsupportedScheme"),
    (117, "cupReloadRequired"),
    (118, "cancelled"),
    (119, "noSuchOperation"),
    (120, "tooLate"),
    (121, "cannotCancel"),
    (122, "assertionFailed"),
    (123, "proxiedAuthorizationDenied"),
    (4096, "syncRefreshRequired"),
    (16654, "noOperation"),
];

/// Returns the number of a result code that slapd's name or a number gives. As in C, a number may
/// be hexadecimal (`0x20`) or octal (`040`).
#[must_use]
pub fn result_number(text: &str) -> Option<u32> {
    let mut names = NAMES.iter();
    let named = names.find(|(_, name)| name.eq_ignore_ascii_case(text));
    if let Some((number, _)) = named {
        return Some(*number);
    }
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match (hexadecimal, text.strip_prefix('0')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => u32::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

/// Returns the text that slapd writes for a result code: its name, or the number in hexadecimal.
#[must_use]
pub fn result_name(number: u32) -> String {
    let mut names = NAMES.iter();
    match names.find(|(known, _)| *known == number) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("{number:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written_as_by_slapd() {
        for (text, number, written) in [
            ("32", 32, "noSuchObject"),
            ("NOSUCHOBJECT", 32, "noSuchObject"),
            ("0x20", 32, "noSuchObject"),
            ("020", 16, "noSuchAttribute"),
            ("0", 0, "success"),
            ("strongauthrequired", 8, "strongAuthRequired"),
            ("999", 999, "0x3e7"),
            ("35", 35, "0x23"),
        ] {
            assert_eq!(result_number(text), Some(number), "{text}");
            assert_eq!(result_name(number), written, "{text}");
        }
        for text in ["foo", "", "0x", "09", "-1", "noSuchObject "] {
            assert_eq!(result_number(text), None, "{text}");
        }
    }
}
