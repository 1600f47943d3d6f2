//! Reading a slapd.conf and what it includes, line by line, into a layer.

use std::io::ErrorKind::NotFound;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::lines::{Line, logical_lines};
use super::{Scope, find};
use crate::model::{DatabaseLayer, Overlay, PolicyLayer, SchemaPart};
use crate::words::split_words;
use crate::{ConfigError, Layer, Note, Origin, Sourced};
use fulgurite_policy::{DatabaseKind, overlay_of};

/// Files within files, at most.
const INCLUDE_DEPTH_MAX: usize = 64;

/// Files read at most, all inclusions together: a few files that include each other twice are endless otherwise.
const INCLUDED_FILES_MAX: usize = 10_000;

/// Octets of one file at most.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// One directive with its words.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The directive as typed.
    pub(crate) keyword: String,
    /// The words after it.
    pub(crate) arguments: Vec<String>,
    /// The text after it, quotes and all.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) origin: Origin,
}

/// What part of the configuration a directive is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Before anything else, or in `database frontend`.
    Global,
    /// In `backend`.
    Backend,
    /// In `database config`.
    Config,
    /// In the database of that number.
    Database(usize),
}

/// A configuration being read.
pub(crate) struct Reader {
    /// What was said so far.
    pub(crate) layer: Layer,
    section: Section,
    /// The frontend or the config database has been named, if nothing else.
    declared: bool,
    /// The files being read, innermost last.
    open: Vec<PathBuf>,
    files: usize,
    /// What is said of the frontend as a database, which means nothing.
    nowhere: DatabaseLayer,
}

impl Layer {
    /// Reads a slapd.conf with all files it includes. Relative names are relative to the working directory.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], or [`ConfigError::Directive`] with slapd's own words for the first line that slapd
    /// would refuse.
    pub fn from_slapd_conf(path: &Path) -> Result<Layer, ConfigError> {
        let mut reader = Reader::new();
        let octets = read_bounded(path).map_err(|cause| ConfigError::Unreadable {
            what: "configuration file",
            path: path.to_owned(),
            cause,
        })?;
        reader.read(path, &String::from_utf8_lossy(&octets))?;
        Ok(reader.layer)
    }

    /// Reads the text of a slapd.conf; `path` is for messages alone.
    ///
    /// # Errors
    /// As [`Layer::from_slapd_conf`].
    pub fn from_slapd_conf_text(text: &str, path: &Path) -> Result<Layer, ConfigError> {
        let mut reader = Reader::new();
        reader.read(path, text)?;
        Ok(reader.layer)
    }
}

impl Reader {
    pub(crate) fn new() -> Reader {
        let mut layer = Layer {
            slapd: true,
            declares_databases: true,
            ..Layer::default()
        };
        super::global::set_defaults(&mut layer.global);
        Reader {
            layer,
            section: Section::Global,
            declared: false,
            open: Vec::new(),
            files: 0,
            nowhere: DatabaseLayer::default(),
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
            let statement = Statement::parse(path, &line).map_err(refused)?;
            let Some(statement) = statement else { continue };
            if statement.keyword.eq_ignore_ascii_case("include") {
                self.include(&statement, refused)?;
            } else {
                self.obey(&statement).map_err(refused)?;
            }
        }
        self.open.pop();
        Ok(())
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
            Ok(octets) => self.read(path, &String::from_utf8_lossy(&octets)),
            // Of what OpenLDAP ships, much is built in: whoever builds the schema knows whether this is.
            Err(cause) if cause.kind() == NotFound && name.ends_with(".schema") => {
                let part = SchemaPart::File(path.to_owned());
                let part = Sourced::new(part, statement.origin.clone());
                self.layer.global.schema.push(part);
                Ok(())
            }
            Err(cause) => Err(refused(format!(
                "could not stat config file \"{name}\": {cause}"
            ))),
        }
    }

    /// Does what one statement says. Errors are slapd's sentences, without the place.
    pub(crate) fn obey(&mut self, statement: &Statement) -> Result<(), String> {
        if self.takes_for_overlay(statement) {
            return Ok(());
        }
        match find(&statement.keyword) {
            Some(directive) if directive.scope != Scope::Mdb || self.is_in_store() => {
                directive.obey(self, statement)
            }
            _ => Err(self.unknown(&statement.keyword)),
        }
    }

    /// A directive of an overlay that the database has, or that the server has built in.
    fn takes_for_overlay(&mut self, statement: &Statement) -> bool {
        let Some(owner) = overlay_of(&statement.keyword) else {
            return false;
        };
        let overlays = &mut self.database().overlays;
        let Some(overlay) = overlays.iter_mut().rev().find(|one| one.name == owner.name) else {
            return false;
        };
        let text = format!("{} {}", statement.keyword, statement.text);
        overlay.directives.push(Sourced::new(
            text.trim_end().to_owned(),
            statement.origin.clone(),
        ));
        true
    }

    /// slapd's sentence about a word that is no directive, and the nearest one that is.
    fn unknown(&self, keyword: &str) -> String {
        let place = match self.section {
            Section::Global => "outside backend info and database definitions",
            Section::Backend => "inside backend info definition",
            Section::Config | Section::Database(_) => "inside backend database definition",
        };
        let known = super::DIRECTIVES.iter().map(|known| known.keyword);
        let near = crate::hint::nearest(keyword, known);
        let near = near.filter(|near| !near.eq_ignore_ascii_case(keyword));
        let hint = near.map(|near| format!(" Did you mean <{near}>?"));
        format!(
            "unknown directive <{keyword}> {place}.{}",
            hint.unwrap_or_default()
        )
    }

    /// Whether a database has begun, were it only the frontend.
    pub(crate) fn has_databases(&self) -> bool {
        self.declared || !self.layer.databases.is_empty()
    }

    /// What part of the configuration is being read.
    pub(crate) fn section(&self) -> Section {
        self.section
    }

    /// Begins another part.
    pub(crate) fn begin(&mut self, section: Section) {
        self.declared |= section != Section::Backend;
        self.section = section;
    }

    /// Goes into a part without beginning it.
    pub(crate) fn enter(&mut self, section: Section) {
        self.section = section;
    }

    /// Begins a database with entries of some kind.
    pub(crate) fn begin_database(&mut self, kind: DatabaseKind, origin: Origin) {
        let mut database = DatabaseLayer {
            kind,
            origin: Some(origin),
            ..DatabaseLayer::default()
        };
        super::database::set_defaults(
            &mut database.storage,
            &self.layer.frontend,
            &mut database.policy,
        );
        self.layer.databases.push(database);
        self.begin(Section::Database(self.layer.databases.len() - 1));
    }

    /// Whether the part being read is a database with a store, or the mdb backend as such.
    fn is_in_store(&mut self) -> bool {
        match self.section {
            Section::Global | Section::Config => false,
            Section::Backend => true,
            Section::Database(_) => self.database().kind == DatabaseKind::Mdb,
        }
    }

    /// The database being described; one that means nothing outside of databases.
    pub(crate) fn database(&mut self) -> &mut DatabaseLayer {
        match self.section {
            Section::Global | Section::Backend => &mut self.nowhere,
            Section::Config => &mut self.layer.config,
            Section::Database(number) => self
                .layer
                .databases
                .get_mut(number)
                .unwrap_or(&mut self.nowhere),
        }
    }

    /// The rules being described: those of the database, outside of databases those of all.
    pub(crate) fn policy(&mut self) -> &mut PolicyLayer {
        match self.section {
            Section::Global | Section::Backend => &mut self.layer.frontend,
            Section::Config | Section::Database(_) => &mut self.database().policy,
        }
    }

    /// Puts something on top of the database.
    pub(crate) fn push_overlay(&mut self, name: &str, origin: Origin) {
        self.database().overlays.push(Overlay {
            name: name.to_owned(),
            origin,
            directives: Vec::new(),
        });
    }

    /// Something a person should know.
    pub(crate) fn note(&mut self, origin: Origin, text: String) {
        self.layer.notes.push(Note {
            origin,
            text,
            warning: false,
        });
    }

    /// Something that was asked for and is not to be had.
    pub(crate) fn warn(&mut self, origin: Origin, text: String) {
        self.layer.notes.push(Note {
            origin,
            text,
            warning: true,
        });
    }
}

impl Statement {
    /// The first word after the directive; empty if there is none.
    pub(crate) fn first(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    fn parse(path: &Path, line: &Line) -> Result<Option<Statement>, String> {
        let mut words = split_words(&line.text)
            .map_err(|_| format!("unterminated quoted string \"{}\"", after_quote(&line.text)))?
            .into_iter();
        let Some(keyword) = words.next() else {
            return Ok(None);
        };
        Ok(Some(Statement {
            keyword,
            arguments: words.collect(),
            text: after_word(&line.text).to_owned(),
            origin: Origin::File {
                path: path.to_owned(),
                line: line.number,
                column: None,
            },
        }))
    }
}

/// A file, unless it is endless: a device, or something that was never a configuration.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    let file = std::fs::File::open(path)?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut octets)?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other("it is too large for a configuration"));
    }
    Ok(octets)
}

/// The text behind the first word.
fn after_word(text: &str) -> &str {
    let text = text.trim();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    text.get(end..).unwrap_or_default().trim()
}

/// The text behind the last quote, which has no partner.
fn after_quote(text: &str) -> &str {
    text.rsplit_once('"').map_or(text, |(_, after)| after)
}
