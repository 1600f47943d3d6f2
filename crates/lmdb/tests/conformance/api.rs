//! The interface as loaded from a shared library, so that two of them can be asked the same.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::Library;
use lmdb::{MDB_dbi, MDB_envinfo, MDB_stat, MDB_val};

/// A handle, whatever is behind it.
pub(crate) type Handle = *mut c_void;
type Compare = extern "C" fn(&MDB_val, &MDB_val) -> c_int;
type LineFunction = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;

macro_rules! interface {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one library.
        pub(crate) struct Api {
            $($name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
            /// Unloaded last.
            _library: Library,
        }

        impl Api {
            /// Loads a library.
            pub(crate) fn load(path: &Path) -> Api {
                // SAFETY: both libraries do nothing when they are loaded.
                let library = unsafe { Library::new(path) }.unwrap();
                Api {
                    $($name: {
                        let name = concat!("mdb_", stringify!($name));
                        // SAFETY: the type is that of the header.
                        *unsafe { library.get(name) }.unwrap()
                    },)*
                    _library: library,
                }
            }

            $(
                /// Calls the function of the library with this name.
                pub(crate) fn $name(&self, $($argument: $type),*) $(-> $result)? {
                    // SAFETY: the tests pass handles of this library that have not ended, or NULL
                    // where the interface defines the result. Pointers are to variables that
                    // outlive the call.
                    unsafe { (self.$name)($($argument),*) }
                }
            )*
        }
    };
}

interface! {
    strerror(a: c_int) -> *const c_char;
    env_create(a: *mut Handle) -> c_int;
    env_open(a: Handle, b: *const c_char, c: c_uint, d: c_uint) -> c_int;
    env_close(a: Handle);
    env_set_flags(a: Handle, b: c_uint, c: c_int) -> c_int;
    env_get_flags(a: Handle, b: *mut c_uint) -> c_int;
    env_get_path(a: Handle, b: *mut *const c_char) -> c_int;
    env_get_fd(a: Handle, b: *mut c_int) -> c_int;
    env_set_mapsize(a: Handle, b: usize) -> c_int;
    env_set_maxreaders(a: Handle, b: c_uint) -> c_int;
    env_get_maxreaders(a: Handle, b: *mut c_uint) -> c_int;
    env_set_maxdbs(a: Handle, b: MDB_dbi) -> c_int;
    env_get_maxkeysize(a: Handle) -> c_int;
    env_set_userctx(a: Handle, b: *mut c_void) -> c_int;
    env_get_userctx(a: Handle) -> *mut c_void;
    env_set_assert(a: Handle, b: *mut c_void) -> c_int;
    env_stat(a: Handle, b: *mut MDB_stat) -> c_int;
    env_info(a: Handle, b: *mut MDB_envinfo) -> c_int;
    env_sync(a: Handle, b: c_int) -> c_int;
    env_copy2(a: Handle, b: *const c_char, c: c_uint) -> c_int;
    env_copyfd2(a: Handle, b: c_int, c: c_uint) -> c_int;
    txn_begin(a: Handle, b: Handle, c: c_uint, d: *mut Handle) -> c_int;
    txn_env(a: Handle) -> Handle;
    txn_id(a: Handle) -> usize;
    txn_commit(a: Handle) -> c_int;
    txn_abort(a: Handle);
    txn_reset(a: Handle);
    txn_renew(a: Handle) -> c_int;
    dbi_open(a: Handle, b: *const c_char, c: c_uint, d: *mut MDB_dbi) -> c_int;
    dbi_close(a: Handle, b: MDB_dbi);
    dbi_flags(a: Handle, b: MDB_dbi, c: *mut c_uint) -> c_int;
    stat(a: Handle, b: MDB_dbi, c: *mut MDB_stat) -> c_int;
    drop(a: Handle, b: MDB_dbi, c: c_int) -> c_int;
    set_compare(a: Handle, b: MDB_dbi, c: Option<Compare>) -> c_int;
    set_dupsort(a: Handle, b: MDB_dbi, c: Option<Compare>) -> c_int;
    set_relfunc(a: Handle, b: MDB_dbi, c: *mut c_void) -> c_int;
    set_relctx(a: Handle, b: MDB_dbi, c: *mut c_void) -> c_int;
    cmp(a: Handle, b: MDB_dbi, c: *const MDB_val, d: *const MDB_val) -> c_int;
    dcmp(a: Handle, b: MDB_dbi, c: *const MDB_val, d: *const MDB_val) -> c_int;
    get(a: Handle, b: MDB_dbi, c: *mut MDB_val, d: *mut MDB_val) -> c_int;
    put(a: Handle, b: MDB_dbi, c: *mut MDB_val, d: *mut MDB_val, e: c_uint) -> c_int;
    del(a: Handle, b: MDB_dbi, c: *mut MDB_val, d: *mut MDB_val) -> c_int;
    cursor_open(a: Handle, b: MDB_dbi, c: *mut Handle) -> c_int;
    cursor_close(a: Handle);
    cursor_renew(a: Handle, b: Handle) -> c_int;
    cursor_txn(a: Handle) -> Handle;
    cursor_dbi(a: Handle) -> MDB_dbi;
    cursor_get(a: Handle, b: *mut MDB_val, c: *mut MDB_val, d: c_uint) -> c_int;
    cursor_put(a: Handle, b: *mut MDB_val, c: *mut MDB_val, d: c_uint) -> c_int;
    cursor_del(a: Handle, b: c_uint) -> c_int;
    cursor_count(a: Handle, b: *mut usize) -> c_int;
    reader_list(a: Handle, b: Option<LineFunction>, c: *mut c_void) -> c_int;
    reader_check(a: Handle, b: *mut c_int) -> c_int;
    midl_alloc(a: c_int) -> *mut usize;
    midl_free(a: *mut usize);
    midl_shrink(a: *mut *mut usize);
    midl_need(a: *mut *mut usize, b: c_uint) -> c_int;
    midl_append(a: *mut *mut usize, b: usize) -> c_int;
    midl_append_list(a: *mut *mut usize, b: *mut usize) -> c_int;
    midl_append_range(a: *mut *mut usize, b: usize, c: c_uint) -> c_int;
    midl_xmerge(a: *mut usize, b: *mut usize);
    midl_sort(a: *mut usize);
    midl_search(a: *mut usize, b: usize) -> c_uint;
    mid2l_search(a: *mut [usize; 2], b: usize) -> c_uint;
    mid2l_insert(a: *mut [usize; 2], b: *mut [usize; 2]) -> c_int;
    mid2l_append(a: *mut [usize; 2], b: *mut [usize; 2]) -> c_int;
}
