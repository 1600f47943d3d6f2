//! The log: records in memory, and its environment.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fulgurite::{Database, Environment, KeyOrder, ReadTxn, Snapshot, WriteTxn};

use super::record::OperationRecord;
use crate::changes::Retention;
use crate::error::{Damage, OpenError, StoreError};

/// The name of the data file in its folder. A database of slapd may be there too.
const FILE: &str = "operations.mdb";

/// The mode of a new file. Filters and assertions may be secret.
const FILE_MODE: u32 = 0o600;

/// Bytes of records in memory at which the thread that appends has to commit them.
const PENDING_BYTES_MAX: usize = 4 << 20;

/// Bytes of pages with records that stay, about. Tests have fewer.
const CONTENT_BYTES_MAX: u64 = if cfg!(test) { 16 << 20 } else { 256 << 20 };

/// Bytes that the file may grow to. A commit needs room for copies of pages.
const FILE_BYTES_MAX: u64 = 4 * CONTENT_BYTES_MAX;

/// The number of old records that a commit drops at least, if they are due.
const DROPPED_MIN: usize = 1_000;

const READERS_MAX: u32 = 4_096;

/// The key of the next serial in the main tree.
const NEXT_SERIAL: &[u8] = b"operations.serial";

/// The place of a record: the second of its start, and its serial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationPosition {
    /// Seconds since 1970.
    pub second: u64,
    /// The number of the record. It grows with each one.
    pub serial: u64,
}

/// A log of operations that is open. Threads share it by reference.
pub struct OperationLog {
    path: PathBuf,
    env: Environment,
    table: Database,
    pending: Mutex<PendingRecords>,
    /// Held by the thread that commits. Readers wait for it, so that they miss nothing.
    committing: Mutex<()>,
    age_us_max: AtomicU64,
}

/// Records that no commit has yet, with the seconds of their starts.
#[derive(Default)]
struct PendingRecords {
    records: Vec<(u64, Vec<u8>)>,
    bytes: usize,
}

/// A snapshot of the log.
pub struct OperationLogView<'l> {
    txn: ReadTxn<'l>,
    table: Database,
    next_serial: u64,
}

impl OperationLog {
    /// Opens the log in a folder, and creates both if they are missing.
    ///
    /// # Errors
    /// [`OpenError::Io`] and [`OpenError::Environment`].
    pub fn open(folder: &Path) -> Result<OperationLog, OpenError> {
        let path = folder.join(FILE);
        std::fs::create_dir_all(folder).map_err(|source| OpenError::Io {
            path: folder.to_owned(),
            source,
        })?;
        let options = Environment::options()
            .no_subdir(true)
            .file_mode(FILE_MODE)
            .readers_max(READERS_MAX)
            .map_bytes_max(FILE_BYTES_MAX);
        let env = options
            .open(&path)
            .map_err(|source| OpenError::Environment {
                path: path.clone(),
                source,
            })?;
        let table = create_table(&env).map_err(|source| OpenError::Read {
            path: path.clone(),
            source,
        })?;
        Ok(OperationLog {
            path,
            env,
            table,
            pending: Mutex::default(),
            committing: Mutex::default(),
            age_us_max: AtomicU64::new(Retention::default().time_us_max),
        })
    }

    /// Returns the path of the data file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the age at which records go, in microseconds.
    #[must_use]
    pub fn age_us_max(&self) -> u64 {
        self.age_us_max.load(Ordering::Relaxed)
    }

    /// Sets the age at which records go, in microseconds.
    pub fn keep(&self, age_us_max: u64) {
        self.age_us_max.store(age_us_max, Ordering::Relaxed);
    }

    /// Appends a record in memory. Commits all records there if they are many.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn append(&self, record: &OperationRecord<'_>) -> Result<(), StoreError> {
        let encoded = record.encode();
        let mut pending = lock(&self.pending);
        pending.bytes += encoded.len();
        pending.records.push((record.start_us / 1_000_000, encoded));
        let is_full = pending.bytes >= PENDING_BYTES_MAX;
        drop(pending);
        match is_full {
            true => self.flush(record.start_us),
            false => Ok(()),
        }
    }

    /// Commits the records in memory, and drops some that are too old at the time `now_us`.
    /// Another thread may be doing the same: then this waits for it.
    ///
    /// # Errors
    /// [`StoreError::Engine`]. The records in memory are lost then.
    pub fn flush(&self, now_us: u64) -> Result<(), StoreError> {
        let _committing = lock(&self.committing);
        let PendingRecords { records, .. } = std::mem::take(&mut *lock(&self.pending));
        let before = now_us.saturating_sub(self.age_us_max()) / 1_000_000;
        if records.is_empty() && !self.has_record_before(before)? {
            return Ok(());
        }
        let mut txn = self.env.write()?;
        let mut serial = next_serial(&txn)?;
        for (second, record) in &records {
            let second = *second;
            let position = OperationPosition { second, serial };
            txn.put(self.table, &position.key(), record)?;
            serial += 1;
        }
        txn.put(Database::MAIN, NEXT_SERIAL, &serial.to_le_bytes())?;
        self.drop_old(&mut txn, before, DROPPED_MIN.max(4 * records.len()))?;
        Ok(txn.commit()?)
    }

    /// Returns a snapshot of all records that were appended before.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    pub fn read(&self) -> Result<OperationLogView<'_>, StoreError> {
        self.flush(0)?;
        self.snapshot()
    }

    /// Returns a snapshot of the records that a commit has.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn snapshot(&self) -> Result<OperationLogView<'_>, StoreError> {
        let txn = self.env.read()?;
        Ok(OperationLogView {
            next_serial: next_serial(&txn)?,
            txn,
            table: self.table,
        })
    }

    fn has_record_before(&self, second: u64) -> Result<bool, StoreError> {
        let txn = self.env.read()?;
        Ok(first_key(&txn, self.table)?.is_some_and(|first| first.second < second))
    }

    /// Drops records from before a second, and the oldest ones until the others have room again:
    /// `count_max` at most.
    fn drop_old(
        &self,
        txn: &mut WriteTxn<'_>,
        before: u64,
        count_max: usize,
    ) -> Result<(), StoreError> {
        let stat = txn.stat(self.table)?;
        let pages = stat.branch_pages + stat.leaf_pages + stat.overflow_pages;
        let bytes = pages * stat.page_size as u64;
        let mut excess = bytes.saturating_sub(CONTENT_BYTES_MAX);
        let mut old = Vec::new();
        for record in txn.range(self.table, ..)? {
            let (key, value) = record?;
            let position = OperationPosition::of_key(key).ok_or(Damage::Operations)?;
            if old.len() == count_max || excess == 0 && position.second >= before {
                break;
            }
            excess = excess.saturating_sub((key.len() + value.len()) as u64);
            old.push(position);
        }
        for position in old {
            txn.delete(self.table, &position.key())?;
        }
        Ok(())
    }
}

impl Drop for OperationLog {
    fn drop(&mut self) {
        // There is nobody left to tell of a failure.
        let _ = self.flush(0);
    }
}

impl OperationLogView<'_> {
    /// Returns the first record at or behind a position.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] and the engine's.
    pub fn next(
        &self,
        from: OperationPosition,
    ) -> Result<Option<(OperationPosition, OperationRecord<'_>)>, StoreError> {
        let from = from.key();
        let Some(record) = self.txn.range(self.table, from.as_slice()..)?.next() else {
            return Ok(None);
        };
        let (key, value) = record?;
        let position = OperationPosition::of_key(key).ok_or(Damage::Operations)?;
        let record = OperationRecord::decode(value).ok_or(Damage::Operations)?;
        Ok(Some((position, record)))
    }

    /// Returns the serial of the next record that will be appended.
    #[must_use]
    pub fn next_serial(&self) -> u64 {
        self.next_serial
    }

    /// Returns the first and the last serial of a second.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] and the engine's.
    pub fn serials_of(&self, second: u64) -> Result<Option<(u64, u64)>, StoreError> {
        let (from, to) = (
            OperationPosition { second, serial: 0 },
            OperationPosition {
                second: second + 1,
                serial: 0,
            },
        );
        let (from, to) = (from.key(), to.key());
        let mut range = self.txn.range(self.table, from.as_slice()..to.as_slice())?;
        let serial = |key: &[u8]| {
            let position = OperationPosition::of_key(key);
            position.map(|position| position.serial)
        };
        let Some(first) = range.next() else {
            return Ok(None);
        };
        let first = serial(first?.0).ok_or(Damage::Operations)?;
        let last = match range.next_back() {
            Some(last) => serial(last?.0).ok_or(Damage::Operations)?,
            None => first,
        };
        Ok(Some((first, last)))
    }
}

impl OperationPosition {
    fn key(self) -> [u8; 16] {
        let mut key = [0; 16];
        let (second, serial) = key.split_at_mut(8);
        second.copy_from_slice(&self.second.to_be_bytes());
        serial.copy_from_slice(&self.serial.to_be_bytes());
        key
    }

    fn of_key(key: &[u8]) -> Option<OperationPosition> {
        let (second, serial) = key.split_at_checked(8)?;
        Some(OperationPosition {
            second: u64::from_be_bytes(second.try_into().ok()?),
            serial: u64::from_be_bytes(serial.try_into().ok()?),
        })
    }

    /// Returns the position behind this one.
    #[must_use]
    pub fn behind(self) -> OperationPosition {
        OperationPosition {
            second: self.second,
            serial: self.serial.saturating_add(1),
        }
    }
}

fn create_table(env: &Environment) -> Result<Database, StoreError> {
    let mut txn = env.write()?;
    let table = txn.create_database("operations", KeyOrder::Lexical)?;
    txn.commit()?;
    Ok(table)
}

fn next_serial(txn: &impl Snapshot) -> Result<u64, StoreError> {
    let Some(row) = txn.get(Database::MAIN, NEXT_SERIAL)? else {
        return Ok(0);
    };
    let row = row.try_into().map_err(|_| Damage::Operations)?;
    Ok(u64::from_le_bytes(row))
}

fn first_key(
    txn: &impl Snapshot,
    table: Database,
) -> Result<Option<OperationPosition>, StoreError> {
    let Some(record) = txn.range(table, ..)?.next() else {
        return Ok(None);
    };
    let (key, _) = record?;
    Ok(Some(
        OperationPosition::of_key(key).ok_or(Damage::Operations)?,
    ))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for OperationLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationLog")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Returns the bytes of the records in memory.
#[cfg(test)]
pub(super) fn pending_bytes(log: &OperationLog) -> usize {
    lock(&log.pending).bytes
}
