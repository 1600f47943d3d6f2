//! A secret of the servers of one store.

use super::handle::Store;
use crate::error::{Damage, StoreError};
use fulgurite::{Database, Snapshot};

const KEY_SECRET: &[u8] = b"secret";

impl Store {
    /// Bytes that only this store's servers know: made once, of `made_up`, and kept with the database, so that what
    /// they authenticate outlives the process. Waits for another writer, the first time only.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance when there is none yet and the store was opened read-only.
    pub fn secret(&self, made_up: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], StoreError> {
        if let Some(secret) = secret_of(&self.env.read()?, self.dbs.meta)? {
            return Ok(secret);
        }
        let mut txn = self.env.write()?;
        // Another process may have been faster.
        if let Some(secret) = secret_of(&txn, self.dbs.meta)? {
            return Ok(secret);
        }
        let secret = made_up();
        txn.put(self.dbs.meta, KEY_SECRET, &secret)?;
        txn.commit()?;
        Ok(secret)
    }
}

fn secret_of(txn: &impl Snapshot, meta: Database) -> Result<Option<[u8; 32]>, StoreError> {
    let stored = txn.get(meta, KEY_SECRET)?;
    let secret = stored.map(|bytes| bytes.try_into().map_err(|_| Damage::Description.into()));
    secret.transpose()
}
