//! Our engine through its Rust API.

use std::path::Path;

use fulgurite::{Database, Environment, ReadTxn, Snapshot as _, WriteTxn};

use crate::store::{Durability, Reader, Setup, Store, Writer};

/// An environment with its unnamed database, or one of duplicates.
pub(crate) struct Fulgurite {
    environment: Environment,
    database: Database,
}

impl Store for Fulgurite {
    type Reader<'s> = FulguriteReader<'s>;
    type Writer<'s> = FulguriteWriter<'s>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let durability = match setup.durability {
            Durability::Asynchronous => fulgurite::Durability::NoSync,
            Durability::Synchronous => fulgurite::Durability::Full,
        };
        let environment = Environment::options()
            .map_size(16 << 30)
            .readers_max(256)
            .durability(durability)
            .open(&setup.folder)?;
        let mut txn = environment.write()?;
        if setup.duplicates {
            txn.add_main_flags(fulgurite::DatabaseFlags(fulgurite::DatabaseFlags::DUP_SORT))?;
        }
        txn.commit()?;
        Ok(Fulgurite {
            environment,
            database: Database::MAIN,
        })
    }

    fn reader(&self) -> anyhow::Result<FulguriteReader<'_>> {
        Ok(FulguriteReader {
            txn: self.environment.read()?,
            database: self.database,
        })
    }

    fn submit(&self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        let database = self.database;
        let stored: Result<(), fulgurite::Error> =
            self.environment.submit(|txn| txn.put(database, key, value));
        Ok(stored?)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut FulguriteWriter<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut writer = FulguriteWriter {
            txn: self.environment.write()?,
            database: self.database,
        };
        let done = work(&mut writer)?;
        writer.txn.commit()?;
        Ok(done)
    }

    fn copy_to(&self, folder: &Path) -> anyhow::Result<()> {
        Ok(self.environment.copy_to_path(folder, false)?)
    }

    fn version(&self) -> String {
        format!("fulgurite {}", env!("CARGO_PKG_VERSION"))
    }
}

/// A read transaction.
pub(crate) struct FulguriteReader<'s> {
    txn: ReadTxn<'s>,
    database: Database,
}

impl Reader for FulguriteReader<'_> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let value = self.txn.get(self.database, key)?;
        if let Some(value) = value {
            see(value);
        }
        Ok(value.is_some())
    }

    fn get_many(&mut self, keys: &[[u8; 16]], mut see: impl FnMut(&[u8])) -> anyhow::Result<u64> {
        let mut values = Vec::new();
        let mut found = 0;
        for keys in keys.chunks(1024) {
            self.txn.get_many(self.database, keys, &mut values)?;
            for value in values.iter().flatten() {
                see(value);
                found += 1;
            }
        }
        Ok(found)
    }

    #[inline]
    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let records = match from {
            Some(from) => self.txn.range(self.database, from..)?,
            None => self.txn.range(self.database, ..)?,
        };
        let mut seen = 0;
        for record in records.take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            let (key, value) = record?;
            see(key, value);
            seen += 1;
        }
        Ok(seen)
    }

    fn scan_back(&mut self, mut see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        let mut seen = 0;
        for record in self.txn.range(self.database, ..)?.rev() {
            let (key, value) = record?;
            see(key, value);
            seen += 1;
        }
        Ok(seen)
    }

    #[inline]
    fn renew(&mut self) -> anyhow::Result<()> {
        self.txn.reset();
        Ok(self.txn.renew()?)
    }
}

/// A write transaction.
pub(crate) struct FulguriteWriter<'s> {
    txn: WriteTxn<'s>,
    database: Database,
}

impl Writer for FulguriteWriter<'_> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        Ok(self.txn.put(self.database, key, value)?)
    }

    #[inline]
    fn append(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        Ok(self.txn.append(self.database, key, value)?)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        self.txn.delete(self.database, key)?;
        Ok(())
    }
}
