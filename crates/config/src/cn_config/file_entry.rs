//! The entry of one file of a configuration directory, with the lines of its values.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use fulgurite_ldif::{Action, Reader};

use super::entry::ConfigEntry;
use crate::{ConfigError, Origin};

/// The entry of one file, with the lines of its values.
pub(super) struct FileEntry {
    pub(super) path: PathBuf,
    /// Its name within its folder.
    pub(super) dn: String,
    pub(super) line: usize,
    /// Names, values and lines.
    pub(super) values: Vec<(String, String, usize)>,
    /// True if every value is text.
    is_text: bool,
}

impl FileEntry {
    /// Reads the text of a file.
    pub(super) fn parse(path: &Path, text: &[u8]) -> Result<FileEntry, ConfigError> {
        let wrong = |line: u64, message: String| ConfigError::Directive {
            path: path.to_owned(),
            line: usize::try_from(line).unwrap_or(usize::MAX),
            message,
        };
        let mut ldif = Reader::new(Cursor::new(text));
        let record = ldif
            .next_record()
            .map_err(|error| wrong(error.line, error.kind.to_string()))?
            .ok_or_else(|| wrong(1, "there is no entry".to_owned()))?;
        let Action::Content(attributes) = record.action() else {
            return Err(wrong(
                record.line(),
                "this is a change, not an entry".to_owned(),
            ));
        };
        let line = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
        let mut is_text = true;
        let values = attributes.map(|one| {
            is_text &= std::str::from_utf8(one.value).is_ok();
            let value = String::from_utf8_lossy(one.value).into_owned();
            (one.description.to_owned(), value, line(one.line))
        });
        let values = values.collect();
        Ok(FileEntry {
            path: path.to_owned(),
            dn: record.dn().to_owned(),
            line: line(record.line()),
            values,
            is_text,
        })
    }

    /// Returns the folder of the entries below this one.
    pub(super) fn folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    pub(super) fn origin(&self, line: usize) -> Origin {
        Origin::File {
            path: self.path.clone(),
            line,
            column: None,
        }
    }

    /// Returns the entry under its whole name; `above` is the name of its superior.
    ///
    /// # Errors
    /// [`ConfigError::Directive`] for a value that is no text.
    pub(super) fn entry(&self, above: Option<&str>) -> Result<ConfigEntry, ConfigError> {
        if !self.is_text {
            return Err(ConfigError::at(
                &self.origin(self.line),
                "a value is not UTF-8",
            ));
        }
        let name = self.dn.split(',').next().unwrap_or(&self.dn).trim();
        let mut entry = ConfigEntry {
            dn: match above {
                Some(above) => format!("{name},{above}"),
                None => name.to_owned(),
            },
            attributes: Vec::new(),
        };
        for (name, value, _) in &self.values {
            let mut held = entry.attributes.iter_mut();
            match held.find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((_, values)) => values.push(value.clone()),
                None => entry.attributes.push((name.clone(), vec![value.clone()])),
            }
        }
        Ok(entry)
    }
}
