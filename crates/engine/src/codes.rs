//! LMDB's result codes, for programs written for the original.

use core::ffi::CStr;
use fulgurite_os::platform::io;

#[cfg(feature = "std")]
use crate::CheckpointProblem;
use crate::{Error, OpenError};

const KEY_EXISTS: i32 = -30799;
const NOT_FOUND: i32 = -30798;
const PAGE_NOT_FOUND: i32 = -30797;
const CORRUPTED: i32 = -30796;
const PANIC: i32 = -30795;
const VERSION_MISMATCH: i32 = -30794;
const INVALID: i32 = -30793;
const MAP_FULL: i32 = -30792;
const DATABASES_FULL: i32 = -30791;
const READERS_FULL: i32 = -30790;
const TXN_FULL: i32 = -30788;
const MAP_RESIZED: i32 = -30785;
const INCOMPATIBLE: i32 = -30784;
const BAD_READER_SLOT: i32 = -30783;
const BAD_TXN: i32 = -30782;
const BAD_LENGTH: i32 = -30781;
const BAD_DATABASE: i32 = -30780;

// The system's own numbers, as Linux has them on every machine.
const IO_ERROR: i32 = 5;
const NO_MEMORY: i32 = 12;
const NO_ACCESS: i32 = 13;
const BUSY: i32 = 16;
const INVALID_ARGUMENT: i32 = 22;

impl Error {
    /// The result code that LMDB has for this: a negative one separate, or the system's error
    /// number.
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Error::Corrupted { .. } => CORRUPTED,
            Error::BeyondEnd(_) => PAGE_NOT_FOUND,
            Error::Io { source, .. } => system_code(source),
            Error::KeyLength { .. }
            | Error::IntegerKey { .. }
            | Error::ValueLength(_)
            | Error::DuplicateLength { .. }
            | Error::FixedSize { .. }
            | Error::NameLength { .. } => BAD_LENGTH,
            Error::AppendOrder => KEY_EXISTS,
            Error::NoDatabase(_) => NOT_FOUND,
            Error::ForeignDatabase => BAD_DATABASE,
            Error::WrongKind(_)
            | Error::MainUnsuitable
            | Error::OrderMismatch { .. }
            | Error::ValueMismatch { .. }
            | Error::NoDuplicates
            | Error::NoPrefixes
            | Error::HasDuplicates => INCOMPATIBLE,
            Error::DatabasesFull(_) => DATABASES_FULL,
            Error::MapFull(_) | Error::HeldByReader(_) => MAP_FULL,
            Error::GrownBeyondBound(_) | Error::MapResized(_) => MAP_RESIZED,
            Error::MapSizeBusy
            | Error::CursorUnset
            | Error::CursorKey
            | Error::CursorClosed
            | Error::Flags => INVALID_ARGUMENT,
            Error::ReaderBusy => BAD_READER_SLOT,
            Error::WriterBusy
            | Error::TransactionFailed
            | Error::ReaderEnded
            | Error::NotNested => BAD_TXN,
            Error::ReadersFull(_) => READERS_FULL,
            Error::ReadOnly => NO_ACCESS,
            Error::EnvironmentFailed
            | Error::FlushFailed
            | Error::MapLost
            | Error::Forked
            | Error::LockBroken => PANIC,
            Error::TxnidsExhausted => TXN_FULL,
        }
    }
}

impl OpenError {
    /// As [`Error::code`].
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            OpenError::File { source, .. } => system_code(source),
            OpenError::NotADataFile(_) | OpenError::NotALockFile(_) => INVALID,
            OpenError::DataVersion { .. } | OpenError::LockVersion { .. } => VERSION_MISMATCH,
            OpenError::Damaged { .. } => CORRUPTED,
            OpenError::AddressInUse { .. } | OpenError::Busy(_) | OpenError::AlreadyOpen(_) => BUSY,
            #[cfg(feature = "std")]
            OpenError::Checkpoint { problem, .. } => match problem {
                CheckpointProblem::InUse | CheckpointProblem::Behind => BUSY,
                CheckpointProblem::Overwritten | CheckpointProblem::Damaged => CORRUPTED,
                CheckpointProblem::Options => INVALID_ARGUMENT,
            },
            OpenError::Engine { source, .. } => source.code(),
        }
    }
}

/// The text LMDB has for one separate codes; `None` for the system's, which are positive.
#[must_use]
pub const fn code_text(code: i32) -> Option<&'static CStr> {
    Some(match code {
        0 => c"Successful return: 0",
        KEY_EXISTS => c"MDB_KEYEXIST: Key/data pair already exists",
        NOT_FOUND => c"MDB_NOTFOUND: No matching key/data pair found",
        PAGE_NOT_FOUND => c"MDB_PAGE_NOTFOUND: Requested page not found",
        CORRUPTED => c"MDB_CORRUPTED: Located page was wrong type",
        PANIC => c"MDB_PANIC: Update of meta page failed or environment had fatal error",
        VERSION_MISMATCH => c"MDB_VERSION_MISMATCH: Database environment version mismatch",
        INVALID => c"MDB_INVALID: File is not an LMDB file",
        MAP_FULL => c"MDB_MAP_FULL: Environment mapsize limit reached",
        DATABASES_FULL => c"MDB_DBS_FULL: Environment maxdbs limit reached",
        READERS_FULL => c"MDB_READERS_FULL: Environment maxreaders limit reached",
        -30789 => c"MDB_TLS_FULL: Thread-local storage keys full - too many environments open",
        TXN_FULL => c"MDB_TXN_FULL: Transaction has too many dirty pages - transaction too big",
        -30787 => c"MDB_CURSOR_FULL: Internal error - cursor stack limit reached",
        -30786 => c"MDB_PAGE_FULL: Internal error - page has no more space",
        MAP_RESIZED => c"MDB_MAP_RESIZED: Database contents grew beyond environment mapsize",
        INCOMPATIBLE => c"MDB_INCOMPATIBLE: Operation and DB incompatible, or DB flags changed",
        BAD_READER_SLOT => c"MDB_BAD_RSLOT: Invalid reuse of reader locktable slot",
        BAD_TXN => c"MDB_BAD_TXN: Transaction must abort, has a child, or is invalid",
        BAD_LENGTH => {
            c"MDB_BAD_VALSIZE: Unsupported size of key/DB name/data, or wrong DUPFIXED size"
        }
        BAD_DATABASE => c"MDB_BAD_DBI: The specified DBI handle was closed/changed unexpectedly",
        i32::MIN..0 => c"Invalid error code",
        _ => return None,
    })
}

fn system_code(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        io::ErrorKind::OutOfMemory => NO_MEMORY,
        io::ErrorKind::InvalidInput => INVALID_ARGUMENT,
        _ => IO_ERROR,
    })
}
