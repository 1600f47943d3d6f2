//! A database of the mdb backend that is read, and the dump of its entries.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fulgurite::{CustomOrder, Database, Environment, ReadTxn, Snapshot};

use crate::entry::{Attribute, Entry, FieldValues, fields, outside_value};
use crate::error::{EntryFault, OpenError, ReadError};
use crate::names::{Names, next_named};
use crate::words::{id_of, u32_at};

/// Failed look-ups in a row after which the walk through the entries ends. More ids than a page
/// leads to.
const FAILURES_MAX: u32 = 1 << 16;

/// A database of the mdb backend, open for reading.
pub(crate) struct MdbSource {
    env: Environment,
    path: PathBuf,
}

/// The entries of one snapshot.
pub(crate) struct MdbDump<'s> {
    txn: ReadTxn<'s>,
    databases: Databases,
    /// Attribute descriptions by number, from 1.
    descriptions: Vec<String>,
    names: Names,
    /// The id at which the walk through the entries continues; `None` at its end.
    next: Option<u64>,
    /// Failed look-ups in a row.
    failures: u32,
    /// Ids that have a name and no entry; searched at the end.
    orphans: Option<BTreeSet<u64>>,
}

#[derive(Clone, Copy)]
struct Databases {
    entries: Database,
    names: Database,
    /// Values outside records. A database that release 2.5 never opened has none.
    values: Option<Database>,
}

impl MdbSource {
    /// Opens the database in a directory.
    ///
    /// It changes nothing except a reader slot in the lock file, which pins the snapshot. A server
    /// may go on working with the database.
    ///
    /// # Errors
    /// [`OpenError::Environment`].
    pub(crate) fn open(path: &Path) -> Result<MdbSource, OpenError> {
        let env = Environment::options().read_only(true).open(path);
        let env = env.map_err(|source| OpenError::Environment {
            path: path.to_owned(),
            source,
        })?;
        Ok(MdbSource {
            env,
            path: path.to_owned(),
        })
    }

    /// Pins the current snapshot for a dump.
    ///
    /// # Errors
    /// [`OpenError`].
    pub(crate) fn dump(&self) -> Result<MdbDump<'_>, OpenError> {
        let engine = |source| OpenError::Engine {
            path: self.path.clone(),
            source,
        };
        let mut txn = self.env.read().map_err(engine)?;
        if let Ok(values) = txn.open_database(Some("id2v")) {
            let (call, context) = (by_id_and_number as fn(usize, &[u8], &[u8]) -> Ordering, 0);
            txn.set_key_order(values, Some(CustomOrder { call, context }));
        }
        let open = |name| match txn.open_database(Some(name)) {
            Ok(database) => Ok(Some(database)),
            Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
            Err(error) => Err(engine(error)),
        };
        let need = |name| {
            open(name)?.ok_or_else(|| OpenError::NotBackMdb {
                path: self.path.clone(),
                name,
            })
        };
        let (attributes, names) = (need("ad2i")?, need("dn2i")?);
        let databases = Databases {
            entries: need("id2e")?,
            names,
            values: open("id2v")?,
        };
        let descriptions = self.descriptions(&txn, attributes)?;
        Ok(MdbDump {
            txn,
            databases,
            descriptions,
            names: Names::new(names),
            next: Some(1),
            failures: 0,
            orphans: None,
        })
    }

    fn descriptions(&self, txn: &ReadTxn<'_>, db: Database) -> Result<Vec<String>, OpenError> {
        let engine = |source| OpenError::Engine {
            path: self.path.clone(),
            source,
        };
        let mut descriptions = Vec::new();
        let mut cursor = txn.cursor(db).map_err(engine)?;
        let mut row = cursor.first().map_err(engine)?;
        while let Some((key, text)) = row {
            let expected = u32::try_from(descriptions.len() + 1).unwrap_or(u32::MAX);
            let text = std::str::from_utf8(text).ok();
            match (u32_at(key, 0), text) {
                (Some(number), Some(text)) if number == expected && !text.is_empty() => {
                    descriptions.push(text.to_owned());
                }
                _ => {
                    return Err(OpenError::Attributes {
                        path: self.path.clone(),
                        number: expected,
                    });
                }
            }
            row = cursor.next().map_err(engine)?;
        }
        Ok(descriptions)
    }
}

/// Compares keys of id2v: by id, then by attribute number, both as numbers.
fn by_id_and_number(_: usize, a: &[u8], b: &[u8]) -> Ordering {
    let parts = |key: &[u8]| {
        let number = key.get(8..10).and_then(|two| two.try_into().ok());
        (crate::words::u64_at(key, 0), number.map(u16::from_ne_bytes))
    };
    parts(a).cmp(&parts(b))
}

impl MdbDump<'_> {
    /// Begins again with the first entry of the same snapshot.
    pub(crate) fn rewind(&mut self) {
        self.next = Some(1);
        self.failures = 0;
        self.orphans = None;
    }

    /// Returns the attribute descriptions that entries may have.
    pub(crate) fn descriptions(&self) -> &[String] {
        &self.descriptions
    }

    /// Returns the number of entries.
    ///
    /// # Errors
    /// [`EntryFault::Engine`].
    pub(crate) fn len(&self) -> Result<u64, EntryFault> {
        Ok(self.txn.stat(self.databases.entries)?.entries)
    }

    /// Returns the names of the topmost entries.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) fn suffixes(&mut self) -> Result<Vec<String>, ReadError> {
        let mut suffixes = Vec::new();
        let failed = |fault| ReadError {
            id: 0,
            name: None,
            fault,
        };
        let mut rows: Vec<u64> = Vec::new();
        {
            let values = self.txn.values(self.databases.names, &0_u64.to_ne_bytes());
            for row in values.map_err(|error| failed(error.into()))? {
                let row = row.map_err(|error| failed(error.into()))?;
                // In a child's row the id is sixteen bytes before the end, before the count.
                let is_child = row.first().is_some_and(|first| first & 0x80 != 0);
                let id = row.len().checked_sub(16);
                let id = id.and_then(|at| crate::words::u64_at(row, at));
                rows.extend(id.filter(|_| is_child));
            }
        }
        for id in rows {
            let named = self.names.of(&self.txn, id);
            let (name, _) = named.map_err(|fault| ReadError {
                id,
                name: None,
                fault,
            })?;
            suffixes.push(name);
        }
        Ok(suffixes)
    }

    /// Returns the next entry, in order of ids; `None` at the end.
    ///
    /// After an error it continues after the faulty entry. Names without an entry are errors at the
    /// end.
    ///
    /// # Errors
    /// [`ReadError`].
    pub(crate) fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        let Some(id) = self.next_id()? else {
            return self.next_orphan();
        };
        let (name, parent) = match self.names.of(&self.txn, id) {
            Ok(named) => named,
            Err(fault) => {
                return Err(ReadError {
                    id,
                    name: None,
                    fault,
                });
            }
        };
        match self.attributes(id) {
            Ok(attributes) => Ok(Some(Entry {
                id,
                parent,
                name,
                attributes,
            })),
            Err(fault) => Err(ReadError {
                id,
                name: Some(name),
                fault,
            }),
        }
    }

    fn next_id(&mut self) -> Result<Option<u64>, ReadError> {
        let Some(from) = self.next else {
            return Ok(None);
        };
        let failed = |fault| ReadError {
            id: from,
            name: None,
            fault,
        };
        let found = match self.id_from(from) {
            Ok(found) => found,
            Err(fault) => {
                // If the engine cannot read a page, the next id may be on a sound one.
                self.failures += 1;
                let goes_on =
                    matches!(fault, EntryFault::Engine(_)) && self.failures < FAILURES_MAX;
                self.next = from.checked_add(1).filter(|_| goes_on);
                return Err(failed(fault));
            }
        };
        self.failures = 0;
        self.next = found.and_then(|id| id.checked_add(1));
        Ok(found)
    }

    /// Returns the first id of an entry from an id on.
    fn id_from(&self, from: u64) -> Result<Option<u64>, EntryFault> {
        let mut cursor = self.txn.cursor(self.databases.entries)?;
        let row = cursor.seek_range(&from.to_ne_bytes())?;
        let id = row.map(|(key, _)| id_of(key).ok_or(EntryFault::Record("its key")));
        id.transpose()
    }

    fn attributes(&self, id: u64) -> Result<Vec<Attribute>, EntryFault> {
        let record = self.txn.get(self.databases.entries, &id.to_ne_bytes())?;
        let record = record.ok_or(EntryFault::Record("it is gone"))?;
        let mut attributes = Vec::new();
        for field in fields(record)? {
            let at = (field.number as usize).checked_sub(1);
            let description = at.and_then(|at| self.descriptions.get(at));
            let description = description
                .ok_or(EntryFault::Attribute(field.number))?
                .clone();
            let values = match field.values {
                FieldValues::Inline(values) => values.into_iter().map(<[u8]>::to_vec).collect(),
                FieldValues::Outside(count) => {
                    self.outside(id, field.number, &description, count)?
                }
            };
            attributes.push(Attribute {
                description,
                values,
            });
        }
        Ok(attributes)
    }

    /// Returns the values of an attribute in id2v.
    fn outside(
        &self,
        id: u64,
        number: u32,
        name: &str,
        expected: usize,
    ) -> Result<Vec<Vec<u8>>, EntryFault> {
        let mut values = Vec::new();
        if let Some(db) = self.databases.values {
            let mut key = id.to_ne_bytes().to_vec();
            let number = u16::try_from(number).map_err(|_| EntryFault::Attribute(number))?;
            key.extend_from_slice(&number.to_ne_bytes());
            for row in self.txn.values(db, &key)? {
                let value = outside_value(row?).ok_or(EntryFault::Record("a value in id2v"))?;
                values.push(value.to_vec());
            }
        }
        if values.len() == expected {
            return Ok(values);
        }
        Err(EntryFault::Values {
            name: name.to_owned(),
            expected,
            found: values.len(),
        })
    }

    /// Returns errors at the end, for names without an entry.
    fn next_orphan(&mut self) -> Result<Option<Entry>, ReadError> {
        if self.orphans.is_none() {
            let found = self.find_orphans();
            self.orphans = Some(BTreeSet::new());
            let found = found.map_err(|fault| ReadError {
                id: 0,
                name: None,
                fault,
            })?;
            self.orphans = Some(found);
        }
        match self.orphans.as_mut().and_then(BTreeSet::pop_first) {
            None => Ok(None),
            Some(id) => Err(ReadError {
                id,
                name: self.names.of(&self.txn, id).ok().map(|(name, _)| name),
                fault: EntryFault::Missing("the name and the place"),
            }),
        }
    }

    fn find_orphans(&self) -> Result<BTreeSet<u64>, EntryFault> {
        let mut orphans = BTreeSet::new();
        let mut last = 0;
        while let Some(id) = next_named(&self.txn, self.databases.names, last)? {
            if self
                .txn
                .get(self.databases.entries, &id.to_ne_bytes())?
                .is_none()
            {
                orphans.insert(id);
            }
            last = id;
        }
        Ok(orphans)
    }
}

impl std::fmt::Debug for MdbSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MdbSource")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for MdbDump<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MdbDump")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use fulgurite::KeyOrder;
    use tempfile::TempDir;

    use super::*;

    const MARK: &[u8] = b"a record that the test finds in the file";

    /// Returns a database with one key in id2e.
    fn database(key: &[u8]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Environment::options().databases_max(4);
        let env = env.open(folder.path()).expect("an environment");
        let mut txn = env.write().expect("a transaction");
        for name in ["ad2i", "dn2i", "id2e"] {
            let database = txn.create_database(name, KeyOrder::Lexical).expect(name);
            if name == "id2e" {
                txn.put(database, key, MARK).expect("a record");
            }
        }
        txn.commit().expect("a commit");
        folder
    }

    /// Returns the number of errors before the end.
    fn errors(folder: &TempDir) -> u32 {
        let source = MdbSource::open(folder.path()).expect("a source");
        let mut dump = source.dump().expect("a dump");
        let mut errors = 0;
        while dump.next_entry().transpose().is_some() {
            errors += 1;
            assert!(errors <= FAILURES_MAX, "the walk does not end");
        }
        errors
    }

    #[test]
    fn a_walk_ends_after_a_damaged_key_and_after_the_highest_id() {
        assert_eq!(errors(&database(b"odd")), 1);
        assert_eq!(errors(&database(&u64::MAX.to_ne_bytes())), 1);
    }

    #[test]
    fn a_walk_ends_if_no_page_can_be_read() {
        let folder = database(&1_u64.to_ne_bytes());
        let file = folder.path().join("data.mdb");
        let mut bytes = std::fs::read(&file).expect("a data file");
        let mut windows = bytes.windows(MARK.len());
        let at = windows.position(|window| window == MARK).expect("a record");
        let page = at / 4096 * 4096;
        bytes[page..page + 16].fill(0xff);
        std::fs::write(&file, bytes).expect("a damaged file");
        assert_eq!(errors(&folder), FAILURES_MAX);
    }
}
