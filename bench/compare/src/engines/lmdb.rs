//! LMDB's interface in C: the original, ours, and libmdbx, whose own is nearly the same.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use anyhow::{Context as _, bail};

use super::library::{c_library, c_path, octets, text};
use crate::store::{Durability, Reader, Setup, Store, Writer};

c_library!(Functions {
    env_create(env: *mut *mut c_void) -> c_int;
    env_set_maxreaders(env: *mut c_void, readers: c_uint) -> c_int;
    env_open(env: *mut c_void, path: *const c_char, flags: c_uint, mode: libc::mode_t) -> c_int;
    env_close(env: *mut c_void);
    txn_begin(env: *mut c_void, parent: *mut c_void, flags: c_uint, txn: *mut *mut c_void) -> c_int;
    txn_commit(txn: *mut c_void) -> c_int;
    txn_abort(txn: *mut c_void);
    txn_reset(txn: *mut c_void);
    txn_renew(txn: *mut c_void) -> c_int;
    dbi_open(txn: *mut c_void, name: *const c_char, flags: c_uint, dbi: *mut c_uint) -> c_int;
    get(txn: *mut c_void, dbi: c_uint, key: *const c_void, value: *mut c_void) -> c_int;
    put(txn: *mut c_void, dbi: c_uint, key: *const c_void, value: *mut c_void, flags: c_uint) -> c_int;
    del(txn: *mut c_void, dbi: c_uint, key: *const c_void, value: *mut c_void) -> c_int;
    cursor_open(txn: *mut c_void, dbi: c_uint, cursor: *mut *mut c_void) -> c_int;
    cursor_close(cursor: *mut c_void);
    cursor_get(cursor: *mut c_void, key: *mut c_void, value: *mut c_void, op: c_int) -> c_int;
    strerror(code: c_int) -> *const c_char;
});

const NO_SYNC: c_uint = 0x10000;
const READ_ONLY: c_uint = 0x20000;
const CREATE: c_uint = 0x40000;
const DUPSORT: c_uint = 0x04;
const APPEND: c_uint = 0x20000;
const NOT_FOUND: c_int = -30798;

// Operations of cursors.
const FIRST: c_int = 0;
const LAST: c_int = 6;
const NEXT: c_int = 8;
const PREV: c_int = 12;
const SET_RANGE: c_int = 17;

/// Of the map; only address space is taken.
const MAP_BYTES: usize = 16 << 30;

/// Where the interfaces differ.
pub(crate) trait Dialect: Sized + 'static {
    const PREFIX: &'static str;
    /// Of commits that are not waited for.
    const NO_SYNC: c_uint;
    /// Length and pointer, in the dialect's order.
    type Octets: Copy;
    fn octets(start: *const c_void, len: usize) -> Self::Octets;
    fn parts(octets: Self::Octets) -> (*const c_void, usize);
    fn load(library: &Path) -> anyhow::Result<Self>;
    fn size_map(&self, env: *mut c_void) -> c_int;
    /// Copies the environment into a folder that is there.
    fn copy(&self, env: *mut c_void, folder: &Path) -> anyhow::Result<c_int>;
    fn version(&self) -> anyhow::Result<String>;
}

c_library!(OriginalFunctions {
    env_set_mapsize(env: *mut c_void, bytes: usize) -> c_int;
    env_copy(env: *mut c_void, folder: *const c_char) -> c_int;
    version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) -> *const c_char;
});

/// `lmdb.h`.
pub(crate) struct Original(OriginalFunctions);

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LenFirst(usize, *const c_void);

impl Dialect for Original {
    const PREFIX: &'static str = "mdb_";
    const NO_SYNC: c_uint = NO_SYNC;
    type Octets = LenFirst;

    fn octets(start: *const c_void, len: usize) -> LenFirst {
        LenFirst(len, start)
    }

    fn parts(octets: LenFirst) -> (*const c_void, usize) {
        (octets.1, octets.0)
    }

    fn load(library: &Path) -> anyhow::Result<Original> {
        OriginalFunctions::load(library, Self::PREFIX).map(Original)
    }

    fn size_map(&self, env: *mut c_void) -> c_int {
        self.0.env_set_mapsize(env, MAP_BYTES)
    }

    fn copy(&self, env: *mut c_void, folder: &Path) -> anyhow::Result<c_int> {
        Ok(self.0.env_copy(env, c_path(folder)?.as_ptr()))
    }

    fn version(&self) -> anyhow::Result<String> {
        // Null means that the numbers are not wanted.
        let version = self.0.version(null_mut(), null_mut(), null_mut());
        // SAFETY: a constant of the library.
        Ok(unsafe { text(version) })
    }
}

c_library!(MdbxFunctions {
    env_set_geometry(
        env: *mut c_void, lower: isize, now: isize, upper: isize, growth: isize, shrink: isize, page_bytes: isize,
    ) -> c_int;
    env_copy(env: *mut c_void, file: *const c_char, flags: c_int) -> c_int;
});

/// `mdbx.h`.
pub(crate) struct Mdbx(MdbxFunctions);

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct StartFirst(*const c_void, usize);

impl Dialect for Mdbx {
    const PREFIX: &'static str = "mdbx_";
    // MDBX_UTTERLY_NOSYNC, which is what LMDB's flag does.
    const NO_SYNC: c_uint = NO_SYNC | 0x10_0000;
    type Octets = StartFirst;

    fn octets(start: *const c_void, len: usize) -> StartFirst {
        StartFirst(start, len)
    }

    fn parts(octets: StartFirst) -> (*const c_void, usize) {
        (octets.0, octets.1)
    }

    fn load(library: &Path) -> anyhow::Result<Mdbx> {
        MdbxFunctions::load(library, Self::PREFIX).map(Mdbx)
    }

    fn size_map(&self, env: *mut c_void) -> c_int {
        // -1 leaves a choice to the library.
        let upper = MAP_BYTES.cast_signed();
        self.0.env_set_geometry(env, -1, -1, upper, -1, -1, 4096)
    }

    fn copy(&self, env: *mut c_void, folder: &Path) -> anyhow::Result<c_int> {
        // Into a file, of the name that is looked for when the folder is opened.
        let file = c_path(&folder.join("mdbx.dat"))?;
        Ok(self.0.env_copy(env, file.as_ptr(), 0))
    }

    fn version(&self) -> anyhow::Result<String> {
        let library = &self.0._library;
        // SAFETY: `struct MDBX_version_info` begins with four 16-bit numbers.
        let numbers = unsafe { library.get::<*const [u16; 4]>(b"mdbx_version\0") }?;
        // SAFETY: a constant of the library.
        let [major, minor, patch, tweak] = unsafe { **numbers };
        Ok(format!("libmdbx {major}.{minor}.{patch}.{tweak}"))
    }
}

/// An environment with its unnamed database.
pub(crate) struct Lmdb<D> {
    /// Where the library has it. Valid as long as `c`.
    get_many: Option<GetMany>,
    c: Functions,
    env: *mut c_void,
    dbi: c_uint,
    version: String,
    dialect: D,
}

// SAFETY: environments may be used by any threads, as the header says; transactions are made by the
// threads that use them.
unsafe impl<D: Dialect> Sync for Lmdb<D> {}

impl Functions {
    fn check(&self, code: c_int) -> anyhow::Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: a text that lasts until the next call.
        let text = unsafe { text(self.strerror(code)) };
        bail!("{text} ({code})")
    }
}

impl<D: Dialect> Store for Lmdb<D> {
    type Reader<'s> = LmdbReader<'s, D>;
    type Writer<'s> = LmdbWriter<'s, D>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let c = Functions::load(&setup.library, D::PREFIX)?;
        let dialect = D::load(&setup.library)?;
        let mut env = null_mut();
        c.check(c.env_create(&raw mut env))?;
        c.check(dialect.size_map(env))?;
        c.check(c.env_set_maxreaders(env, 256))?;
        let flags = match setup.durability {
            Durability::Asynchronous => D::NO_SYNC,
            Durability::Synchronous => 0,
        };
        c.check(c.env_open(env, c_path(&setup.folder)?.as_ptr(), flags, 0o600))?;
        let version = dialect.version()?;
        // SAFETY: the type is the header's.
        let get_many = unsafe { c._library.get::<GetMany>(b"fulgurite_get_many\0") };
        let mut store = Lmdb {
            get_many: get_many.ok().map(|function| *function),
            c,
            env,
            dbi: 0,
            version,
            dialect,
        };
        let duplicates = if setup.duplicates { DUPSORT } else { 0 };
        let mut dbi = 0;
        store.write(|writer| {
            let c = &writer.store.c;
            c.check(c.dbi_open(writer.txn, null(), CREATE | duplicates, &raw mut dbi))
        })?;
        store.dbi = dbi;
        Ok(store)
    }

    fn reader(&self) -> anyhow::Result<LmdbReader<'_, D>> {
        Ok(LmdbReader {
            store: self,
            txn: self.begin(READ_ONLY)?,
            cursor: null_mut(),
        })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut LmdbWriter<'_, D>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut writer = LmdbWriter {
            store: self,
            txn: self.begin(0)?,
        };
        let done = match work(&mut writer) {
            Ok(done) => done,
            Err(error) => {
                self.c.txn_abort(writer.txn);
                return Err(error);
            }
        };
        self.c.check(self.c.txn_commit(writer.txn))?;
        Ok(done)
    }

    fn copy_to(&self, folder: &Path) -> anyhow::Result<()> {
        self.c.check(self.dialect.copy(self.env, folder)?)
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

impl<D: Dialect> Lmdb<D> {
    #[inline]
    fn begin(&self, flags: c_uint) -> anyhow::Result<*mut c_void> {
        let mut txn = null_mut();
        self.c
            .check(self.c.txn_begin(self.env, null_mut(), flags, &raw mut txn))?;
        Ok(txn)
    }
}

impl<D> Drop for Lmdb<D> {
    fn drop(&mut self) {
        self.c.env_close(self.env);
    }
}

/// A read transaction, and a cursor once one is needed.
pub(crate) struct LmdbReader<'s, D: Dialect> {
    store: &'s Lmdb<D>,
    txn: *mut c_void,
    cursor: *mut c_void,
}

impl<D: Dialect> LmdbReader<'_, D> {
    #[inline]
    fn cursor(&mut self) -> anyhow::Result<*mut c_void> {
        if self.cursor.is_null() {
            let c = &self.store.c;
            c.check(c.cursor_open(self.txn, self.store.dbi, &raw mut self.cursor))?;
        }
        Ok(self.cursor)
    }

    /// One operation to begin with, then another one as long as there are records.
    #[inline]
    fn walk(
        &mut self,
        from: Option<&[u8]>,
        (first, next): (c_int, c_int),
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let cursor = self.cursor()?;
        let c = &self.store.c;
        let from = from.unwrap_or_default();
        let mut key = D::octets(from.as_ptr().cast(), from.len());
        let mut value = D::octets(null(), 0);
        let mut op = first;
        for seen in 0..limit {
            match c.cursor_get(cursor, (&raw mut key).cast(), (&raw mut value).cast(), op) {
                0 => see(lent::<D>(key), lent::<D>(value)),
                NOT_FOUND => return Ok(seen),
                code => c.check(code)?,
            }
            op = next;
        }
        Ok(limit)
    }
}

/// `fulgurite_get_many`, which ours has beyond the original.
type GetMany = unsafe extern "C" fn(
    *mut c_void,
    c_uint,
    usize,
    *const c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;

/// The number of keys per call.
const KEYS_AT_ONCE: usize = 1024;

/// The data lent by a transaction, for as long as a caller looks at it.
#[inline]
fn lent<'a, D: Dialect>(value: D::Octets) -> &'a [u8] {
    let (start, len) = D::parts(value);
    // SAFETY: lent by a transaction that outlives the closure it is shown to.
    unsafe { octets(start, len) }
}

impl<D: Dialect> Reader for LmdbReader<'_, D> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        let c = &self.store.c;
        let key = D::octets(key.as_ptr().cast(), key.len());
        let mut value = D::octets(null(), 0);
        match c.get(
            self.txn,
            self.store.dbi,
            (&raw const key).cast(),
            (&raw mut value).cast(),
        ) {
            0 => see(lent::<D>(value)),
            NOT_FOUND => return Ok(false),
            code => c.check(code)?,
        }
        Ok(true)
    }

    fn get_many(&mut self, keys: &[[u8; 16]], mut see: impl FnMut(&[u8])) -> anyhow::Result<u64> {
        let mut found = 0;
        let Some(get_many) = self.store.get_many else {
            for key in keys {
                found += u64::from(self.get(key, &mut see)?);
            }
            return Ok(found);
        };
        let mut values = vec![D::octets(null(), 0); KEYS_AT_ONCE];
        let mut wanted = Vec::with_capacity(KEYS_AT_ONCE);
        for keys in keys.chunks(KEYS_AT_ONCE) {
            wanted.clear();
            wanted.extend(keys.iter().map(|key| D::octets(key.as_ptr().cast(), 16)));
            let (txn, dbi) = (self.txn, self.store.dbi);
            let (from, to) = (wanted.as_ptr().cast(), values.as_mut_ptr().cast());
            // SAFETY: both arrays have `count` elements, and the array of codes may be absent.
            let code = unsafe { get_many(txn, dbi, wanted.len(), from, to, null_mut()) };
            self.store.c.check(code)?;
            for value in values.iter().take(wanted.len()) {
                if !D::parts(*value).0.is_null() {
                    see(lent::<D>(*value));
                    found += 1;
                }
            }
        }
        Ok(found)
    }

    #[inline]
    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let first = if from.is_some() { SET_RANGE } else { FIRST };
        self.walk(from, (first, NEXT), limit, see)
    }

    fn scan_back(&mut self, see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        self.walk(None, (LAST, PREV), u64::MAX, see)
    }

    #[inline]
    fn renew(&mut self) -> anyhow::Result<()> {
        self.store.c.txn_reset(self.txn);
        self.store.c.check(self.store.c.txn_renew(self.txn))
    }
}

impl<D: Dialect> Drop for LmdbReader<'_, D> {
    #[inline]
    fn drop(&mut self) {
        if !self.cursor.is_null() {
            self.store.c.cursor_close(self.cursor);
        }
        self.store.c.txn_abort(self.txn);
    }
}

/// A write transaction.
pub(crate) struct LmdbWriter<'s, D: Dialect> {
    store: &'s Lmdb<D>,
    txn: *mut c_void,
}

impl<D: Dialect> LmdbWriter<'_, D> {
    #[inline]
    fn put_with(&mut self, key: &[u8], value: &[u8], flags: c_uint) -> anyhow::Result<()> {
        let c = &self.store.c;
        let key = D::octets(key.as_ptr().cast(), key.len());
        let mut value = D::octets(value.as_ptr().cast(), value.len());
        c.check(c.put(
            self.txn,
            self.store.dbi,
            (&raw const key).cast(),
            (&raw mut value).cast(),
            flags,
        ))
    }
}

impl<D: Dialect> Writer for LmdbWriter<'_, D> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.put_with(key, value, 0)
    }

    #[inline]
    fn append(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.put_with(key, value, APPEND)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        let c = &self.store.c;
        let key = D::octets(key.as_ptr().cast(), key.len());
        c.check(c.del(
            self.txn,
            self.store.dbi,
            (&raw const key).cast(),
            null_mut(),
        ))
    }
}
