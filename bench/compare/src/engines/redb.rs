//! redb, a B+tree in Rust.

use redb::{
    Database, Durability as RedbDurability, ReadOnlyTable, ReadableDatabase as _,
    ReadableTable as _, TableDefinition,
};

use crate::store::{CACHE_BYTES, Durability, Reader, Setup, Store, Writer};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");

/// A database with one table.
pub(crate) struct Redb {
    database: Database,
    durability: RedbDurability,
}

impl Store for Redb {
    type Reader<'s> = ReadOnlyTable<&'static [u8], &'static [u8]>;
    type Writer<'s> = redb::Table<'s, &'static [u8], &'static [u8]>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .create(setup.folder.join("records.redb"))?;
        let durability = match setup.durability {
            Durability::Asynchronous => RedbDurability::None,
            Durability::Synchronous => RedbDurability::Immediate,
        };
        let store = Redb {
            database,
            durability,
        };
        store.write(|_| Ok(()))?;
        Ok(store)
    }

    fn reader(&self) -> anyhow::Result<Self::Reader<'_>> {
        Ok(self.database.begin_read()?.open_table(TABLE)?)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut Self::Writer<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut txn = self.database.begin_write()?;
        txn.set_durability(self.durability)?;
        let done = work(&mut txn.open_table(TABLE)?)?;
        txn.commit()?;
        Ok(done)
    }

    fn version(&self) -> String {
        "redb 4.5".to_owned()
    }
}

impl Drop for Redb {
    /// Without one durable commit nothing would be kept; then what is stored can be read by the
    /// next process.
    fn drop(&mut self) {
        if let Ok(txn) = self.database.begin_write() {
            let _ = txn.commit();
        }
    }
}

impl Reader for ReadOnlyTable<&'static [u8], &'static [u8]> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let value = ReadOnlyTable::get(self, key)?;
        if let Some(value) = &value {
            see(value.value());
        }
        Ok(value.is_some())
    }

    #[inline]
    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let records = match from {
            Some(from) => self.range::<&[u8]>(from..)?,
            None => self.iter()?,
        };
        let mut seen = 0;
        for record in records.take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            let (key, value) = record?;
            see(key.value(), value.value());
            seen += 1;
        }
        Ok(seen)
    }

    fn scan_back(&mut self, mut see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        let mut seen = 0;
        for record in self.iter()?.rev() {
            let (key, value) = record?;
            see(key.value(), value.value());
            seen += 1;
        }
        Ok(seen)
    }
}

impl Writer for redb::Table<'_, &'static [u8], &'static [u8]> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.insert(key, value)?;
        Ok(())
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        self.remove(key)?;
        Ok(())
    }
}
