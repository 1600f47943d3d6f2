//! The new environment: stores records one by one, in transactions of bounded size.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;

use fulgurite_format::{DatabaseFlags, TreeRecord};
use fulgurite_os::{FileIdentity, FileRole};

use super::report::{SalvageError, SalvagedDatabase};
use super::source_stage::Stage;
use crate::maintain::check::CheckOptions;
use crate::{CustomOrder, Database, Durability, Environment, Error, Put, PutFlags, WriteTxn};

/// Bytes of keys and values per transaction.
const BATCH_BYTES: u64 = 64 << 20;

/// Flags about the values of keys that have several.
const ABOUT_VALUES: u16 =
    DatabaseFlags::DUP_FIXED | DatabaseFlags::INTEGER_DUP | DatabaseFlags::REVERSE_DUP;

/// Makes the new environment, with room for the contents of a file of this many bytes.
pub(super) fn make(output: &Path, file_bytes: u64) -> Result<Environment, SalvageError> {
    if FileIdentity::at(FileRole::Copy, &output.join("data.mdb")).is_ok() {
        return Err(SalvageError::OutputExists(output.to_owned()));
    }
    let bound = (1 << 40).max(file_bytes.saturating_mul(4));
    Ok(Environment::options()
        .durability(Durability::NoSync)
        .databases_max(1 << 20)
        .map_bytes_max(bound)
        .open(output)?)
}

/// The result of storing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutOutcome {
    Stored,
    /// An earlier source had it.
    Present,
    /// No database can take it.
    Refused,
}

/// A database of the new environment.
struct OutputDatabase {
    handle: Database,
    report: SalvagedDatabase,
}

/// Writes records to the new environment.
pub(super) struct RecordWriter<'e> {
    environment: &'e Environment,
    txn: Option<WriteTxn<'e>>,
    targets: Vec<OutputDatabase>,
    /// The indexes of the named databases.
    numbers: HashMap<Vec<u8>, usize>,
    /// True if the value trees of a database have leaves like those of a plain one.
    has_duplicates: bool,
    pending_bytes: u64,
    options: &'e CheckOptions,
}

impl<'e> RecordWriter<'e> {
    pub(super) fn new(
        environment: &'e Environment,
        options: &'e CheckOptions,
    ) -> Result<Self, SalvageError> {
        let main = OutputDatabase {
            handle: Database::MAIN,
            report: SalvagedDatabase::default(),
        };
        Ok(Self {
            environment,
            txn: None,
            targets: vec![main],
            numbers: HashMap::default(),
            has_duplicates: false,
            pending_bytes: 0,
            options,
        })
    }

    /// Gives the main database its flags.
    pub(super) fn main(&mut self, record: &TreeRecord) -> Result<(), SalvageError> {
        let flags = possible(record.flags);
        self.note_duplicates(flags);
        self.txn()?.add_main_flags(flags)?;
        let main = &mut self.targets[0];
        (main.report.flags, main.report.expected) = (flags.0, record.entries);
        if !self.checks_order_of(0) {
            self.keep_arrival_order(Database::MAIN)?;
        }
        Ok(())
    }

    /// Returns the index of the named database `name`, if it is known.
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Makes a named database; `None` if the new environment cannot have it.
    pub(super) fn named(
        &mut self,
        name: &[u8],
        record: &TreeRecord,
    ) -> Result<Option<usize>, SalvageError> {
        let flags = possible(record.flags);
        let handle = match self.txn()?.create_named(name, flags) {
            Ok(handle) => handle,
            Err(error) if error.is_harmless() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.targets.push(OutputDatabase {
            handle,
            report: SalvagedDatabase {
                name: Some(name.to_owned()),
                flags: flags.0,
                expected: record.entries,
                ..SalvagedDatabase::default()
            },
        });
        let number = self.targets.len() - 1;
        self.numbers.insert(name.to_owned(), number);
        self.note_duplicates(flags);
        if !self.checks_order_of(number) {
            self.keep_arrival_order(handle)?;
        }
        Ok(Some(number))
    }

    /// Returns true if keys are in the order of the database's flags.
    pub(super) fn checks_order_of(&self, database: usize) -> bool {
        match self.name(database) {
            None => self.options.checks_order_of("main"),
            Some(name) => self.options.checks_order_of(&String::from_utf8_lossy(name)),
        }
    }

    /// Returns true if there is a named database.
    pub(super) fn has_named(&self) -> bool {
        self.targets.len() > 1
    }

    /// Returns true if the value trees of a database have leaves like those of a plain one.
    pub(super) const fn has_duplicates(&self) -> bool {
        self.has_duplicates
    }

    fn note_duplicates(&mut self, flags: DatabaseFlags) {
        let kind = DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED;
        self.has_duplicates |= flags.0 & kind == DatabaseFlags::DUP_SORT;
    }

    /// Returns true if keys of the main database can have several values. Then it cannot name
    /// databases.
    pub(super) fn main_has_duplicates(&self) -> bool {
        self.targets[0].report.flags & DatabaseFlags::DUP_SORT != 0
    }

    pub(super) fn name(&self, database: usize) -> Option<&[u8]> {
        self.targets.get(database)?.report.name.as_deref()
    }

    /// Stores a record, unless an earlier source stored that key; with duplicates, that pair.
    pub(super) fn put(
        &mut self,
        database: usize,
        stage: Stage,
        key: &[u8],
        value: &[u8],
    ) -> Result<PutOutcome, SalvageError> {
        let target = &self.targets[database];
        let handle = target.handle;
        let flags = match target.report.flags & DatabaseFlags::DUP_SORT {
            0 => PutFlags::NO_OVERWRITE,
            _ => PutFlags::NO_DUP_DATA,
        };
        self.pending_bytes += (key.len() + value.len()) as u64;
        if self.pending_bytes > BATCH_BYTES {
            self.commit()?;
        }
        match self.txn()?.put_with(handle, key, value, flags) {
            Ok(Put::Stored) => {}
            Ok(Put::Exists(_)) => return Ok(PutOutcome::Present),
            Err(error) if error.is_harmless() => return Ok(PutOutcome::Refused),
            Err(error) => return Err(error.into()),
        }
        let report = &mut self.targets[database].report;
        match stage {
            Stage::Newest => report.newest += 1,
            Stage::Orphans => report.orphans += 1,
            Stage::Previous => report.previous += 1,
        }
        Ok(PutOutcome::Stored)
    }

    /// Makes everything durable and returns the outcome for each database.
    pub(super) fn finish(mut self) -> Result<Vec<SalvagedDatabase>, SalvageError> {
        self.commit()?;
        self.environment.sync(true)?;
        Ok(self
            .targets
            .into_iter()
            .map(|target| target.report)
            .collect())
    }

    fn commit(&mut self) -> Result<(), SalvageError> {
        self.pending_bytes = 0;
        self.txn.take().map_or(Ok(()), WriteTxn::commit)?;
        Ok(())
    }

    fn txn(&mut self) -> Result<&mut WriteTxn<'e>, Error> {
        let txn = match self.txn.take() {
            Some(txn) => txn,
            None => self.environment.write()?,
        };
        Ok(self.txn.insert(txn))
    }

    /// Keeps records in the order of their arrival, for an unknown order.
    fn keep_arrival_order(&mut self, database: Database) -> Result<(), SalvageError> {
        let arrival = CustomOrder {
            call: |_, new, present| match new == present {
                true => Ordering::Equal,
                false => Ordering::Greater,
            },
            context: 0,
        };
        let txn = self.txn()?;
        txn.set_key_order(database, Some(arrival));
        txn.set_value_order(database, Some(arrival));
        Ok(())
    }
}

/// Returns the flags that a database can have, of those in a damaged record.
fn possible(flags: DatabaseFlags) -> DatabaseFlags {
    let flags = flags.0 & DatabaseFlags::PERSISTENT;
    match flags & DatabaseFlags::DUP_SORT {
        0 => DatabaseFlags(flags & !ABOUT_VALUES),
        _ => DatabaseFlags(flags),
    }
}
