//! Errors of an open environment.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use fulgurite_os::platform::io;

use fulgurite_format::{Malformed, Pgno};

/// Why an operation failed.
///
/// An error of a change that is not about its arguments marks the transaction as failed. The
/// transaction can then only be aborted, and the file stays as the last commit left it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A page of the file is damaged. Nothing was changed. Restore the file, or export its readable
    /// part.
    #[error("the data file is damaged at page {page}: {what}")]
    Corrupted {
        /// The page at which it was noticed.
        page: Pgno,
        /// The contradiction.
        what: Malformed,
    },
    /// A page that a snapshot needs is behind the end of the file.
    #[error("the data file is damaged: it ends before page {0}, which is in use")]
    BeyondEnd(Pgno),
    /// The system refused.
    #[error("{doing}: {source}")]
    Io {
        /// The action that failed.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A key of a length the database cannot take.
    #[error("a key of {len} bytes was given; keys have 1 to {max}")]
    KeyLength {
        /// The key's length.
        len: usize,
        /// The longest allowed.
        max: usize,
    },
    /// A key of a database with integer keys is no integer of the size the database holds.
    #[error("a key of {len} bytes was given; this database has integer keys of {wanted}")]
    IntegerKey {
        /// The key's length.
        len: usize,
        /// The right lengths.
        wanted: &'static str,
    },
    /// A value longer than the format can say.
    #[error("a value of {0} bytes was given; values have at most 4294967295")]
    ValueLength(usize),
    /// A value of a database with duplicates has an impossible length: each is a key of an inner
    /// tree.
    #[error("a value of {len} bytes was given; values of this database have 1 to {max}")]
    DuplicateLength {
        /// The value's length.
        len: usize,
        /// The longest allowed.
        max: usize,
    },
    /// A value of a database with fixed-size or integer values has another size than the others of
    /// its key.
    #[error("a value of {len} bytes was given; those of this key have {wanted}")]
    FixedSize {
        /// The value's length.
        len: usize,
        /// The right lengths.
        wanted: usize,
    },
    /// The operation is about several values of a key, or about packed ones, and the database has
    /// none.
    #[error("the operation is about duplicates of a kind that this database does not have")]
    NoDuplicates,
    /// The operation makes no sense where keys have several values.
    #[error("the operation makes no sense in a database with duplicates")]
    HasDuplicates,
    /// Prefixes mean nothing in an order of integers, or in one of the program's own.
    #[error("the order of this database does not have keys with a common prefix together")]
    NoPrefixes,
    /// The cursor has not been placed yet.
    #[error("the cursor has no position yet")]
    CursorUnset,
    /// The key given does not fit the record under the cursor.
    #[error("the key given is not that of the record under the cursor")]
    CursorKey,
    /// Flags that contradict each other.
    #[error("these flags exclude each other")]
    Flags,
    /// The cursor belongs to no open place of this transaction.
    #[error("the cursor is closed")]
    CursorClosed,
    /// An appended key is not greater than the last one.
    #[error("an appended key must be greater than the database's last key")]
    AppendOrder,
    /// There is no such database.
    #[error("there is no database named '{0}'")]
    NoDatabase(String),
    /// The handle of a database was got from another environment, or from another handle on this
    /// one.
    #[error("the database handle is another environment's; open the database in this one")]
    ForeignDatabase,
    /// A database name of an impossible length.
    #[error("a database name has 1 to {max} bytes, not {len}")]
    NameLength {
        /// The name's length.
        len: usize,
        /// The longest allowed.
        max: usize,
    },
    /// The record is the description of a named database, or a plain record is where one should be.
    #[error(
        "the record '{0}' of the main database is of the other kind: databases and plain records do not mix"
    )]
    WrongKind(String),
    /// The main database has an order or duplicates that named databases cannot live in.
    #[error("named databases need a main database with plain, byte-ordered keys")]
    MainUnsuitable,
    /// The database exists with other properties than asked for.
    #[error("database '{name}' exists with {found:?} keys")]
    OrderMismatch {
        /// Its name.
        name: String,
        /// The order it has.
        found: crate::order::KeyOrder,
    },
    /// The multimap exists with another kind of values than asked for.
    #[error("multimap '{name}' exists with {found:?} values")]
    ValueMismatch {
        /// Its name.
        name: String,
        /// The kind it has.
        found: crate::order::ValueKind,
    },
    /// All places for open databases are taken.
    #[error("{0} databases are open; raise the limit when opening the environment")]
    DatabasesFull(usize),
    /// The file cannot grow further within the address space reserved.
    #[error("the environment is full: it reached its bound of {0} bytes")]
    MapFull(u64),
    /// Another process let the file grow behind the address space reserved when it was opened here.
    #[error(
        "another process let the environment grow beyond the {0} bytes reserved; open it with a larger bound"
    )]
    GrownBeyondBound(u64),
    /// Another process let the file grow behind the map size set here.
    #[error(
        "another process let the environment grow beyond the {0} bytes set here; set the map size anew"
    )]
    MapResized(u64),
    /// The map size cannot be changed while this process writes.
    #[error("the map size cannot be set while this process has a write transaction; end it first")]
    MapSizeBusy,
    /// With a slot per thread, this thread has a read transaction.
    #[error("this thread has a read transaction already; end or reset it first")]
    ReaderBusy,
    /// This thread would wait for itself.
    #[error("this thread has a write transaction already; end it first")]
    WriterBusy,
    /// All reader slots are taken by live readers.
    #[error(
        "all {0} reader slots are in use; end some readers, or raise the limit when nobody has the file open"
    )]
    ReadersFull(u32),
    /// A change was asked of an environment opened for reading only.
    #[error("the environment was opened read-only")]
    ReadOnly,
    /// An earlier error left the transaction incomplete, or it is a read transaction that was
    /// reset.
    #[error("this transaction cannot be used: after an error abort it, after a reset renew it")]
    TransactionFailed,
    /// The file would have to grow because of this reader, and the policy does not let it; see
    /// [`crate::ReaderPolicy::refuse_growth`].
    #[error(
        "the file would have to grow. Thread {:x} of process {} keeps a snapshot{} that is {} transactions old and holds {} free pages. End that reader, or allow growth",
        .0.reader.thread, .0.reader.pid, since(.0.reader.age), .0.reader.lag, .0.held_pages
    )]
    HeldByReader(Box<crate::reader_info::LongReader>),
    /// A writer has asked this reader to end, because its snapshot would make the file grow. See
    /// [`crate::ReaderPolicy`]. Borrowed data stay valid until the transaction ends or is
    /// refreshed.
    #[error("a writer has ended this read transaction, which held back free pages; begin another")]
    ReaderEnded,
    /// There is no nested transaction to end.
    #[error("no nested transaction is open")]
    NotNested,
    /// Writing a meta page failed: it is unknown which snapshot the next opener will find.
    #[error("writing a meta page failed; close the environment and open it again")]
    EnvironmentFailed,
    /// A page was touched that data or lock file did not have any more. Reads returned zeros;
    /// nothing is committed.
    #[error(
        "the data or lock file lost pages while it was open. It was cut off, or its disk failed or is full. Close it everywhere and check it"
    )]
    MapLost,
    /// A flush failed: committed data may not be durable, and no later flush can tell.
    #[error(
        "the flush failed, and trying again proves nothing. The environment can still be read. To write, close it in this process and open it again"
    )]
    FlushFailed,
    /// The handle was opened by the parent process.
    #[error("the environment was opened before a fork; open it again in the child")]
    Forked,
    /// Transaction ids are used up.
    #[error("the file's transaction ids are used up; dump it and load it into a new one")]
    TxnidsExhausted,
    /// A lock could not be recovered after its owner died.
    #[error(
        "a process died holding a lock and nobody could repair it; close the environment everywhere"
    )]
    LockBroken,
}

impl Error {
    /// Returns true if the error is about the arguments of a call, found before anything was
    /// changed.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(
            self,
            Error::KeyLength { .. }
                | Error::IntegerKey { .. }
                | Error::ValueLength(_)
                | Error::AppendOrder
                | Error::NoDatabase(_)
                | Error::ForeignDatabase
                | Error::NameLength { .. }
                | Error::WrongKind(_)
                | Error::MainUnsuitable
                | Error::OrderMismatch { .. }
                | Error::ValueMismatch { .. }
                | Error::DuplicateLength { .. }
                | Error::FixedSize { .. }
                | Error::NoDuplicates
                | Error::NoPrefixes
                | Error::HasDuplicates
                | Error::CursorUnset
                | Error::CursorKey
                | Error::CursorClosed
                | Error::Flags
                | Error::DatabasesFull(_)
        )
    }
}

/// The age in words, if it is known.
fn since(age: Option<Duration>) -> String {
    age.map_or_else(String::new, |age| {
        format!(", since {:.1} s,", age.as_secs_f64())
    })
}
