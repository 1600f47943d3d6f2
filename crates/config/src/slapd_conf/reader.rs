//! Reads a slapd.conf and the files that it includes, line by line, into a layer.

use std::io::ErrorKind::NotFound;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::builder::LayerBuilder;
use super::directives::obey;
use super::lines::{Line, logical_lines};
use crate::names::SchemaPart;
use crate::statement::{Section, Statement};
use crate::survey::Survey;
use crate::tokens::split_tokens;
use crate::{ConfigError, Layer, Origin, Sourced};

/// Files that include each other, at most.
const INCLUDE_DEPTH_MAX: usize = 64;

/// Files of one configuration, at most. Files that include each other twice would never end
/// otherwise.
const INCLUDED_FILES_MAX: usize = 10_000;

/// Bytes of one file, at most.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// A configuration while it is read.
struct Reader {
    builder: LayerBuilder,
    /// The files that are being read, innermost last.
    open: Vec<PathBuf>,
    files: usize,
    /// The part of the configuration that has been refused, if reading goes on in it.
    refused_part: Option<RefusedPart>,
}

/// A part of the configuration that begins with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RefusedPart {
    /// The overlay of that name.
    Overlay(String),
    Database,
}

impl RefusedPart {
    /// Returns the part that a statement begins.
    fn begun_by(statement: &Statement) -> Option<RefusedPart> {
        match statement.keyword.to_ascii_lowercase().as_str() {
            "overlay" => Some(RefusedPart::Overlay(statement.first().to_ascii_lowercase())),
            "database" => Some(RefusedPart::Database),
            _ => None,
        }
    }

    /// Returns true if a statement is about this part. Names of an overlay's directives begin with
    /// its name.
    fn has(&self, statement: &Statement, begins: Option<&RefusedPart>) -> bool {
        match self {
            RefusedPart::Database => begins != Some(&RefusedPart::Database),
            RefusedPart::Overlay(name) => {
                let keyword = statement.keyword.to_ascii_lowercase();
                let rest = keyword.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.starts_with(['-', '_']))
            }
        }
    }
}

impl Layer {
    /// Reads a slapd.conf with all files it includes. Relative names are relative to the working
    /// directory.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] in slapd's words for the first
    /// line that slapd would refuse.
    pub fn from_slapd_conf(path: &Path) -> Result<Layer, ConfigError> {
        Self::from_slapd_conf_text(&read_text(path)?, path)
    }

    /// Reads the text of a slapd.conf; `path` is for messages only.
    ///
    /// # Errors
    /// As [`Layer::from_slapd_conf`].
    pub fn from_slapd_conf_text(text: &str, path: &Path) -> Result<Layer, ConfigError> {
        let mut reader = Reader::new(LayerBuilder::new());
        reader.read(path, text)?;
        Ok(reader.builder.layer)
    }

    /// Reads a slapd.conf to its end, and collects the lines that the server refuses.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`].
    pub(crate) fn survey_slapd_conf(path: &Path) -> Result<Survey, ConfigError> {
        let mut reader = Reader::new(LayerBuilder::new().collecting());
        reader.read(path, &read_text(path)?)?;
        Ok(reader.builder.into_survey())
    }
}

impl Reader {
    fn new(builder: LayerBuilder) -> Reader {
        Reader {
            builder,
            open: Vec::new(),
            files: 0,
            refused_part: None,
        }
    }

    fn read(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        self.open.push(path.to_owned());
        for line in logical_lines(text) {
            let refused = |message| ConfigError::Directive {
                path: path.to_owned(),
                line: line.number,
                message,
            };
            let outcome = match parse(path, &line) {
                Err(message) => Err(refused(message)),
                Ok(None) => Ok(()),
                Ok(Some(statement)) if statement.keyword.eq_ignore_ascii_case("include") => {
                    self.include(&statement, refused)
                }
                Ok(Some(statement)) => self.obey(&statement).map_err(refused),
            };
            self.builder.settle(outcome)?;
        }
        self.open.pop();
        Ok(())
    }

    /// Obeys a statement, unless it is part of a refused overlay or database.
    fn obey(&mut self, statement: &Statement) -> Result<(), String> {
        let begins = RefusedPart::begun_by(statement);
        let refused = self.refused_part.as_ref();
        if refused.is_some_and(|part| part.has(statement, begins.as_ref())) {
            return Ok(());
        }
        let outcome = obey(&mut self.builder, statement);
        if begins.is_some() {
            self.refused_part = begins.filter(|_| outcome.is_err() && self.builder.collects());
        }
        outcome
    }

    fn include(
        &mut self,
        statement: &Statement,
        refused: impl Fn(String) -> ConfigError,
    ) -> Result<(), ConfigError> {
        let [name] = statement.arguments.as_slice() else {
            let typed = &statement.keyword;
            return Err(refused(match statement.arguments.is_empty() {
                true => format!("keyword <{typed}> missing <file> argument"),
                false => format!("<{typed}> extra cruft after <file>."),
            }));
        };
        let path = Path::new(name);
        let same = |open: &PathBuf| {
            open == path
                || matches!((open.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b)
        };
        if self.open.iter().any(same) {
            return Err(refused(format!("config file \"{name}\" includes itself")));
        }
        self.files += 1;
        if self.open.len() >= INCLUDE_DEPTH_MAX || self.files > INCLUDED_FILES_MAX {
            return Err(refused(format!(
                "config file \"{name}\" is one of too many"
            )));
        }
        match read_bounded(path) {
            Ok(bytes) => self.read(path, &String::from_utf8_lossy(&bytes)),
            // Most schema files that OpenLDAP ships are built in; the builder of the schema knows
            // which.
            Err(cause) if cause.kind() == NotFound && name.ends_with(".schema") => {
                let part = SchemaPart::File(path.to_owned());
                let part = Sourced::new(part, statement.origin.clone());
                self.builder.layer.global.schema.push(part);
                Ok(())
            }
            Err(cause) => Err(refused(format!(
                "could not stat config file \"{name}\": {cause}"
            ))),
        }
    }
}

fn parse(path: &Path, line: &Line) -> Result<Option<Statement>, String> {
    let mut tokens = split_tokens(&line.text)
        .map_err(|_| format!("unterminated quoted string \"{}\"", after_quote(&line.text)))?
        .into_iter();
    let Some(keyword) = tokens.next() else {
        return Ok(None);
    };
    Ok(Some(Statement {
        keyword,
        arguments: tokens.collect(),
        text: after_word(&line.text).to_owned(),
        is_value: false,
        origin: Origin::File {
            path: path.to_owned(),
            line: line.number,
            column: None,
        },
        section: Section::Frontend,
    }))
}

/// Reads the file of a configuration.
fn read_text(path: &Path) -> Result<String, ConfigError> {
    let bytes = read_bounded(path).map_err(|cause| ConfigError::Unreadable {
        what: "configuration file",
        path: path.to_owned(),
        cause,
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file, unless it is endless like a device.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other("it is too large for a configuration"));
    }
    Ok(bytes)
}

/// Returns the text after the first word.
fn after_word(text: &str) -> &str {
    let text = text.trim();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    text.get(end..).unwrap_or_default().trim()
}

/// Returns the text after the last quote, which has no partner.
fn after_quote(text: &str) -> &str {
    text.rsplit_once('"').map_or(text, |(_, after)| after)
}
