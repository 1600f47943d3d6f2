//! A database of any of the backends, and the dump of its entries.

use std::path::Path;

use crate::bdb::{BdbDump, BdbSource};
use crate::entry::Entry;
use crate::error::{EntryFault, OpenError, ReadError};
use crate::mdb::{MdbDump, MdbSource};

/// A database of OpenLDAP, open for reading.
#[derive(Debug)]
pub struct Source(Backend);

#[derive(Debug)]
enum Backend {
    Mdb(Box<MdbSource>),
    Bdb(BdbSource),
}

/// The entries of one state.
#[derive(Debug)]
pub struct Dump<'s>(BackendDump<'s>);

#[derive(Debug)]
enum BackendDump<'s> {
    Mdb(Box<MdbDump<'s>>),
    Bdb(Box<BdbDump<'s>>),
}

impl Source {
    /// Opens the database in a directory.
    ///
    /// It changes nothing, except a reader slot in the lock file of mdb, which pins the snapshot. A
    /// server may go on working with a database of mdb. One of hdb or bdb must be closed.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(path: &Path) -> Result<Source, OpenError> {
        Ok(Source(match BdbSource::is_at(path) {
            true => Backend::Bdb(BdbSource::open(path)?),
            false => Backend::Mdb(Box::new(MdbSource::open(path)?)),
        }))
    }

    /// Pins the current state for a dump.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn dump(&self) -> Result<Dump<'_>, OpenError> {
        Ok(Dump(match &self.0 {
            Backend::Mdb(source) => BackendDump::Mdb(Box::new(source.dump()?)),
            Backend::Bdb(source) => BackendDump::Bdb(Box::new(source.dump()?)),
        }))
    }
}

impl Dump<'_> {
    /// Begins again with the first entry of the same state.
    pub fn rewind(&mut self) {
        match &mut self.0 {
            BackendDump::Mdb(dump) => dump.rewind(),
            BackendDump::Bdb(dump) => dump.rewind(),
        }
    }

    /// Returns the attribute descriptions that entries may have.
    #[must_use]
    pub fn descriptions(&self) -> &[String] {
        match &self.0 {
            BackendDump::Mdb(dump) => dump.descriptions(),
            BackendDump::Bdb(dump) => dump.descriptions(),
        }
    }

    /// Returns the number of entries.
    ///
    /// # Errors
    /// [`EntryFault::Engine`].
    pub fn len(&self) -> Result<u64, EntryFault> {
        match &self.0 {
            BackendDump::Mdb(dump) => dump.len(),
            BackendDump::Bdb(dump) => Ok(dump.len()),
        }
    }

    /// Returns true if there is no entry.
    ///
    /// # Errors
    /// [`EntryFault::Engine`].
    pub fn is_empty(&self) -> Result<bool, EntryFault> {
        Ok(self.len()? == 0)
    }

    /// Returns the names of the topmost entries.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn suffixes(&mut self) -> Result<Vec<String>, ReadError> {
        match &mut self.0 {
            BackendDump::Mdb(dump) => dump.suffixes(),
            BackendDump::Bdb(dump) => Ok(dump.suffixes()),
        }
    }

    /// Returns the next entry, in order of ids; `None` at the end.
    ///
    /// After an error it continues after the faulty entry. Names without an entry are errors at the
    /// end.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        match &mut self.0 {
            BackendDump::Mdb(dump) => dump.next_entry(),
            BackendDump::Bdb(dump) => dump.next_entry(),
        }
    }
}
