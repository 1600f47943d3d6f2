//! The facts about an environment at one moment.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use fulgurite::{
    Database, DatabaseFlags, Environment, Error, FreePages, Info, ReadTxn, Snapshot as _, Stat,
    Txnid,
};

use crate::readers::{ReaderFacts, readers};
use crate::{ToolError, data_file};

/// The highest age of each group of records, in transactions. The last group has no bound.
const AGES: [u64; 5] = [1, 10, 100, 1_000, u64::MAX];

/// The contents of an environment in one snapshot.
#[derive(Debug)]
pub struct EnvironmentFacts {
    /// The path it was opened with.
    pub path: PathBuf,
    /// The engine's facts about the whole environment.
    pub info: Info,
    /// Length of the data file in bytes.
    pub file_bytes: u64,
    /// Bytes that it takes on the disk.
    pub disk_bytes: u64,
    /// The snapshot of the other facts.
    pub snapshot: u64,
    /// Its free pages.
    pub free: FreeFacts,
    /// The main database, the free list's tree, and the named databases.
    pub databases: Vec<DatabaseFacts>,
    /// Readers of all processes.
    pub readers: Vec<ReaderFacts>,
}

/// The free pages of a snapshot.
#[derive(Debug)]
pub struct FreeFacts {
    /// Their number.
    pub pages: u64,
    /// The number that the next write transaction can use.
    pub reusable: u64,
    /// The number that it could use too if there were no readers.
    pub held_by_readers: u64,
    /// The number that the newest transaction freed. After a crash the snapshot before may be the
    /// newest, so they wait for one more transaction.
    pub resting: u64,
    /// The number by age, youngest first; groups without pages are left out.
    pub by_age: Vec<AgeGroup>,
}

/// Free pages of about the same age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgeGroup {
    /// The least age in transactions; 0 is the newest.
    pub from: u64,
    /// The highest age; `None` for no bound.
    pub to: Option<u64>,
    /// The records of the free list.
    pub records: u64,
    /// Their pages.
    pub pages: u64,
}

/// One database.
#[derive(Debug)]
pub struct DatabaseFacts {
    /// Its name; the main one and the free list have none.
    pub name: Vec<u8>,
    /// Its kind.
    pub kind: &'static str,
    /// Its flags, in the words of the format.
    pub flags: Vec<&'static str>,
    /// Its tree.
    pub stat: Stat,
}

impl EnvironmentFacts {
    /// Collects the facts.
    /// # Errors
    /// [`ToolError::Engine`], above all for a damaged file or a full reader table; the system's.
    pub fn gather(environment: &Environment) -> Result<EnvironmentFacts, ToolError> {
        let mut readers = readers(environment)?;
        let txn = environment.read()?;
        let free = txn.free_pages()?;
        readers.measure(&free);
        let oldest = readers.oldest();
        let meta = data_file(environment)?.metadata()?;
        Ok(EnvironmentFacts {
            path: environment.path().to_owned(),
            info: environment.info()?,
            file_bytes: meta.len(),
            disk_bytes: meta.blocks() * 512,
            snapshot: txn.id().0,
            free: FreeFacts::of(&free, txn.id(), oldest),
            databases: databases(&txn)?,
            readers: readers.list,
        })
    }
}

impl FreeFacts {
    fn of(free: &FreePages, snapshot: Txnid, oldest: Option<Txnid>) -> FreeFacts {
        let (pages, reusable) = (free.total(), free.reusable(oldest));
        let without_readers = free.reusable(None);
        FreeFacts {
            pages,
            reusable,
            held_by_readers: without_readers - reusable,
            resting: pages - without_readers,
            by_age: by_age(free, snapshot),
        }
    }
}

fn by_age(free: &FreePages, snapshot: Txnid) -> Vec<AgeGroup> {
    let mut from = 0;
    let mut groups = Vec::new();
    for to in AGES {
        let within = |(id, _): &&(Txnid, u64)| {
            let age = snapshot.0.saturating_sub(id.0);
            from <= age && age < to
        };
        let records: Vec<_> = free.records().iter().filter(within).collect();
        if !records.is_empty() {
            groups.push(AgeGroup {
                from,
                to: (to < u64::MAX).then(|| to - 1),
                records: records.len() as u64,
                pages: records.iter().map(|(_, pages)| pages).sum(),
            });
        }
        from = to;
    }
    groups
}

fn databases(txn: &ReadTxn<'_>) -> Result<Vec<DatabaseFacts>, Error> {
    let mut databases = vec![
        facts_of(txn, b"", "main", Database::MAIN)?,
        facts_of(txn, b"", "free list", Database::FREE_LIST)?,
    ];
    for record in txn.range(Database::MAIN, ..)?.first_values() {
        let (name, value) = record?;
        // Only a value of this length can be the record of a tree.
        if value.len() != TREE_RECORD_LEN {
            continue;
        }
        match txn.open_named(name) {
            Ok(database) => databases.push(facts_of(txn, name, "named", database)?),
            // A plain record of the same length, or one with duplicates.
            Err(Error::WrongKind(_) | Error::MainUnsuitable) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(databases)
}

/// Length in bytes of the record of a named database.
const TREE_RECORD_LEN: usize = 48;

fn facts_of(
    txn: &ReadTxn<'_>,
    name: &[u8],
    kind: &'static str,
    database: Database,
) -> Result<DatabaseFacts, Error> {
    let flags = txn.flags(database)?;
    let words = [
        (DatabaseFlags::REVERSE_KEY, "reverse keys"),
        (DatabaseFlags::DUP_SORT, "duplicates"),
        (DatabaseFlags::INTEGER_KEY, "integer keys"),
        (DatabaseFlags::DUP_FIXED, "fixed-size duplicates"),
        (DatabaseFlags::INTEGER_DUP, "integer duplicates"),
        (DatabaseFlags::REVERSE_DUP, "reverse duplicates"),
    ];
    Ok(DatabaseFacts {
        name: name.to_owned(),
        kind,
        flags: words
            .into_iter()
            .filter(|(flag, _)| flags.has(*flag))
            .map(|(_, word)| word)
            .collect(),
        stat: txn.stat(database)?,
    })
}
