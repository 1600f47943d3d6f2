//! Result codes, with their names in C and their texts.

use core::ffi::{c_char, c_int};

use fulgurite::{Error, OpenError, code_text};

/// Success.
pub const MDB_SUCCESS: c_int = 0;
/// The key, or the pair, exists already.
pub const MDB_KEYEXIST: c_int = -30799;
/// There is no such item, or the end was reached.
pub const MDB_NOTFOUND: c_int = -30798;
/// A page is missing: the file is damaged.
pub const MDB_PAGE_NOTFOUND: c_int = -30797;
/// A page has impossible contents: the file is damaged.
pub const MDB_CORRUPTED: c_int = -30796;
/// Writing a meta page failed, or the library has an internal error: close the environment.
pub const MDB_PANIC: c_int = -30795;
/// The file has another version of the format.
pub const MDB_VERSION_MISMATCH: c_int = -30794;
/// The file is not a data file.
pub const MDB_INVALID: c_int = -30793;
/// The map size is used up.
pub const MDB_MAP_FULL: c_int = -30792;
/// The number set with mdb_env_set_maxdbs is used up.
pub const MDB_DBS_FULL: c_int = -30791;
/// All reader slots are in use.
pub const MDB_READERS_FULL: c_int = -30790;
/// LMDB: too many environments are open. Not used here.
pub const MDB_TLS_FULL: c_int = -30789;
/// The transaction has changed more than it can hold.
pub const MDB_TXN_FULL: c_int = -30788;
/// The tree is too deep: the file is damaged.
pub const MDB_CURSOR_FULL: c_int = -30787;
/// LMDB: a page has no room. Not used here.
pub const MDB_PAGE_FULL: c_int = -30786;
/// Another process let the file grow beyond this process's map size: see mdb_env_set_mapsize.
pub const MDB_MAP_RESIZED: c_int = -30785;
/// The operation does not fit the kind of database.
pub const MDB_INCOMPATIBLE: c_int = -30784;
/// This thread has a read transaction, or its reader slot is in use.
pub const MDB_BAD_RSLOT: c_int = -30783;
/// The transaction has failed, has ended, or has a child.
pub const MDB_BAD_TXN: c_int = -30782;
/// A key, value or name of a length that the database cannot take.
pub const MDB_BAD_VALSIZE: c_int = -30781;
/// The database handle was closed and opened for another database.
pub const MDB_BAD_DBI: c_int = -30780;
/// The last code.
pub const MDB_LAST_ERRCODE: c_int = MDB_BAD_DBI;

/// A result other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) c_int);

impl Code {
    pub(crate) const INVALID_ARGUMENT: Code = Code(libc::EINVAL);
    pub(crate) const NO_MEMORY: Code = Code(libc::ENOMEM);
    pub(crate) const PANIC: Code = Code(MDB_PANIC);
    pub(crate) const NO_ACCESS: Code = Code(libc::EACCES);
    pub(crate) const NOT_FOUND: Code = Code(MDB_NOTFOUND);
    pub(crate) const KEY_EXISTS: Code = Code(MDB_KEYEXIST);
    pub(crate) const INCOMPATIBLE: Code = Code(MDB_INCOMPATIBLE);
    pub(crate) const BAD_TXN: Code = Code(MDB_BAD_TXN);
    pub(crate) const BAD_LENGTH: Code = Code(MDB_BAD_VALSIZE);
    pub(crate) const BAD_HANDLE: Code = Code(MDB_BAD_DBI);
    pub(crate) const HANDLES_FULL: Code = Code(MDB_DBS_FULL);
}

/// The result of a function of the interface.
pub(crate) type Outcome<T = ()> = Result<T, Code>;

impl From<Error> for Code {
    // Keeps the conversion out of the path of success.
    #[cold]
    fn from(error: Error) -> Code {
        Code(error.code())
    }
}

impl From<OpenError> for Code {
    fn from(error: OpenError) -> Code {
        Code(error.code())
    }
}

/// Returns the text of a result code: one of the MDB_ codes, or a number of errno.
///
/// The next call may overwrite the text of an errno.
#[unsafe(no_mangle)]
pub extern "C" fn mdb_strerror(err: c_int) -> *mut c_char {
    match code_text(err) {
        // The C declaration has no const, but programs only read the text.
        Some(text) => text.as_ptr().cast_mut(),
        // SAFETY: strerror accepts any number.
        None => unsafe { libc::strerror(err) },
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn every_code_has_a_text_that_begins_with_its_name() {
        for (code, name) in [
            (MDB_KEYEXIST, "MDB_KEYEXIST: "),
            (MDB_NOTFOUND, "MDB_NOTFOUND: "),
            (MDB_PAGE_NOTFOUND, "MDB_PAGE_NOTFOUND: "),
            (MDB_CORRUPTED, "MDB_CORRUPTED: "),
            (MDB_PANIC, "MDB_PANIC: "),
            (MDB_VERSION_MISMATCH, "MDB_VERSION_MISMATCH: "),
            (MDB_INVALID, "MDB_INVALID: "),
            (MDB_MAP_FULL, "MDB_MAP_FULL: "),
            (MDB_DBS_FULL, "MDB_DBS_FULL: "),
            (MDB_READERS_FULL, "MDB_READERS_FULL: "),
            (MDB_TLS_FULL, "MDB_TLS_FULL: "),
            (MDB_TXN_FULL, "MDB_TXN_FULL: "),
            (MDB_CURSOR_FULL, "MDB_CURSOR_FULL: "),
            (MDB_PAGE_FULL, "MDB_PAGE_FULL: "),
            (MDB_MAP_RESIZED, "MDB_MAP_RESIZED: "),
            (MDB_INCOMPATIBLE, "MDB_INCOMPATIBLE: "),
            (MDB_BAD_RSLOT, "MDB_BAD_RSLOT: "),
            (MDB_BAD_TXN, "MDB_BAD_TXN: "),
            (MDB_BAD_VALSIZE, "MDB_BAD_VALSIZE: "),
            (MDB_BAD_DBI, "MDB_BAD_DBI: "),
        ] {
            // SAFETY: the texts are static and end with a NUL.
            let text = unsafe { CStr::from_ptr(mdb_strerror(code)) };
            assert!(text.to_str().unwrap().starts_with(name), "{text:?}");
        }
    }
}
