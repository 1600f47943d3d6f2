//! The cache: its environment, and the facts that all threads share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fulgurite::{Database, Environment, KeyOrder, ReadTxn, Snapshot as _, WriteTxn};

use super::recency::RecencyTable;
use super::walks::{ClockHand, FlushWalk};
use crate::error::ServeError;
use crate::options::{Durability, Options};

/// The layout of records that this version reads and writes.
const FORMAT: u64 = 1;

/// Numbers that a stored limit gives away before it is stored again.
pub(super) const CAS_BLOCK: u64 = 1 << 20;

pub(super) const CAS_LIMIT: &[u8] = b"cas";
pub(super) const FLUSHED: &[u8] = b"flushed";
/// The time of a flush to come.
pub(super) const FLUSH_AT: &[u8] = b"flush-at";
/// Present while flushed items may be left.
pub(super) const FLUSH_LEFT: &[u8] = b"flush-left";
const FORMAT_KEY: &[u8] = b"format";

/// The items, and what all threads know of them.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(super) environment: Environment,
    pub(super) items: Database,
    pub(super) expiry: Database,
    pub(super) facts: Database,
    pub(crate) recency: RecencyTable,
    pub(crate) bytes_max: AtomicU64,
    pub(super) evicts: bool,
    /// The last number given to a change.
    pub(super) last_cas: AtomicU64,
    /// The number up to which the environment allows them.
    pub(super) cas_limit: AtomicU64,
    /// Items with this number and lower ones are gone.
    pub(super) flushed_cas: AtomicU64,
    /// The time of a flush to come; 0 is none.
    pub(super) flush_at_s: AtomicU32,
    /// Held by the thread that has the write transaction, until its facts are known to all others.
    pub(super) turn: Mutex<()>,
    pub(super) clock_hand: Mutex<ClockHand>,
    pub(super) flush_walk: Mutex<FlushWalk>,
    /// The durability of commits.
    pub(crate) durability: Durability,
}

impl Cache {
    /// Opens the cache of a folder, and makes what is missing.
    pub(crate) fn open(options: &Options) -> Result<Cache, ServeError> {
        std::fs::create_dir_all(&options.data).map_err(|source| ServeError::Folder {
            path: options.data.clone(),
            source,
        })?;
        let mut opened = Environment::options().durability(match options.durability {
            Durability::None => fulgurite::Durability::NoSync,
            Durability::Meta => fulgurite::Durability::NoMetaSync,
            Durability::Full => fulgurite::Durability::Full,
        });
        if options.file_bytes_max > 0 {
            opened = opened.map_bytes_max(options.file_bytes_max);
        }
        let environment = opened.open(&options.data)?;
        let mut txn = environment.write()?;
        let known = read_number(&txn, FORMAT_KEY)?;
        if known.is_some_and(|format| format != FORMAT)
            || known.is_none() && txn.stat(Database::MAIN)?.entries > 0
        {
            return Err(ServeError::Foreign(options.data.clone()));
        }
        let items = txn.create_database("items", KeyOrder::Lexical)?;
        let expiry = txn.create_database("expiry", KeyOrder::Lexical)?;
        let facts = txn.create_database("facts", KeyOrder::Lexical)?;
        txn.put(facts, FORMAT_KEY, &FORMAT.to_le_bytes())?;
        let fact = |key| Ok::<_, ServeError>(read_fact(&txn, facts, key)?.unwrap_or(0));
        // Numbers below the limit may have been given before a crash.
        let last_cas = fact(CAS_LIMIT)?;
        let flushed_cas = fact(FLUSHED)?;
        let flush_at_s = fact(FLUSH_AT)? as u32;
        let is_left = fact(FLUSH_LEFT)? != 0;
        txn.commit()?;
        Ok(Cache {
            environment,
            items,
            expiry,
            facts,
            recency: RecencyTable::default(),
            bytes_max: AtomicU64::new(options.bytes_max),
            evicts: !options.no_eviction,
            last_cas: AtomicU64::new(last_cas),
            cas_limit: AtomicU64::new(last_cas),
            flushed_cas: AtomicU64::new(flushed_cas),
            flush_at_s: AtomicU32::new(flush_at_s),
            turn: Mutex::default(),
            clock_hand: Mutex::default(),
            flush_walk: Mutex::new(FlushWalk::beginning(is_left)),
            durability: options.durability,
        })
    }

    /// Begins a read transaction.
    pub(crate) fn read(&self) -> Result<ReadTxn<'_>, fulgurite::Error> {
        self.environment.read()
    }

    pub(crate) fn items(&self) -> Database {
        self.items
    }

    /// Returns true if items leave a full cache.
    pub(crate) fn evicts(&self) -> bool {
        self.evicts
    }

    pub(crate) fn flushed_cas(&self) -> u64 {
        self.flushed_cas.load(Ordering::Acquire)
    }

    /// Makes all commits durable.
    pub(crate) fn sync(&self) -> Result<(), fulgurite::Error> {
        self.environment.sync(true)
    }

    /// Returns the items of the database, and their bytes in pages.
    pub(crate) fn size(&self, txn: &ReadTxn<'_>) -> Result<(u64, u64), fulgurite::Error> {
        let stat = txn.stat(self.items)?;
        Ok((stat.entries, self.used_bytes(txn)?))
    }

    /// Returns the bytes of all pages that items take.
    pub(super) fn used_bytes(
        &self,
        txn: &impl fulgurite::Snapshot,
    ) -> Result<u64, fulgurite::Error> {
        let mut bytes = 0;
        for database in [self.items, self.expiry] {
            let stat = txn.stat(database)?;
            let pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
            bytes += pages * stat.page_size as u64;
        }
        Ok(bytes)
    }
}

/// Reads a number of the facts, before their handle is known.
fn read_number(txn: &WriteTxn<'_>, key: &[u8]) -> Result<Option<u64>, fulgurite::Error> {
    match txn.open_database(Some("facts")) {
        Ok(facts) => read_fact(txn, facts, key),
        Err(fulgurite::Error::NoDatabase(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_fact(
    txn: &WriteTxn<'_>,
    facts: Database,
    key: &[u8],
) -> Result<Option<u64>, fulgurite::Error> {
    let bytes = txn.get(facts, key)?;
    Ok(bytes
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_le_bytes))
}
