//! Rows of a consumer: small facts about a copy that are committed with its entries.

use super::writer::Writer;
use crate::error::StoreError;
use crate::store::sync_key;
use fulgurite::Snapshot;

impl Writer<'_> {
    /// Writes a row.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance for a key that is too long.
    pub fn put_sync_row(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let meta = self.view.store.dbs.meta;
        self.apply(|writer| Ok(writer.view.txn.put(meta, &sync_key(key), value)?))
    }

    /// Removes a row, if it exists.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn delete_sync_row(&mut self, key: &[u8]) -> Result<(), StoreError> {
        let meta = self.view.store.dbs.meta;
        let key = sync_key(key);
        if self.view.txn.get(meta, &key)?.is_none() {
            return Ok(());
        }
        self.apply(|writer| {
            writer.view.txn.delete(meta, &key)?;
            Ok(())
        })
    }
}
