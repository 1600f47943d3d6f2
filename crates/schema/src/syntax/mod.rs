//! Syntaxes: which octets are a value (RFC 4517, section 3).

use thiserror::Error;

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
}

impl Syntax {
    /// A built-in syntax by OID.
    #[must_use]
    pub fn find(_oid: &str) -> Option<&'static Syntax> {
        todo!()
    }

    /// Whether `value` is a value of this syntax.
    ///
    /// # Errors
    /// [`InvalidSyntax`] when it is not.
    pub fn validate(&self, _schema: &Schema, _value: &[u8]) -> Result<(), InvalidSyntax> {
        todo!()
    }
}
