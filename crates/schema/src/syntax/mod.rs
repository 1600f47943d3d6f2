//! Syntaxes: which octets are a value (RFC 4517, section 3).

mod table;
mod text;
mod x500;

use thiserror::Error;

use crate::dn;
use crate::matching::{is_bit_string, is_csn, is_generalized_time, is_integer, is_uuid, split_uid};
use crate::oid::is_descriptor_or_oid;
use crate::registry::Schema;

/// The octets are no value of the syntax.
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
}

/// The test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any octets.
    Any,
    BitString,
    Boolean,
    CountryString,
    Csn,
    DeliveryMethod,
    /// BER or DER: begins as a SEQUENCE whose length fits.
    Der,
    DirectoryString,
    Dn,
    FacsimileNumber,
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
    OtherMailbox,
    PostalAddress,
    PrintableString,
    Rdn,
    ServerId,
    SubstringAssertion,
    SubtreeSpecification,
    TelephoneNumber,
    TeletexTerminal,
    TelexNumber,
    Uuid,
}

impl PartialEq for Syntax {
    fn eq(&self, other: &Syntax) -> bool {
        self.oid == other.oid
    }
}

impl Eq for Syntax {}

impl Syntax {
    /// A built-in syntax by OID.
    #[must_use]
    pub fn find(oid: &str) -> Option<&'static Syntax> {
        table::SYNTAXES.iter().find(|syntax| syntax.oid == oid)
    }

    /// Every built-in syntax.
    #[must_use]
    pub fn all() -> &'static [Syntax] {
        table::SYNTAXES
    }

    /// Whether values are meant for programs rather than people (certificates, pictures).
    #[must_use]
    pub fn is_opaque(&self) -> bool {
        self.binary != Binary::No
    }

    /// Whether values are distinguished names, alone or with a unique identifier.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Dn | Kind::NameAndOptionalUid)
    }

    /// Whether `value` is a value of this syntax.
    ///
    /// # Errors
    /// [`InvalidSyntax`] when it is not.
    pub fn validate(&self, schema: &Schema, value: &[u8]) -> Result<(), InvalidSyntax> {
        if self.accepts(schema, value) {
            Ok(())
        } else {
            Err(InvalidSyntax)
        }
    }

    fn accepts(&self, schema: &Schema, value: &[u8]) -> bool {
        match self.kind {
            Kind::Any => true,
            Kind::BitString => is_bit_string(value),
            Kind::Boolean => matches!(value, b"TRUE" | b"FALSE"),
            Kind::CountryString => text::is_country_string(value),
            Kind::Csn => is_csn(value),
            Kind::DeliveryMethod => x500::is_delivery_method(value),
            Kind::Der => x500::is_ber_sequence(value),
            Kind::DirectoryString => text::is_directory_string(value),
            Kind::Dn => dn::is_valid(schema, value),
            Kind::FacsimileNumber => x500::is_facsimile_number(value),
            Kind::GeneralizedTime => is_generalized_time(value),
            Kind::Description => x500::is_description(value),
            Kind::Ia5String => value.is_ascii(),
            Kind::Integer => is_integer(value),
            Kind::NameAndOptionalUid => dn::is_valid(schema, split_uid(value).0),
            Kind::NisBootParameter => text::is_boot_parameter(value),
            Kind::NisNetgroupTriple => text::is_netgroup_triple(value),
            Kind::NumericString => text::is_numeric_string(value),
            Kind::Oid => std::str::from_utf8(value).is_ok_and(is_descriptor_or_oid),
            Kind::OtherMailbox => text::is_other_mailbox(value),
            Kind::PostalAddress => text::is_postal_address(value),
            Kind::PrintableString => text::is_printable_string(value),
            Kind::Rdn => dn::is_valid_rdn(schema, value),
            Kind::ServerId => {
                (1..=3).contains(&value.len()) && value.iter().all(u8::is_ascii_hexdigit)
            }
            Kind::SubstringAssertion => text::is_substring_assertion(value),
            Kind::SubtreeSpecification => x500::is_subtree_specification(value),
            Kind::TelephoneNumber => text::is_telephone_number(value),
            Kind::TeletexTerminal => x500::is_teletex_terminal(value),
            Kind::TelexNumber => x500::is_telex_number(value),
            Kind::Uuid => is_uuid(value),
        }
    }
}
