//! A secret of the servers of one store.

use super::handle::Store;
use crate::error::{Damage, StoreError};
use fulgurite::{Database, Snapshot};

const KEY_SECRET: &[u8] = b"secret";

impl Store {
    /// Returns bytes that only the servers of this store know. The first call stores those of
    /// `made_up`, so signatures remain valid after a restart. The first call waits for another
    /// writer.
    ///
    /// # Errors
    /// [`StoreError::Engine`], for instance if there is no secret yet and the store was opened
    /// read-only.
    pub fn secret(&self, made_up: impl FnOnce() -> [u8; 32]) -> Result<[u8; 32], StoreError> {
        if let Some(secret) = secret_of(&self.env.read()?, self.dbs.meta)? {
            return Ok(secret);
        }
        let mut txn = self.env.write()?;
        // Another process may have stored one meanwhile.
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
