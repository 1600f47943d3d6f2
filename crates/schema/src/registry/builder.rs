//! Puts a [`Schema`] together from built-in parts and schema files.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::error::SchemaError;
use super::resolve::resolve;
use super::schema::Schema;
use crate::builtin::{self, Builtin, Source};
use crate::definition::{
    Definition, Macros, Origin, SourceContents, Statement, parse_source, parse_statement,
};

/// Collects definitions; [`build`](Self::build) resolves them all, so they may refer to each other
/// in any order.
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

    /// Adds a built-in part and the parts it needs; adding one again changes nothing.
    #[must_use]
    pub fn builtin(mut self, part: Builtin) -> SchemaBuilder {
        for needed in part.requires() {
            self = self.builtin(*needed);
        }
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
        self
    }

    /// Adds the definitions of a text. Its form is OpenLDAP's `.schema` syntax, LDIF for
    /// cn=schema,cn=config (`olcAttributeTypes`) or a subschema entry of RFC 4512
    /// (`attributeTypes`). The text itself shows its form. `origin` names it in errors.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] when the text cannot be parsed.
    pub fn text(mut self, origin: &str, text: &str) -> Result<SchemaBuilder, SchemaError> {
        let parsed = parse_source(origin, text, Origin::File, &mut self.macros);
        let parsed = parsed.map_err(|(line, reason)| definition_error(origin, line, reason))?;
        self.add(parsed);
        Ok(self)
    }

    /// Adds one statement of a configuration file: `attributetype ( ... )`, `objectclass ( ... )`,
    /// `ditcontentrule`, `ldapsyntax`, `objectidentifier`, `attributeoptions`. Continuation lines
    /// are joined. `attributetype ( ... )`, `objectclass ( ... )`, `ditcontentrule`, `ldapsyntax`,
    /// `objectidentifier`, `attributeoptions`, continuation lines joined. `line`, from 1, and
    /// `origin` name it in errors.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] when it cannot be parsed, or the keyword is none of these.
    pub fn statement(
        mut self,
        origin: &str,
        line: usize,
        keyword: &str,
        value: &str,
    ) -> Result<SchemaBuilder, SchemaError> {
        let statement = Statement {
            line,
            keyword: keyword.to_ascii_lowercase(),
            value: value.trim().to_owned(),
        };
        let mut parsed = SourceContents::default();
        let name = origin.into();
        parse_statement(
            &name,
            &statement,
            Origin::File,
            &mut self.macros,
            &mut parsed,
        )
        .map_err(|reason| definition_error(origin, line, reason))?;
        self.add(parsed);
        Ok(self)
    }

    /// Returns true if a configuration keyword is one for [`statement`](Self::statement).
    #[must_use]
    pub fn is_statement(keyword: &str) -> bool {
        matches!(
            keyword.to_ascii_lowercase().as_str(),
            "attributetype"
                | "attributetypes"
                | "attributeoptions"
                | "objectclass"
                | "objectclasses"
                | "objectidentifier"
                | "ditcontentrule"
                | "ditcontentrules"
                | "ldapsyntax"
                | "ldapsyntaxes"
        )
    }

    fn add(&mut self, parsed: SourceContents) {
        self.definitions.extend(parsed.definitions);
        self.options.extend(parsed.options);
    }

    /// Adds the definitions of a file, in any of the forms of [`text`](Self::text).
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

    /// Allows an attribute option besides language tags and `binary`; one that ends in `-` is a
    /// prefix.
    #[must_use]
    pub fn attribute_option(mut self, option: &str) -> SchemaBuilder {
        self.options.push(option.to_ascii_lowercase());
        self
    }

    /// Resolves all references. A definition that repeats another is accepted silently, one that
    /// contradicts it is an error.
    ///
    /// # Errors
    /// [`SchemaError::Definition`] with the place of the first definition at fault.
    pub fn build(self) -> Result<Schema, SchemaError> {
        let mut all = Vec::new();
        for source in builtin::ALWAYS {
            all.extend(parsed(source)?);
        }
        for part in &self.parts {
            all.extend(parsed(part.source())?);
        }
        all.extend(self.definitions);
        let spare = parsed(builtin::SPARE)?;
        let wanted: Vec<Definition> = spare
            .into_iter()
            .filter(|spare| !all.iter().any(|known| known.clashes_with(spare)))
            .collect();
        all.extend(wanted);
        Schema::assemble(resolve(all)?, self.options)
    }
}

impl Schema {
    /// Returns the system schema with core, cosine, inetorgperson and nis (RFC 2307). Built once
    /// per process.
    #[must_use]
    pub fn standard() -> Arc<Schema> {
        static STANDARD: OnceLock<Arc<Schema>> = OnceLock::new();
        let build = || match SchemaBuilder::standard().build() {
            Ok(schema) => Arc::new(schema),
            Err(error) => unreachable!("the built-in schema does not resolve: {error}"),
        };
        Arc::clone(STANDARD.get_or_init(build))
    }
}

fn parsed(source: Source) -> Result<Vec<Definition>, SchemaError> {
    parse_source(
        source.name,
        source.text,
        source.origin,
        &mut Macros::default(),
    )
    .map(|parsed| parsed.definitions)
    .map_err(|(line, reason)| definition_error(source.name, line, reason))
}

fn definition_error(origin: &str, line: usize, reason: String) -> SchemaError {
    SchemaError::Definition {
        origin: origin.to_owned(),
        line,
        reason,
    }
}
