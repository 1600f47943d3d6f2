//! Items that clients no longer see leave in small batches.

use fulgurite::{Error, Snapshot as _};

use super::changes::Changes;
use super::item::{Item, read_expiry_key};
use super::open::{Cache, FLUSH_LEFT};
use super::walks::{FlushWalk, lock};

impl Cache {
    /// Returns true if there are items that a sweep would remove, or a flush is due.
    pub(crate) fn needs_sweep(&self, now_s: u32) -> Result<bool, Error> {
        let flush_at_s = self.flush_at_s.load(std::sync::atomic::Ordering::Relaxed);
        if lock(&self.flush_walk).is_under_way || flush_at_s != 0 && flush_at_s <= now_s {
            return Ok(true);
        }
        let txn = self.environment.read()?;
        let first = txn.cursor(self.expiry)?.first()?;
        let expiry = first.and_then(|(key, _)| read_expiry_key(key));
        Ok(expiry.is_some_and(|(expiry_s, _)| expiry_s <= now_s))
    }
}

impl Changes<'_> {
    /// Removes up to `limit` items that have expired. Returns their number.
    pub(crate) fn sweep_expired(&mut self, limit: usize) -> Result<usize, Error> {
        let expiry = self.cache.expiry;
        for removed in 0..limit {
            let first = self.txn.cursor(expiry)?.first()?;
            let due = first
                .and_then(|(key, _)| read_expiry_key(key))
                .filter(|(expiry_s, _)| *expiry_s <= self.now_s);
            let Some((expiry_s, key)) = due.map(|(expiry_s, key)| (expiry_s, key.to_vec())) else {
                return Ok(removed);
            };
            let record = self.txn.get(self.cache.items, &key)?;
            let is_its = record
                .and_then(Item::read)
                .is_some_and(|item| item.expiry_s == expiry_s);
            if is_its {
                self.delete(&key)?;
            } else {
                let stray = [&expiry_s.to_be_bytes()[..], &key].concat();
                self.forget(expiry, &stray)?;
            }
        }
        Ok(limit)
    }

    /// Looks at up to `limit` items for those that were flushed, and removes them.
    pub(crate) fn sweep_flushed(&mut self, limit: usize) -> Result<(), Error> {
        let mut next = {
            let walk = lock(&self.cache.flush_walk);
            if !walk.is_under_way {
                return Ok(());
            }
            walk.next.clone()
        };
        let mut flushed = Vec::new();
        let mut seen = 0;
        for record in self
            .txn
            .range(self.cache.items, next.as_slice()..)?
            .take(limit)
        {
            let (key, record) = record?;
            seen += 1;
            if Item::read(record).is_none_or(|item| item.cas <= self.flushed_cas()) {
                flushed.push(key.to_vec());
            }
            if seen == limit {
                next = [key, b"\0"].concat();
            }
        }
        for key in flushed {
            self.delete(&key)?;
        }
        if seen < limit {
            self.put_fact(FLUSH_LEFT, 0)?;
            next.clear();
        }
        // An abort of this transaction leaves items that the walk has passed. They stay invisible.
        *lock(&self.cache.flush_walk) = FlushWalk {
            is_under_way: seen == limit,
            next,
        };
        Ok(())
    }
}
