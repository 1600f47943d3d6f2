//! The matching rules: name, OID, assertion syntax and functions of each.

use super::form::{Form, Normalise, Test};
use super::rule::{IN_CHAIN, MatchingRule, RuleKind};
use super::{approximate, certificate, names, numbers, octet_string, oids, places, text, time};

/// Returns an equality rule with the functions of its family.
const fn equality(
    oid: &'static str,
    name: &'static str,
    syntax: &'static str,
    form: &'static Form,
) -> MatchingRule {
    MatchingRule {
        oid,
        name,
        syntax,
        kind: RuleKind::Equality,
        form,
        assertion: form.assertion,
        test: form.equality,
        applicable: &[],
        published: true,
        approximate: None,
        ordered: None,
    }
}

/// Returns an ordering rule: a value matches if it is less than the assertion.
const fn ordering(
    oid: &'static str,
    name: &'static str,
    syntax: &'static str,
    form: &'static Form,
) -> MatchingRule {
    equality(oid, name, syntax, form)
        .tested_by(Test::Normal(|value, assertion| value < assertion))
        .of_kind(RuleKind::Ordering)
}

/// Returns a substrings rule, whose pieces are prepared by the family.
const fn substrings(
    oid: &'static str,
    name: &'static str,
    syntax: &'static str,
    form: &'static Form,
) -> MatchingRule {
    equality(oid, name, syntax, form)
        .asserted_by(form.normalise)
        .of_kind(RuleKind::Substrings)
}

impl MatchingRule {
    /// Replaces the test. The rule is then no equality.
    const fn tested_by(self, test: Test) -> MatchingRule {
        MatchingRule {
            test,
            kind: RuleKind::Test,
            ..self
        }
    }

    /// Replaces the normal form of assertions.
    const fn asserted_by(self, assertion: Normalise) -> MatchingRule {
        MatchingRule { assertion, ..self }
    }

    const fn of_kind(self, kind: RuleKind) -> MatchingRule {
        MatchingRule { kind, ..self }
    }

    /// Adds syntaxes of attributes to which clients may apply the rule.
    const fn applied_to(self, applicable: &'static [&'static str]) -> MatchingRule {
        MatchingRule { applicable, ..self }
    }

    /// Leaves the rule out of the subschema: clients may name it, but its assertions have no
    /// published syntax.
    const fn unpublished(self) -> MatchingRule {
        MatchingRule {
            published: false,
            ..self
        }
    }

    /// Sets the rule by which `~=` compares values.
    const fn approximated_by(self, rule: &'static MatchingRule) -> MatchingRule {
        MatchingRule {
            approximate: Some(rule),
            ..self
        }
    }

    /// Sets the rule by which `=` compares values that carry their places in an order.
    const fn ordered_by(self, rule: &'static MatchingRule) -> MatchingRule {
        MatchingRule {
            ordered: Some(rule),
            ..self
        }
    }

    /// Returns a rule by name or OID, in any case.
    #[must_use]
    pub fn find(name_or_oid: &str) -> Option<&'static MatchingRule> {
        RULES
            .iter()
            .find(|rule| rule.oid == name_or_oid || rule.name.eq_ignore_ascii_case(name_or_oid))
    }

    /// Returns every rule that the server knows.
    #[must_use]
    pub fn all() -> &'static [MatchingRule] {
        RULES
    }
}

const BIT_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.6";
const BOOLEAN: &str = "1.3.6.1.4.1.1466.115.121.1.7";
const DN: &str = "1.3.6.1.4.1.1466.115.121.1.12";
const CERTIFICATE: &str = "1.3.6.1.4.1.1466.115.121.1.8";
const CERTIFICATE_LIST: &str = "1.3.6.1.4.1.1466.115.121.1.9";
const COUNTRY_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.11";
const DIRECTORY_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.15";
const GENERALIZED_TIME: &str = "1.3.6.1.4.1.1466.115.121.1.24";
const IA5_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.26";
const INTEGER: &str = "1.3.6.1.4.1.1466.115.121.1.27";
const NAME_AND_UID: &str = "1.3.6.1.4.1.1466.115.121.1.34";
const NUMERIC_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.36";
const OID: &str = "1.3.6.1.4.1.1466.115.121.1.38";
const OCTET_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.40";
const POSTAL_ADDRESS: &str = "1.3.6.1.4.1.1466.115.121.1.41";
const PROTOCOL_INFORMATION: &str = "1.3.6.1.4.1.1466.115.121.1.42";
const PRESENTATION_ADDRESS: &str = "1.3.6.1.4.1.1466.115.121.1.43";
const TELEPHONE: &str = "1.3.6.1.4.1.1466.115.121.1.50";
const SUBSTRINGS: &str = "1.3.6.1.4.1.1466.115.121.1.58";
const UUID: &str = "1.3.6.1.1.16.1";
const CSN: &str = "1.3.6.1.4.1.4203.666.11.2.1";
const SID: &str = "1.3.6.1.4.1.4203.666.11.2.4";
const RDN: &str = "1.2.36.79672281.1.5.0";
const AUTHZ: &str = "1.3.6.1.4.1.4203.666.2.7";
const ACI: &str = "1.3.6.1.4.1.4203.666.2.1";
const PKCS8: &str = "1.2.840.113549.1.8.1.1";

/// Syntaxes whose values are Directory Strings too: Country String, Printable String, Telephone
/// Number.
const NARROWER_STRINGS: &[&str] = &[COUNTRY_STRING, "1.3.6.1.4.1.1466.115.121.1.44", TELEPHONE];

/// The comparison of `~=` for a name with an optional identifier: a missing identifier matches any,
/// as in slapd. Clients cannot name it.
static UNIQUE_MEMBER_APPROXIMATE: MatchingRule = equality(
    "2.5.13.23",
    "uniqueMemberMatch",
    NAME_AND_UID,
    &names::NAME_AND_OPTIONAL_UID,
)
.tested_by(Test::Normal(names::same_name_and_perhaps_uid));

/// caseIgnoreMatch for values that carry their places in an order. Clients cannot name it.
static ORDERED_IGNORE: MatchingRule = equality(
    "2.5.13.2",
    "caseIgnoreMatch",
    DIRECTORY_STRING,
    &text::CASE_IGNORE,
)
.tested_by(Test::Normal(places::same_without_place));

/// The same of caseExactMatch.
static ORDERED_EXACT: MatchingRule = equality(
    "2.5.13.5",
    "caseExactMatch",
    DIRECTORY_STRING,
    &text::CASE_EXACT,
)
.tested_by(Test::Normal(places::same_without_place));

/// Every rule, in order of publication. A new rule is one row here and the functions of its
/// family's file.
pub(super) static RULES: &[MatchingRule] = &[
    equality(
        "2.5.13.0",
        "objectIdentifierMatch",
        OID,
        &oids::OBJECT_IDENTIFIER,
    ),
    equality("2.5.13.1", "distinguishedNameMatch", DN, &names::DN),
    equality("1.2.36.79672281.1.13.3", "rdnMatch", RDN, &names::DN),
    equality(
        "2.5.13.2",
        "caseIgnoreMatch",
        DIRECTORY_STRING,
        &text::CASE_IGNORE,
    )
    .ordered_by(&ORDERED_IGNORE)
    .applied_to(NARROWER_STRINGS),
    ordering(
        "2.5.13.3",
        "caseIgnoreOrderingMatch",
        DIRECTORY_STRING,
        &text::CASE_IGNORE,
    )
    .applied_to(NARROWER_STRINGS),
    substrings(
        "2.5.13.4",
        "caseIgnoreSubstringsMatch",
        SUBSTRINGS,
        &text::CASE_IGNORE,
    ),
    equality(
        "2.5.13.5",
        "caseExactMatch",
        DIRECTORY_STRING,
        &text::CASE_EXACT,
    )
    .ordered_by(&ORDERED_EXACT)
    .applied_to(NARROWER_STRINGS),
    ordering(
        "2.5.13.6",
        "caseExactOrderingMatch",
        DIRECTORY_STRING,
        &text::CASE_EXACT,
    )
    .applied_to(NARROWER_STRINGS),
    substrings(
        "2.5.13.7",
        "caseExactSubstringsMatch",
        SUBSTRINGS,
        &text::CASE_EXACT,
    ),
    equality(
        "2.5.13.8",
        "numericStringMatch",
        NUMERIC_STRING,
        &text::NUMERIC_STRING,
    ),
    ordering(
        "2.5.13.9",
        "numericStringOrderingMatch",
        NUMERIC_STRING,
        &text::NUMERIC_STRING,
    ),
    substrings(
        "2.5.13.10",
        "numericStringSubstringsMatch",
        SUBSTRINGS,
        &text::NUMERIC_STRING,
    ),
    equality(
        "2.5.13.11",
        "caseIgnoreListMatch",
        POSTAL_ADDRESS,
        &text::CASE_IGNORE_LIST,
    ),
    substrings(
        "2.5.13.12",
        "caseIgnoreListSubstringsMatch",
        SUBSTRINGS,
        &text::CASE_IGNORE_LIST,
    ),
    equality("2.5.13.13", "booleanMatch", BOOLEAN, &numbers::BOOLEAN),
    equality("2.5.13.14", "integerMatch", INTEGER, &numbers::INTEGER),
    ordering(
        "2.5.13.15",
        "integerOrderingMatch",
        INTEGER,
        &numbers::INTEGER,
    ),
    equality(
        "2.5.13.16",
        "bitStringMatch",
        BIT_STRING,
        &numbers::BIT_STRING,
    ),
    equality(
        "2.5.13.17",
        "octetStringMatch",
        OCTET_STRING,
        &octet_string::OCTET_STRING,
    ),
    ordering(
        "2.5.13.18",
        "octetStringOrderingMatch",
        OCTET_STRING,
        &octet_string::OCTET_STRING,
    ),
    substrings(
        "2.5.13.19",
        "octetStringSubstringsMatch",
        OCTET_STRING,
        &octet_string::OCTET_STRING,
    ),
    equality(
        "2.5.13.20",
        "telephoneNumberMatch",
        TELEPHONE,
        &text::TELEPHONE_NUMBER,
    ),
    substrings(
        "2.5.13.21",
        "telephoneNumberSubstringsMatch",
        SUBSTRINGS,
        &text::TELEPHONE_NUMBER,
    ),
    equality(
        "2.5.13.22",
        "presentationAddressMatch",
        PRESENTATION_ADDRESS,
        &octet_string::OCTET_STRING,
    )
    .unpublished(),
    equality(
        "2.5.13.23",
        "uniqueMemberMatch",
        NAME_AND_UID,
        &names::NAME_AND_OPTIONAL_UID,
    )
    .approximated_by(&UNIQUE_MEMBER_APPROXIMATE),
    equality(
        "2.5.13.24",
        "protocolInformationMatch",
        PROTOCOL_INFORMATION,
        &octet_string::OCTET_STRING,
    )
    .unpublished(),
    equality(
        "2.5.13.27",
        "generalizedTimeMatch",
        GENERALIZED_TIME,
        &time::GENERALIZED_TIME,
    ),
    ordering(
        "2.5.13.28",
        "generalizedTimeOrderingMatch",
        GENERALIZED_TIME,
        &time::GENERALIZED_TIME,
    ),
    equality(
        "2.5.13.29",
        "integerFirstComponentMatch",
        INTEGER,
        &oids::INTEGER_FIRST_COMPONENT,
    ),
    equality(
        "2.5.13.30",
        "objectIdentifierFirstComponentMatch",
        OID,
        &oids::OID_FIRST_COMPONENT,
    ),
    equality(
        "2.5.13.34",
        "certificateExactMatch",
        "1.3.6.1.1.15.1",
        &certificate::CERTIFICATE,
    )
    .applied_to(&[CERTIFICATE]),
    equality(
        "2.5.13.35",
        "certificateMatch",
        "1.3.6.1.1.15.2",
        &certificate::ENCODED,
    )
    .unpublished(),
    equality(
        "2.5.13.38",
        "certificateListExactMatch",
        "1.3.6.1.1.15.5",
        &certificate::CERTIFICATE_LIST,
    )
    .applied_to(&[CERTIFICATE_LIST]),
    equality(
        "2.5.13.39",
        "certificateListMatch",
        "1.3.6.1.1.15.6",
        &certificate::ENCODED,
    )
    .unpublished(),
    equality(
        "2.5.13.45",
        "attributeCertificateExactMatch",
        "1.3.6.1.4.1.4203.666.11.10.2.2",
        &certificate::ENCODED,
    )
    .unpublished(),
    equality(
        "2.5.13.46",
        "attributeCertificateMatch",
        "1.3.6.1.4.1.4203.666.11.10.2.3",
        &certificate::ENCODED,
    )
    .unpublished(),
    equality(
        "1.3.6.1.4.1.1466.109.114.1",
        "caseExactIA5Match",
        IA5_STRING,
        &text::CASE_EXACT_IA5,
    )
    .applied_to(&[COUNTRY_STRING]),
    equality(
        "1.3.6.1.4.1.1466.109.114.2",
        "caseIgnoreIA5Match",
        IA5_STRING,
        &text::CASE_IGNORE_IA5,
    )
    .applied_to(&[COUNTRY_STRING]),
    substrings(
        "1.3.6.1.4.1.1466.109.114.3",
        "caseIgnoreIA5SubstringsMatch",
        IA5_STRING,
        &text::CASE_IGNORE_IA5,
    ),
    substrings(
        "1.3.6.1.4.1.4203.1.2.1",
        "caseExactIA5SubstringsMatch",
        IA5_STRING,
        &text::CASE_EXACT_IA5,
    ),
    equality(
        "1.2.840.113556.1.4.803",
        "integerBitAndMatch",
        INTEGER,
        &numbers::INTEGER,
    )
    .asserted_by(numbers::bit_mask)
    .tested_by(Test::Stored(numbers::has_all_bits)),
    equality(
        "1.2.840.113556.1.4.804",
        "integerBitOrMatch",
        INTEGER,
        &numbers::INTEGER,
    )
    .asserted_by(numbers::bit_mask)
    .tested_by(Test::Stored(numbers::has_some_bit)),
    equality(IN_CHAIN, "LDAP_MATCHING_RULE_IN_CHAIN", DN, &names::DN).of_kind(RuleKind::InChain),
    equality("1.3.6.1.1.16.2", "UUIDMatch", UUID, &numbers::UUID),
    ordering("1.3.6.1.1.16.3", "UUIDOrderingMatch", UUID, &numbers::UUID),
    equality("1.3.6.1.4.1.4203.666.11.2.2", "CSNMatch", CSN, &time::CSN).unpublished(),
    ordering(
        "1.3.6.1.4.1.4203.666.11.2.3",
        "CSNOrderingMatch",
        CSN,
        &time::CSN,
    )
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.11.2.5",
        "CSNSIDMatch",
        SID,
        &time::CSN,
    )
    .asserted_by(time::server_id)
    .tested_by(Test::Normal(time::has_server_id))
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.8",
        "dnOneLevelMatch",
        DN,
        &names::DN,
    )
    .tested_by(Test::Normal(names::is_child))
    .unpublished(),
    equality("1.3.6.1.4.1.4203.666.4.9", "dnSubtreeMatch", DN, &names::DN)
        .tested_by(Test::Normal(names::is_within))
        .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.10",
        "dnSubordinateMatch",
        DN,
        &names::DN,
    )
    .tested_by(Test::Normal(names::is_below))
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.11",
        "dnSuperiorMatch",
        DN,
        &names::DN,
    )
    .tested_by(Test::Normal(names::is_above))
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.12",
        "authzMatch",
        AUTHZ,
        &text::CASE_EXACT,
    )
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.4",
        "directoryStringApproxMatch",
        DIRECTORY_STRING,
        &approximate::DIRECTORY_STRING_SOUNDS,
    )
    .of_kind(RuleKind::Test)
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.5",
        "IA5StringApproxMatch",
        IA5_STRING,
        &approximate::IA5_STRING_SOUNDS,
    )
    .of_kind(RuleKind::Test)
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.2",
        "OpenLDAPaciMatch",
        ACI,
        &text::CASE_IGNORE,
    )
    .unpublished(),
    equality(
        "1.3.6.1.4.1.4203.666.4.13",
        "privateKeyMatch",
        PKCS8,
        &octet_string::OCTET_STRING,
    )
    .unpublished(),
];
