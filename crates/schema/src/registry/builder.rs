//! Puts a [`Schema`] together from built-in parts and schema files.

use std::path::{Path, PathBuf};
use thiserror::Error;

use super::Schema;
use super::resolve::resolve;
use crate::builtin;
use crate::definition::{Definition, Macros, parse_file};

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
    #[error("cannot read schema file {path}: {source}")]
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
///
/// ```
/// use fulgurite_schema::SchemaBuilder;
/// let schema = SchemaBuilder::standard()
///     .text("badge.schema", "attributetype ( 1.3.6.1.4.1.32473.1 NAME 'badge' SUP name SINGLE-VALUE )")?
///     .build()?;
/// assert!(schema.attribute("BADGE").is_some_and(|badge| badge.single_value));
/// # Ok::<(), fulgurite_schema::SchemaError>(())
/// ```
#[derive(Debug, Default)]
pub struct SchemaBuilder {
    parts: Vec<Builtin>,
    macros: Macros,
    definitions: Vec<Definition>,
    options: Vec<String>,
}

impl SchemaBuilder {
    /// Starts with the system schema alone (RFC 4512, operational attributes).
    #[must_use]
    pub fn new() -> SchemaBuilder {
        SchemaBuilder::default()
    }

    /// Starts with the system schema, core, cosine, inetorgperson and nis.
    #[must_use]
    pub fn standard() -> SchemaBuilder {
        [
            Builtin::Core,
            Builtin::Cosine,
            Builtin::InetOrgPerson,
            Builtin::Nis,
        ]
        .into_iter()
        .fold(SchemaBuilder::new(), SchemaBuilder::builtin)
    }

    /// Adds a built-in part; adding it again changes nothing.
    #[must_use]
    pub fn builtin(mut self, part: Builtin) -> SchemaBuilder {
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
        self
    }

    /// Adds the definitions of a text in the syntax of OpenLDAP's `.schema` files. `origin` names it in errors.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] when the text cannot be parsed.
    pub fn text(mut self, origin: &str, text: &str) -> Result<SchemaBuilder, SchemaError> {
        let definitions = parse(origin, text, &mut self.macros)?;
        self.definitions.extend(definitions);
        Ok(self)
    }

    /// Adds the definitions of a `.schema` file.
    ///
    /// # Errors
    /// [`SchemaError`] when it cannot be read or parsed.
    pub fn file(self, path: &Path) -> Result<SchemaBuilder, SchemaError> {
        let bytes = std::fs::read(path).map_err(|source| SchemaError::Read {
            path: path.to_owned(),
            source,
        })?;
        self.text(
            &path.display().to_string(),
            &String::from_utf8_lossy(&bytes),
        )
    }

    /// Allows an attribute option besides language tags and `binary`; one that ends in `-` is a prefix.
    #[must_use]
    pub fn attribute_option(mut self, option: &str) -> SchemaBuilder {
        self.options.push(option.to_ascii_lowercase());
        self
    }

    /// Resolves all references. A definition that repeats another is accepted silently, one that contradicts it
    /// is an error.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] with the place of the first definition at fault.
    pub fn build(self) -> Result<Schema, SchemaError> {
        let mut all = parse(builtin::SYSTEM.0, builtin::SYSTEM.1, &mut Macros::default())?;
        for part in &self.parts {
            let (origin, text) = builtin::source(*part);
            all.extend(parse(origin, text, &mut Macros::default())?);
        }
        all.extend(self.definitions);
        let spare = parse(builtin::SPARE.0, builtin::SPARE.1, &mut Macros::default())?;
        let wanted: Vec<Definition> = spare
            .into_iter()
            .filter(|spare| !all.iter().any(|known| known.clashes_with(spare)))
            .collect();
        all.extend(wanted);
        let mut schema = resolve(all)?;
        schema.options = self.options;
        Ok(schema)
    }
}

fn parse(origin: &str, text: &str, macros: &mut Macros) -> Result<Vec<Definition>, SchemaError> {
    parse_file(origin, text, macros).map_err(|(line, reason)| SchemaError::Definition {
        origin: origin.to_owned(),
        line,
        reason,
    })
}
