//! Reading the rows of a consumer.

use super::state::View;
use crate::error::StoreError;
use crate::store::{SYNC_PREFIX, sync_key};
use fulgurite::Snapshot;

impl<T: Snapshot> View<'_, T> {
    /// Returns the value of a row.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn sync_row(&self, key: &[u8]) -> Result<Option<&[u8]>, StoreError> {
        Ok(self.txn.get(self.store.dbs.meta, &sync_key(key))?)
    }

    /// Passes key and value of each row whose key begins with `prefix` to `visit`, until it returns
    /// false.
    ///
    /// # Errors
    /// [`StoreError::Engine`].
    pub fn sync_rows(
        &self,
        prefix: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StoreError> {
        let first = sync_key(prefix);
        let mut cursor = self.txn.cursor(self.store.dbs.meta)?;
        let mut row = cursor.seek_range(&first)?;
        while let Some((key, value)) = row.filter(|(key, _)| key.starts_with(&first)) {
            if !visit(key.get(SYNC_PREFIX.len()..).unwrap_or_default(), value) {
                break;
            }
            row = cursor.next()?;
        }
        Ok(())
    }
}
