//! Kyoto Cabinet's file tree. Its transactions are used where writes have to be durable; without
//! that it is made for single calls.

use std::ffi::{c_char, c_int, c_uint, c_void};

use anyhow::{Context as _, bail};

use super::library::{c_library, c_path, octets, text};
use crate::store::{CACHE_BYTES, Durability, Reader, Setup, Store, Writer};

c_library!(Functions {
    dbnew() -> *mut c_void;
    dbdel(db: *mut c_void);
    dbopen(db: *mut c_void, path: *const c_char, mode: c_uint) -> c_int;
    dbclose(db: *mut c_void) -> c_int;
    dbemsg(db: *mut c_void) -> *const c_char;
    dbbegintran(db: *mut c_void, hard: c_int) -> c_int;
    dbendtran(db: *mut c_void, commit: c_int) -> c_int;
    dbset(db: *mut c_void, key: *const u8, key_len: usize, value: *const u8, value_len: usize) -> c_int;
    dbremove(db: *mut c_void, key: *const u8, key_len: usize) -> c_int;
    dbget(db: *mut c_void, key: *const u8, key_len: usize, len: *mut usize) -> *mut c_void;
    dbcursor(db: *mut c_void) -> *mut c_void;
    curdel(cursor: *mut c_void);
    curjump(cursor: *mut c_void) -> c_int;
    curjumpkey(cursor: *mut c_void, key: *const u8, len: usize) -> c_int;
    curget(cursor: *mut c_void, key_len: *mut usize, value: *mut *const c_void, value_len: *mut usize, step: c_int) -> *mut c_void;
    free(memory: *mut c_void);
});

const WRITER_CREATE: c_uint = 1 << 1 | 1 << 2;

/// An open tree.
pub(crate) struct Kyoto {
    c: Functions,
    db: *mut c_void,
    synchronous: bool,
    version: String,
}

// SAFETY: a database may be used by any threads at once; it locks itself.
unsafe impl Sync for Kyoto {}

impl Kyoto {
    fn check(&self, succeeded: c_int) -> anyhow::Result<()> {
        if succeeded != 0 {
            return Ok(());
        }
        // SAFETY: a constant of the library.
        let text = unsafe { text(self.c.dbemsg(self.db)) };
        bail!("Kyoto Cabinet: {text}")
    }
}

impl Store for Kyoto {
    type Reader<'s> = KyotoReader<'s>;
    type Writer<'s> = KyotoWriter<'s>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let c = Functions::load(&setup.library, "kc")?;
        let file = setup.folder.join("records.kct");
        // A page cache, a mapped region as large, and no more hash buckets than pages.
        let path = format!(
            "{}#msiz={CACHE_BYTES}#pccap={CACHE_BYTES}#bnum=200000",
            file.display()
        );
        let store = Kyoto {
            db: c.dbnew(),
            c,
            synchronous: setup.durability == Durability::Synchronous,
            version: kyoto_version(&setup.library),
        };
        let path = c_path(std::path::Path::new(&path))?;
        store.check(store.c.dbopen(store.db, path.as_ptr(), WRITER_CREATE))?;
        Ok(store)
    }

    fn reader(&self) -> anyhow::Result<KyotoReader<'_>> {
        Ok(KyotoReader { store: self })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut KyotoWriter<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut writer = KyotoWriter { store: self };
        if !self.synchronous {
            return work(&mut writer);
        }
        self.check(self.c.dbbegintran(self.db, 1))?;
        let done = work(&mut writer);
        self.check(self.c.dbendtran(self.db, done.is_ok().into()))?;
        done
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

/// The name of the file is all there is in C: libkyotocabinet.so.16.14.0.
fn kyoto_version(library: &std::path::Path) -> String {
    let path = library
        .canonicalize()
        .unwrap_or_else(|_| library.to_owned());
    let name = path.to_string_lossy();
    let version = name.rsplit_once(".so.").map_or("", |(_, version)| version);
    format!("Kyoto Cabinet, library {version}")
}

impl Drop for Kyoto {
    fn drop(&mut self) {
        self.c.dbclose(self.db);
        self.c.dbdel(self.db);
    }
}

/// The latest state; there are no snapshots.
pub(crate) struct KyotoReader<'s> {
    store: &'s Kyoto,
}

impl Reader for KyotoReader<'_> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let c = &self.store.c;
        let mut len = 0;
        let value = c.dbget(self.store.db, key.as_ptr(), key.len(), &raw mut len);
        if value.is_null() {
            return Ok(false);
        }
        // SAFETY: a copy for the caller, who frees it.
        see(unsafe { octets(value, len) });
        c.free(value);
        Ok(true)
    }

    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let c = &self.store.c;
        let cursor = c.dbcursor(self.store.db);
        let placed = match from {
            Some(from) => c.curjumpkey(cursor, from.as_ptr(), from.len()),
            None => c.curjump(cursor),
        };
        let mut seen = 0;
        while placed != 0 && seen < limit {
            let (mut key_len, mut value_len) = (0, 0);
            let mut value = std::ptr::null();
            let key = c.curget(
                cursor,
                &raw mut key_len,
                &raw mut value,
                &raw mut value_len,
                1,
            );
            if key.is_null() {
                break;
            }
            // SAFETY: copies of both in one piece of memory, which the caller frees.
            let key_seen = unsafe { octets(key, key_len) };
            // SAFETY: as the key.
            let value = unsafe { octets(value, value_len) };
            see(key_seen, value);
            c.free(key);
            seen += 1;
        }
        c.curdel(cursor);
        Ok(seen)
    }
}

/// Single changes, in a transaction if they have to be durable.
pub(crate) struct KyotoWriter<'s> {
    store: &'s Kyoto,
}

impl Writer for KyotoWriter<'_> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        let (c, db) = (&self.store.c, self.store.db);
        self.store
            .check(c.dbset(db, key.as_ptr(), key.len(), value.as_ptr(), value.len()))
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        let (c, db) = (&self.store.c, self.store.db);
        self.store.check(c.dbremove(db, key.as_ptr(), key.len()))
    }
}
