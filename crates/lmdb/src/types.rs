//! Types and flags of the C interface, with the numbers and layouts that compiled programs rely on.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// An environment.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_env(());

/// A transaction.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_txn(());

/// A cursor.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[derive(Debug)]
pub struct MDB_cursor(());

/// Permissions of new files.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type mdb_mode_t = libc::mode_t;

/// A file descriptor.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type mdb_filehandle_t = c_int;

/// A handle of a database: a small number, valid in the environment it was opened in.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_dbi = c_uint;

/// A key or a value.
///
/// Values that the library returns point into the map or into a changed page. They must not be
/// modified. They are valid until the transaction ends; in a write transaction only until the next
/// change.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MDB_val {
    /// Length in bytes.
    pub mv_size: usize,
    /// Address of the bytes.
    pub mv_data: *mut c_void,
}

/// Statistics of a database.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MDB_stat {
    /// Size of a page in bytes.
    pub ms_psize: c_uint,
    /// Levels of the tree; 0 if it is empty.
    pub ms_depth: c_uint,
    /// Branch pages: keys and children.
    pub ms_branch_pages: usize,
    /// Leaf pages: keys and values.
    pub ms_leaf_pages: usize,
    /// Overflow pages: values too large for a leaf.
    pub ms_overflow_pages: usize,
    /// Items.
    pub ms_entries: usize,
}

/// Information about an environment.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MDB_envinfo {
    /// The address at which the file asks to be mapped (MDB_FIXEDMAP), or NULL.
    pub me_mapaddr: *mut c_void,
    /// Size of the map in bytes.
    pub me_mapsize: usize,
    /// Number of the last page in use.
    pub me_last_pgno: usize,
    /// Id of the last committed transaction.
    pub me_last_txnid: usize,
    /// Reader slots in the lock file.
    pub me_maxreaders: c_uint,
    /// Reader slots that were ever in use; the number does not fall when readers end.
    pub me_numreaders: c_uint,
}

/// Compares two keys, or two values of one key: negative, zero or positive.
///
/// It must always return the same for the same bytes. While it runs, the transaction that called it
/// is busy. Every call for that transaction, its parents and its cursors is MDB_BAD_TXN or without
/// effect.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_cmp_func = unsafe extern "C" fn(a: *const MDB_val, b: *const MDB_val) -> c_int;

/// Would relocate pointers inside values; never called.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_rel_func = unsafe extern "C" fn(
    item: *mut MDB_val,
    oldptr: *mut c_void,
    newptr: *mut c_void,
    relctx: *mut c_void,
);

/// Receives the message of an internal error of the library, never of bad data.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_assert_func = unsafe extern "C" fn(env: *mut MDB_env, msg: *const c_char);

/// Receives a line of text. A negative result ends the listing.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_msg_func = unsafe extern "C" fn(msg: *const c_char, ctx: *mut c_void) -> c_int;

/// mdb_env_open: map the file at the address stored in it, for pointers inside values.
pub const MDB_FIXEDMAP: c_uint = 0x01;
/// mdb_env_open: the path is that of the data file. The lock file has the same path with "-lock"
/// appended.
pub const MDB_NOSUBDIR: c_uint = 0x4000;
/// Environment: commits are not flushed. mdb_env_sync flushes them. May be changed while open.
pub const MDB_NOSYNC: c_uint = 0x1_0000;
/// mdb_env_open: refuse changes. mdb_txn_begin: a read transaction.
pub const MDB_RDONLY: c_uint = 0x2_0000;
/// Environment: commits do not flush the meta page. A power loss may undo the last commit, but does
/// not damage the file. May be changed while open.
pub const MDB_NOMETASYNC: c_uint = 0x4_0000;
/// mdb_env_open: change pages in a writable map. The file takes its whole map size at once; no
/// nested transactions.
pub const MDB_WRITEMAP: c_uint = 0x8_0000;
/// Environment: with MDB_WRITEMAP, commits start flushes and do not wait for them. May be changed
/// while open.
pub const MDB_MAPASYNC: c_uint = 0x10_0000;
/// mdb_env_open: reader slots belong to transactions instead of threads.
pub const MDB_NOTLS: c_uint = 0x20_0000;
/// mdb_env_open: no lock file. The program itself keeps writers from each other and from readers.
pub const MDB_NOLOCK: c_uint = 0x40_0000;
/// mdb_env_open: ask the system not to read ahead.
pub const MDB_NORDAHEAD: c_uint = 0x80_0000;
/// Environment: without effect, since new pages are always cleared. May be changed while open.
pub const MDB_NOMEMINIT: c_uint = 0x100_0000;

/// mdb_dbi_open: keys are compared from their last byte backwards.
pub const MDB_REVERSEKEY: c_uint = 0x02;
/// mdb_dbi_open: a key may have several values, in sorted order.
pub const MDB_DUPSORT: c_uint = 0x04;
/// mdb_dbi_open: keys are unsigned int or size_t in native order, all of one size.
pub const MDB_INTEGERKEY: c_uint = 0x08;
/// mdb_dbi_open: with MDB_DUPSORT, all values have one size.
pub const MDB_DUPFIXED: c_uint = 0x10;
/// mdb_dbi_open: with MDB_DUPSORT, values are integers, as keys are with MDB_INTEGERKEY.
pub const MDB_INTEGERDUP: c_uint = 0x20;
/// mdb_dbi_open: with MDB_DUPSORT, values are compared from their last byte backwards.
pub const MDB_REVERSEDUP: c_uint = 0x40;
/// mdb_dbi_open: create the database if it does not exist.
pub const MDB_CREATE: c_uint = 0x4_0000;

/// Put: if the key exists, change nothing, return MDB_KEYEXIST and point data to its value.
pub const MDB_NOOVERWRITE: c_uint = 0x10;
/// Put: MDB_KEYEXIST if this pair exists. mdb_cursor_del: delete all values of the key.
pub const MDB_NODUPDATA: c_uint = 0x20;
/// mdb_cursor_put: replace the current item.
pub const MDB_CURRENT: c_uint = 0x40;
/// Put: make room for a value of the given size. The program fills it before the next change.
pub const MDB_RESERVE: c_uint = 0x1_0000;
/// Put: the key is greater than all others, which fills pages completely. MDB_KEYEXIST if it is
/// not.
pub const MDB_APPEND: c_uint = 0x2_0000;
/// Put: as MDB_APPEND, for the values of a key.
pub const MDB_APPENDDUP: c_uint = 0x4_0000;
/// mdb_cursor_put: store many values of one size, in a MDB_DUPFIXED database.
pub const MDB_MULTIPLE: c_uint = 0x8_0000;

/// mdb_env_copy2: omit free pages and sort the others.
pub const MDB_CP_COMPACT: c_uint = 0x01;

/// The operations of mdb_cursor_get.
#[allow(non_camel_case_types, reason = "the name that C programs use")]
pub type MDB_cursor_op = c_uint;
/// The first item.
pub const MDB_FIRST: MDB_cursor_op = 0;
/// The first value of the current key.
pub const MDB_FIRST_DUP: MDB_cursor_op = 1;
/// This key with this value.
pub const MDB_GET_BOTH: MDB_cursor_op = 2;
/// This key with the first value that is not smaller.
pub const MDB_GET_BOTH_RANGE: MDB_cursor_op = 3;
/// The current item.
pub const MDB_GET_CURRENT: MDB_cursor_op = 4;
/// The values on the current page of a MDB_DUPFIXED database.
pub const MDB_GET_MULTIPLE: MDB_cursor_op = 5;
/// The last item.
pub const MDB_LAST: MDB_cursor_op = 6;
/// The last value of the current key.
pub const MDB_LAST_DUP: MDB_cursor_op = 7;
/// The next item.
pub const MDB_NEXT: MDB_cursor_op = 8;
/// The next value of the current key.
pub const MDB_NEXT_DUP: MDB_cursor_op = 9;
/// The values on the next page of a MDB_DUPFIXED database.
pub const MDB_NEXT_MULTIPLE: MDB_cursor_op = 10;
/// The first value of the next key.
pub const MDB_NEXT_NODUP: MDB_cursor_op = 11;
/// The previous item.
pub const MDB_PREV: MDB_cursor_op = 12;
/// The previous value of the current key.
pub const MDB_PREV_DUP: MDB_cursor_op = 13;
/// The last value of the previous key.
pub const MDB_PREV_NODUP: MDB_cursor_op = 14;
/// This key; the key argument is not set.
pub const MDB_SET: MDB_cursor_op = 15;
/// This key; the key argument is pointed to the key in the database.
pub const MDB_SET_KEY: MDB_cursor_op = 16;
/// The first key that is not smaller.
pub const MDB_SET_RANGE: MDB_cursor_op = 17;
/// The values on the previous page of a MDB_DUPFIXED database.
pub const MDB_PREV_MULTIPLE: MDB_cursor_op = 18;
