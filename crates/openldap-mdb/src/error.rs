//! Errors of reading a database.

use std::path::PathBuf;

use thiserror::Error;

/// Why a database cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The engine cannot open the file.
    #[error("{path}: {source}")]
    Environment {
        /// Its directory.
        path: PathBuf,
        /// The engine's error.
        source: fulgurite::OpenError,
    },
    /// The file is an environment, but not of that backend.
    #[error("{path}: holds no database {name}, so it is none of OpenLDAP's mdb backend")]
    NotBackMdb {
        /// Its directory.
        path: PathBuf,
        /// The missing database.
        name: &'static str,
    },
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Engine {
        /// Its directory.
        path: PathBuf,
        /// The engine's error.
        source: fulgurite::Error,
    },
    /// A database of hdb or bdb cannot be read.
    #[error(transparent)]
    Bdb(#[from] BdbError),
    /// The table of attribute descriptions is damaged.
    #[error("{path}: the table of attribute descriptions is damaged at number {number}")]
    Attributes {
        /// Its directory.
        path: PathBuf,
        /// The number.
        number: u32,
    },
}

/// The reading of hdb's and bdb's databases failed.
#[derive(Debug, Error)]
pub enum BdbError {
    /// The program that reads the files is not installed.
    #[error(
        "{path} is a database of slapd's old backends hdb and bdb. The program db5.3_dump reads it: install Debian's package db5.3-util. Or run on the old server: slapcat -b SUFFIX -l data.ldif, and load data.ldif with fulgurite slapadd"
    )]
    NoReader {
        /// The directory of the database.
        path: PathBuf,
    },
    /// A server has the files open, or has not closed them.
    #[error(
        "{path}: the old slapd has not closed the database. Stop slapd. If it does not run, start it and stop it once, so that it repairs the files"
    )]
    NotClosed {
        /// The directory of the database.
        path: PathBuf,
    },
    /// The files have changed while they were read.
    #[error("{path}: the database has changed while it was read: stop slapd, and begin again")]
    Changed {
        /// The directory of the database.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{path}: {source}")]
    System {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The program that reads the files has failed, or prints another form.
    #[error(
        "{path}: db5.3_dump cannot read it: {reason}. Run on the old server: slapcat -b SUFFIX -l data.ldif, and load data.ldif with fulgurite slapadd"
    )]
    Dump {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Why an entry cannot be read.
#[derive(Debug, Error)]
#[error("entry {id}{}: {fault}", name_in_parentheses(name.as_deref()))]
pub struct ReadError {
    /// Its id.
    pub id: u64,
    /// Its name, as far as it is known.
    pub name: Option<String>,
    /// The fault.
    #[source]
    pub fault: EntryFault,
}

fn name_in_parentheses(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" ({name})"))
}

/// The fault of an entry.
#[derive(Debug, Error)]
pub enum EntryFault {
    /// The engine cannot read on.
    #[error(transparent)]
    Engine(#[from] fulgurite::Error),
    /// The files of hdb or bdb cannot be read on.
    #[error(transparent)]
    Bdb(#[from] BdbError),
    /// The record is shorter than it claims, or its parts do not fit.
    #[error("its record is damaged: {0}")]
    Record(&'static str),
    /// A number that the table of attribute descriptions lacks.
    #[error("its record names attribute {0}, which the table of attribute descriptions lacks")]
    Attribute(u32),
    /// The number of values outside the record is not the recorded one.
    #[error("{name} has {found} values outside the record, which says {expected}")]
    Values {
        /// The attribute description.
        name: String,
        /// The recorded number.
        expected: usize,
        /// The number in id2v.
        found: usize,
    },
    /// There is no name for it.
    #[error("it has no name")]
    NoName,
    /// Its row among the names is damaged.
    #[error("its name is damaged")]
    Name,
    /// The chain of its parents does not end.
    #[error("the chain of its parents does not end")]
    Parents,
    /// Names, values or children of an entry that does not exist.
    #[error("entry is missing, but its {0} exist")]
    Missing(&'static str),
}
