//! Databases: opened, closed, asked about, emptied and dropped.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::ptr;

use fulgurite::{CustomOrder, Database, DatabaseFlags, Error, Snapshot};

use crate::codes::{Code, Outcome};
use crate::edge::{behind, behind_mut, code_of, store, value_of};
use crate::env::MDB_env;
use crate::facts::stat_of;
use crate::handles::MAIN;
use crate::transaction::{Kind, Txn, reading};
use crate::txn::MDB_txn;
use crate::types::{
    MDB_CREATE, MDB_DUPFIXED, MDB_DUPSORT, MDB_INTEGERDUP, MDB_INTEGERKEY, MDB_REVERSEDUP,
    MDB_REVERSEKEY, MDB_dbi, MDB_stat,
};

/// The flags that a database keeps.
const PERSISTENT: c_uint =
    MDB_REVERSEKEY | MDB_DUPSORT | MDB_INTEGERKEY | MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP;
/// The flags that mean something with duplicates only.
const DUPLICATES: c_uint = MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP;
/// The flags that order keys otherwise than octet by octet from the first.
const KEY_ORDERS: c_uint = MDB_REVERSEKEY | MDB_INTEGERKEY;
/// The order of reverse keys, and on this machine of integers of one size.
const LAST_OCTET_FIRST: CustomOrder = CustomOrder {
    call: |_, a, b| a.iter().rev().cmp(b.iter().rev()),
    context: 0,
};
/// The longest name in octets.
const NAME_MAX: usize = 511;

/// Opens a database by name, or with NULL the main one, and tells its handle.
///
/// The handle belongs to the transaction until that is committed, and is then good for all that begin later, until
/// mdb_dbi_close, mdb_drop or the end of the environment. A name that is open keeps its handle, whatever the flags; an
/// existing database keeps its flags. With MDB_CREATE one that does not exist is created, in a write transaction.
///
/// MDB_NOTFOUND: there is none. MDB_DBS_FULL: see mdb_env_set_maxdbs. MDB_INCOMPATIBLE: the name is a plain key of the
/// main database, or that has flags which named databases cannot live with. EACCES: to create one in a read transaction.
/// MDB_BAD_VALSIZE: names have 1 to 511 octets. EINVAL: NULL, unknown flags, or MDB_DUPFIXED, MDB_INTEGERDUP or
/// MDB_REVERSEDUP without MDB_DUPSORT for a new one. MDB_BAD_TXN.
///
/// # Safety
/// The caller's promise; the name ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_dbi_open(
    txn: *mut MDB_txn,
    name: *const c_char,
    flags: c_uint,
    dbi: *mut MDB_dbi,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        if dbi.is_null() || flags & !(PERSISTENT | MDB_CREATE) != 0 {
            return Err(Code::INVALID_ARGUMENT);
        }
        txn.check_free()?;
        let handle = if name.is_null() {
            open_main(txn, flags)?
        } else {
            // SAFETY: the caller's promise.
            open_named(txn, unsafe { CStr::from_ptr(name) }.to_bytes(), flags)?
        };
        // SAFETY: not null; the caller's promise.
        unsafe { store(dbi, handle) }
    })
}

/// Closes a database handle, for transactions that begin later. It is not to be closed while a transaction changes it,
/// and need not be closed at all.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_dbi_close(env: *mut MDB_env, dbi: MDB_dbi) {
    value_of(env, (), || {
        // SAFETY: the caller's promise.
        let open = unsafe { behind(env) }?.open()?;
        open.handles.close(dbi, None);
        Ok(())
    });
}

/// Tells the flags of a database.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_dbi_flags(
    txn: *mut MDB_txn,
    dbi: MDB_dbi,
    flags: *mut c_uint,
) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(txn) }?;
        let database = txn.user_database(dbi)?;
        if flags.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let mut found = c_uint::from(txn.flags(database)?.0);
        if dbi == MAIN {
            found |= txn.main_flags.get();
        }
        // SAFETY: as above.
        unsafe { store(flags, found) }
    })
}

/// Tells the statistics of a database; handle 0 is the list of free pages.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_stat(txn: *mut MDB_txn, dbi: MDB_dbi, stat: *mut MDB_stat) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind(txn) }?;
        let database = txn.database(dbi)?;
        if stat.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        txn.check_free()?;
        let _lent = txn.lend();
        let found = reading!(txn, txn => txn.stat(database));
        // SAFETY: as above.
        unsafe { store(stat, stat_of(&found?)) }
    })
}

/// Empties a database; with del 1, also deletes it and closes the handle. The main one is only ever emptied: the named
/// ones go with it, and their handles are closed.
///
/// EACCES: in a read transaction. EINVAL: NULL, an unknown handle, or another del.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_drop(txn: *mut MDB_txn, dbi: MDB_dbi, del: c_int) -> c_int {
    code_of(txn, || {
        // SAFETY: the caller's promise.
        let txn = unsafe { behind_mut(txn) }?;
        if del != 0 && del != 1 {
            return Err(Code::INVALID_ARGUMENT);
        }
        let database = txn.user_database(dbi)?;
        let handles = &txn.open.handles;
        let (writer, lent) = txn.lent_writer(ptr::null(), ptr::null())?;
        if dbi != MAIN && del == 1 {
            writer.drop_database(database)?;
        } else {
            writer.clear_database(database)?;
        }
        drop(lent);
        if dbi == MAIN {
            handles.close_all(&txn.view);
        } else if del == 1 {
            handles.close(dbi, Some(&txn.view));
        }
        Ok(())
    })
}

fn open_main(txn: &mut Txn, flags: c_uint) -> Outcome<MDB_dbi> {
    let flags = flags & PERSISTENT;
    let mut order = None;
    match &mut txn.kind {
        Kind::Read(read) => {
            let changed = txn.main_flags.get() | flags;
            txn.main_flags.set(changed);
            // The flags are not stored, but keys are ordered by them from here on, by writers too.
            if flags & !c_uint::from(read.flags(Database::MAIN)?.0) & KEY_ORDERS != 0 {
                order = Some(LAST_OCTET_FIRST);
            }
        }
        Kind::Write(writer) => {
            let writer = writer.get_mut();
            if u32::from(writer.flags(Database::MAIN)?.0) & flags != flags {
                writer.add_main_flags(engine_flags(flags))?;
            }
        }
    }
    txn.set_key_order(Database::MAIN, order);
    txn.set_value_order(Database::MAIN, None);
    Ok(MAIN)
}

fn open_named(txn: &mut Txn, name: &[u8], flags: c_uint) -> Outcome<MDB_dbi> {
    let handles = &txn.open.handles;
    if let Some(dbi) = handles.find(name, &txn.view) {
        return Ok(dbi);
    }
    if handles.is_full() {
        return Err(Code::HANDLES_FULL);
    }
    if c_uint::from(txn.flags(Database::MAIN)?.0) & (MDB_DUPSORT | MDB_INTEGERKEY) != 0 {
        return Err(if flags & MDB_CREATE != 0 {
            Code::INCOMPATIBLE
        } else {
            Code::NOT_FOUND
        });
    }
    // A name that is too long for a key is only refused where it would become one.
    if name.len() > NAME_MAX && flags & MDB_CREATE == 0 {
        return Err(Code::NOT_FOUND);
    }
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(Code::BAD_LENGTH);
    }
    let lent = txn.lend();
    let found = reading!(txn, txn => txn.open_named(name));
    drop(lent);
    let database = match found {
        Ok(database) => database,
        Err(Error::NoDatabase(_)) if flags & MDB_CREATE != 0 => create(txn, name, flags)?,
        Err(error) => return Err(error.into()),
    };
    let dbi = txn.open.handles.open(name, database, &txn.view)?;
    txn.set_key_order(database, None);
    txn.set_value_order(database, None);
    Ok(dbi)
}

fn create(txn: &mut Txn, name: &[u8], flags: c_uint) -> Outcome<Database> {
    if flags & MDB_DUPSORT == 0 && flags & DUPLICATES != 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let (writer, _lent) = txn.lent_writer(ptr::null(), ptr::null())?;
    Ok(writer.create_named(name, engine_flags(flags))?)
}

/// The flags as the file has them: the numbers are the same.
fn engine_flags(flags: c_uint) -> DatabaseFlags {
    DatabaseFlags((flags & PERSISTENT) as u16)
}
