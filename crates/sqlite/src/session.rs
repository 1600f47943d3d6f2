//! The environments of a connection: each has one snapshot for all running statements, and one
//! write transaction for all tables.
//!
//! ```text
//!   connection -- Sessions -- Session: environment, snapshot, writer, savepoints
//!                                |
//!                              View     what a statement reads: the writer's state, or a snapshot
//! ```

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite::{Environment, ReadTxn, WriteTxn};
use rusqlite::ffi;
use self_cell::self_cell;
use send_wrapper::SendWrapper;

use crate::error::{Result, engine, failure, misuse, open};
use crate::shared::Shared;
use crate::view::View;

/// How long a statement waits for the writer of another process or thread.
const PATIENCE: Duration = Duration::from_secs(5);
/// Named databases that one environment may have open.
const DATABASES: usize = 4096;

self_cell!(
    /// A read transaction together with its environment.
    pub(crate) struct SnapshotCell {
        owner: Arc<Environment>,
        #[covariant]
        dependent: ReadTxn,
    }
);

self_cell!(
    /// A write transaction together with its environment.
    struct WriterCell {
        owner: Arc<Environment>,
        #[not_covariant]
        dependent: WriteTxn,
    }
);

/// The environments that the tables of a connection have open.
///
/// SQLite lets one thread at a time into a connection, so nothing here has locks.
#[derive(Default)]
pub(crate) struct Sessions {
    open: RefCell<HashMap<PathBuf, Weak<Session>>>,
}

/// The environments, as each module of a connection gets them.
pub(crate) type SharedSessions = Shared<Sessions>;

/// The rights and wishes with which a table opens an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The table only reads.
    Read,
    /// The table writes into an environment that is there.
    Write,
    /// The table writes, and makes the environment if there is none.
    Create,
}

impl Sessions {
    /// Returns the session of an environment. A path is that of a folder, or of a data file.
    pub(crate) fn session(&self, path: &Path, access: Access) -> Result<Rc<Session>> {
        if access == Access::Create && !path.exists() {
            std::fs::create_dir(path).map_err(|error| cannot_open(path, &error))?;
        }
        let path = path
            .canonicalize()
            .map_err(|error| cannot_open(path, &error))?;
        let mut open = self.open.borrow_mut();
        open.retain(|_, session| session.strong_count() > 0);
        if let Some(session) = open.get(&path).and_then(Weak::upgrade) {
            if access != Access::Read {
                session.make_writable(&path)?;
            }
            return Ok(session);
        }
        let environment = open_environment(&path, access)?;
        let session = Rc::new(Session::new(environment, access != Access::Read));
        open.insert(path, Rc::downgrade(&session));
        Ok(session)
    }
}

fn cannot_open(path: &Path, error: &std::io::Error) -> rusqlite::Error {
    failure(
        ffi::SQLITE_CANTOPEN,
        format!("cannot open {}: {error}", path.display()),
    )
}

fn open_environment(path: &Path, access: Access) -> Result<Arc<Environment>> {
    if access != Access::Create && path.is_dir() && !path.join("data.mdb").exists() {
        let text = format!("{} has no environment: data.mdb is missing", path.display());
        return Err(failure(ffi::SQLITE_CANTOPEN, text));
    }
    Environment::options()
        .read_only(access == Access::Read)
        .no_subdir(path.is_file())
        .databases_max(DATABASES)
        .open(path)
        .map(Arc::new)
        .map_err(open)
}

/// An environment in use by the tables of one connection.
pub(crate) struct Session {
    state: RefCell<State>,
}

struct State {
    environment: Arc<Environment>,
    is_writable: bool,
    snapshot: Weak<SnapshotCell>,
    writer: Option<Writer>,
    /// Transactions that another thread has rolled back. The thread that began one ends it.
    abandoned: Vec<Writer>,
}

/// The write transaction, and SQLite's numbers of its nested transactions.
struct Writer {
    /// It belongs to the thread that began it, as the writer's lock does.
    cell: SendWrapper<WriterCell>,
    savepoints: Vec<i32>,
}

impl Drop for State {
    fn drop(&mut self) {
        // Only the thread that began a transaction can end it. Its lock ends with the thread.
        for writer in self.abandoned.drain(..).chain(self.writer.take()) {
            if !writer.cell.valid() {
                std::mem::forget(writer);
            }
        }
    }
}

impl Session {
    fn new(environment: Arc<Environment>, is_writable: bool) -> Session {
        Session {
            state: RefCell::new(State {
                environment,
                is_writable,
                snapshot: Weak::new(),
                writer: None,
                abandoned: Vec::new(),
            }),
        }
    }

    fn make_writable(&self, path: &Path) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if !state.is_writable {
            state.environment = open_environment(path, Access::Write)?;
            state.is_writable = true;
        }
        Ok(())
    }

    /// Returns the snapshot for a statement that begins: that of the statements which run already.
    /// `None` within a write transaction, whose own state it reads.
    pub(crate) fn snapshot(&self) -> Result<Option<Rc<SnapshotCell>>> {
        let mut state = self.state.borrow_mut();
        if state.writer.is_some() {
            return Ok(None);
        }
        if let Some(snapshot) = state.snapshot.upgrade() {
            return Ok(Some(snapshot));
        }
        let environment = Arc::clone(&state.environment);
        let cell = SnapshotCell::try_new(environment, |environment| environment.read());
        let snapshot = Rc::new(cell.map_err(engine)?);
        state.snapshot = Rc::downgrade(&snapshot);
        Ok(Some(snapshot))
    }

    /// Lends what a statement reads: the state of the write transaction, or the newest snapshot.
    pub(crate) fn read<T>(&self, work: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
        {
            let mut state = self.state.borrow_mut();
            if let Some(writer) = &mut state.writer {
                let cell = writer.own_thread()?;
                return cell.with_dependent(|_, txn| work(View::Writer(txn)));
            }
        }
        let snapshot = self
            .snapshot()?
            .ok_or_else(|| misuse("a transaction began"))?;
        work(View::Snapshot(snapshot.borrow_dependent()))
    }

    /// Lends the write transaction for a change. One that SQLite believes open, though its commit
    /// has ended it, begins anew.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&mut WriteTxn<'_>) -> Result<T>) -> Result<T> {
        self.begin()?;
        let mut state = self.state.borrow_mut();
        let writer = state.writer.as_mut();
        let writer = writer.ok_or_else(|| misuse("no write transaction is open"))?;
        let cell = writer.own_thread_mut()?;
        cell.with_dependent_mut(|_, txn| work(txn))
    }

    /// Begins the write transaction, unless another table has begun it.
    pub(crate) fn begin(&self) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if let Some(writer) = &mut state.writer {
            return writer.own_thread().map(|_| ());
        }
        state.abandoned.retain(|writer| !writer.cell.valid());
        let begun = Instant::now();
        loop {
            let environment = Arc::clone(&state.environment);
            let cell = WriterCell::try_new(environment, |environment| {
                environment.try_write().map_err(engine)?.ok_or_else(|| {
                    let text = "another process or thread has the write transaction";
                    failure(ffi::SQLITE_BUSY, text)
                })
            });
            match cell {
                Ok(cell) => {
                    state.writer = Some(Writer {
                        cell: SendWrapper::new(cell),
                        savepoints: Vec::new(),
                    });
                    return Ok(());
                }
                Err(error) if is_busy(&error) && begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Commits the write transaction. The second table of a transaction finds it done.
    pub(crate) fn commit(&self) -> Result<()> {
        let mut state = self.state.borrow_mut();
        let Some(writer) = &mut state.writer else {
            return Ok(());
        };
        writer.own_thread_mut()?.with_dependent_mut(|_, txn| {
            while txn.nesting() > 0 {
                txn.commit_nested().map_err(engine)?;
            }
            txn.commit_and_release().map_err(engine)
        })?;
        state.writer = None;
        // The next statement sees the changes, though another one still reads the old snapshot.
        state.snapshot = Weak::new();
        Ok(())
    }

    /// Makes changes that belong together, and undoes all of them after an error. They become part
    /// of the open transaction; without one they begin one, which is returned as true.
    pub(crate) fn change_whole(
        &self,
        work: impl FnOnce(&mut WriteTxn<'_>) -> Result<()>,
    ) -> Result<bool> {
        let is_new = self.state.borrow().writer.is_none();
        let done = self.write(|txn| {
            txn.begin_nested().map_err(engine)?;
            match work(txn) {
                Ok(()) => txn.commit_nested().map_err(engine),
                Err(error) => {
                    txn.abort_nested();
                    Err(error)
                }
            }
        });
        match done {
            Ok(()) => Ok(is_new),
            Err(error) => {
                if is_new {
                    self.rollback()?;
                }
                Err(error)
            }
        }
    }

    /// Undoes all changes since [`Session::begin`].
    pub(crate) fn rollback(&self) -> Result<()> {
        let mut state = self.state.borrow_mut();
        if let Some(writer) = state.writer.take_if(|writer| !writer.cell.valid()) {
            state.abandoned.push(writer);
        }
        state.writer = None;
        Ok(())
    }

    /// Marks a point to which [`Session::rollback_to`] can go back.
    ///
    /// A table that joins a transaction within several savepoints hears of the last one only. So
    /// the ones before it, with smaller numbers, begin here too.
    pub(crate) fn savepoint(&self, number: i32) -> Result<()> {
        self.with_writer(|txn, savepoints| {
            let next = savepoints.last().map_or(0, |last| last + 1);
            for number in next..=number {
                txn.begin_nested().map_err(engine)?;
                savepoints.push(number);
            }
            Ok(())
        })
    }

    /// Forgets a savepoint and those after it, and keeps the changes.
    pub(crate) fn release(&self, number: i32) -> Result<()> {
        self.with_writer(|txn, savepoints| {
            while savepoints.pop_if(|last| *last >= number).is_some() {
                txn.commit_nested().map_err(engine)?;
            }
            Ok(())
        })
    }

    /// Undoes the changes since a savepoint, which stays. SQLite gives the number -1 to one that
    /// began the transaction.
    pub(crate) fn rollback_to(&self, number: i32) -> Result<()> {
        if number < 0 {
            self.rollback()?;
            return self.begin();
        }
        self.with_writer(|txn, savepoints| {
            while savepoints.pop_if(|last| *last >= number).is_some() {
                txn.abort_nested();
            }
            txn.begin_nested().map_err(engine)?;
            savepoints.push(number);
            Ok(())
        })
    }

    fn with_writer(
        &self,
        work: impl FnOnce(&mut WriteTxn<'_>, &mut Vec<i32>) -> Result<()>,
    ) -> Result<()> {
        let mut state = self.state.borrow_mut();
        let Some(writer) = &mut state.writer else {
            return Ok(());
        };
        writer.own_thread()?;
        let Writer { cell, savepoints } = writer;
        cell.with_dependent_mut(|_, txn| work(txn, savepoints))
    }
}

impl Writer {
    fn own_thread(&mut self) -> Result<&WriterCell> {
        self.own_thread_mut().map(|cell| &*cell)
    }

    fn own_thread_mut(&mut self) -> Result<&mut WriterCell> {
        if self.cell.valid() {
            return Ok(&mut self.cell);
        }
        let text =
            "a write transaction of tables in an environment stays in the thread that began it";
        Err(failure(ffi::SQLITE_MISUSE, text))
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}
