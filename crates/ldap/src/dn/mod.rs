//! Distinguished names as text (RFC 4514).
//!
//! ```text
//!   uid=ada+cn=Ada \2B Co,ou=People,dc=example        text
//!   |------ Rdn -------| |- Rdn -| |- Rdn --|         leaf first, as written
//!   |-Ava-| |---Ava----|
//! ```
//!
//! This knows text only. True if two DNs are the same is a question for the schema.

mod parse;
mod print;

use std::borrow::Cow;

pub use parse::{DnError, parse, parse_rdn};
pub use print::{write, write_rdn, write_value_escaped};

/// A relative distinguished name: one or more attribute values, in the order they were written.
pub type Rdn<'a> = Vec<Ava<'a>>;

/// An attribute type with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ava<'a> {
    /// Name or OID of the type as written.
    pub attribute: &'a str,
    /// The value with its escapes undone.
    pub value: Cow<'a, [u8]>,
    /// The form of `value`.
    pub form: ValueForm,
}

/// How the value of an [`Ava`] is represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// The value as LDAP writes it elsewhere. Hex strings (`#04024869`) of ASN.1 string types
    /// have been reduced to this.
    Plain,
    /// A BER element whose type is no string: only the attribute's syntax could give its LDAP form.
    /// It is written as a hex string again.
    Ber,
}
