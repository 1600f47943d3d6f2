//! LevelDB and RocksDB, log-structured merge trees: the interface in C of the one is a part of the
//! other's.

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::path::Path;
use std::ptr::null_mut;

use anyhow::{Context as _, bail};

use super::library::{c_library, c_path, octets, text};
use crate::store::{CACHE_BYTES, Durability, Reader, Setup, Store, Writer};

type Failure = *mut *mut c_char;

c_library!(Functions {
    options_create() -> *mut c_void;
    options_set_create_if_missing(options: *mut c_void, yes: c_uchar);
    options_set_write_buffer_size(options: *mut c_void, bytes: usize);
    options_set_compression(options: *mut c_void, kind: c_int);
    cache_create_lru(bytes: usize) -> *mut c_void;
    open(options: *mut c_void, path: *const c_char, failure: Failure) -> *mut c_void;
    close(db: *mut c_void);
    writeoptions_create() -> *mut c_void;
    writeoptions_set_sync(options: *mut c_void, yes: c_uchar);
    readoptions_create() -> *mut c_void;
    readoptions_destroy(options: *mut c_void);
    readoptions_set_snapshot(options: *mut c_void, snapshot: *const c_void);
    create_snapshot(db: *mut c_void) -> *const c_void;
    release_snapshot(db: *mut c_void, snapshot: *const c_void);
    free(memory: *mut c_void);
    write(db: *mut c_void, options: *mut c_void, batch: *mut c_void, failure: Failure);
    writebatch_create() -> *mut c_void;
    writebatch_destroy(batch: *mut c_void);
    writebatch_put(batch: *mut c_void, key: *const u8, key_len: usize, value: *const u8, value_len: usize);
    writebatch_delete(batch: *mut c_void, key: *const u8, key_len: usize);
    create_iterator(db: *mut c_void, options: *mut c_void) -> *mut c_void;
    iter_destroy(iterator: *mut c_void);
    iter_seek_to_first(iterator: *mut c_void);
    iter_seek_to_last(iterator: *mut c_void);
    iter_seek(iterator: *mut c_void, key: *const u8, len: usize);
    iter_valid(iterator: *mut c_void) -> c_uchar;
    iter_next(iterator: *mut c_void);
    iter_prev(iterator: *mut c_void);
    iter_key(iterator: *mut c_void, len: *mut usize) -> *const c_void;
    iter_value(iterator: *mut c_void, len: *mut usize) -> *const c_void;
    iter_get_error(iterator: *mut c_void, failure: Failure);
    compact_range(db: *mut c_void, from: *const u8, from_len: usize, to: *const u8, to_len: usize);
});

const NO_COMPRESSION: c_int = 0;
/// RocksDB's default; LevelDB's is 4 MiB.
const WRITE_BUFFER_BYTES: usize = 64 << 20;

/// Where the two differ.
pub(crate) trait Flavour: Sized + Sync + 'static {
    const PREFIX: &'static str;
    fn load(library: &Path) -> anyhow::Result<Self>;
    /// Gives the options a cache and a Bloom filter of ten bits to a key.
    fn tune(&self, options: *mut c_void, cache: *mut c_void);
    fn get(
        &self,
        db: *mut c_void,
        options: *mut c_void,
        key: &[u8],
        failure: Failure,
        see: impl FnMut(&[u8]),
    ) -> bool;
    fn version(&self, library: &Path) -> String;
}

c_library!(LevelFunctions {
    filterpolicy_create_bloom(bits: c_int) -> *mut c_void;
    options_set_filter_policy(options: *mut c_void, policy: *mut c_void);
    options_set_cache(options: *mut c_void, cache: *mut c_void);
    get(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize, len: *mut usize, failure: Failure) -> *mut c_void;
    free(memory: *mut c_void);
    major_version() -> c_int;
    minor_version() -> c_int;
});

/// `leveldb/c.h`.
pub(crate) struct Level(LevelFunctions);

impl Flavour for Level {
    const PREFIX: &'static str = "leveldb_";

    fn load(library: &Path) -> anyhow::Result<Self> {
        Ok(Level(LevelFunctions::load(library, Self::PREFIX)?))
    }

    fn tune(&self, options: *mut c_void, cache: *mut c_void) {
        self.0.options_set_cache(options, cache);
        let policy = self.0.filterpolicy_create_bloom(10);
        self.0.options_set_filter_policy(options, policy);
    }

    #[inline]
    fn get(
        &self,
        db: *mut c_void,
        options: *mut c_void,
        key: &[u8],
        failure: Failure,
        mut see: impl FnMut(&[u8]),
    ) -> bool {
        let mut len = 0;
        let value = self
            .0
            .get(db, options, key.as_ptr(), key.len(), &raw mut len, failure);
        if value.is_null() {
            return false;
        }
        // SAFETY: a copy for the caller, who frees it.
        see(unsafe { octets(value, len) });
        self.0.free(value);
        true
    }

    fn version(&self, _library: &Path) -> String {
        let (major, minor) = (self.0.major_version(), self.0.minor_version());
        format!("LevelDB {major}.{minor}")
    }
}

c_library!(RocksFunctions {
    filterpolicy_create_bloom(bits: f64) -> *mut c_void;
    block_based_options_create() -> *mut c_void;
    block_based_options_set_block_cache(options: *mut c_void, cache: *mut c_void);
    block_based_options_set_filter_policy(options: *mut c_void, policy: *mut c_void);
    options_set_block_based_table_factory(options: *mut c_void, table_options: *mut c_void);
    get_pinned(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize, failure: Failure) -> *mut c_void;
    pinnableslice_value(slice: *mut c_void, len: *mut usize) -> *const c_void;
    pinnableslice_destroy(slice: *mut c_void);
});

/// `rocksdb/c.h`.
pub(crate) struct Rocks(RocksFunctions);

impl Flavour for Rocks {
    const PREFIX: &'static str = "rocksdb_";

    fn load(library: &Path) -> anyhow::Result<Self> {
        Ok(Rocks(RocksFunctions::load(library, Self::PREFIX)?))
    }

    fn tune(&self, options: *mut c_void, cache: *mut c_void) {
        let table = self.0.block_based_options_create();
        self.0.block_based_options_set_block_cache(table, cache);
        let policy = self.0.filterpolicy_create_bloom(10.0);
        self.0.block_based_options_set_filter_policy(table, policy);
        self.0.options_set_block_based_table_factory(options, table);
    }

    #[inline]
    fn get(
        &self,
        db: *mut c_void,
        options: *mut c_void,
        key: &[u8],
        failure: Failure,
        mut see: impl FnMut(&[u8]),
    ) -> bool {
        let slice = self
            .0
            .get_pinned(db, options, key.as_ptr(), key.len(), failure);
        if slice.is_null() {
            return false;
        }
        let mut len = 0;
        let value = self.0.pinnableslice_value(slice, &raw mut len);
        // SAFETY: pinned until the slice is destroyed.
        see(unsafe { octets(value, len) });
        self.0.pinnableslice_destroy(slice);
        true
    }

    /// The name of the file has it: librocksdb.so.7.8.3.
    fn version(&self, library: &Path) -> String {
        let path = library
            .canonicalize()
            .unwrap_or_else(|_| library.to_owned());
        let name = path.to_string_lossy();
        let version = name.rsplit_once(".so.").map_or("", |(_, version)| version);
        format!("RocksDB {version}")
    }
}

/// An open database.
pub(crate) struct LevelDb<F> {
    c: Functions,
    flavour: F,
    db: *mut c_void,
    write_options: *mut c_void,
    version: String,
}

// SAFETY: both headers allow any thread to use a database without further ado.
unsafe impl<F: Flavour> Sync for LevelDb<F> {}

/// Runs a call that reports failure by a text.
#[inline]
fn checked<T>(c: &Functions, call: impl FnOnce(Failure) -> T) -> anyhow::Result<T> {
    let mut failure = null_mut();
    let result = call(&raw mut failure);
    if failure.is_null() {
        return Ok(result);
    }
    // SAFETY: a text for the caller, who frees it.
    let text = unsafe { text(failure) };
    c.free(failure.cast());
    bail!(text)
}

impl<F: Flavour> Store for LevelDb<F> {
    type Reader<'s> = LevelReader<'s, F>;
    type Writer<'s> = LevelBatch<'s>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let c = Functions::load(&setup.library, F::PREFIX)?;
        let flavour = F::load(&setup.library)?;
        let options = c.options_create();
        c.options_set_create_if_missing(options, 1);
        c.options_set_write_buffer_size(options, WRITE_BUFFER_BYTES);
        c.options_set_compression(options, NO_COMPRESSION);
        flavour.tune(options, c.cache_create_lru(CACHE_BYTES));
        let path = c_path(&setup.folder)?;
        let db = checked(&c, |failure| c.open(options, path.as_ptr(), failure))?;
        let write_options = c.writeoptions_create();
        let sync = setup.durability == Durability::Synchronous;
        c.writeoptions_set_sync(write_options, sync.into());
        let version = flavour.version(&setup.library);
        Ok(LevelDb {
            c,
            flavour,
            db,
            write_options,
            version,
        })
    }

    fn reader(&self) -> anyhow::Result<LevelReader<'_, F>> {
        let options = self.c.readoptions_create();
        let snapshot = self.c.create_snapshot(self.db);
        self.c.readoptions_set_snapshot(options, snapshot);
        Ok(LevelReader {
            store: self,
            options,
            snapshot,
            iterator: null_mut(),
        })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut LevelBatch<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut batch = LevelBatch {
            c: &self.c,
            batch: self.c.writebatch_create(),
        };
        let done = work(&mut batch)?;
        checked(&self.c, |failure| {
            self.c
                .write(self.db, self.write_options, batch.batch, failure);
        })?;
        Ok(done)
    }

    /// All levels merged into one: what reads then meet is the tree at its best.
    fn settle(&self) -> anyhow::Result<()> {
        self.c
            .compact_range(self.db, std::ptr::null(), 0, std::ptr::null(), 0);
        Ok(())
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

impl<F> Drop for LevelDb<F> {
    fn drop(&mut self) {
        self.c.close(self.db);
    }
}

/// A snapshot, and an iterator once one is needed.
pub(crate) struct LevelReader<'s, F> {
    store: &'s LevelDb<F>,
    options: *mut c_void,
    snapshot: *const c_void,
    iterator: *mut c_void,
}

impl<F> LevelReader<'_, F> {
    #[inline]
    fn iterator(&mut self) -> *mut c_void {
        if self.iterator.is_null() {
            self.iterator = self.store.c.create_iterator(self.store.db, self.options);
        }
        self.iterator
    }

    #[inline]
    fn walk(
        &self,
        limit: u64,
        step: impl Fn(&Functions, *mut c_void),
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let (c, iterator) = (&self.store.c, self.iterator);
        let mut seen = 0;
        while seen < limit && c.iter_valid(iterator) != 0 {
            let (mut key_len, mut value_len) = (0, 0);
            let key = c.iter_key(iterator, &raw mut key_len);
            let value = c.iter_value(iterator, &raw mut value_len);
            // SAFETY: lent until the iterator moves.
            let key = unsafe { octets(key, key_len) };
            // SAFETY: as the key.
            let value = unsafe { octets(value, value_len) };
            see(key, value);
            step(c, iterator);
            seen += 1;
        }
        checked(c, |failure| c.iter_get_error(iterator, failure))?;
        Ok(seen)
    }
}

impl<F: Flavour> Reader for LevelReader<'_, F> {
    #[inline]
    fn get(&mut self, key: &[u8], see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let store = self.store;
        checked(&store.c, |failure| {
            store.flavour.get(store.db, self.options, key, failure, see)
        })
    }

    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let iterator = self.iterator();
        match from {
            Some(from) => self.store.c.iter_seek(iterator, from.as_ptr(), from.len()),
            None => self.store.c.iter_seek_to_first(iterator),
        }
        self.walk(limit, |c, iterator| c.iter_next(iterator), see)
    }

    fn scan_back(&mut self, see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        let iterator = self.iterator();
        self.store.c.iter_seek_to_last(iterator);
        self.walk(u64::MAX, |c, iterator| c.iter_prev(iterator), see)
    }
}

impl<F> Drop for LevelReader<'_, F> {
    fn drop(&mut self) {
        let c = &self.store.c;
        if !self.iterator.is_null() {
            c.iter_destroy(self.iterator);
        }
        c.readoptions_destroy(self.options);
        c.release_snapshot(self.store.db, self.snapshot);
    }
}

/// Changes that are written together.
pub(crate) struct LevelBatch<'s> {
    c: &'s Functions,
    batch: *mut c_void,
}

impl Writer for LevelBatch<'_> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.c.writebatch_put(
            self.batch,
            key.as_ptr(),
            key.len(),
            value.as_ptr(),
            value.len(),
        );
        Ok(())
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        self.c
            .writebatch_delete(self.batch, key.as_ptr(), key.len());
        Ok(())
    }
}

impl Drop for LevelBatch<'_> {
    fn drop(&mut self) {
        self.c.writebatch_destroy(self.batch);
    }
}
