//! Berkeley DB: a B-tree with transactions, through the functions of `adapters/berkeley.c`.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use anyhow::{Context as _, bail};

use super::library::{c_library, c_path, octets, text};
use crate::store::{CACHE_BYTES, Durability, Reader, Setup, Store, Writer};

c_library!(Functions {
    version() -> *const c_char;
    error(code: c_int) -> *const c_char;
    open(folder: *const c_char, kind: c_int, synchronous: c_int, duplicates: c_int, cache_bytes: u32, store: *mut *mut c_void) -> c_int;
    close(store: *mut c_void);
    begin(store: *mut c_void, txn: *mut *mut c_void) -> c_int;
    commit(txn: *mut c_void) -> c_int;
    abort(txn: *mut c_void) -> c_int;
    put(store: *mut c_void, txn: *mut c_void, key: *const u8, key_len: usize, value: *const u8, value_len: usize) -> c_int;
    delete(store: *mut c_void, txn: *mut c_void, key: *const u8, key_len: usize) -> c_int;
    reader(store: *mut c_void) -> *mut c_void;
    reader_close(reader: *mut c_void);
    get(reader: *mut c_void, key: *const u8, key_len: usize, value: *mut *const c_void, value_len: *mut usize) -> c_int;
    step(reader: *mut c_void, operation: c_int, key: *mut *const c_void, key_len: *mut usize, value: *mut *const c_void, value_len: *mut usize) -> c_int;
});

const NOT_FOUND: c_int = 1;
const FIRST: c_int = 0;
const NEXT: c_int = 1;
const LAST: c_int = 2;
const PREV: c_int = 3;
const FROM: c_int = 4;

/// Parts of a kind: a hash table, an environment with a cache only, no transactions.
pub(crate) const HASH: c_int = 1;
pub(crate) const BARE: c_int = 2;
pub(crate) const WITHOUT_TRANSACTIONS: c_int = 4;

/// An environment with one database.
pub(crate) struct Berkeley<const KIND: c_int> {
    c: Functions,
    store: *mut c_void,
}

// SAFETY: environment and database are opened for threads; readers and transactions stay with
// theirs.
unsafe impl<const KIND: c_int> Sync for Berkeley<KIND> {}

impl Functions {
    fn check(&self, code: c_int) -> anyhow::Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: a text that lasts until the next call.
        let text = unsafe { text(self.error(code)) };
        bail!("{text} ({code})")
    }
}

impl<const KIND: c_int> Store for Berkeley<KIND> {
    type Reader<'s> = BerkeleyReader<'s>;
    type Writer<'s> = BerkeleyWriter<'s>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let c = Functions::load(&setup.library, "berkeley_")?;
        let mut store = null_mut();
        let synchronous = setup.durability == Durability::Synchronous;
        c.check(c.open(
            c_path(&setup.folder)?.as_ptr(),
            KIND,
            synchronous.into(),
            setup.duplicates.into(),
            u32::try_from(CACHE_BYTES)?,
            &raw mut store,
        ))?;
        Ok(Berkeley { c, store })
    }

    fn reader(&self) -> anyhow::Result<BerkeleyReader<'_>> {
        let reader = self.c.reader(self.store);
        anyhow::ensure!(!reader.is_null(), "no memory for a reader");
        Ok(BerkeleyReader { c: &self.c, reader })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut BerkeleyWriter<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut txn = null_mut();
        self.c.check(self.c.begin(self.store, &raw mut txn))?;
        let done = match work(&mut BerkeleyWriter {
            c: &self.c,
            store: self.store,
            txn,
        }) {
            Ok(done) => done,
            Err(error) => {
                self.c.check(self.c.abort(txn))?;
                return Err(error);
            }
        };
        self.c.check(self.c.commit(txn))?;
        Ok(done)
    }

    fn version(&self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text(self.c.version()) }
    }
}

impl<const KIND: c_int> Drop for Berkeley<KIND> {
    fn drop(&mut self) {
        self.c.close(self.store);
    }
}

/// Buffers for what is read, and a cursor.
pub(crate) struct BerkeleyReader<'s> {
    c: &'s Functions,
    reader: *mut c_void,
}

impl BerkeleyReader<'_> {
    #[inline]
    fn walk(
        &mut self,
        from: &[u8],
        (first, next): (c_int, c_int),
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let (mut key, mut key_len) = (from.as_ptr().cast(), from.len());
        let (mut value, mut value_len) = (null(), 0);
        let mut operation = first;
        for seen in 0..limit {
            let code = self.c.step(
                self.reader,
                operation,
                &raw mut key,
                &raw mut key_len,
                &raw mut value,
                &raw mut value_len,
            );
            if code == NOT_FOUND {
                return Ok(seen);
            }
            self.c.check(code)?;
            // SAFETY: the reader's own memory, which changes with the next step.
            let key_seen = unsafe { octets(key, key_len) };
            // SAFETY: as the key.
            let value_seen = unsafe { octets(value, value_len) };
            see(key_seen, value_seen);
            operation = next;
        }
        Ok(limit)
    }
}

impl Reader for BerkeleyReader<'_> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let (mut value, mut len) = (null(), 0);
        let code = self.c.get(
            self.reader,
            key.as_ptr(),
            key.len(),
            &raw mut value,
            &raw mut len,
        );
        if code == NOT_FOUND {
            return Ok(false);
        }
        self.c.check(code)?;
        // SAFETY: the reader's own memory, which changes with the next call.
        see(unsafe { octets(value, len) });
        Ok(true)
    }

    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let first = if from.is_some() { FROM } else { FIRST };
        self.walk(from.unwrap_or_default(), (first, NEXT), limit, see)
    }

    fn scan_back(&mut self, see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        self.walk(&[], (LAST, PREV), u64::MAX, see)
    }
}

impl Drop for BerkeleyReader<'_> {
    fn drop(&mut self) {
        self.c.reader_close(self.reader);
    }
}

/// A transaction.
pub(crate) struct BerkeleyWriter<'s> {
    c: &'s Functions,
    store: *mut c_void,
    txn: *mut c_void,
}

impl Writer for BerkeleyWriter<'_> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        let c = self.c;
        c.check(c.put(
            self.store,
            self.txn,
            key.as_ptr(),
            key.len(),
            value.as_ptr(),
            value.len(),
        ))
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        let c = self.c;
        c.check(c.delete(self.store, self.txn, key.as_ptr(), key.len()))
    }
}
