//! Errors of a store.

use std::path::PathBuf;
use thiserror::Error;

use crate::ids::EntryId;

/// The structure of the store that is malformed. The cause is damage to the file, or another
/// program that wrote to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Damage {
    /// An entry's record.
    #[error("a record is malformed")]
    Record,
    /// A record names an attribute that the table of attributes lacks.
    #[error("a record holds an attribute of unknown number")]
    Attribute,
    /// A list of children.
    #[error("a name list is malformed")]
    Names,
    /// The chain of parents ends at no entry, or never ends.
    #[error("an entry's chain of parents is broken")]
    Parents,
    /// Subordinate counts.
    #[error("a subordinate count is malformed")]
    Counts,
    /// A posting.
    #[error("a posting is malformed")]
    Posting,
    /// Overflow values.
    #[error("the overflow values of an attribute are malformed")]
    Values,
    /// A record of the log of changes.
    #[error("the log of changes is malformed")]
    Changes,
    /// A record of the log of operations.
    #[error("the log of operations is malformed")]
    Operations,
    /// The table of attributes or the description of the store.
    #[error("the store's own description is malformed")]
    Description,
}

/// Errors of every operation on an open store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The engine below failed: disk, memory, damaged pages.
    #[error(transparent)]
    Engine(#[from] fulgurite::Error),
    /// The store contains something invalid.
    #[error("the store is damaged: {0}. Export the readable entries and load them anew")]
    Damaged(#[from] Damage),
    /// The entry's name is taken.
    #[error("{0}: the entry exists already")]
    EntryExists(String),
    /// There is no entry of that id.
    #[error("entry {0} does not exist")]
    NoSuchEntry(EntryId),
    /// The parent named for a new or moved entry does not exist.
    #[error("{0}: the parent entry does not exist")]
    NoSuchParent(String),
    /// The entry has children and cannot be deleted.
    #[error("entry {0} has subordinate entries")]
    NotLeaf(EntryId),
    /// The entry would become its own ancestor, or a suffix would move.
    #[error("{0}: an entry cannot be moved there")]
    CannotMove(String),
    /// The name is outside all suffixes of the store.
    #[error("{0}: outside the suffixes of this store")]
    OutsideSuffix(String),
    /// More than 4 GiB in one entry, or more than 65,535 attribute descriptions.
    #[error("the entry is too large for a record (4 GiB, 65535 attribute descriptions)")]
    EntryTooLarge,
    /// The entry has more bytes than its database accepts.
    #[error("entry too big: {bytes} bytes where {bytes_max} are allowed")]
    EntryTooBig {
        /// Size of the record in bytes.
        bytes: u64,
        /// Largest size in bytes.
        bytes_max: u64,
    },
    /// The store has 65,535 attribute descriptions, which is the limit.
    #[error("the store already holds 65535 different attribute descriptions")]
    TooManyAttributes,
    /// An earlier failure left this writer with half an operation; it can only be dropped.
    #[error("an earlier update of this transaction failed half-way; it cannot be committed")]
    Poisoned,
}

/// The reasons why a store cannot be opened or created.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The engine cannot open its file.
    #[error("{path}: {source}")]
    Environment {
        /// Directory of the store.
        path: PathBuf,
        /// The engine's error.
        source: fulgurite::OpenError,
    },
    /// Opened, but not readable as a store.
    #[error("{path}: {source}")]
    Read {
        /// Directory of the store.
        path: PathBuf,
        /// The error.
        source: StoreError,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// File or directory.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is a database, but no directory in it.
    #[error("{path}: holds no directory; load one first")]
    NotAStore {
        /// Directory of the store.
        path: PathBuf,
    },
    /// There is a database of OpenLDAP.
    #[error(
        "{path}: this is a database of OpenLDAP. Take it over into another directory: fulgurite migrate --to DIR, or fulgurite import --from {path} --data DIR"
    )]
    OpenLdap {
        /// Directory of the database.
        path: PathBuf,
    },
    /// The directory of a new store has a store already.
    #[error("{path}: a directory exists here already")]
    Exists {
        /// Directory of the store.
        path: PathBuf,
    },
    /// Written by a release with another layout.
    #[error(
        "{path}: layout {found:?} is not the layout of this release ({expected:?}). Export with the release that wrote it, and load anew"
    )]
    Layout {
        /// Directory of the store.
        path: PathBuf,
        /// The layout of the file.
        found: String,
        /// The layout that this release reads.
        expected: &'static str,
    },
    /// The requested suffixes differ from the stored ones.
    #[error("{path}: holds {stored}, not {asked}")]
    Suffixes {
        /// Directory of the store.
        path: PathBuf,
        /// Suffixes in the file.
        stored: String,
        /// Requested suffixes.
        asked: String,
    },
    /// No suffix, or one below the other.
    #[error("suffix {0:?} cannot be used: give one or more names, none below another")]
    UnusableSuffix(String),
    /// The schema has changed the rule by which an index was made. Opening the store for writing
    /// rebuilds the index.
    #[error(
        "{path}: the index {index} was made by another matching rule than the schema has now. Open the store for writing once"
    )]
    IndexRules {
        /// Directory of the store.
        path: PathBuf,
        /// The index.
        index: String,
    },
    /// An index cannot be built.
    #[error("index {text:?}: {reason}")]
    Index {
        /// As given.
        text: String,
        /// The reason.
        reason: &'static str,
    },
    /// The file holds attributes that the schema in use does not define.
    #[error(
        "{path}: holds values of {attribute:?}, which the schema does not define; give its settings or its schema"
    )]
    SchemaLacks {
        /// Directory of the store.
        path: PathBuf,
        /// The attribute description.
        attribute: String,
    },
}

impl StoreError {
    /// Returns true if the file cannot grow, and no reader is the reason.
    #[must_use]
    pub fn lacks_room(&self) -> bool {
        matches!(self, StoreError::Engine(fulgurite::Error::MapFull(_)))
    }

    /// Returns true if the store is full: no page is free, and the file cannot grow.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(
            self,
            StoreError::Engine(fulgurite::Error::MapFull(_) | fulgurite::Error::HeldByReader(_))
        )
    }
}
