//! Reads the files of a `cn=config` directory into a layer.

use std::path::Path;
use std::sync::Arc;

use super::chained_server;
use super::file_entry::FileEntry;
use super::files::ConfigFiles;
use super::number::{number_of, without_number};
use super::overlay;
use crate::slapd_conf::{KnownDirective, LayerBuilder, apply, berkeley, directives, obey, refusal};
use crate::statement::{Section, Statement};
use crate::survey::Survey;
use crate::table::Directive;
use crate::value_tokens::split_value;
use crate::{ConfigError, Layer, Sourced};
use fulgurite_policy::{DatabaseKind, OVERLAYS, OverlayValue, find_overlay};

impl Layer {
    /// Reads a directory in the layout of slapd.d: `cn=config.ldif`, and a file for each entry
    /// below `cn=config`.
    ///
    /// Warns of attributes that have no directive, and ignores them.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`]; [`ConfigError::Directive`] for a value that its directive
    /// refuses.
    pub fn from_config_dir(directory: &Path) -> Result<Layer, ConfigError> {
        ConfigFiles::read(directory)?.layer()
    }

    /// Reads a directory to its end, and collects the values that the server refuses.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`], and [`ConfigError::Directive`] for a file that is no entry.
    pub(crate) fn survey_config_dir(directory: &Path) -> Result<Survey, ConfigError> {
        let mut builder = LayerBuilder::new().collecting();
        ConfigFiles::read(directory)?.read_into(&mut builder)?;
        Ok(builder.into_survey())
    }
}

impl ConfigFiles {
    /// Reads the files as a layer, which holds them too.
    ///
    /// # Errors
    /// As [`Layer::from_config_dir`].
    pub fn layer(&self) -> Result<Layer, ConfigError> {
        let mut builder = LayerBuilder::new();
        self.read_into(&mut builder)?;
        builder.layer.files = Some(Arc::new(self.clone()));
        Ok(builder.layer)
    }

    fn read_into(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let global = self.top()?;
        let mut entries = self.below(&global)?;
        global.obey(builder)?;
        // slapd's schema is built in. Its entry has the definitions below it.
        let schema = take(&mut entries, "cn=schema");
        for module in take(&mut entries, "cn=module") {
            module.obey(builder)?;
        }
        for folder in schema {
            for entry in self.below(&folder)? {
                entry.obey(builder)?;
            }
        }
        take(&mut entries, "olcBackend=");
        for entry in take(&mut entries, "olcDatabase=") {
            self.read_database(builder, &entry)?;
        }
        for entry in entries {
            let text = format!("{} has no meaning here", entry.dn);
            builder.warn(&entry.origin(entry.line), text);
        }
        // slapd writes every default, so notes on settings without effect would be noise.
        builder.layer.notes.retain(|note| note.warning);
        Ok(())
    }

    fn read_database(
        &self,
        builder: &mut LayerBuilder,
        entry: &FileEntry,
    ) -> Result<(), ConfigError> {
        let name = entry.dn.split(',').next().unwrap_or_default();
        let kind = without_number(name.split_once('=').map_or("", |(_, value)| value));
        let origin = entry.origin(entry.line);
        match kind {
            "frontend" => builder.enter_frontend(),
            "config" => builder.begin_config(origin),
            old if builder.collects() && berkeley::is_backend(old) => {
                builder.begin_berkeley(origin)
            }
            other => {
                let kind = DatabaseKind::parse(other).map_err(|hint| {
                    let text = format!("<olcDatabase> failed init ({other}): {hint}");
                    ConfigError::at(&origin, text)
                });
                match kind {
                    Ok(kind) => builder.begin_database(kind, origin),
                    Err(error) => return builder.settle(Err(error)),
                }
            }
        }
        entry.obey(builder)?;
        for overlay in self.below(entry)? {
            overlay.obey_as_overlay(builder)?;
            for server in self.below(&overlay)? {
                server.obey_as_chained_server(builder)?;
            }
        }
        Ok(())
    }
}

/// Takes the entries whose names begin with a prefix, in the order of their numbers.
fn take(entries: &mut Vec<FileEntry>, prefix: &str) -> Vec<FileEntry> {
    let (taken, rest) = std::mem::take(entries)
        .into_iter()
        .partition(|entry| entry.dn.starts_with(prefix));
    *entries = rest;
    taken
}

impl FileEntry {
    /// Obeys the attributes in the order of the table, and names before the attributes that refer
    /// to them.
    fn obey(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let mut sorted = Vec::new();
        for (at, (name, value, line)) in self.values.iter().enumerate() {
            if builder.is_in_berkeley() && berkeley::is_setting(name) {
                continue;
            }
            match find_attribute(name) {
                Some((place, known)) => {
                    let rank = known.directive.rank;
                    let number = number_of(value).unwrap_or(0);
                    sorted.push(((rank, place, number), known, at));
                }
                None if is_bookkeeping(name) => {}
                None => {
                    let origin = self.origin(*line);
                    match refusal(name) {
                        Some(reason) => {
                            let text = format!("{name}: {reason}");
                            builder.settle(Err(ConfigError::at(&origin, text)))?;
                        }
                        None => builder.unknown_attribute(&origin, name),
                    }
                }
            }
        }
        // Without numbers, values of one attribute stay in the order of the file.
        sorted.sort_by_key(|(key, _, _)| *key);
        let mut done = None;
        for ((_, place, _), known, at) in sorted {
            let Some((name, value, line)) = self.values.get(at) else {
                continue;
            };
            let joined = known.directive.joined;
            if joined && done == Some(place) {
                continue;
            }
            done = Some(place);
            let mut statement = self.statement(known.directive, value, *line);
            if joined {
                statement.arguments = self.all_tokens(name);
            }
            let outcome = apply(builder, known, &statement)
                .map_err(|message| ConfigError::at(&statement.origin, message));
            builder.settle(outcome)?;
        }
        Ok(())
    }

    /// Returns the tokens of all values of an attribute.
    fn all_tokens(&self, attribute: &str) -> Vec<String> {
        let values = self.values.iter();
        let values = values.filter(|(name, _, _)| name.eq_ignore_ascii_case(attribute));
        values
            .flat_map(|(_, value, _)| split_value(without_number(value)))
            .collect()
    }

    /// Returns a value as a statement: one argument is the whole value, several are its tokens.
    fn statement(&self, directive: &Directive, value: &str, line: usize) -> Statement {
        let value = match directive.numbered {
            true => without_number(value),
            false => value,
        };
        let whole = || vec![value.to_owned()];
        let arguments = match directive.whole {
            true => whole(),
            false => split_value(value),
        };
        // slapd writes a single argument without quotes, and does not start with what it wrote.
        let arguments = match directive.most {
            Some(1) if arguments.len() > 1 => whole(),
            _ => arguments,
        };
        Statement {
            keyword: directive.olc.to_owned(),
            arguments,
            text: value.to_owned(),
            is_value: true,
            origin: self.origin(line),
            section: Section::Frontend,
        }
    }

    fn obey_as_overlay(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let name = self.dn.split_once('=').map_or("", |(_, value)| value);
        let name = without_number(name.split(',').next().unwrap_or(name));
        let statement = Statement {
            keyword: "overlay".to_owned(),
            arguments: vec![name.to_owned()],
            text: name.to_owned(),
            is_value: true,
            origin: self.origin(self.line),
            section: Section::Frontend,
        };
        if let Err(message) = obey(builder, &statement) {
            return builder.settle(Err(ConfigError::at(&statement.origin, message)));
        }
        let row = find_overlay(name);
        for (attribute, value, line) in &self.values {
            if is_bookkeeping(attribute) {
                continue;
            }
            let origin = self.origin(*line);
            let attribute = match attribute.as_str() {
                // The name before slapd 2.5.
                old if old.eq_ignore_ascii_case("olcDlAttrSet") => "olcDynListAttrSet",
                attribute => attribute,
            };
            match row.and_then(|row| row.directive(attribute)) {
                Some(directive) => {
                    let value = Sourced::new(value.clone(), origin);
                    let line = overlay::line(directive, &value);
                    builder.push_overlay_line(line);
                }
                None => builder.unknown_attribute(&origin, attribute),
            }
        }
        Ok(())
    }
}

impl FileEntry {
    /// Obeys an entry below an overlay, which only `chain` has.
    fn obey_as_chained_server(&self, builder: &mut LayerBuilder) -> Result<(), ConfigError> {
        let is_chain = builder
            .overlays()
            .last()
            .is_some_and(|overlay| overlay.name == "chain");
        if !is_chain {
            builder.unknown_attribute(&self.origin(self.line), &self.dn);
            return Ok(());
        }
        let (lines, unknown) = chained_server::lines(self);
        for line in lines {
            builder.push_overlay_line(line);
        }
        for (attribute, line) in unknown {
            if !is_bookkeeping(&attribute) {
                builder.unknown_attribute(&self.origin(line), &attribute);
            }
        }
        Ok(())
    }
}

/// Returns the directive of an attribute with its place in the table.
fn find_attribute(attribute: &str) -> Option<(usize, KnownDirective)> {
    // An older spelling that directories still have.
    let attribute = match attribute {
        "olcMirrorMode" => "olcMultiProvider",
        attribute => attribute,
    };
    let mut directives = directives().enumerate();
    directives.find(|(_, known)| known.directive.olc.eq_ignore_ascii_case(attribute))
}

/// Returns true for an attribute whose values have numbers.
pub(super) fn has_order(attribute: &str) -> bool {
    let mut of_overlay = OVERLAYS.iter();
    let of_overlay = of_overlay.find_map(|overlay| overlay.directive(attribute));
    find_attribute(attribute).is_some_and(|(_, known)| known.directive.numbered)
        || of_overlay.is_some_and(|directive| directive.value == OverlayValue::OrderedWords)
}

/// Returns true for attributes that every entry has and that are no directive.
fn is_bookkeeping(attribute: &str) -> bool {
    [
        "objectclass",
        "cn",
        "olcdatabase",
        "olcoverlay",
        "olcconfigfile",
        "olcconfigdir",
        "structuralobjectclass",
        "entryuuid",
        "creatorsname",
        "createtimestamp",
        "entrycsn",
        "modifiersname",
        "modifytimestamp",
        "contextcsn",
    ]
    .contains(&attribute.to_ascii_lowercase().as_str())
}
