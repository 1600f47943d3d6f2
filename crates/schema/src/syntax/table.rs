//! The syntaxes there are, with the descriptions of RFC 4517, RFC 2252 and others, in order of
//! publication.

use super::grammar::{Binary, Kind, Syntax};

impl Syntax {
    /// Returns a built-in syntax by OID.
    #[must_use]
    pub fn find(oid: &str) -> Option<&'static Syntax> {
        SYNTAXES.iter().find(|syntax| syntax.oid == oid)
    }

    /// Returns every built-in syntax.
    #[must_use]
    pub fn all() -> &'static [Syntax] {
        SYNTAXES
    }
}

/// Returns a syntax for the eyes of clients.
const fn published(
    oid: &'static str,
    description: &'static str,
    kind: Kind,
    binary: Binary,
) -> Syntax {
    Syntax {
        oid,
        description,
        kind,
        binary,
        hidden: false,
    }
}

const fn text(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    published(oid, description, kind, Binary::No)
}

const fn opaque(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    published(oid, description, kind, Binary::Opaque)
}

const fn transfer(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    published(oid, description, kind, Binary::Transfer)
}

/// Needs the option `binary`, but does not say so.
const fn private(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    published(oid, description, kind, Binary::PrivateTransfer)
}

/// Returns a syntax attributes may have, but that is not published: the server's own, or of
/// assertions only.
const fn hidden(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    Syntax {
        oid,
        description,
        kind,
        binary: Binary::No,
        hidden: true,
    }
}

/// Returns a syntax without a definition to check values by. Attributes may be defined with it, but
/// have no values.
const fn obsolete(oid: &'static str, description: &'static str) -> Syntax {
    hidden(oid, description, Kind::Undefined)
}

static SYNTAXES: &[Syntax] = &[
    opaque("1.3.6.1.4.1.1466.115.121.1.4", "Audio", Kind::Any),
    opaque("1.3.6.1.4.1.1466.115.121.1.5", "Binary", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.6",
        "Bit String",
        Kind::BitString,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.7", "Boolean", Kind::Boolean),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.8",
        "Certificate",
        Kind::Certificate,
    ),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.9",
        "Certificate List",
        Kind::CertificateList,
    ),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.10",
        "Certificate Pair",
        Kind::Der,
    ),
    transfer(
        "1.3.6.1.4.1.4203.666.11.10.2.1",
        "X.509 AttributeCertificate",
        Kind::Der,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.12",
        "Distinguished Name",
        Kind::Dn,
    ),
    text("1.2.36.79672281.1.5.0", "RDN", Kind::Dn),
    text(
        "1.3.6.1.4.1.1466.115.121.1.14",
        "Delivery Method",
        Kind::DeliveryMethod,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.15",
        "Directory String",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.22",
        "Facsimile Telephone Number",
        Kind::PrintableParts,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.24",
        "Generalized Time",
        Kind::GeneralizedTime,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.26",
        "IA5 String",
        Kind::Ia5String,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.27", "Integer", Kind::Integer),
    opaque("1.3.6.1.4.1.1466.115.121.1.28", "JPEG", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.34",
        "Name And Optional UID",
        Kind::NameAndOptionalUid,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.36",
        "Numeric String",
        Kind::NumericString,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.38", "OID", Kind::Oid),
    text(
        "1.3.6.1.4.1.1466.115.121.1.39",
        "Other Mailbox",
        Kind::Ia5String,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.40", "Octet String", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.41",
        "Postal Address",
        Kind::PostalAddress,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.44",
        "Printable String",
        Kind::PrintableString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.11",
        "Country String",
        Kind::CountryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.45",
        "SubtreeSpecification",
        Kind::Any,
    ),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.49",
        "Supported Algorithm",
        Kind::Any,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.50",
        "Telephone Number",
        Kind::PrintableString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.52",
        "Telex Number",
        Kind::PrintableParts,
    ),
    text(
        "1.3.6.1.1.1.0.0",
        "RFC2307 NIS Netgroup Triple",
        Kind::NisNetgroupTriple,
    ),
    text(
        "1.3.6.1.1.1.0.1",
        "RFC2307 Boot Parameter",
        Kind::NisBootParameter,
    ),
    text("1.3.6.1.1.16.1", "UUID", Kind::Uuid),
    private(
        "1.2.840.113549.1.8.1.1",
        "PKCS#8 PrivateKeyInfo",
        Kind::PrivateKey,
    ),
    obsolete("1.3.6.1.4.1.1466.115.121.1.1", "ACI Item"),
    obsolete("1.3.6.1.4.1.1466.115.121.1.2", "Access Point"),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.3",
        "Attribute Type Description",
        Kind::Description,
    ),
    obsolete("1.3.6.1.4.1.1466.115.121.1.13", "Data Quality"),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.16",
        "DIT Content Rule Description",
        Kind::Description,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.17",
        "DIT Structure Rule Description",
        Kind::Description,
    ),
    obsolete("1.3.6.1.4.1.1466.115.121.1.19", "DSA Quality"),
    obsolete("1.3.6.1.4.1.1466.115.121.1.20", "DSE Type"),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.21",
        "Enhanced Guide",
        Kind::DirectoryString,
    ),
    hidden("1.3.6.1.4.1.1466.115.121.1.23", "Fax", Kind::Any),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.25",
        "Guide",
        Kind::DirectoryString,
    ),
    obsolete(
        "1.3.6.1.4.1.1466.115.121.1.29",
        "Master And Shadow Access Points",
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.30",
        "Matching Rule Description",
        Kind::Description,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.31",
        "Matching Rule Use Description",
        Kind::Description,
    ),
    obsolete("1.3.6.1.4.1.1466.115.121.1.32", "Mail Preference"),
    obsolete("1.3.6.1.4.1.1466.115.121.1.33", "MHS OR Address"),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.35",
        "Name Form Description",
        Kind::Description,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.37",
        "Object Class Description",
        Kind::Description,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.42",
        "Protocol Information",
        Kind::DirectoryString,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.43",
        "Presentation Address",
        Kind::DirectoryString,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.51",
        "Teletex Terminal Identifier",
        Kind::TeletexTerminal,
    ),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.54",
        "LDAP Syntax Description",
        Kind::Description,
    ),
    obsolete("1.3.6.1.4.1.1466.115.121.1.55", "Modify Rights"),
    obsolete("1.3.6.1.4.1.1466.115.121.1.56", "LDAP Schema Definition"),
    obsolete("1.3.6.1.4.1.1466.115.121.1.57", "LDAP Schema Description"),
    hidden(
        "1.3.6.1.4.1.1466.115.121.1.58",
        "Substring Assertion",
        Kind::SubstringAssertion,
    ),
    hidden("1.3.6.1.1.15.1", "Certificate Exact Assertion", Kind::Any),
    hidden("1.3.6.1.1.15.2", "Certificate Assertion", Kind::Any),
    hidden(
        "1.3.6.1.1.15.5",
        "Certificate List Exact Assertion",
        Kind::Any,
    ),
    hidden("1.3.6.1.1.15.6", "Certificate List Assertion", Kind::Any),
    hidden("1.3.6.1.4.1.4203.1.1.1", "OpenLDAP void", Kind::Void),
    hidden(
        "1.3.6.1.4.1.4203.666.2.1",
        "OpenLDAP Experimental ACI",
        Kind::Aci,
    ),
    hidden("1.3.6.1.4.1.4203.666.2.7", "OpenLDAP authz", Kind::Authz),
    hidden(
        "1.3.6.1.4.1.4203.666.11.10.2.2",
        "AttributeCertificate Exact Assertion",
        Kind::Any,
    ),
    hidden(
        "1.3.6.1.4.1.4203.666.11.10.2.3",
        "AttributeCertificate Assertion",
        Kind::Any,
    ),
    hidden("1.3.6.1.4.1.4203.666.11.2.1", "CSN", Kind::Csn),
    hidden("1.3.6.1.4.1.4203.666.11.2.4", "CSN SID", Kind::ServerId),
];
