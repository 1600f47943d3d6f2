//! Why a text is no distinguished name.

use thiserror::Error;

/// Why a text is no distinguished name of this directory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DnError {
    /// The text breaks the grammar.
    #[error("invalid DN: {0}")]
    Malformed(String),
    /// An RDN names an attribute type that is not defined.
    #[error("invalid DN: {0}: attribute type undefined")]
    UnknownType(String),
    /// A value breaks the syntax of its attribute type.
    #[error("invalid DN: {0}: invalid value")]
    InvalidValue(String),
}
