//! Databases: opened, closed, described, emptied and deleted.

use core::ffi::{c_char, c_int, c_uint};
use core::ptr;

use fulgurite::{CustomOrder, Database, DatabaseFlags, Error, Snapshot};

use crate::api::stat::stat_of;
use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, Text, exported};
use crate::objects::databases::MAIN;
use crate::objects::transaction::{Kind, Txn, reading};
use crate::types::{
    MDB_CREATE, MDB_DUPFIXED, MDB_DUPSORT, MDB_INTEGERDUP, MDB_INTEGERKEY, MDB_REVERSEDUP,
    MDB_REVERSEKEY, MDB_dbi, MDB_env, MDB_stat, MDB_txn,
};

/// The flags that a database keeps.
const PERSISTENT: c_uint =
    MDB_REVERSEKEY | MDB_DUPSORT | MDB_INTEGERKEY | MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP;
/// The flags that have a meaning with duplicates only.
const DUPLICATES: c_uint = MDB_DUPFIXED | MDB_INTEGERDUP | MDB_REVERSEDUP;
/// The flags that change the order of keys from bytewise, first byte first.
const KEY_ORDERS: c_uint = MDB_REVERSEKEY | MDB_INTEGERKEY;
/// The order of reverse keys, and on this machine of integers of one size.
const LAST_BYTE_FIRST: CustomOrder = CustomOrder {
    call: |_, a, b| a.iter().rev().cmp(b.iter().rev()),
    context: 0,
};
/// Longest name in bytes.
const NAME_MAX: usize = 511;

exported! {
    /// Opens a database by name, or with NULL the main one, and stores its handle.
    ///
    /// The handle belongs to the transaction until that commits. Then it is valid in all
    /// transactions that begin later, until mdb_dbi_close, mdb_drop or the end of the environment.
    /// An open name keeps its handle, and an existing database keeps its flags. With MDB_CREATE a
    /// write transaction creates a database that does not exist.
    ///
    /// MDB_NOTFOUND: there is none. MDB_DBS_FULL: see mdb_env_set_maxdbs. MDB_INCOMPATIBLE: the
    /// name is a plain key of the main database, or its flags rule out named databases. EACCES: to
    /// create one in a read transaction. MDB_BAD_VALSIZE: names have 1 to 511 bytes. EINVAL: NULL,
    /// unknown flags, or MDB_DUPFIXED, MDB_INTEGERDUP or MDB_REVERSEDUP without MDB_DUPSORT for a
    /// new one. MDB_BAD_TXN.
    fn mdb_dbi_open(
        txn: *mut MDB_txn,
        name: *const c_char,
        flags: c_uint,
        dbi: *mut MDB_dbi,
    ) -> c_int { code_of(txn, open) }

    /// Closes a database handle, for transactions that begin later. Do not close it while a
    /// transaction changes the database; programs need not close handles at all.
    fn mdb_dbi_close(env: *mut MDB_env, dbi: MDB_dbi) { value_of(env, (), close) }

    /// Gets the flags of a database.
    fn mdb_dbi_flags(txn: *mut MDB_txn, dbi: MDB_dbi, flags: *mut c_uint) -> c_int {
        code_of(txn, get_flags)
    }

    /// Gets the statistics of a database; handle 0 is the free list.
    fn mdb_stat(txn: *mut MDB_txn, dbi: MDB_dbi, stat: *mut MDB_stat) -> c_int {
        code_of(txn, get_stat)
    }

    /// Empties a database; with del 1, also deletes it and closes the handle. The main database is
    /// only emptied. Its named databases go with it, and their handles are closed.
    ///
    /// EACCES: in a read transaction. EINVAL: NULL, an unknown handle, or another del.
    fn mdb_drop(txn: *mut MDB_txn, dbi: MDB_dbi, del: c_int) -> c_int {
        code_of(txn, empty_or_delete)
    }
}

fn open(txn: CHandle<MDB_txn>, name: Text<'_>, flags: c_uint, dbi: Out<'_, MDB_dbi>) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    dbi.check()?;
    if flags & !(PERSISTENT | MDB_CREATE) != 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    txn.check_usable()?;
    dbi.store(match name.get() {
        None => open_main(txn, flags)?,
        Some(name) => open_named(txn, name.to_bytes(), flags)?,
    })
}

fn close(env: CHandle<MDB_env>, dbi: MDB_dbi) -> Outcome {
    let env = env.find()?;
    env.get().open()?.databases.close(dbi, None);
    Ok(())
}

fn get_flags(txn: CHandle<MDB_txn>, dbi: MDB_dbi, flags: Out<'_, c_uint>) -> Outcome {
    let txn = txn.find()?;
    let txn = txn.get();
    let database = txn.user_database(dbi)?;
    flags.check()?;
    let mut found = c_uint::from(txn.flags(database)?.0);
    if dbi == MAIN {
        found |= txn.main_flags.get();
    }
    flags.store(found)
}

fn get_stat(txn: CHandle<MDB_txn>, dbi: MDB_dbi, stat: Out<'_, MDB_stat>) -> Outcome {
    let txn = txn.find()?;
    let txn = txn.get();
    let database = txn.database(dbi)?;
    stat.check()?;
    txn.check_usable()?;
    let _busy = txn.begin_comparisons();
    let found = reading!(txn, txn => txn.stat(database));
    stat.store(stat_of(&found?))
}

fn empty_or_delete(txn: CHandle<MDB_txn>, dbi: MDB_dbi, del: c_int) -> Outcome {
    let mut txn = txn.find()?;
    let txn = txn.get_mut();
    if del != 0 && del != 1 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let database = txn.user_database(dbi)?;
    let databases = &txn.open.databases;
    let (writer, busy) = txn.busy_writer(ptr::null(), ptr::null())?;
    if dbi != MAIN && del == 1 {
        writer.drop_database(database)?;
    } else {
        writer.clear_database(database)?;
    }
    drop(busy);
    if dbi == MAIN {
        databases.close_all(&txn.view);
    } else if del == 1 {
        databases.close(dbi, Some(&txn.view));
    }
    Ok(())
}

fn open_main(txn: &mut Txn, flags: c_uint) -> Outcome<MDB_dbi> {
    let flags = flags & PERSISTENT;
    let mut order = None;
    match &mut txn.kind {
        Kind::Read(read) => {
            let changed = txn.main_flags.get() | flags;
            txn.main_flags.set(changed);
            // The flags are not stored, but they order keys from here on, also for writers.
            if flags & !c_uint::from(read.flags(Database::MAIN)?.0) & KEY_ORDERS != 0 {
                order = Some(LAST_BYTE_FIRST);
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
    let databases = &txn.open.databases;
    if let Some(dbi) = databases.find(name, &txn.view) {
        return Ok(dbi);
    }
    if databases.is_full() {
        return Err(Code::HANDLES_FULL);
    }
    if c_uint::from(txn.flags(Database::MAIN)?.0) & (MDB_DUPSORT | MDB_INTEGERKEY) != 0 {
        return Err(if flags & MDB_CREATE != 0 {
            Code::INCOMPATIBLE
        } else {
            Code::NOT_FOUND
        });
    }
    // A name too long for a key is a bad length only where it would become a key.
    if name.len() > NAME_MAX && flags & MDB_CREATE == 0 {
        return Err(Code::NOT_FOUND);
    }
    if name.is_empty() || name.len() > NAME_MAX {
        return Err(Code::BAD_LENGTH);
    }
    let busy = txn.begin_comparisons();
    let found = reading!(txn, txn => txn.open_named(name));
    drop(busy);
    let database = match found {
        Ok(database) => database,
        Err(Error::NoDatabase(_)) if flags & MDB_CREATE != 0 => create(txn, name, flags)?,
        Err(error) => return Err(error.into()),
    };
    let dbi = txn.open.databases.open(name, database, &txn.view)?;
    txn.set_key_order(database, None);
    txn.set_value_order(database, None);
    Ok(dbi)
}

fn create(txn: &mut Txn, name: &[u8], flags: c_uint) -> Outcome<Database> {
    if flags & MDB_DUPSORT == 0 && flags & DUPLICATES != 0 {
        return Err(Code::INVALID_ARGUMENT);
    }
    let (writer, _busy) = txn.busy_writer(ptr::null(), ptr::null())?;
    Ok(writer.create_named(name, engine_flags(flags))?)
}

/// Returns the flags as the file has them, with the same numbers.
fn engine_flags(flags: c_uint) -> DatabaseFlags {
    DatabaseFlags((flags & PERSISTENT) as u16)
}
