//! The syntaxes there are, with the descriptions of RFC 4517, RFC 2252 and others.

use super::{Binary, Kind, Syntax};

const fn text(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    Syntax {
        oid,
        description,
        kind,
        binary: Binary::No,
    }
}

const fn opaque(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    Syntax {
        oid,
        description,
        kind,
        binary: Binary::Opaque,
    }
}

const fn transfer(oid: &'static str, description: &'static str, kind: Kind) -> Syntax {
    Syntax {
        oid,
        description,
        kind,
        binary: Binary::Transfer,
    }
}

pub(super) static SYNTAXES: &[Syntax] = &[
    transfer("1.3.6.1.4.1.1466.115.121.1.1", "ACI Item", Kind::Any),
    opaque("1.3.6.1.4.1.1466.115.121.1.2", "Access Point", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.3",
        "Attribute Type Description",
        Kind::Description,
    ),
    opaque("1.3.6.1.4.1.1466.115.121.1.4", "Audio", Kind::Any),
    opaque("1.3.6.1.4.1.1466.115.121.1.5", "Binary", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.6",
        "Bit String",
        Kind::BitString,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.7", "Boolean", Kind::Boolean),
    transfer("1.3.6.1.4.1.1466.115.121.1.8", "Certificate", Kind::Der),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.9",
        "Certificate List",
        Kind::Der,
    ),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.10",
        "Certificate Pair",
        Kind::Der,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.11",
        "Country String",
        Kind::CountryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.12",
        "Distinguished Name",
        Kind::Dn,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.13",
        "Data Quality",
        Kind::DirectoryString,
    ),
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
        "1.3.6.1.4.1.1466.115.121.1.16",
        "DIT Content Rule Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.17",
        "DIT Structure Rule Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.19",
        "DSA Quality",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.20",
        "DSE Type",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.21",
        "Enhanced Guide",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.22",
        "Facsimile Telephone Number",
        Kind::FacsimileNumber,
    ),
    opaque("1.3.6.1.4.1.1466.115.121.1.23", "Fax", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.24",
        "Generalized Time",
        Kind::GeneralizedTime,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.25",
        "Guide",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.26",
        "IA5 String",
        Kind::Ia5String,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.27", "Integer", Kind::Integer),
    opaque("1.3.6.1.4.1.1466.115.121.1.28", "JPEG", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.29",
        "Master And Shadow Access Points",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.30",
        "Matching Rule Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.31",
        "Matching Rule Use Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.32",
        "Mail Preference",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.33",
        "MHS OR Address",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.34",
        "Name And Optional UID",
        Kind::NameAndOptionalUid,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.35",
        "Name Form Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.36",
        "Numeric String",
        Kind::NumericString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.37",
        "Object Class Description",
        Kind::Description,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.38", "OID", Kind::Oid),
    text(
        "1.3.6.1.4.1.1466.115.121.1.39",
        "Other Mailbox",
        Kind::OtherMailbox,
    ),
    text("1.3.6.1.4.1.1466.115.121.1.40", "Octet String", Kind::Any),
    text(
        "1.3.6.1.4.1.1466.115.121.1.41",
        "Postal Address",
        Kind::PostalAddress,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.42",
        "Protocol Information",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.43",
        "Presentation Address",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.44",
        "Printable String",
        Kind::PrintableString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.45",
        "SubtreeSpecification",
        Kind::SubtreeSpecification,
    ),
    transfer(
        "1.3.6.1.4.1.1466.115.121.1.49",
        "Supported Algorithm",
        Kind::Der,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.50",
        "Telephone Number",
        Kind::TelephoneNumber,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.51",
        "Teletex Terminal Identifier",
        Kind::TeletexTerminal,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.52",
        "Telex Number",
        Kind::TelexNumber,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.54",
        "LDAP Syntax Description",
        Kind::Description,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.55",
        "Modify Rights",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.56",
        "LDAP Schema Definition",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.57",
        "LDAP Schema Description",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.1466.115.121.1.58",
        "Substring Assertion",
        Kind::SubstringAssertion,
    ),
    text("1.2.36.79672281.1.5.0", "RDN", Kind::Rdn),
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
    text("1.3.6.1.1.15.1", "Certificate Exact Assertion", Kind::Any),
    text("1.3.6.1.1.15.2", "Certificate Assertion", Kind::Any),
    text(
        "1.3.6.1.1.15.5",
        "Certificate List Exact Assertion",
        Kind::Any,
    ),
    text("1.3.6.1.1.15.6", "Certificate List Assertion", Kind::Any),
    opaque("1.2.840.113549.1.8.1.1", "PKCS#8 PrivateKeyInfo", Kind::Der),
    text("1.3.6.1.4.1.4203.1.1.1", "OpenLDAP void", Kind::Any),
    text(
        "1.3.6.1.4.1.4203.666.2.1",
        "OpenLDAP Experimental ACI",
        Kind::DirectoryString,
    ),
    text(
        "1.3.6.1.4.1.4203.666.2.7",
        "OpenLDAP authz",
        Kind::DirectoryString,
    ),
    transfer(
        "1.3.6.1.4.1.4203.666.11.10.2.1",
        "X.509 AttributeCertificate",
        Kind::Der,
    ),
    text(
        "1.3.6.1.4.1.4203.666.11.10.2.2",
        "AttributeCertificate Exact Assertion",
        Kind::Any,
    ),
    text(
        "1.3.6.1.4.1.4203.666.11.10.2.3",
        "AttributeCertificate Assertion",
        Kind::Any,
    ),
    text("1.3.6.1.4.1.4203.666.11.2.1", "CSN", Kind::Csn),
    text("1.3.6.1.4.1.4203.666.11.2.4", "CSN SID", Kind::ServerId),
];
