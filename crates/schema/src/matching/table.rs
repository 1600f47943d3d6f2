//! The matching rules there are: name, OID, assertion syntax, and how each compares.

use super::{Form, MatchingRule, Relation};

/// Shorthand for one row.
const fn rule(
    oid: &'static str,
    name: &'static str,
    syntax: &'static str,
    form: Form,
    relation: Relation,
) -> MatchingRule {
    MatchingRule {
        oid,
        name,
        syntax,
        form,
        relation,
    }
}

/// How `~=` compares a name with an optional identifier: one that lacks the identifier matches whatever the other has,
/// as in slapd. Nobody can ask for it by name.
pub(super) static UNIQUE_MEMBER_APPROXIMATE: MatchingRule = rule(
    "2.5.13.23",
    "uniqueMemberMatch",
    NAME_AND_UID,
    Form::NameAndOptionalUid,
    Relation::NameAndPerhapsUid,
);

pub(super) const CERTIFICATE: &str = "1.3.6.1.4.1.1466.115.121.1.8";
pub(super) const CERTIFICATE_LIST: &str = "1.3.6.1.4.1.1466.115.121.1.9";
const BIT_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.6";
const BOOLEAN: &str = "1.3.6.1.4.1.1466.115.121.1.7";
const DN: &str = "1.3.6.1.4.1.1466.115.121.1.12";
pub(super) const DIRECTORY_STRING: &str = "1.3.6.1.4.1.1466.115.121.1.15";
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

/// Syntaxes whose values are Directory Strings too: Country String, Printable String, Telephone Number.
pub(super) const NARROWER_STRINGS: [&str; 3] = [
    "1.3.6.1.4.1.1466.115.121.1.11",
    "1.3.6.1.4.1.1466.115.121.1.44",
    "1.3.6.1.4.1.1466.115.121.1.50",
];

/// Every rule, in order of publication.
pub(super) static RULES: &[MatchingRule] = &[
    rule(
        "2.5.13.0",
        "objectIdentifierMatch",
        OID,
        Form::ObjectIdentifier,
        Relation::Equality,
    ),
    rule(
        "2.5.13.1",
        "distinguishedNameMatch",
        DN,
        Form::Dn,
        Relation::Equality,
    ),
    rule(
        "1.2.36.79672281.1.13.3",
        "rdnMatch",
        RDN,
        Form::Dn,
        Relation::Equality,
    ),
    rule(
        "2.5.13.2",
        "caseIgnoreMatch",
        DIRECTORY_STRING,
        Form::CaseIgnore,
        Relation::Equality,
    ),
    rule(
        "2.5.13.3",
        "caseIgnoreOrderingMatch",
        DIRECTORY_STRING,
        Form::CaseIgnore,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.4",
        "caseIgnoreSubstringsMatch",
        SUBSTRINGS,
        Form::CaseIgnore,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.5",
        "caseExactMatch",
        DIRECTORY_STRING,
        Form::CaseExact,
        Relation::Equality,
    ),
    rule(
        "2.5.13.6",
        "caseExactOrderingMatch",
        DIRECTORY_STRING,
        Form::CaseExact,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.7",
        "caseExactSubstringsMatch",
        SUBSTRINGS,
        Form::CaseExact,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.8",
        "numericStringMatch",
        NUMERIC_STRING,
        Form::NumericString,
        Relation::Equality,
    ),
    rule(
        "2.5.13.9",
        "numericStringOrderingMatch",
        NUMERIC_STRING,
        Form::NumericString,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.10",
        "numericStringSubstringsMatch",
        SUBSTRINGS,
        Form::NumericString,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.11",
        "caseIgnoreListMatch",
        POSTAL_ADDRESS,
        Form::CaseIgnoreList,
        Relation::Equality,
    ),
    rule(
        "2.5.13.12",
        "caseIgnoreListSubstringsMatch",
        SUBSTRINGS,
        Form::CaseIgnoreList,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.13",
        "booleanMatch",
        BOOLEAN,
        Form::Boolean,
        Relation::Equality,
    ),
    rule(
        "2.5.13.14",
        "integerMatch",
        INTEGER,
        Form::Integer,
        Relation::Equality,
    ),
    rule(
        "2.5.13.15",
        "integerOrderingMatch",
        INTEGER,
        Form::Integer,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.16",
        "bitStringMatch",
        BIT_STRING,
        Form::BitString,
        Relation::Equality,
    ),
    rule(
        "2.5.13.17",
        "octetStringMatch",
        OCTET_STRING,
        Form::OctetString,
        Relation::Equality,
    ),
    rule(
        "2.5.13.18",
        "octetStringOrderingMatch",
        OCTET_STRING,
        Form::OctetString,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.19",
        "octetStringSubstringsMatch",
        OCTET_STRING,
        Form::OctetString,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.20",
        "telephoneNumberMatch",
        TELEPHONE,
        Form::Telephone,
        Relation::Equality,
    ),
    rule(
        "2.5.13.21",
        "telephoneNumberSubstringsMatch",
        SUBSTRINGS,
        Form::Telephone,
        Relation::Substrings,
    ),
    rule(
        "2.5.13.22",
        "presentationAddressMatch",
        PRESENTATION_ADDRESS,
        Form::OctetString,
        Relation::Equality,
    ),
    rule(
        "2.5.13.23",
        "uniqueMemberMatch",
        NAME_AND_UID,
        Form::NameAndOptionalUid,
        Relation::Equality,
    ),
    rule(
        "2.5.13.24",
        "protocolInformationMatch",
        PROTOCOL_INFORMATION,
        Form::OctetString,
        Relation::Equality,
    ),
    rule(
        "2.5.13.27",
        "generalizedTimeMatch",
        GENERALIZED_TIME,
        Form::GeneralizedTime,
        Relation::Equality,
    ),
    rule(
        "2.5.13.28",
        "generalizedTimeOrderingMatch",
        GENERALIZED_TIME,
        Form::GeneralizedTime,
        Relation::Ordering,
    ),
    rule(
        "2.5.13.29",
        "integerFirstComponentMatch",
        INTEGER,
        Form::IntegerFirstComponent,
        Relation::Equality,
    ),
    rule(
        "2.5.13.30",
        "objectIdentifierFirstComponentMatch",
        OID,
        Form::OidFirstComponent,
        Relation::Equality,
    ),
    rule(
        "2.5.13.34",
        "certificateExactMatch",
        "1.3.6.1.1.15.1",
        Form::Certificate,
        Relation::Equality,
    ),
    rule(
        "2.5.13.35",
        "certificateMatch",
        "1.3.6.1.1.15.2",
        Form::Encoded,
        Relation::Equality,
    ),
    rule(
        "2.5.13.38",
        "certificateListExactMatch",
        "1.3.6.1.1.15.5",
        Form::CertificateList,
        Relation::Equality,
    ),
    rule(
        "2.5.13.39",
        "certificateListMatch",
        "1.3.6.1.1.15.6",
        Form::Encoded,
        Relation::Equality,
    ),
    rule(
        "2.5.13.45",
        "attributeCertificateExactMatch",
        "1.3.6.1.4.1.4203.666.11.10.2.2",
        Form::Encoded,
        Relation::Equality,
    ),
    rule(
        "2.5.13.46",
        "attributeCertificateMatch",
        "1.3.6.1.4.1.4203.666.11.10.2.3",
        Form::Encoded,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.1466.109.114.1",
        "caseExactIA5Match",
        IA5_STRING,
        Form::CaseExactIa5,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.1466.109.114.2",
        "caseIgnoreIA5Match",
        IA5_STRING,
        Form::CaseIgnoreIa5,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.1466.109.114.3",
        "caseIgnoreIA5SubstringsMatch",
        IA5_STRING,
        Form::CaseIgnoreIa5,
        Relation::Substrings,
    ),
    rule(
        "1.3.6.1.4.1.4203.1.2.1",
        "caseExactIA5SubstringsMatch",
        IA5_STRING,
        Form::CaseExactIa5,
        Relation::Substrings,
    ),
    rule(
        "1.2.840.113556.1.4.803",
        "integerBitAndMatch",
        INTEGER,
        Form::Integer,
        Relation::BitAnd,
    ),
    rule(
        "1.2.840.113556.1.4.804",
        "integerBitOrMatch",
        INTEGER,
        Form::Integer,
        Relation::BitOr,
    ),
    rule(
        super::IN_CHAIN,
        "LDAP_MATCHING_RULE_IN_CHAIN",
        DN,
        Form::Dn,
        Relation::InChain,
    ),
    rule(
        "1.3.6.1.1.16.2",
        "UUIDMatch",
        UUID,
        Form::Uuid,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.1.16.3",
        "UUIDOrderingMatch",
        UUID,
        Form::Uuid,
        Relation::Ordering,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.11.2.2",
        "CSNMatch",
        CSN,
        Form::Csn,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.11.2.3",
        "CSNOrderingMatch",
        CSN,
        Form::Csn,
        Relation::Ordering,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.11.2.5",
        "CSNSIDMatch",
        SID,
        Form::Csn,
        Relation::ServerId,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.8",
        "dnOneLevelMatch",
        DN,
        Form::Dn,
        Relation::DnOneLevel,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.9",
        "dnSubtreeMatch",
        DN,
        Form::Dn,
        Relation::DnSubtree,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.10",
        "dnSubordinateMatch",
        DN,
        Form::Dn,
        Relation::DnSubordinate,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.11",
        "dnSuperiorMatch",
        DN,
        Form::Dn,
        Relation::DnSuperior,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.12",
        "authzMatch",
        AUTHZ,
        Form::CaseExact,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.2",
        "OpenLDAPaciMatch",
        ACI,
        Form::CaseIgnore,
        Relation::Equality,
    ),
    rule(
        "1.3.6.1.4.1.4203.666.4.13",
        "privateKeyMatch",
        PKCS8,
        Form::OctetString,
        Relation::Equality,
    ),
];
