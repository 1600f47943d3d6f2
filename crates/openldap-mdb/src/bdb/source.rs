//! The database in a directory, and the dump of its entries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::closed::require_closed;
use super::names::{Names, id_of};
use super::record::{Record, record};
use super::rows::{Row, Rows};
use crate::entry::Entry;
use crate::error::{BdbError, EntryFault, OpenError, ReadError};

const ENTRIES: &str = "id2entry.bdb";
const NAMES: &str = "dn2id.bdb";

/// A database of hdb or bdb that no process has open.
#[derive(Debug)]
pub(crate) struct BdbSource {
    path: PathBuf,
}

/// The entries of the database.
#[derive(Debug)]
pub(crate) struct BdbDump<'s> {
    source: &'s BdbSource,
    names: Names,
    /// Lengths and times of the files at the first look.
    files: [FileState; 2],
    descriptions: Vec<String>,
    suffixes: Vec<String>,
    len: u64,
    /// Ids that have a name and no entry.
    missing: BTreeSet<u64>,
    state: State,
}

type FileState = (u64, Option<SystemTime>);

#[derive(Debug)]
enum State {
    Begin,
    Entries(Rows),
    /// The ids without an entry that are still to be told.
    Missing(BTreeSet<u64>),
}

impl BdbSource {
    /// Returns true if a directory has a database of hdb or bdb.
    pub(crate) fn is_at(path: &Path) -> bool {
        path.join(ENTRIES).exists()
    }

    /// Opens the database in a directory.
    pub(crate) fn open(path: &Path) -> Result<BdbSource, OpenError> {
        require_closed(path)?;
        Ok(BdbSource {
            path: path.to_owned(),
        })
    }

    /// Reads all names, and looks at all entries once.
    pub(crate) fn dump(&self) -> Result<BdbDump<'_>, OpenError> {
        let files = self.files()?;
        let names = Names::read(Rows::of(&self.path.join(NAMES))?)?;
        let mut dump = BdbDump {
            source: self,
            missing: names.ids(),
            names,
            files,
            descriptions: Vec::new(),
            suffixes: Vec::new(),
            len: 0,
            state: State::Begin,
        };
        dump.look_at_all()?;
        Ok(dump)
    }

    fn entries(&self) -> Result<Rows, BdbError> {
        Rows::of(&self.path.join(ENTRIES))
    }

    fn files(&self) -> Result<[FileState; 2], BdbError> {
        let state = |name: &str| {
            let path = self.path.join(name);
            let file = std::fs::metadata(&path);
            let file = file.map_err(|source| BdbError::System { path, source })?;
            Ok((file.len(), file.modified().ok()))
        };
        Ok([state(ENTRIES)?, state(NAMES)?])
    }
}

impl BdbDump<'_> {
    /// Begins again with the first entry.
    pub(crate) fn rewind(&mut self) {
        self.state = State::Begin;
    }

    /// Returns the attribute descriptions that entries have.
    pub(crate) fn descriptions(&self) -> &[String] {
        &self.descriptions
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the names of the topmost entries.
    pub(crate) fn suffixes(&self) -> Vec<String> {
        self.suffixes.clone()
    }

    /// Returns the next entry, in order of ids; `None` at the end.
    pub(crate) fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        loop {
            match &mut self.state {
                State::Begin => match self.source.entries() {
                    Ok(rows) => self.state = State::Entries(rows),
                    Err(error) => return Err(self.end(error)),
                },
                State::Entries(rows) => match rows.next() {
                    Ok(Some(row)) => return self.entry(row).map(Some),
                    Ok(None) => {
                        self.state = State::Missing(self.missing.clone());
                        if let Err(error) = self.check_unchanged() {
                            return Err(self.end(error));
                        }
                    }
                    Err(error) => return Err(self.end(error)),
                },
                State::Missing(ids) => {
                    let missing = ids.pop_first().map(|id| ReadError {
                        id,
                        name: None,
                        fault: EntryFault::Missing("the name and the place"),
                    });
                    return missing.map_or(Ok(None), Err);
                }
            }
        }
    }

    /// Ends the dump with an error.
    fn end(&mut self, error: BdbError) -> ReadError {
        self.state = State::Missing(BTreeSet::new());
        ReadError {
            id: 0,
            name: None,
            fault: error.into(),
        }
    }

    fn entry(&self, (key, value): Row) -> Result<Entry, ReadError> {
        let id = id_of(&key).unwrap_or(0);
        let failed = |name, fault| ReadError { id, name, fault };
        let Some(record) = record(&value).filter(|_| id != 0) else {
            return Err(failed(None, EntryFault::Record("its form")));
        };
        let (name, parent) = match self.names.of(id, &record) {
            Ok(named) => named,
            Err(fault) => {
                let name = Some(record.name).filter(|name| !name.is_empty());
                return Err(failed(name, fault));
            }
        };
        Ok(Entry {
            id,
            parent,
            name,
            attributes: record.attributes,
        })
    }

    /// Fails if a server has been at work meanwhile.
    fn check_unchanged(&self) -> Result<(), BdbError> {
        require_closed(&self.source.path)?;
        match self.source.files()? == self.files {
            true => Ok(()),
            false => Err(BdbError::Changed {
                path: self.source.path.clone(),
            }),
        }
    }

    /// Collects the attribute descriptions, the topmost names and the missing entries.
    fn look_at_all(&mut self) -> Result<(), BdbError> {
        let mut descriptions = BTreeSet::new();
        let mut rows = self.source.entries()?;
        while let Some((key, value)) = rows.next()? {
            self.len += 1;
            let id = id_of(&key).unwrap_or(0);
            self.missing.remove(&id);
            // An entry that cannot be read is an error of the dump.
            let Some(record) = record(&value) else {
                continue;
            };
            self.look_at(id, &record);
            let all = record.attributes.into_iter();
            descriptions.extend(all.map(|attribute| attribute.description));
        }
        self.descriptions = descriptions.into_iter().collect();
        Ok(())
    }

    fn look_at(&mut self, id: u64, record: &Record) {
        if let Ok((name, 0)) = self.names.of(id, record) {
            self.suffixes.push(name);
        }
    }
}
