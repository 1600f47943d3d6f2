//! A syntax: an OID and the test of its values.

use thiserror::Error;

use super::{authz, text, x500};
use crate::matching::{
    NameResolver, is_bit_string, is_certificate, is_certificate_list, is_csn, is_generalized_time,
    is_integer, is_postal_address, is_private_key, is_uuid, split_uid,
};
use crate::oid::is_numeric_oid;

/// The bytes are no value of the syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid per syntax")]
pub struct InvalidSyntax;

/// A syntax: an OID and a test.
#[derive(Debug)]
pub struct Syntax {
    /// Numeric object identifier.
    pub oid: &'static str,
    /// Description as published.
    pub description: &'static str,
    pub(crate) kind: Kind,
    /// The published extensions X-BINARY-TRANSFER-REQUIRED and X-NOT-HUMAN-READABLE.
    pub(crate) binary: Binary,
    /// True if the subschema keeps silent about it.
    pub(crate) hidden: bool,
}

/// How values are transferred and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    /// Text.
    No,
    /// Not for humans.
    Opaque,
    /// Not for humans, and meant to be asked for with the option `binary` (RFC 4522).
    Transfer,
    /// The same, but not published as such.
    PrivateTransfer,
}

/// The test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any bytes.
    Any,
    Aci,
    Authz,
    BitString,
    Boolean,
    Certificate,
    CertificateList,
    CountryString,
    Csn,
    DeliveryMethod,
    /// BER or DER: begins as a SEQUENCE whose length fits.
    Der,
    DirectoryString,
    Dn,
    GeneralizedTime,
    /// A description in parentheses (attribute types and so on).
    Description,
    Ia5String,
    Integer,
    NameAndOptionalUid,
    NisBootParameter,
    NisNetgroupTriple,
    NumericString,
    Oid,
    PostalAddress,
    /// Printable strings between `$`: telex and facsimile numbers.
    PrintableParts,
    PrintableString,
    PrivateKey,
    ServerId,
    SubstringAssertion,
    TeletexTerminal,
    Uuid,
    /// No bytes: there are attributes that are there to be spoken of.
    Void,
    /// Nobody knows.
    Undefined,
}

impl PartialEq for Syntax {
    fn eq(&self, other: &Syntax) -> bool {
        self.oid == other.oid
    }
}

impl Eq for Syntax {}

impl Syntax {
    /// Returns true if values are meant for programs rather than people (certificates, pictures).
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        !matches!(self.binary, Binary::No | Binary::PrivateTransfer)
    }

    /// Returns true if values are stored and sent with the option `binary` only (RFC 4522, section
    /// 4).
    #[must_use]
    pub fn requires_binary(&self) -> bool {
        matches!(self.binary, Binary::Transfer | Binary::PrivateTransfer)
    }

    /// Returns true if there is no telling what a value of this syntax is, so that attributes
    /// cannot have any.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        self.kind == Kind::Undefined
    }

    /// Returns true if values are distinguished names, alone or with a unique identifier.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Dn | Kind::NameAndOptionalUid)
    }

    /// Checks that `value` is a value of this syntax.
    ///
    /// # Errors
    /// [`InvalidSyntax`] when it is not.
    pub fn validate(&self, names: &dyn NameResolver, value: &[u8]) -> Result<(), InvalidSyntax> {
        if self.accepts(names, value) {
            Ok(())
        } else {
            Err(InvalidSyntax)
        }
    }

    fn accepts(&self, names: &dyn NameResolver, value: &[u8]) -> bool {
        match self.kind {
            Kind::Any => true,
            Kind::Aci => value.iter().filter(|b| **b == b'#').count() >= 4,
            Kind::Authz => authz::is_authz(names, value),
            Kind::BitString => is_bit_string(value),
            Kind::Boolean => matches!(value, b"TRUE" | b"FALSE"),
            Kind::Certificate => is_certificate(value),
            Kind::CertificateList => is_certificate_list(value),
            Kind::CountryString => text::is_country_string(value),
            Kind::Csn => is_csn(value),
            Kind::DeliveryMethod => x500::is_delivery_method(value),
            Kind::Der => x500::is_ber_sequence(value),
            Kind::DirectoryString => text::is_directory_string(value),
            Kind::Dn => names.normal_dn(value).is_ok(),
            Kind::GeneralizedTime => is_generalized_time(value),
            Kind::Description => x500::is_description(value),
            Kind::Ia5String => value.is_ascii(),
            Kind::Integer => is_integer(value),
            Kind::NameAndOptionalUid => names.normal_dn(split_uid(value).0).is_ok(),
            Kind::NisBootParameter => text::is_boot_parameter(value),
            Kind::NisNetgroupTriple => text::is_netgroup_triple(value),
            Kind::NumericString => text::is_numeric_string(value),
            Kind::Oid => std::str::from_utf8(value).is_ok_and(|text| is_oid(names, text)),
            Kind::PostalAddress => is_postal_address(value),
            Kind::PrintableParts => text::is_printable_parts(value),
            Kind::PrintableString => text::is_printable_string(value),
            Kind::PrivateKey => is_private_key(value),
            Kind::ServerId => value.len() == 3 && value.iter().all(u8::is_ascii_hexdigit),
            Kind::SubstringAssertion => text::is_substring_assertion(value),
            Kind::TeletexTerminal => x500::is_teletex_terminal(value),
            Kind::Uuid => is_uuid(value),
            Kind::Void | Kind::Undefined => false,
        }
    }
}

/// Returns true for numbers with dots, or a name that the schema knows. A single number is
/// accepted, as by slapd.
fn is_oid(names: &dyn NameResolver, text: &str) -> bool {
    let single = || {
        !text.is_empty()
            && text.bytes().all(|b| b.is_ascii_digit())
            && (text.len() == 1 || !text.starts_with('0'))
    };
    is_numeric_oid(text) || single() || names.oid_of(text).is_some()
}
