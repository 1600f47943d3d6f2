//! Handles to misuse, and calls to misuse them in: one for each function that takes a handle.

use std::ffi::{CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use lmdb::*;
use tempfile::TempDir;

/// Calls the library.
macro_rules! c {
    ($call:expr) => {
        // SAFETY: whatever is no handle is as the interface asks; what handles may be is what these
        // tests are about.
        unsafe { $call }
    };
}
pub(crate) use c;

/// An open environment in its own directory, with a database and some items.
pub(crate) struct TestEnvironment {
    pub(crate) directory: TempDir,
    pub(crate) env: *mut MDB_env,
    pub(crate) dbi: MDB_dbi,
}

impl TestEnvironment {
    pub(crate) fn new(flags: u32) -> TestEnvironment {
        let directory = tempfile::tempdir().unwrap();
        let env = open_at(&directory, flags);
        let txn = begin(env, 0);
        let mut dbi = 0;
        let name = c"things";
        let create = MDB_CREATE | MDB_DUPSORT;
        assert_eq!(c!(mdb_dbi_open(txn, name.as_ptr(), create, &mut dbi)), 0);
        for number in 0..20_u32 {
            assert_eq!(put(txn, dbi, &number.to_be_bytes(), b"value"), 0);
        }
        assert_eq!(c!(mdb_txn_commit(txn)), 0);
        TestEnvironment {
            directory,
            env,
            dbi,
        }
    }

    pub(crate) fn reader(&self) -> *mut MDB_txn {
        begin(self.env, MDB_RDONLY)
    }

    pub(crate) fn writer(&self) -> *mut MDB_txn {
        begin(self.env, 0)
    }

    pub(crate) fn cursor(&self, txn: *mut MDB_txn) -> *mut MDB_cursor {
        let mut cursor = ptr::null_mut();
        assert_eq!(c!(mdb_cursor_open(txn, self.dbi, &mut cursor)), 0);
        cursor
    }

    /// Fails unless the environment can be read and written.
    pub(crate) fn is_well(&self) {
        let reader = self.reader();
        assert_eq!(get(reader, self.dbi, &3_u32.to_be_bytes()), 0);
        c!(mdb_txn_abort(reader));
        let writer = self.writer();
        assert_eq!(put(writer, self.dbi, b"well", b"v"), 0);
        assert_eq!(c!(mdb_txn_commit(writer)), 0);
    }
}

impl Drop for TestEnvironment {
    fn drop(&mut self) {
        c!(mdb_env_close(self.env));
    }
}

pub(crate) fn open_at(directory: &TempDir, flags: u32) -> *mut MDB_env {
    let path = CString::new(directory.path().as_os_str().as_bytes()).unwrap();
    let mut env = ptr::null_mut();
    assert_eq!(c!(mdb_env_create(&mut env)), 0);
    // The library keeps its panics to itself, and here also those of the tests.
    drop(std::panic::take_hook());
    assert_eq!(c!(mdb_env_set_maxdbs(env, 4)), 0);
    assert_eq!(c!(mdb_env_open(env, path.as_ptr(), flags, 0o600)), 0);
    env
}

pub(crate) fn begin(env: *mut MDB_env, flags: u32) -> *mut MDB_txn {
    let mut txn = ptr::null_mut();
    assert_eq!(c!(mdb_txn_begin(env, ptr::null_mut(), flags, &mut txn)), 0);
    txn
}

pub(crate) fn child_of(env: *mut MDB_env, parent: *mut MDB_txn) -> Result<*mut MDB_txn, c_int> {
    let mut txn = ptr::null_mut();
    match c!(mdb_txn_begin(env, parent, 0, &mut txn)) {
        0 => Ok(txn),
        code => Err(code),
    }
}

pub(crate) fn val(bytes: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: bytes.len(),
        mv_data: bytes.as_ptr().cast_mut().cast(),
    }
}

pub(crate) fn get(txn: *mut MDB_txn, dbi: MDB_dbi, key: &[u8]) -> c_int {
    c!(mdb_get(txn, dbi, &mut val(key), &mut val(b"")))
}

pub(crate) fn put(txn: *mut MDB_txn, dbi: MDB_dbi, key: &[u8], value: &[u8]) -> c_int {
    c!(mdb_put(txn, dbi, &mut val(key), &mut val(value), 0))
}

pub(crate) fn step(cursor: *mut MDB_cursor, op: MDB_cursor_op) -> c_int {
    let (mut key, mut data) = (val(&[0, 0, 0, 1]), val(b"value"));
    c!(mdb_cursor_get(cursor, &mut key, &mut data, op))
}

/// The result of a call: a code, or for calls without one, true if it was nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Code(c_int),
    Nothing(bool),
}
use Answer::{Code, Nothing};

pub(crate) type Call<H> = (&'static str, fn(*mut H, MDB_dbi) -> Answer);

extern "C" fn order(_: *const MDB_val, _: *const MDB_val) -> c_int {
    0
}

extern "C" fn tell(_: *const std::ffi::c_char, _: *mut c_void) -> c_int {
    0
}

fn nowhere() -> CString {
    CString::new("/nonexistent/place").unwrap()
}

fn stat() -> MDB_stat {
    MDB_stat {
        ms_psize: 0,
        ms_depth: 0,
        ms_branch_pages: 0,
        ms_leaf_pages: 0,
        ms_overflow_pages: 0,
        ms_entries: 0,
    }
}

fn info() -> MDB_envinfo {
    MDB_envinfo {
        me_mapaddr: ptr::null_mut(),
        me_mapsize: 0,
        me_last_pgno: 0,
        me_last_txnid: 0,
        me_maxreaders: 0,
        me_numreaders: 0,
    }
}

/// Every function that takes an environment, but for mdb_env_close and mdb_env_get_maxkeysize,
/// which does not look.
pub(crate) const ENV_CALLS: &[Call<MDB_env>] = &[
    ("env_open", |env, _| {
        Code(c!(mdb_env_open(env, nowhere().as_ptr(), 0, 0o600)))
    }),
    ("env_copy", |env, _| {
        Code(c!(mdb_env_copy(env, nowhere().as_ptr())))
    }),
    ("env_copy2", |env, _| {
        Code(c!(mdb_env_copy2(env, nowhere().as_ptr(), MDB_CP_COMPACT)))
    }),
    ("env_copyfd", |env, _| Code(c!(mdb_env_copyfd(env, 1)))),
    ("env_copyfd2", |env, _| Code(c!(mdb_env_copyfd2(env, 1, 0)))),
    ("env_stat", |env, _| {
        Code(c!(mdb_env_stat(env, &mut stat())))
    }),
    ("env_info", |env, _| {
        Code(c!(mdb_env_info(env, &mut info())))
    }),
    ("env_sync", |env, _| Code(c!(mdb_env_sync(env, 1)))),
    ("env_set_flags", |env, _| {
        Code(c!(mdb_env_set_flags(env, MDB_NOMEMINIT, 1)))
    }),
    ("env_get_flags", |env, _| {
        Code(c!(mdb_env_get_flags(env, &mut 0)))
    }),
    ("env_get_path", |env, _| {
        Code(c!(mdb_env_get_path(env, &mut ptr::null())))
    }),
    ("env_get_fd", |env, _| Code(c!(mdb_env_get_fd(env, &mut 0)))),
    ("env_set_mapsize", |env, _| {
        Code(c!(mdb_env_set_mapsize(env, 1 << 20)))
    }),
    ("env_set_maxreaders", |env, _| {
        Code(c!(mdb_env_set_maxreaders(env, 5)))
    }),
    ("env_get_maxreaders", |env, _| {
        Code(c!(mdb_env_get_maxreaders(env, &mut 0)))
    }),
    ("env_set_maxdbs", |env, _| {
        Code(c!(mdb_env_set_maxdbs(env, 5)))
    }),
    ("env_set_userctx", |env, _| {
        Code(c!(mdb_env_set_userctx(env, ptr::null_mut())))
    }),
    ("env_get_userctx", |env, _| {
        Nothing(c!(mdb_env_get_userctx(env)).is_null())
    }),
    ("env_set_assert", |env, _| {
        Code(c!(mdb_env_set_assert(env, None)))
    }),
    ("reader_check", |env, _| {
        Code(c!(mdb_reader_check(env, &mut 0)))
    }),
    ("reader_list", |env, _| {
        Nothing(c!(mdb_reader_list(env, Some(tell), ptr::null_mut())) == -1)
    }),
    ("txn_begin", |env, _| {
        Code(c!(mdb_txn_begin(
            env,
            ptr::null_mut(),
            MDB_RDONLY,
            &mut ptr::null_mut()
        )))
    }),
    ("dbi_close", |env, dbi| {
        c!(mdb_dbi_close(env, dbi));
        Nothing(true)
    }),
    ("env_set_growth", |env, _| {
        Code(c!(fulgurite_env_set_growth(env, 1 << 30)))
    }),
];

/// Every function that takes a transaction, but for those that end it. Those that need an
/// environment or a cursor as well are tested by themselves.
pub(crate) const TXN_CALLS: &[Call<MDB_txn>] = &[
    ("txn_env", |txn, _| Nothing(c!(mdb_txn_env(txn)).is_null())),
    ("txn_id", |txn, _| Nothing(c!(mdb_txn_id(txn)) == 0)),
    ("txn_renew", |txn, _| Code(c!(mdb_txn_renew(txn)))),
    ("txn_reset", |txn, _| {
        c!(mdb_txn_reset(txn));
        Nothing(true)
    }),
    ("dbi_open", |txn, _| {
        Code(c!(mdb_dbi_open(txn, c"things".as_ptr(), 0, &mut 0)))
    }),
    ("dbi_flags", |txn, dbi| {
        Code(c!(mdb_dbi_flags(txn, dbi, &mut 0)))
    }),
    ("stat", |txn, dbi| Code(c!(mdb_stat(txn, dbi, &mut stat())))),
    ("drop", |txn, dbi| Code(c!(mdb_drop(txn, dbi, 0)))),
    ("set_compare", |txn, dbi| {
        Code(c!(mdb_set_compare(txn, dbi, Some(order))))
    }),
    ("set_dupsort", |txn, dbi| {
        Code(c!(mdb_set_dupsort(txn, dbi, Some(order))))
    }),
    ("set_relfunc", |txn, dbi| {
        Code(c!(mdb_set_relfunc(txn, dbi, None)))
    }),
    ("set_relctx", |txn, dbi| {
        Code(c!(mdb_set_relctx(txn, dbi, ptr::null_mut())))
    }),
    ("cmp", |txn, dbi| {
        Nothing(c!(mdb_cmp(txn, dbi, &val(b"a"), &val(b"b"))) == 0)
    }),
    ("dcmp", |txn, dbi| {
        Nothing(c!(mdb_dcmp(txn, dbi, &val(b"a"), &val(b"b"))) == 0)
    }),
    ("get", |txn, dbi| Code(get(txn, dbi, &[0, 0, 0, 1]))),
    ("put", |txn, dbi| Code(put(txn, dbi, b"key", b"value"))),
    ("del", |txn, dbi| {
        Code(c!(mdb_del(
            txn,
            dbi,
            &mut val(&[0, 0, 0, 1]),
            ptr::null_mut()
        )))
    }),
    ("cursor_open", |txn, dbi| {
        Code(c!(mdb_cursor_open(txn, dbi, &mut ptr::null_mut())))
    }),
    ("get_many", |txn, dbi| {
        let (key, mut value) = (val(b"key"), val(b""));
        Code(c!(fulgurite_get_many(
            txn,
            dbi,
            1,
            &key,
            &mut value,
            ptr::null_mut()
        )))
    }),
    ("count_range", |txn, dbi| {
        Code(c!(fulgurite_count_range(
            txn,
            dbi,
            ptr::null(),
            ptr::null(),
            &mut 0
        )))
    }),
    ("estimate_range", |txn, dbi| {
        Code(c!(fulgurite_estimate_range(
            txn,
            dbi,
            ptr::null(),
            ptr::null(),
            &mut 0
        )))
    }),
];

/// Functions that end a transaction.
pub(crate) const ENDING_CALLS: &[Call<MDB_txn>] = &[
    ("txn_commit", |txn, _| Code(c!(mdb_txn_commit(txn)))),
    ("txn_abort", |txn, _| {
        c!(mdb_txn_abort(txn));
        Nothing(true)
    }),
];

/// Every function that takes a cursor, and mdb_cursor_get with each kind of operation.
pub(crate) const CURSOR_CALLS: &[Call<MDB_cursor>] = &[
    ("get NEXT", |cursor, _| Code(step(cursor, MDB_NEXT))),
    ("get PREV_DUP", |cursor, _| Code(step(cursor, MDB_PREV_DUP))),
    ("get FIRST", |cursor, _| Code(step(cursor, MDB_FIRST))),
    ("get SET_RANGE", |cursor, _| {
        Code(step(cursor, MDB_SET_RANGE))
    }),
    ("get GET_BOTH", |cursor, _| Code(step(cursor, MDB_GET_BOTH))),
    ("get CURRENT", |cursor, _| {
        Code(step(cursor, MDB_GET_CURRENT))
    }),
    ("get no operation", |cursor, _| Code(step(cursor, 77))),
    ("put", |cursor, _| {
        Code(c!(mdb_cursor_put(
            cursor,
            &mut val(b"key"),
            &mut val(b"value"),
            0
        )))
    }),
    ("del", |cursor, _| Code(c!(mdb_cursor_del(cursor, 0)))),
    ("count", |cursor, _| {
        Code(c!(mdb_cursor_count(cursor, &mut 0)))
    }),
    ("txn", |cursor, _| {
        Nothing(c!(mdb_cursor_txn(cursor)).is_null())
    }),
    ("dbi", |cursor, _| Nothing(c!(mdb_cursor_dbi(cursor)) == 0)),
];

/// Makes all calls on a handle that must be refused; returns how many those were.
pub(crate) fn all_refused<H>(
    what: &str,
    calls: &[Call<H>],
    handle: *mut H,
    dbi: MDB_dbi,
    code: c_int,
) -> usize {
    for (name, call) in calls {
        let answer = call(handle, dbi);
        let refused = matches!(answer, Nothing(true)) || answer == Code(code);
        assert!(refused, "{name} with {what}: {answer:?}, not {code}");
    }
    calls.len()
}
