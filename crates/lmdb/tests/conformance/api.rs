//! The interface as loaded from a shared library, so that two of them can be asked the same.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::path::Path;

use libloading::Library;
use lmdb::{MDB_dbi, MDB_envinfo, MDB_stat, MDB_val};

/// A handle, whatever is behind it.
pub(crate) type Handle = *mut c_void;
type Compare = unsafe extern "C" fn(*const MDB_val, *const MDB_val) -> c_int;
type Tell = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;

macro_rules! interface {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one library.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
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
        }
    };
}

interface! {
    strerror(c_int) -> *const c_char;
    env_create(*mut Handle) -> c_int;
    env_open(Handle, *const c_char, c_uint, c_uint) -> c_int;
    env_close(Handle);
    env_set_flags(Handle, c_uint, c_int) -> c_int;
    env_get_flags(Handle, *mut c_uint) -> c_int;
    env_get_path(Handle, *mut *const c_char) -> c_int;
    env_get_fd(Handle, *mut c_int) -> c_int;
    env_set_mapsize(Handle, usize) -> c_int;
    env_set_maxreaders(Handle, c_uint) -> c_int;
    env_get_maxreaders(Handle, *mut c_uint) -> c_int;
    env_set_maxdbs(Handle, MDB_dbi) -> c_int;
    env_get_maxkeysize(Handle) -> c_int;
    env_set_userctx(Handle, *mut c_void) -> c_int;
    env_get_userctx(Handle) -> *mut c_void;
    env_set_assert(Handle, *mut c_void) -> c_int;
    env_stat(Handle, *mut MDB_stat) -> c_int;
    env_info(Handle, *mut MDB_envinfo) -> c_int;
    env_sync(Handle, c_int) -> c_int;
    env_copy2(Handle, *const c_char, c_uint) -> c_int;
    env_copyfd2(Handle, c_int, c_uint) -> c_int;
    txn_begin(Handle, Handle, c_uint, *mut Handle) -> c_int;
    txn_env(Handle) -> Handle;
    txn_id(Handle) -> usize;
    txn_commit(Handle) -> c_int;
    txn_abort(Handle);
    txn_reset(Handle);
    txn_renew(Handle) -> c_int;
    dbi_open(Handle, *const c_char, c_uint, *mut MDB_dbi) -> c_int;
    dbi_close(Handle, MDB_dbi);
    dbi_flags(Handle, MDB_dbi, *mut c_uint) -> c_int;
    stat(Handle, MDB_dbi, *mut MDB_stat) -> c_int;
    drop(Handle, MDB_dbi, c_int) -> c_int;
    set_compare(Handle, MDB_dbi, Option<Compare>) -> c_int;
    set_dupsort(Handle, MDB_dbi, Option<Compare>) -> c_int;
    set_relfunc(Handle, MDB_dbi, *mut c_void) -> c_int;
    set_relctx(Handle, MDB_dbi, *mut c_void) -> c_int;
    cmp(Handle, MDB_dbi, *const MDB_val, *const MDB_val) -> c_int;
    dcmp(Handle, MDB_dbi, *const MDB_val, *const MDB_val) -> c_int;
    get(Handle, MDB_dbi, *mut MDB_val, *mut MDB_val) -> c_int;
    put(Handle, MDB_dbi, *mut MDB_val, *mut MDB_val, c_uint) -> c_int;
    del(Handle, MDB_dbi, *mut MDB_val, *mut MDB_val) -> c_int;
    cursor_open(Handle, MDB_dbi, *mut Handle) -> c_int;
    cursor_close(Handle);
    cursor_renew(Handle, Handle) -> c_int;
    cursor_txn(Handle) -> Handle;
    cursor_dbi(Handle) -> MDB_dbi;
    cursor_get(Handle, *mut MDB_val, *mut MDB_val, c_uint) -> c_int;
    cursor_put(Handle, *mut MDB_val, *mut MDB_val, c_uint) -> c_int;
    cursor_del(Handle, c_uint) -> c_int;
    cursor_count(Handle, *mut usize) -> c_int;
    reader_list(Handle, Option<Tell>, *mut c_void) -> c_int;
    reader_check(Handle, *mut c_int) -> c_int;
    midl_alloc(c_int) -> *mut usize;
    midl_free(*mut usize);
    midl_shrink(*mut *mut usize);
    midl_need(*mut *mut usize, c_uint) -> c_int;
    midl_append(*mut *mut usize, usize) -> c_int;
    midl_append_list(*mut *mut usize, *mut usize) -> c_int;
    midl_append_range(*mut *mut usize, usize, c_uint) -> c_int;
    midl_xmerge(*mut usize, *mut usize);
    midl_sort(*mut usize);
    midl_search(*mut usize, usize) -> c_uint;
    mid2l_search(*mut [usize; 2], usize) -> c_uint;
    mid2l_insert(*mut [usize; 2], *mut [usize; 2]) -> c_int;
    mid2l_append(*mut [usize; 2], *mut [usize; 2]) -> c_int;
}
