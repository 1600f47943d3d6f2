//! One liblmdb, loaded from a file: its functions by name, each behind a wrapper that copies the
//! answer at once.
//!
//! Only this file of the test holds unsafe code. `run` keeps its contract. Handles go back to the
//! library they come from, and no handle is used after the call that frees it. Both libraries
//! receive the same calls, and the rules of the reference decide which calls are made.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::compare::{Field, Outcome};
use crate::constants::{KEYEXIST, RESERVE};

/// An environment, a transaction or a cursor of the library, or NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Handle(*mut c_void);

impl Handle {
    /// The NULL pointer.
    pub(crate) const NULL: Self = Self(ptr::null_mut());
}

/// `MDB_val`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Val {
    size: usize,
    data: *const u8,
}

/// `MDB_stat`.
#[derive(Debug, Default, Clone, Copy)]
#[repr(C)]
struct Stat {
    page_size: c_uint,
    depth: c_uint,
    branch_pages: usize,
    leaf_pages: usize,
    overflow_pages: usize,
    entries: usize,
}

/// `MDB_envinfo`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct EnvInfo {
    map_address: *mut c_void,
    map_size: usize,
    last_pgno: usize,
    last_txnid: usize,
    readers_max: c_uint,
    readers: c_uint,
}

type CompareFn = extern "C" fn(&Val, &Val) -> c_int;

macro_rules! functions {
    ($($name:ident($($arg:ident: $type:ty),*) $(-> $back:ty)?;)*) => {
        struct Functions { $($name: unsafe extern "C" fn($($type),*) $(-> $back)?,)* }

        impl Functions {
            fn load(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    $($name: {
                        // SAFETY: the type given is the one that the C interface documents for this
                        // name.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0")) }?;
                        *symbol
                    },)*
                })
            }

            $(fn $name(&self, $($arg: $type),*) $(-> $back)? {
                // SAFETY: handles come from this library and live, or are NULL where that has a
                // result. Pointers are to variables and texts of the caller. The reference
                // library's rules decide which calls are made.
                unsafe { (self.$name)($($arg),*) }
            })*
        }
    };
}

functions! {
    mdb_version(a: *mut c_int, b: *mut c_int, c: *mut c_int) -> *const c_char;
    mdb_strerror(a: c_int) -> *const c_char;
    mdb_env_create(a: *mut Handle) -> c_int;
    mdb_env_open(a: Handle, b: *const c_char, c: c_uint, d: c_uint) -> c_int;
    mdb_env_close(a: Handle);
    mdb_env_stat(a: Handle, b: *mut Stat) -> c_int;
    mdb_env_info(a: Handle, b: *mut EnvInfo) -> c_int;
    mdb_env_sync(a: Handle, b: c_int) -> c_int;
    mdb_env_set_flags(a: Handle, b: c_uint, c: c_int) -> c_int;
    mdb_env_get_flags(a: Handle, b: *mut c_uint) -> c_int;
    mdb_env_set_mapsize(a: Handle, b: usize) -> c_int;
    mdb_env_set_maxreaders(a: Handle, b: c_uint) -> c_int;
    mdb_env_get_maxreaders(a: Handle, b: *mut c_uint) -> c_int;
    mdb_env_set_maxdbs(a: Handle, b: c_uint) -> c_int;
    mdb_env_get_maxkeysize(a: Handle) -> c_int;
    mdb_env_set_userctx(a: Handle, b: *mut c_void) -> c_int;
    mdb_env_set_assert(a: Handle, b: *mut c_void) -> c_int;
    mdb_reader_check(a: Handle, b: *mut c_int) -> c_int;
    mdb_txn_begin(a: Handle, b: Handle, c: c_uint, d: *mut Handle) -> c_int;
    mdb_txn_env(a: Handle) -> Handle;
    mdb_txn_id(a: Handle) -> usize;
    mdb_txn_commit(a: Handle) -> c_int;
    mdb_txn_abort(a: Handle);
    mdb_txn_reset(a: Handle);
    mdb_txn_renew(a: Handle) -> c_int;
    mdb_dbi_open(a: Handle, b: *const c_char, c: c_uint, d: *mut c_uint) -> c_int;
    mdb_dbi_close(a: Handle, b: c_uint);
    mdb_dbi_flags(a: Handle, b: c_uint, c: *mut c_uint) -> c_int;
    mdb_stat(a: Handle, b: c_uint, c: *mut Stat) -> c_int;
    mdb_drop(a: Handle, b: c_uint, c: c_int) -> c_int;
    mdb_set_compare(a: Handle, b: c_uint, c: CompareFn) -> c_int;
    mdb_set_dupsort(a: Handle, b: c_uint, c: CompareFn) -> c_int;
    mdb_set_relctx(a: Handle, b: c_uint, c: *mut c_void) -> c_int;
    mdb_get(a: Handle, b: c_uint, c: *mut Val, d: *mut Val) -> c_int;
    mdb_put(a: Handle, b: c_uint, c: *mut Val, d: *mut Val, e: c_uint) -> c_int;
    mdb_del(a: Handle, b: c_uint, c: *mut Val, d: *mut Val) -> c_int;
    mdb_cmp(a: Handle, b: c_uint, c: *const Val, d: *const Val) -> c_int;
    mdb_dcmp(a: Handle, b: c_uint, c: *const Val, d: *const Val) -> c_int;
    mdb_cursor_open(a: Handle, b: c_uint, c: *mut Handle) -> c_int;
    mdb_cursor_close(a: Handle);
    mdb_cursor_renew(a: Handle, b: Handle) -> c_int;
    mdb_cursor_txn(a: Handle) -> Handle;
    mdb_cursor_dbi(a: Handle) -> c_uint;
    mdb_cursor_get(a: Handle, b: *mut Val, c: *mut Val, d: c_int) -> c_int;
    mdb_cursor_put(a: Handle, b: *mut Val, c: *mut Val, d: c_uint) -> c_int;
    mdb_cursor_del(a: Handle, b: c_uint) -> c_int;
    mdb_cursor_count(a: Handle, b: *mut usize) -> c_int;
}

/// An order that is none of the built-in ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The bytewise order upside down.
    Descending,
    /// Shorter first, bytewise within a length.
    LengthFirst,
}

impl Order {
    fn function(self) -> CompareFn {
        match self {
            Self::Descending => descending,
            Self::LengthFirst => length_first,
        }
    }
}

/// The value for an argument that is not set by the caller. It shows whether the library has set
/// it.
const SENTINEL: [u8; 1] = [0x5e];
const SENTINEL_SIZE: usize = 0x5e5e;

/// A C argument of type `MDB_val *`: nothing, room for an answer, or bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// NULL.
    Null,
    /// A struct that the library is to fill.
    Room,
    /// Bytes.
    Bytes(&'a [u8]),
}

impl Arg<'_> {
    fn val(self) -> Val {
        match self {
            Arg::Bytes(bytes) => Val {
                size: bytes.len(),
                data: bytes.as_ptr(),
            },
            _ => Val {
                size: SENTINEL_SIZE,
                data: SENTINEL.as_ptr(),
            },
        }
    }

    fn pointer(self, val: &mut Val) -> *mut Val {
        match self {
            Arg::Null => ptr::null_mut(),
            _ => val,
        }
    }

    /// The value after the call. Only called after success, while the bytes are still valid.
    fn answer(self, val: Val) -> Field {
        let before = self.val();
        if matches!(self, Arg::Null) || (val.data == before.data && val.size == before.size) {
            return Field::Untouched;
        }
        copy(val)
    }
}

/// A loaded library.
pub(crate) struct Api {
    functions: Functions,
    /// The three numbers of `mdb_version`.
    pub(crate) version: (c_int, c_int, c_int),
    _library: Library,
}

impl Api {
    /// Loads the library, separate from any other of the same soname. `None` if it has no
    /// `mdb_env_create` at all.
    pub(crate) fn load(path: &Path) -> Result<Option<Self>, libloading::Error> {
        // SAFETY: a liblmdb has no initialisers with demands on its loader.
        let library = unsafe { Library::open(Some(path), RTLD_LOCAL | RTLD_NOW) }?;
        // SAFETY: the address is only looked for, never called through this type.
        if unsafe { library.get::<unsafe extern "C" fn()>("mdb_env_create\0") }.is_err() {
            return Ok(None);
        }
        let functions = Functions::load(&library)?;
        let mut version = (0, 0, 0);
        functions.mdb_version(&mut version.0, &mut version.1, &mut version.2);
        Ok(Some(Self {
            functions,
            version,
            _library: library,
        }))
    }

    /// `mdb_strerror`.
    pub(crate) fn strerror(&self, code: c_int) -> Outcome {
        let text = self.functions.mdb_strerror(code);
        // SAFETY: the text is a C string that lives until the next call.
        let text = unsafe { CStr::from_ptr(text) };
        Outcome::of(0).with("text", Field::Bytes(text.to_bytes().to_vec()))
    }

    /// Creates an environment with these limits and opens it.
    pub(crate) fn env_open(&self, open: &EnvOpen<'_>) -> (Outcome, Handle) {
        let mut env = Handle::NULL;
        let code = self.functions.mdb_env_create(&mut env);
        if code != 0 {
            return (Outcome::of(code), Handle::NULL);
        }
        self.functions.mdb_env_set_mapsize(env, open.map_bytes);
        self.functions.mdb_env_set_maxdbs(env, open.databases);
        self.functions.mdb_env_set_maxreaders(env, open.readers);
        let path = CString::new(open.path.as_os_str().as_bytes()).unwrap_or_default();
        let code = self
            .functions
            .mdb_env_open(env, path.as_ptr(), open.flags, 0o644);
        if code != 0 {
            self.env_close(env);
            return (Outcome::of(code), Handle::NULL);
        }
        (Outcome::of(0), env)
    }

    /// `mdb_env_close`.
    pub(crate) fn env_close(&self, env: Handle) {
        self.functions.mdb_env_close(env)
    }

    /// `mdb_env_stat`: the main database's entries.
    pub(crate) fn env_stat(&self, env: Handle) -> Outcome {
        let mut stat = Stat::default();
        let code = self.functions.mdb_env_stat(env, &mut stat);
        stat_outcome(code, &stat)
    }

    /// `mdb_env_info` without what depends on the layout of the file.
    pub(crate) fn env_info(&self, env: Handle) -> Outcome {
        let mut info = EnvInfo {
            map_address: ptr::null_mut(),
            map_size: 0,
            last_pgno: 0,
            last_txnid: 0,
            readers_max: 0,
            readers: 0,
        };
        let code = self.functions.mdb_env_info(env, &mut info);
        Outcome::of(code)
            .number("address", info.map_address as usize)
            .number("mapsize", info.map_size)
            .number("txnid", info.last_txnid)
            .number("maxreaders", info.readers_max as usize)
            .number("numreaders", info.readers as usize)
    }

    /// `mdb_env_sync`.
    pub(crate) fn env_sync(&self, env: Handle, force: bool) -> Outcome {
        Outcome::of(self.functions.mdb_env_sync(env, c_int::from(force)))
    }

    /// `mdb_env_set_flags`, then `mdb_env_get_flags`.
    pub(crate) fn env_flags(&self, env: Handle, flags: u32, on: bool) -> Outcome {
        let code = self
            .functions
            .mdb_env_set_flags(env, flags, c_int::from(on));
        let mut now = 0;
        let read = self.functions.mdb_env_get_flags(env, &mut now);
        Outcome::of(code)
            .number("get", read as usize)
            .number("flags", now as usize)
    }

    /// `mdb_env_set_mapsize`.
    pub(crate) fn env_set_mapsize(&self, env: Handle, bytes: usize) -> Outcome {
        Outcome::of(self.functions.mdb_env_set_mapsize(env, bytes))
    }

    /// Settings that an open environment refuses, and two constants.
    pub(crate) fn env_limits(&self, env: Handle) -> Outcome {
        let readers = self.functions.mdb_env_set_maxreaders(env, 5);
        let databases = self.functions.mdb_env_set_maxdbs(env, 5);
        let mut count = 0;
        let code = self.functions.mdb_env_get_maxreaders(env, &mut count);
        let key = self.functions.mdb_env_get_maxkeysize(env);
        Outcome::of(code)
            .number("set_maxreaders", readers as usize)
            .number("set_maxdbs", databases as usize)
            .number("maxreaders", count as usize)
            .number("maxkeysize", key as usize)
    }

    /// `mdb_reader_check`.
    pub(crate) fn reader_check(&self, env: Handle) -> Outcome {
        let mut dead = -7;
        let code = self.functions.mdb_reader_check(env, &mut dead);
        Outcome::of(code).number("dead", dead as usize)
    }

    /// `mdb_txn_begin`.
    pub(crate) fn txn_begin(&self, env: Handle, parent: Handle, flags: u32) -> (Outcome, Handle) {
        let mut txn = Handle::NULL;
        let code = self.functions.mdb_txn_begin(env, parent, flags, &mut txn);
        if code != 0 {
            return (Outcome::of(code), Handle::NULL);
        }
        let same = self.functions.mdb_txn_env(txn) == env;
        (
            Outcome::of(0)
                .number("id", self.txn_id(txn))
                .number("env", usize::from(same)),
            txn,
        )
    }

    /// `mdb_txn_id`.
    pub(crate) fn txn_id(&self, txn: Handle) -> usize {
        self.functions.mdb_txn_id(txn)
    }

    /// `mdb_txn_commit`.
    pub(crate) fn txn_commit(&self, txn: Handle) -> Outcome {
        Outcome::of(self.functions.mdb_txn_commit(txn))
    }

    /// `mdb_txn_abort`.
    pub(crate) fn txn_abort(&self, txn: Handle) -> Outcome {
        self.functions.mdb_txn_abort(txn);
        Outcome::of(0)
    }

    /// `mdb_txn_reset`, and the id that the transaction shows after it.
    pub(crate) fn txn_reset(&self, txn: Handle) -> Outcome {
        self.functions.mdb_txn_reset(txn);
        Outcome::of(0).number("id", self.txn_id(txn))
    }

    /// `mdb_txn_renew`.
    pub(crate) fn txn_renew(&self, txn: Handle) -> Outcome {
        let code = self.functions.mdb_txn_renew(txn);
        Outcome::of(code).number("id", self.txn_id(txn))
    }

    /// `mdb_dbi_open`.
    pub(crate) fn dbi_open(&self, txn: Handle, name: Option<&[u8]>, flags: u32) -> Outcome {
        let name = name.map(|n| CString::new(n).unwrap_or_default());
        let pointer = name.as_ref().map_or(ptr::null(), |n| n.as_ptr());
        let mut dbi = 0;
        let code = self.functions.mdb_dbi_open(txn, pointer, flags, &mut dbi);
        Outcome::of(code).on_success("dbi", dbi as usize)
    }

    /// `mdb_dbi_close`.
    pub(crate) fn dbi_close(&self, env: Handle, dbi: u32) -> Outcome {
        self.functions.mdb_dbi_close(env, dbi);
        Outcome::of(0)
    }

    /// `mdb_dbi_flags`.
    pub(crate) fn dbi_flags(&self, txn: Handle, dbi: u32) -> Outcome {
        let mut flags = 0;
        let code = self.functions.mdb_dbi_flags(txn, dbi, &mut flags);
        Outcome::of(code).on_success("flags", flags as usize)
    }

    /// `mdb_stat`.
    pub(crate) fn stat(&self, txn: Handle, dbi: u32) -> Outcome {
        let mut stat = Stat::default();
        let code = self.functions.mdb_stat(txn, dbi, &mut stat);
        stat_outcome(code, &stat)
    }

    /// `mdb_drop`.
    pub(crate) fn drop_db(&self, txn: Handle, dbi: u32, del: i32) -> Outcome {
        Outcome::of(self.functions.mdb_drop(txn, dbi, del))
    }

    /// `mdb_set_compare`.
    pub(crate) fn set_compare(&self, txn: Handle, dbi: u32, order: Order) -> Outcome {
        Outcome::of(self.functions.mdb_set_compare(txn, dbi, order.function()))
    }

    /// `mdb_set_dupsort`.
    pub(crate) fn set_dupsort(&self, txn: Handle, dbi: u32, order: Order) -> Outcome {
        Outcome::of(self.functions.mdb_set_dupsort(txn, dbi, order.function()))
    }

    /// `mdb_get`.
    pub(crate) fn get(&self, txn: Handle, dbi: u32, key: Arg<'_>, data: Arg<'_>) -> Outcome {
        let (mut k, mut d) = (key.val(), data.val());
        let (key_at, data_at) = (key.pointer(&mut k), data.pointer(&mut d));
        let code = self.functions.mdb_get(txn, dbi, key_at, data_at);
        Outcome::of(code).with("data", data.answer(d))
    }

    /// `mdb_put`; with RESERVE the room is filled with `data`.
    pub(crate) fn put(
        &self,
        txn: Handle,
        dbi: u32,
        key: Arg<'_>,
        data: Arg<'_>,
        flags: u32,
    ) -> Outcome {
        let (mut k, mut d) = (key.val(), data.val());
        let (key_at, data_at) = (key.pointer(&mut k), data.pointer(&mut d));
        let code = self.functions.mdb_put(txn, dbi, key_at, data_at, flags);
        stored(code, data, d, flags)
    }

    /// `mdb_del`.
    pub(crate) fn del(&self, txn: Handle, dbi: u32, key: Arg<'_>, data: Arg<'_>) -> Outcome {
        let (mut k, mut d) = (key.val(), data.val());
        let (key_at, data_at) = (key.pointer(&mut k), data.pointer(&mut d));
        Outcome::of(self.functions.mdb_del(txn, dbi, key_at, data_at))
    }

    /// The sign of `mdb_cmp`, or of `mdb_dcmp` for values.
    pub(crate) fn cmp(&self, txn: Handle, dbi: u32, a: &[u8], b: &[u8], values: bool) -> Outcome {
        let (a, b) = (Arg::Bytes(a).val(), Arg::Bytes(b).val());
        let sign = if values {
            self.functions.mdb_dcmp(txn, dbi, &a, &b)
        } else {
            self.functions.mdb_cmp(txn, dbi, &a, &b)
        };
        Outcome::of(0).number("sign", sign.signum() as usize)
    }

    /// `mdb_cursor_open`.
    pub(crate) fn cursor_open(&self, txn: Handle, dbi: u32) -> (Outcome, Handle) {
        let mut cursor = Handle::NULL;
        let code = self.functions.mdb_cursor_open(txn, dbi, &mut cursor);
        if code != 0 {
            return (Outcome::of(code), Handle::NULL);
        }
        let same = self.functions.mdb_cursor_txn(cursor) == txn;
        let on = self.functions.mdb_cursor_dbi(cursor);
        (
            Outcome::of(0)
                .number("txn", usize::from(same))
                .number("dbi", on as usize),
            cursor,
        )
    }

    /// `mdb_cursor_close`.
    pub(crate) fn cursor_close(&self, cursor: Handle) -> Outcome {
        self.functions.mdb_cursor_close(cursor);
        Outcome::of(0)
    }

    /// `mdb_cursor_renew`.
    pub(crate) fn cursor_renew(&self, txn: Handle, cursor: Handle) -> Outcome {
        Outcome::of(self.functions.mdb_cursor_renew(txn, cursor))
    }

    /// `mdb_cursor_get`.
    pub(crate) fn cursor_get(
        &self,
        cursor: Handle,
        key: Arg<'_>,
        data: Arg<'_>,
        op: u32,
    ) -> Outcome {
        let (mut k, mut d) = (key.val(), data.val());
        let (key_at, data_at) = (key.pointer(&mut k), data.pointer(&mut d));
        let code = self
            .functions
            .mdb_cursor_get(cursor, key_at, data_at, op as c_int);
        if code != 0 {
            return Outcome::of(code);
        }
        Outcome::of(0)
            .with("key", key.answer(k))
            .with("data", data.answer(d))
    }

    /// `mdb_cursor_put`; with RESERVE the room is filled with `data`.
    pub(crate) fn cursor_put(
        &self,
        cursor: Handle,
        key: Arg<'_>,
        data: Arg<'_>,
        flags: u32,
    ) -> Outcome {
        let (mut k, mut d) = (key.val(), data.val());
        let (key_at, data_at) = (key.pointer(&mut k), data.pointer(&mut d));
        let code = self
            .functions
            .mdb_cursor_put(cursor, key_at, data_at, flags);
        stored(code, data, d, flags)
    }

    /// `mdb_cursor_put` with MULTIPLE in `flags`: `count` items of `size` bytes each.
    pub(crate) fn cursor_put_many(
        &self,
        cursor: Handle,
        key: &[u8],
        items: &[u8],
        size: usize,
        flags: u32,
    ) -> Outcome {
        let mut k = Arg::Bytes(key).val();
        let count = items.len().checked_div(size).unwrap_or(0);
        let mut data = [
            Val {
                size,
                data: items.as_ptr(),
            },
            Val {
                size: count,
                data: ptr::null(),
            },
        ];
        // SAFETY: a live cursor; two structs, the array they describe as long as they say.
        let code = self
            .functions
            .mdb_cursor_put(cursor, &mut k, data.as_mut_ptr(), flags);
        Outcome::of(code).number("stored", data[1].size)
    }

    /// `mdb_cursor_del`.
    pub(crate) fn cursor_del(&self, cursor: Handle, flags: u32) -> Outcome {
        Outcome::of(self.functions.mdb_cursor_del(cursor, flags))
    }

    /// `mdb_cursor_count`.
    pub(crate) fn cursor_count(&self, cursor: Handle) -> Outcome {
        let mut count = 0;
        let code = self.functions.mdb_cursor_count(cursor, &mut count);
        Outcome::of(code).on_success("count", count)
    }

    /// The calls that take NULL for an environment, one outcome with all their codes.
    pub(crate) fn null_environment(&self) -> Outcome {
        let env = Handle::NULL;
        let get_flags = self.functions.mdb_env_get_flags(env, &mut 0);
        let userctx = self.functions.mdb_env_set_userctx(env, ptr::null_mut());
        let assert = self.functions.mdb_env_set_assert(env, ptr::null_mut());
        let relctx = self
            .functions
            .mdb_set_relctx(Handle::NULL, 1, ptr::null_mut());
        self.env_close(env);
        Outcome::of(0)
            .number("info", self.env_info(env).code as usize)
            .number("stat", self.env_stat(env).code as usize)
            .number("get_flags", get_flags as usize)
            .number("set_userctx", userctx as usize)
            .number("set_assert", assert as usize)
            .number("set_relctx", relctx as usize)
            .number("reader_check", self.reader_check(env).code as usize)
    }
}

/// How an environment is created and opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EnvOpen<'a> {
    /// The directory, or the file with NOSUBDIR.
    pub(crate) path: &'a Path,
    /// Environment flags.
    pub(crate) flags: u32,
    /// Map size.
    pub(crate) map_bytes: usize,
    /// Named databases.
    pub(crate) databases: u32,
    /// Reader slots.
    pub(crate) readers: u32,
}

fn stat_outcome(code: c_int, stat: &Stat) -> Outcome {
    // Page counts and most depths depend on where pages were split, and on the version for
    // duplicates.
    Outcome::of(code)
        .number("psize", stat.page_size as usize)
        .number("empty", usize::from(stat.depth == 0))
        .number("entries", stat.entries)
}

/// The outcome of a put: an existing value comes back with KEYEXIST, room to fill with RESERVE.
fn stored(code: c_int, data: Arg<'_>, val: Val, flags: u32) -> Outcome {
    if code == 0 && flags & RESERVE != 0 {
        if let Arg::Bytes(bytes) = data {
            // SAFETY: RESERVE promises `val.size` writable bytes, the size asked for, until the
            // next call.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), val.data.cast_mut(), bytes.len()) };
        }
        return Outcome::of(code).number("size", val.size);
    }
    if code == KEYEXIST {
        return Outcome::of(code).with("data", data.answer(val));
    }
    Outcome::of(code)
}

fn copy(val: Val) -> Field {
    if val.data.is_null() {
        return Field::Null(val.size);
    }
    // SAFETY: the bytes that the library returned are readable until its next call.
    Field::Bytes(unsafe { std::slice::from_raw_parts(val.data, val.size) }.to_vec())
}

/// The bytes that the library passes to a comparison function.
fn compared(val: &Val) -> &[u8] {
    if val.size == 0 {
        return &[];
    }
    // SAFETY: the library passes as many bytes as it states, which live as long as the comparison
    // runs.
    unsafe { std::slice::from_raw_parts(val.data, val.size) }
}

extern "C" fn descending(a: &Val, b: &Val) -> c_int {
    compared(b).cmp(compared(a)) as c_int
}

extern "C" fn length_first(a: &Val, b: &Val) -> c_int {
    let (a, b) = (compared(a), compared(b));
    (a.len(), a).cmp(&(b.len(), b)) as c_int
}
