//! Puts a [`Schema`] together from built-in parts and schema files.

use std::path::{Path, PathBuf};
use thiserror::Error;

use super::Schema;

/// The definitions that come with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// RFC 4519, RFC 4523, RFC 2079 and others.
    Core,
    /// RFC 4524.
    Cosine,
    /// RFC 2798.
    InetOrgPerson,
    /// RFC 2307: posixGroup is structural.
    Nis,
    /// The RFC 2307bis draft: posixGroup is auxiliary. Excludes [`Builtin::Nis`].
    Rfc2307bis,
}

/// Why a schema cannot be built.
#[derive(Debug, Error)]
pub enum SchemaError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A definition is wrong.
    #[error("{origin}:{line}: {reason}")]
    Definition {
        /// File name, or the name of a built-in part.
        origin: String,
        /// Line on which the definition starts, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

/// Collects definitions; [`build`](Self::build) resolves them all, so they may refer to each other in any order.
#[derive(Debug, Default)]
pub struct SchemaBuilder {}

impl SchemaBuilder {
    /// Starts with the system schema alone (RFC 4512, operational attributes).
    #[must_use]
    pub fn new() -> SchemaBuilder {
        todo!()
    }

    /// Starts with the system schema, core, cosine, inetorgperson and nis.
    #[must_use]
    pub fn standard() -> SchemaBuilder {
        todo!()
    }

    /// Adds a built-in part.
    #[must_use]
    pub fn builtin(self, _part: Builtin) -> SchemaBuilder {
        todo!()
    }

    /// Adds the definitions of a text in the syntax of OpenLDAP's `.schema` files. `origin` names it in errors.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] when the text cannot be parsed.
    pub fn text(self, _origin: &str, _text: &str) -> Result<SchemaBuilder, SchemaError> {
        todo!()
    }

    /// Adds the definitions of a `.schema` file.
    ///
    /// # Errors
    /// [`SchemaError`] when it cannot be read or parsed.
    pub fn file(self, _path: &Path) -> Result<SchemaBuilder, SchemaError> {
        todo!()
    }

    /// Resolves all references. A definition that repeats another is accepted silently, one that contradicts it is an error.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] with the place of the first definition at fault.
    pub fn build(self) -> Result<Schema, SchemaError> {
        todo!()
    }
}
