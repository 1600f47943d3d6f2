//! SQLite: one table with the key as its primary key, a write-ahead log, prepared statements.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};

use super::library::{c_library, c_path, octets, text};
use crate::store::{CACHE_BYTES, Durability, Reader, Setup, Store, Writer};

c_library!(Functions {
    open_v2(path: *const c_char, db: *mut *mut c_void, flags: c_int, vfs: *const c_char) -> c_int;
    close_v2(db: *mut c_void) -> c_int;
    busy_timeout(db: *mut c_void, milliseconds: c_int) -> c_int;
    exec(db: *mut c_void, sql: *const c_char, callback: *const c_void, argument: *mut c_void, message: *mut *mut c_char) -> c_int;
    prepare_v2(db: *mut c_void, sql: *const c_char, len: c_int, statement: *mut *mut c_void, rest: *mut *const c_char) -> c_int;
    bind_blob(statement: *mut c_void, at: c_int, octets: *const u8, len: c_int, destructor: *const c_void) -> c_int;
    step(statement: *mut c_void) -> c_int;
    reset(statement: *mut c_void) -> c_int;
    finalize(statement: *mut c_void) -> c_int;
    column_blob(statement: *mut c_void, column: c_int) -> *const c_void;
    column_bytes(statement: *mut c_void, column: c_int) -> c_int;
    errmsg(db: *mut c_void) -> *const c_char;
    libversion() -> *const c_char;
});

const READ_WRITE_CREATE: c_int = 0x2 | 0x4;
const ROW: c_int = 100;
const DONE: c_int = 101;

/// The file, a connection that writes, and the way to further ones that read.
pub(crate) struct Sqlite {
    c: Functions,
    file: PathBuf,
    synchronous: bool,
    writer: Mutex<WriterConnection>,
    version: String,
}

struct WriterConnection {
    db: *mut c_void,
    begin: *mut c_void,
    commit: *mut c_void,
    put: *mut c_void,
    delete: *mut c_void,
}

// SAFETY: Debian's library is built for threads; the writer's connection is in a mutex, readers
// make their own.
unsafe impl Sync for Sqlite {}

impl Functions {
    fn check(&self, db: *mut c_void, code: c_int) -> anyhow::Result<()> {
        if matches!(code, 0 | ROW | DONE) {
            return Ok(());
        }
        // SAFETY: a text that lasts until the connection's next call.
        let text = unsafe { text(self.errmsg(db)) };
        bail!("{text} ({code})")
    }

    fn connect(&self, file: &std::path::Path, synchronous: bool) -> anyhow::Result<*mut c_void> {
        let mut db = null_mut();
        let code = self.open_v2(
            c_path(file)?.as_ptr(),
            &raw mut db,
            READ_WRITE_CREATE,
            null(),
        );
        self.check(db, code)?;
        self.check(db, self.busy_timeout(db, 60_000))?;
        let level = if synchronous { "full" } else { "off" };
        let cache_kib = CACHE_BYTES >> 10;
        self.run(db, &format!(
            "pragma journal_mode=wal; pragma synchronous={level}; pragma cache_size=-{cache_kib}; \
             pragma mmap_size={CACHE_BYTES}; \
             create table if not exists records (key blob primary key, value blob) without rowid;"
        ))?;
        Ok(db)
    }

    fn run(&self, db: *mut c_void, sql: &str) -> anyhow::Result<()> {
        let sql = std::ffi::CString::new(sql)?;
        self.check(
            db,
            self.exec(db, sql.as_ptr(), null(), null_mut(), null_mut()),
        )
    }

    fn prepare(&self, db: *mut c_void, sql: &CStr) -> anyhow::Result<*mut c_void> {
        let mut statement = null_mut();
        let code = self.prepare_v2(db, sql.as_ptr(), -1, &raw mut statement, null_mut());
        self.check(db, code)?;
        Ok(statement)
    }

    /// Binds octets that stay where they are until the statement is reset.
    #[inline]
    fn bind(&self, statement: *mut c_void, at: c_int, octets: &[u8]) -> anyhow::Result<()> {
        let len = c_int::try_from(octets.len())?;
        match self.bind_blob(statement, at, octets.as_ptr(), len, null()) {
            0 => Ok(()),
            code => bail!("a value cannot be bound ({code})"),
        }
    }

    /// Runs a statement that has no rows.
    #[inline]
    fn finish(&self, db: *mut c_void, statement: *mut c_void) -> anyhow::Result<()> {
        let code = self.step(statement);
        self.check(db, code)?;
        self.check(db, self.reset(statement))
    }

    /// A column of the present row, valid until the next step.
    #[inline]
    fn column<'a>(&self, statement: *mut c_void, column: c_int) -> &'a [u8] {
        let start = self.column_blob(statement, column);
        let len = usize::try_from(self.column_bytes(statement, column)).unwrap_or(0);
        // SAFETY: lent until the statement moves, which it does after the caller has looked.
        unsafe { octets(start, len) }
    }
}

impl Store for Sqlite {
    type Reader<'s> = SqliteReader<'s>;
    type Writer<'s> = SqliteWriter<'s>;

    fn open(setup: &Setup) -> anyhow::Result<Self> {
        let c = Functions::load(&setup.library, "sqlite3_")?;
        let file = setup.folder.join("records.sqlite");
        let synchronous = setup.durability == Durability::Synchronous;
        let db = c.connect(&file, synchronous)?;
        let writer = Mutex::new(WriterConnection {
            db,
            begin: c.prepare(db, c"begin immediate")?,
            commit: c.prepare(db, c"commit")?,
            put: c.prepare(db, c"insert or replace into records values (?, ?)")?,
            delete: c.prepare(db, c"delete from records where key = ?")?,
        });
        // SAFETY: a constant of the library.
        let version = format!("SQLite {}", unsafe { text(c.libversion()) });
        Ok(Sqlite {
            c,
            file,
            synchronous,
            writer,
            version,
        })
    }

    fn reader(&self) -> anyhow::Result<SqliteReader<'_>> {
        let c = &self.c;
        let db = c.connect(&self.file, self.synchronous)?;
        c.run(db, "begin")?;
        Ok(SqliteReader {
            c,
            db,
            get: c.prepare(db, c"select value from records where key = ?")?,
            all: c.prepare(db, c"select key, value from records order by key")?,
            from: c.prepare(
                db,
                c"select key, value from records where key >= ? order by key",
            )?,
            back: c.prepare(db, c"select key, value from records order by key desc")?,
        })
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut SqliteWriter<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.c.finish(connection.db, connection.begin)?;
        let mut writer = SqliteWriter {
            c: &self.c,
            connection: &connection,
        };
        let done = work(&mut writer)?;
        self.c.finish(connection.db, connection.commit)?;
        Ok(done)
    }

    fn version(&self) -> String {
        self.version.clone()
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        let connection = self
            .writer
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for statement in [
            connection.begin,
            connection.commit,
            connection.put,
            connection.delete,
        ] {
            self.c.finalize(statement);
        }
        self.c.close_v2(connection.db);
    }
}

/// A connection in a read transaction.
pub(crate) struct SqliteReader<'s> {
    c: &'s Functions,
    db: *mut c_void,
    get: *mut c_void,
    all: *mut c_void,
    from: *mut c_void,
    back: *mut c_void,
}

impl SqliteReader<'_> {
    fn rows(
        &self,
        statement: *mut c_void,
        limit: u64,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let mut seen = 0;
        while seen < limit {
            let code = self.c.step(statement);
            if code != ROW {
                self.c.check(self.db, code)?;
                break;
            }
            see(self.c.column(statement, 0), self.c.column(statement, 1));
            seen += 1;
        }
        self.c.check(self.db, self.c.reset(statement))?;
        Ok(seen)
    }
}

impl Reader for SqliteReader<'_> {
    #[inline]
    fn get(&mut self, key: &[u8], mut see: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        self.c.bind(self.get, 1, key)?;
        let code = self.c.step(self.get);
        self.c.check(self.db, code)?;
        if code == ROW {
            see(self.c.column(self.get, 0));
        }
        self.c.check(self.db, self.c.reset(self.get))?;
        Ok(code == ROW)
    }

    fn scan(
        &mut self,
        from: Option<&[u8]>,
        limit: u64,
        see: impl FnMut(&[u8], &[u8]),
    ) -> anyhow::Result<u64> {
        let Some(from) = from else {
            return self.rows(self.all, limit, see);
        };
        self.c.bind(self.from, 1, from)?;
        self.rows(self.from, limit, see)
    }

    fn scan_back(&mut self, see: impl FnMut(&[u8], &[u8])) -> anyhow::Result<u64> {
        self.rows(self.back, u64::MAX, see)
    }
}

impl Drop for SqliteReader<'_> {
    fn drop(&mut self) {
        for statement in [self.get, self.all, self.from, self.back] {
            self.c.finalize(statement);
        }
        self.c.close_v2(self.db);
    }
}

/// A write transaction.
pub(crate) struct SqliteWriter<'s> {
    c: &'s Functions,
    connection: &'s WriterConnection,
}

impl Writer for SqliteWriter<'_> {
    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> anyhow::Result<()> {
        self.c.bind(self.connection.put, 1, key)?;
        self.c.bind(self.connection.put, 2, value)?;
        self.c.finish(self.connection.db, self.connection.put)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> anyhow::Result<()> {
        self.c.bind(self.connection.delete, 1, key)?;
        self.c.finish(self.connection.db, self.connection.delete)
    }
}
