//! One library at work in its own directory: a transcript records every call and its result.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::ptr;

use lmdb::{MDB_dbi, MDB_envinfo, MDB_stat, MDB_val};
use tempfile::TempDir;

use crate::api::{Api, Handle};

/// No handle.
pub(crate) const NULL: Handle = ptr::null_mut();

/// A library, a directory, and what was said.
pub(crate) struct World<'a> {
    pub(crate) api: &'a Api,
    directory: TempDir,
    log: String,
}

/// An argument for a key or value.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    Null,
    Is(&'a [u8]),
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Arg<'a> {
        Arg::Is(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(bytes: &'a [u8]) -> Arg<'a> {
        Arg::Is(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Arg<'a> {
    fn from(bytes: &'a Vec<u8>) -> Arg<'a> {
        Arg::Is(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Arg<'a> {
    fn from(bytes: &'a [u8; N]) -> Arg<'a> {
        Arg::Is(bytes)
    }
}

/// A value as it is passed, and the pointer to pass.
struct ValueArgument {
    value: MDB_val,
    is_null: bool,
    given: usize,
}

impl ValueArgument {
    fn new(argument: Arg<'_>) -> ValueArgument {
        let (bytes, is_null) = match argument {
            Arg::Null => (&[][..], true),
            Arg::Is(bytes) => (bytes, false),
        };
        ValueArgument {
            value: val(bytes),
            is_null,
            given: bytes.as_ptr() as usize,
        }
    }

    fn pointer(&mut self) -> *mut MDB_val {
        if self.is_null {
            ptr::null_mut()
        } else {
            &raw mut self.value
        }
    }

    /// The bytes it points to now; `=` if it was not changed.
    fn after_call(&self) -> String {
        if self.is_null {
            return "-".to_owned();
        }
        if self.value.mv_data as usize == self.given {
            return "=".to_owned();
        }
        text(&self.value)
    }
}

pub(crate) fn val(bytes: &[u8]) -> MDB_val {
    MDB_val {
        mv_size: bytes.len(),
        mv_data: bytes.as_ptr().cast_mut().cast(),
    }
}

/// A value that a library pointed to.
pub(crate) fn text(value: &MDB_val) -> String {
    let bytes = bytes(value);
    match bytes.len() {
        0..=40 => bytes.escape_ascii().to_string(),
        len => format!("{}...[{len}]", bytes[..20].escape_ascii()),
    }
}

/// The bytes of a value that a library has just set or passed.
pub(crate) fn bytes(value: &MDB_val) -> &[u8] {
    // SAFETY: the library that set the value keeps its bytes until the next change, and the tests
    // read them before.
    unsafe { std::slice::from_raw_parts(value.mv_data.cast::<u8>(), value.mv_size) }
}

/// A copy of a text that a library has just returned or passed.
pub(crate) fn c_text(text: *const c_char) -> String {
    // SAFETY: texts of a library end with a NUL and live until the next call.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

macro_rules! say {
    ($world:expr, $($argument:tt)*) => {
        $world.line(&format!($($argument)*))
    };
}
pub(crate) use say;

impl<'a> World<'a> {
    pub(crate) fn new(api: &'a Api) -> World<'a> {
        World {
            api,
            directory: tempfile::tempdir().unwrap(),
            log: String::new(),
        }
    }

    pub(crate) fn into_log(self) -> String {
        self.log
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.log.push_str(line);
        self.log.push('\n');
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn answered(&mut self, what: &str, code: c_int) -> c_int {
        let text = c_text(self.api.strerror(code));
        // Of numbers that are none of its codes 0.9.24 says something else.
        let is_code = code >= 0 || code <= lmdb::MDB_LAST_ERRCODE;
        let name = text.split(':').next().filter(|_| is_code);
        let name = name.unwrap_or_default();
        let _ = writeln!(self.log, "{what} -> {code} {name}");
        code
    }

    /// Notes a code that the caller asked for by itself.
    pub(crate) fn code(&mut self, what: &str, code: c_int) {
        self.answered(what, code);
    }

    pub(crate) fn create(&mut self) -> Handle {
        let mut env = NULL;
        let code = self.api.env_create(&mut env);
        self.answered("env_create", code);
        env
    }

    pub(crate) fn open(&mut self, env: Handle, path: &Path, flags: c_uint) -> c_int {
        let text = CString::new(path.to_str().unwrap()).unwrap();
        let code = self.api.env_open(env, text.as_ptr(), flags, 0o644);
        self.answered(&format!("env_open {flags:#x}"), code)
    }

    /// An environment with room for 16 databases, in its own directory.
    pub(crate) fn opened(&mut self, name: &str, flags: c_uint) -> Handle {
        let path = self.directory(name);
        self.opened_at(&path, flags, 16)
    }

    pub(crate) fn opened_at(&mut self, path: &Path, flags: c_uint, databases: c_uint) -> Handle {
        let env = self.create();
        let code = self.api.env_set_maxdbs(env, databases);
        self.answered("set_maxdbs", code);
        self.open(env, path, flags);
        env
    }

    pub(crate) fn close(&mut self, env: Handle) {
        self.api.env_close(env);
    }

    pub(crate) fn begin(&mut self, env: Handle, parent: Handle, flags: c_uint) -> Handle {
        let mut txn = NULL;
        let code = self.api.txn_begin(env, parent, flags, &mut txn);
        self.answered(&format!("txn_begin {flags:#x}"), code);
        txn
    }

    pub(crate) fn commit(&mut self, txn: Handle) -> c_int {
        let code = self.api.txn_commit(txn);
        self.answered("txn_commit", code)
    }

    pub(crate) fn abort(&mut self, txn: Handle) {
        self.api.txn_abort(txn);
    }

    pub(crate) fn reset(&mut self, txn: Handle) {
        self.api.txn_reset(txn);
    }

    pub(crate) fn renew(&mut self, txn: Handle) {
        let code = self.api.txn_renew(txn);
        self.answered("txn_renew", code);
    }

    pub(crate) fn dbi(&mut self, txn: Handle, name: Option<&str>, flags: c_uint) -> MDB_dbi {
        let text = name.map(|name| CString::new(name).unwrap());
        let pointer = text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let mut dbi = 99;
        let code = self.api.dbi_open(txn, pointer, flags, &mut dbi);
        let shown = name.map_or("NULL", |name| &name[..name.len().min(20)]);
        self.answered(&format!("dbi_open {shown} {flags:#x} = {dbi}"), code);
        dbi
    }

    pub(crate) fn dbi_flags(&mut self, txn: Handle, dbi: MDB_dbi) {
        let mut flags = 0;
        let code = self.api.dbi_flags(txn, dbi, &mut flags);
        self.answered(&format!("dbi_flags {dbi} = {flags:#x}"), code);
    }

    pub(crate) fn dbi_close(&mut self, env: Handle, dbi: MDB_dbi) {
        self.api.dbi_close(env, dbi);
    }

    pub(crate) fn drop_dbi(&mut self, txn: Handle, dbi: MDB_dbi, del: c_int) {
        let code = self.api.drop(txn, dbi, del);
        self.answered(&format!("drop {dbi} {del}"), code);
    }

    /// Entries, depth and, unless duplicates have separate trees, pages.
    pub(crate) fn stat(&mut self, txn: Handle, dbi: MDB_dbi) {
        let mut stat = empty_stat();
        let code = self.api.stat(txn, dbi, &mut stat);
        let shown = format!(
            "stat {dbi} = {} entries, depth {}",
            stat.ms_entries, stat.ms_depth
        );
        self.answered(&shown, code);
    }

    pub(crate) fn env_stat(&mut self, env: Handle) {
        let mut stat = empty_stat();
        let code = self.api.env_stat(env, &mut stat);
        self.answered(&format!("env_stat = {stat:?}"), code);
    }

    pub(crate) fn info(&mut self, env: Handle) {
        let mut info = MDB_envinfo {
            me_mapaddr: NULL,
            me_mapsize: 0,
            me_last_pgno: 0,
            me_last_txnid: 0,
            me_maxreaders: 0,
            me_numreaders: 0,
        };
        let code = self.api.env_info(env, &mut info);
        self.answered(&format!("env_info = {info:?}"), code);
    }

    pub(crate) fn flags(&mut self, env: Handle) {
        let mut flags = 0xdead;
        let code = self.api.env_get_flags(env, &mut flags);
        self.answered(&format!("get_flags = {flags:#x}"), code);
    }

    pub(crate) fn set_flags(&mut self, env: Handle, flags: c_uint, on: c_int) {
        let code = self.api.env_set_flags(env, flags, on);
        self.answered(&format!("set_flags {flags:#x} {on}"), code);
    }

    pub(crate) fn set_mapsize(&mut self, env: Handle, size: usize) {
        let code = self.api.env_set_mapsize(env, size);
        self.answered(&format!("set_mapsize {size}"), code);
    }

    pub(crate) fn get<'k>(&mut self, txn: Handle, dbi: MDB_dbi, key: impl Into<Arg<'k>>) -> c_int {
        let mut key = ValueArgument::new(key.into());
        let mut data = ValueArgument::new(Arg::Is(b""));
        let code = self.api.get(txn, dbi, key.pointer(), data.pointer());
        self.answered(&format!("get = {}", data.after_call()), code)
    }

    pub(crate) fn put<'k, 'v>(
        &mut self,
        txn: Handle,
        dbi: MDB_dbi,
        key: impl Into<Arg<'k>>,
        data: impl Into<Arg<'v>>,
        flags: c_uint,
    ) -> c_int {
        let (mut key, mut data) = (
            ValueArgument::new(key.into()),
            ValueArgument::new(data.into()),
        );
        let code = self.api.put(txn, dbi, key.pointer(), data.pointer(), flags);
        self.answered(&format!("put {flags:#x} = {}", data.after_call()), code)
    }

    pub(crate) fn del<'k, 'v>(
        &mut self,
        txn: Handle,
        dbi: MDB_dbi,
        key: impl Into<Arg<'k>>,
        data: impl Into<Arg<'v>>,
    ) -> c_int {
        let (mut key, mut data) = (
            ValueArgument::new(key.into()),
            ValueArgument::new(data.into()),
        );
        let code = self.api.del(txn, dbi, key.pointer(), data.pointer());
        self.answered("del", code)
    }

    pub(crate) fn cursor(&mut self, txn: Handle, dbi: MDB_dbi) -> Handle {
        let mut cursor = NULL;
        let code = self.api.cursor_open(txn, dbi, &mut cursor);
        self.answered(&format!("cursor_open {dbi}"), code);
        cursor
    }

    pub(crate) fn close_cursor(&mut self, cursor: Handle) {
        self.api.cursor_close(cursor);
    }

    pub(crate) fn renew_cursor(&mut self, txn: Handle, cursor: Handle) {
        let code = self.api.cursor_renew(txn, cursor);
        self.answered("cursor_renew", code);
    }

    /// Moves a cursor, with key and data as given.
    pub(crate) fn seek<'k, 'v>(
        &mut self,
        cursor: Handle,
        op: c_uint,
        key: impl Into<Arg<'k>>,
        data: impl Into<Arg<'v>>,
    ) -> c_int {
        let (mut key, mut data) = (
            ValueArgument::new(key.into()),
            ValueArgument::new(data.into()),
        );
        let code = self
            .api
            .cursor_get(cursor, key.pointer(), data.pointer(), op);
        let shown = match code {
            0 => format!(
                "cursor_get {op} = {} {}",
                key.after_call(),
                data.after_call()
            ),
            _ => format!("cursor_get {op}"),
        };
        self.answered(&shown, code)
    }

    /// Moves a cursor by an operation that needs neither.
    pub(crate) fn go(&mut self, cursor: Handle, op: c_uint) -> c_int {
        self.seek(cursor, op, b"", b"")
    }

    /// How many bytes the pages have that begin with the one `first` gives.
    pub(crate) fn blocks(&mut self, cursor: Handle, first: c_uint) -> usize {
        let (mut bytes, mut op) = (0, first);
        loop {
            let (mut key, mut data) = (val(b""), val(b""));
            if self.api.cursor_get(cursor, &mut key, &mut data, op) != 0 {
                return bytes;
            }
            bytes += data.mv_size;
            op = lmdb::MDB_NEXT_MULTIPLE;
        }
    }

    pub(crate) fn cursor_put<'k, 'v>(
        &mut self,
        cursor: Handle,
        key: impl Into<Arg<'k>>,
        data: impl Into<Arg<'v>>,
        flags: c_uint,
    ) -> c_int {
        let (mut key, mut data) = (
            ValueArgument::new(key.into()),
            ValueArgument::new(data.into()),
        );
        let code = self
            .api
            .cursor_put(cursor, key.pointer(), data.pointer(), flags);
        self.answered(
            &format!("cursor_put {flags:#x} = {}", data.after_call()),
            code,
        )
    }

    /// Stores items of one size with MDB_MULTIPLE.
    pub(crate) fn put_items(
        &mut self,
        cursor: Handle,
        key: &str,
        items: &[&str],
        flags: c_uint,
    ) -> c_int {
        let mut key = ValueArgument::new(key.into());
        let mut bytes = items.concat().into_bytes();
        let mut data = [
            lmdb::MDB_val {
                mv_size: items.first().map_or(0, |item| item.len()),
                mv_data: bytes.as_mut_ptr().cast(),
            },
            lmdb::MDB_val {
                mv_size: items.len(),
                mv_data: std::ptr::null_mut(),
            },
        ];
        let flags = flags | lmdb::MDB_MULTIPLE;
        let code = self
            .api
            .cursor_put(cursor, key.pointer(), data.as_mut_ptr(), flags);
        let stored = data[1].mv_size;
        self.answered(&format!("cursor_put {flags:#x} of {stored} items"), code)
    }

    pub(crate) fn cursor_del(&mut self, cursor: Handle, flags: c_uint) -> c_int {
        let code = self.api.cursor_del(cursor, flags);
        self.answered(&format!("cursor_del {flags:#x}"), code)
    }

    pub(crate) fn count(&mut self, cursor: Handle) {
        let mut count = 0;
        let code = self.api.cursor_count(cursor, &mut count);
        self.answered(&format!("cursor_count = {count}"), code);
    }

    /// All items of a database, through a new cursor.
    pub(crate) fn list(&mut self, txn: Handle, dbi: MDB_dbi) {
        let cursor = self.cursor(txn, dbi);
        while self.go(cursor, lmdb::MDB_NEXT) == 0 {}
        self.close_cursor(cursor);
    }

    /// The reader list without process and thread.
    pub(crate) fn readers(&mut self, env: Handle) {
        unsafe extern "C" fn tell(line: *const c_char, lines: *mut c_void) -> c_int {
            // SAFETY: the context is the list passed below, which nothing else uses during the
            // call.
            let lines = unsafe { &mut *lines.cast::<Vec<String>>() };
            lines.push(c_text(line));
            7
        }
        let mut lines: Vec<String> = Vec::new();
        let code = self
            .api
            .reader_list(env, Some(tell), (&raw mut lines).cast());
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let shown = match words.as_slice() {
                [pid, _, txnid] if pid.parse::<u32>().is_ok() => format!("reader at {txnid}"),
                _ => format!("{line:?}"),
            };
            self.line(&shown);
        }
        say!(self, "reader_list -> {code}");
    }
}

fn empty_stat() -> MDB_stat {
    MDB_stat {
        ms_psize: 0,
        ms_depth: 0,
        ms_branch_pages: 0,
        ms_leaf_pages: 0,
        ms_overflow_pages: 0,
        ms_entries: 0,
    }
}
