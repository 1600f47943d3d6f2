//! A dump into an environment, in one transaction.

use std::io::BufRead;
use std::path::Path;

use fulgurite::{Database, DatabaseFlags, Environment, Put, PutFlags, WriteTxn};

use super::berkeley::Berkeley;
use super::error::DumpError;
use super::gdbm::{BEGINS, BINARY_BEGIN, Gdbm};
use super::lines::Lines;
use super::{KeyAndValue, KeyKind, Section};
use crate::{ToolError, options_for};

/// The choices of a load.
#[derive(Debug, Clone, Copy)]
pub struct DumpLoad<'a> {
    /// The environment: a directory, created if missing, or a data file.
    pub path: &'a Path,
    /// The database to load; else the one that the dump names, or the main one.
    pub name: Option<&'a str>,
    /// True if records that exist stay as they are.
    pub keeps: bool,
    /// True if `path` is the data file itself.
    pub no_subdir: bool,
}

/// The outcome for a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedDatabase {
    /// Its name; the main one has none.
    pub name: Option<Vec<u8>>,
    /// Records that were stored.
    pub stored: u64,
    /// Records that were there, and stayed.
    pub kept: u64,
}

/// The reader of a dump.
enum Dump<'i> {
    Berkeley(Berkeley<'i>),
    /// The flag is true until its only database has begun.
    Gdbm(Gdbm<'i>, bool),
}

/// Loads a dump of Berkeley DB or GDBM. The format is that of its first line.
///
/// # Errors
/// [`DumpError`]. Then nothing is loaded.
pub fn load_dump(
    choices: DumpLoad<'_>,
    input: &mut dyn BufRead,
) -> Result<Vec<LoadedDatabase>, DumpError> {
    let mut dump = Dump::begin(Lines::new(input))?;
    let environment = open(choices)?;
    let mut txn = environment.write()?;
    let mut loaded = Vec::new();
    while let Some(mut section) = dump.section()? {
        if let Some(name) = choices.name {
            if !loaded.is_empty() {
                return Err(DumpError::SeveralDatabases(dump.lines().number()));
            }
            section.name = Some(name.as_bytes().to_vec());
        }
        loaded.push(load_section(&mut txn, &mut dump, section, choices.keeps)?);
    }
    txn.commit()?;
    Ok(loaded)
}

fn open(choices: DumpLoad<'_>) -> Result<Environment, ToolError> {
    let path = choices.path;
    let mut options = options_for(path).databases_max(usize::MAX);
    if choices.no_subdir {
        options = options.no_subdir(true);
    } else if !path.exists() {
        std::fs::create_dir_all(path).map_err(|source| ToolError::Directory {
            path: path.to_owned(),
            source,
        })?;
    }
    options.open(path).map_err(|source| ToolError::Open {
        path: path.to_owned(),
        source,
    })
}

fn load_section(
    txn: &mut WriteTxn<'_>,
    dump: &mut Dump<'_>,
    section: Section,
    keeps: bool,
) -> Result<LoadedDatabase, DumpError> {
    let database = open_database(txn, &section).map_err(|error| dump.wrong(&error))?;
    let mut loaded = LoadedDatabase {
        name: section.name,
        stored: 0,
        kept: 0,
    };
    let flags = match (keeps, section.has_duplicates) {
        (false, _) => PutFlags::NONE,
        (true, false) => PutFlags::NO_OVERWRITE,
        (true, true) => PutFlags::NO_DUP_DATA,
    };
    while let Some((key, value)) = dump.record()? {
        match txn.put_with(database, &key, &value, flags) {
            Ok(Put::Stored) => loaded.stored += 1,
            Ok(Put::Exists(_)) => loaded.kept += 1,
            Err(error) => return Err(dump.wrong(&error)),
        }
    }
    Ok(loaded)
}

fn open_database(txn: &mut WriteTxn<'_>, section: &Section) -> Result<Database, fulgurite::Error> {
    let mut flags = DatabaseFlags(0);
    if section.keys == KeyKind::Numbers {
        flags.0 |= DatabaseFlags::INTEGER_KEY;
    }
    if section.has_duplicates {
        flags.0 |= DatabaseFlags::DUP_SORT;
    }
    match &section.name {
        Some(name) => txn.create_named(name, flags),
        None => {
            txn.add_main_flags(flags)?;
            Ok(Database::MAIN)
        }
    }
}

impl<'i> Dump<'i> {
    fn begin(mut lines: Lines<'i>) -> Result<Dump<'i>, DumpError> {
        let Some(first) = lines.next()? else {
            return Err(lines.wrong("the input is empty"));
        };
        let is_gdbm = BEGINS.iter().any(|begin| first.starts_with(begin));
        let (is_binary, is_berkeley) = (first == BINARY_BEGIN, first.starts_with(b"VERSION="));
        lines.hold();
        if is_gdbm {
            Ok(Dump::Gdbm(Gdbm::begin(lines)?, true))
        } else if is_berkeley {
            Ok(Dump::Berkeley(Berkeley::new(lines)))
        } else if is_binary {
            Err(lines.wrong("this dump of GDBM is binary; use gdbm_dump --format=ascii"))
        } else {
            Err(lines.wrong("this is no dump of db5.3_dump or gdbm_dump"))
        }
    }

    /// Goes on to the next database; `None` after the last one.
    fn section(&mut self) -> Result<Option<Section>, DumpError> {
        match self {
            Dump::Berkeley(dump) => dump.section(),
            Dump::Gdbm(_, is_next) => Ok(std::mem::take(is_next).then_some(Section {
                name: None,
                keys: KeyKind::Bytes,
                has_duplicates: false,
            })),
        }
    }

    fn record(&mut self) -> Result<Option<KeyAndValue>, DumpError> {
        match self {
            Dump::Berkeley(dump) => dump.record(),
            Dump::Gdbm(dump, _) => dump.record(),
        }
    }

    fn lines(&self) -> &Lines<'i> {
        match self {
            Dump::Berkeley(dump) => &dump.lines,
            Dump::Gdbm(dump, _) => &dump.lines,
        }
    }

    fn wrong(&self, error: &fulgurite::Error) -> DumpError {
        self.lines().wrong(error.to_string())
    }
}
