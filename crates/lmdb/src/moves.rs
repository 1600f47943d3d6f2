//! Moving a cursor, and what of the caller's key and data is set by each of the operations.

use std::ffi::c_int;
use std::ptr;

use fulgurite::{
    CursorPosition, DatabaseFlags, Error, FastStep, Move, ReadTxn, Record, Snapshot, StepUnit,
    WriteCursor,
};

use crate::codes::{Code, Outcome};
use crate::compare::lend;
use crate::cursor::{At, CURSORS, MDB_cursor};
use crate::edge::{behind_mut, code_of, octets, point, store};
use crate::transaction::{Kind, State, Txn};
use crate::types::{
    MDB_FIRST, MDB_FIRST_DUP, MDB_GET_BOTH, MDB_GET_BOTH_RANGE, MDB_GET_CURRENT, MDB_GET_MULTIPLE,
    MDB_LAST, MDB_LAST_DUP, MDB_NEXT, MDB_NEXT_DUP, MDB_NEXT_MULTIPLE, MDB_NEXT_NODUP, MDB_PREV,
    MDB_PREV_DUP, MDB_PREV_MULTIPLE, MDB_PREV_NODUP, MDB_SET, MDB_SET_KEY, MDB_SET_RANGE,
    MDB_cursor_op, MDB_val,
};

/// Moves a cursor, and points key and data to the item it comes to. Both may be NULL where they are not needed.
///
/// MDB_NOTFOUND: there is no such item. EINVAL: NULL, an unknown operation, or one that needs an item to start from on
/// a cursor that stands nowhere. MDB_INCOMPATIBLE: an operation on the values of a key, where keys have one each.
/// MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
///
/// MDB_SET and MDB_GET_BOTH leave the key argument alone, as MDB_FIRST_DUP, MDB_LAST_DUP and MDB_GET_MULTIPLE do where
/// the key has several values.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_get(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    // Each step has code of its own, since walks consist of them, that for the next record here.
    if op == MDB_NEXT {
        // SAFETY: the caller's promise.
        return unsafe { walk::<true, RECORDS>(cursor, key, data, op) };
    }
    // SAFETY: as above.
    unsafe { move_otherwise(cursor, key, data, op) }
}

/// A function like [`mdb_cursor_get`].
type Get =
    unsafe extern "C" fn(*mut MDB_cursor, *mut MDB_val, *mut MDB_val, MDB_cursor_op) -> c_int;

#[inline(never)]
unsafe extern "C" fn move_otherwise(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    let get: Get = match op {
        MDB_PREV => walk_otherwise::<false, RECORDS>,
        MDB_NEXT_DUP => walk_otherwise::<true, VALUES>,
        MDB_PREV_DUP => walk_otherwise::<false, VALUES>,
        MDB_NEXT_NODUP => fast_step::<true, KEYS>,
        MDB_PREV_NODUP => fast_step::<false, KEYS>,
        MDB_GET_MULTIPLE | MDB_NEXT_MULTIPLE => fast_block,
        MDB_SET_RANGE | MDB_SET_KEY => fast_seek,
        MDB_GET_BOTH => fast_seek_pair,
        _ => get_by_any_move,
    };
    // SAFETY: the caller's promise.
    unsafe { get(cursor, key, data, op) }
}

const RECORDS: u8 = 0;
const VALUES: u8 = 1;
const KEYS: u8 = 2;

const fn fast_step_of<const FORWARDS: bool, const AMONG: u8>() -> FastStep {
    FastStep {
        forwards: FORWARDS,
        unit: match AMONG {
            VALUES => StepUnit::Values,
            KEYS => StepUnit::Keys,
            _ => StepUnit::Records,
        },
    }
}

/// Steps to a neighbour in the page at hand. There is nothing in it that could panic, and no call but the last, so that it
/// needs next to no frame.
#[inline(always)]
unsafe fn walk<const FORWARDS: bool, const AMONG: u8>(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    let step = fast_step_of::<FORWARDS, AMONG>();
    // SAFETY: the caller's promise.
    let reader = unsafe { reader_of(cursor) };
    let Some((read, place)) = reader else {
        // SAFETY: as above.
        return unsafe { fast_step::<FORWARDS, AMONG>(cursor, key, data, op) };
    };
    let Some((found_key, found_data)) = read.fast_step_within(place, step) else {
        // SAFETY: as above.
        return unsafe { fast_step::<FORWARDS, AMONG>(cursor, key, data, op) };
    };
    // SAFETY: as above.
    unsafe { point(key, found_key) };
    // SAFETY: as above.
    unsafe { point(data, found_data) };
    0
}

#[inline(never)]
unsafe extern "C" fn walk_otherwise<const FORWARDS: bool, const AMONG: u8>(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { walk::<FORWARDS, AMONG>(cursor, key, data, op) }
}

/// Steps to a neighbour in a page that is not far.
#[inline(never)]
unsafe extern "C" fn fast_step<const FORWARDS: bool, const AMONG: u8>(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    let step = fast_step_of::<FORWARDS, AMONG>();
    // SAFETY: the caller's promise.
    if let Some((read, place)) = unsafe { reader_of(cursor) } {
        if let Some((found_key, found_data)) = read.fast_step(place, step) {
            // SAFETY: as above.
            unsafe { point(key, found_key) };
            // SAFETY: as above.
            unsafe { point(data, found_data) };
            return 0;
        }
        if AMONG == VALUES && read.is_at_last_value(place, FORWARDS) {
            return Code::NOT_FOUND.0;
        }
    } else if FORWARDS
        && AMONG == RECORDS
        // SAFETY: as above.
        && let Some((found_key, found_data)) = unsafe { next_of_writer(cursor) }
    {
        // SAFETY: as above.
        unsafe { point(key, found_key) };
        // SAFETY: as above.
        unsafe { point(data, found_data) };
        return 0;
    }
    // SAFETY: as above.
    unsafe { get_by_any_move(cursor, key, data, op) }
}

/// Searches for a key from which a walk is likely to begin.
#[inline(never)]
unsafe extern "C" fn fast_seek(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    // SAFETY: the caller's promise.
    if let Ok(wanted) = unsafe { searched(key) }
        // SAFETY: as above.
        && let Some((read, place)) = unsafe { reader_of(cursor) }
        && let Some((found_key, found_data)) = read.fast_seek(place, wanted, op == MDB_SET_KEY)
    {
        // SAFETY: as above.
        unsafe { point(key, found_key) };
        // SAFETY: as above.
        unsafe { point(data, found_data) };
        return 0;
    }
    // SAFETY: as above.
    unsafe { get_by_any_move(cursor, key, data, op) }
}

/// Searches for a value of a key.
#[inline(never)]
unsafe extern "C" fn fast_seek_pair(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    // SAFETY: the caller's promise.
    if let Ok(wanted) = unsafe { searched(key) }
        // SAFETY: as above.
        && let Ok(value) = unsafe { octets(data) }
        // SAFETY: as above.
        && let Some((read, place)) = unsafe { reader_of(cursor) }
        && let Some((_, found)) = read.fast_seek_pair(place, wanted, value)
    {
        // SAFETY: as above.
        unsafe { point(data, found) };
        return 0;
    }
    // SAFETY: as above.
    unsafe { get_by_any_move(cursor, key, data, op) }
}

/// Steps a cursor of a write transaction to the next record of the leaf at hand.
#[inline(always)]
unsafe fn next_of_writer<'a>(cursor: *mut MDB_cursor) -> Option<Record<'a>> {
    let found = CURSORS.find_hot(cursor)?;
    // SAFETY: it has a handle; the caller's promise.
    let cursor = unsafe { found.as_ref() };
    let txn = cursor.txn().ok()?;
    txn.check_free().ok()?;
    match (&cursor.at, &txn.kind) {
        (At::Write(id), Kind::Write(writer)) => writer.get().next_in_leaf(*id),
        _ => None,
    }
}

/// Hands out a page of fixed-size values that is not far.
#[inline(never)]
unsafe extern "C" fn fast_block(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    let goes_on = op == MDB_NEXT_MULTIPLE;
    // SAFETY: the caller's promise.
    if let Some((read, place)) = unsafe { reader_of(cursor) }
        && !data.is_null()
    {
        let found = if goes_on {
            read.fast_next_block(place)
        } else {
            read.fast_block(place)
        };
        if let Some((found_key, found_data)) = found {
            if goes_on {
                // SAFETY: as above.
                unsafe { point(key, found_key) };
            }
            // SAFETY: as above.
            unsafe { point(data, found_data) };
            return 0;
        }
        if goes_on && read.is_at_last_value(place, true) {
            return Code::NOT_FOUND.0;
        }
    }
    // SAFETY: as above.
    unsafe { get_by_any_move(cursor, key, data, op) }
}

/// The place of a read transaction's cursor, and the transaction, if both can be used and are found at once.
///
/// # Safety
/// The caller's promise.
#[inline(always)]
unsafe fn reader_of<'a>(
    cursor: *mut MDB_cursor,
) -> Option<(&'a ReadTxn<'static>, &'a mut CursorPosition)> {
    let mut found = CURSORS.find_hot(cursor)?;
    // SAFETY: it has a handle; the caller's promise.
    let cursor = unsafe { found.as_mut() };
    let txn = cursor.txn().ok()?;
    if txn.state() != State::Active {
        return None;
    }
    match (&mut cursor.at, &txn.kind) {
        (At::Read(place), Kind::Read(read)) => Some((read, place)),
        _ => None,
    }
}

#[inline(never)]
unsafe extern "C" fn get_by_any_move(
    cursor: *mut MDB_cursor,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> c_int {
    code_of(cursor, || {
        // SAFETY: the caller's promise.
        let cursor = unsafe { behind_mut(cursor) }?;
        let txn = cursor.txn()?;
        txn.check_free()?;
        let _lent = lend(txn.open, &txn.state, key, data);
        match (&mut cursor.at, &mut txn.kind) {
            (At::Write(id), Kind::Write(writer)) if is_step(op) => {
                let (found_key, found_data) = writer
                    .get()
                    .step_cursor(*id, step_of(op))?
                    .ok_or(Code::NOT_FOUND)?;
                // SAFETY: the caller's promise.
                unsafe { point(key, found_key) };
                // SAFETY: as above.
                unsafe { point(data, found_data) };
                Ok(())
            }
            (At::Read(place), Kind::Read(read)) => {
                // SAFETY: the caller's promise.
                unsafe { get(&mut Reading { read, place }, key, data, op) }
            }
            (At::Write(id), Kind::Write(writer)) => {
                let mut mover = writer.get_mut().at(*id)?;
                // SAFETY: the caller's promise.
                unsafe { get(&mut mover, key, data, op) }
            }
            _ => Err(Code::INVALID_ARGUMENT),
        }
    })
}

/// Whether the operation goes to a neighbour.
const fn is_step(op: MDB_cursor_op) -> bool {
    matches!(op, MDB_NEXT | MDB_PREV | MDB_NEXT_DUP | MDB_PREV_DUP)
}

const fn step_of(op: MDB_cursor_op) -> Move<'static> {
    match op {
        MDB_PREV => Move::Prev,
        MDB_NEXT_DUP => Move::NextDup,
        MDB_PREV_DUP => Move::PrevDup,
        _ => Move::Next,
    }
}

/// Counts the values of the current key.
///
/// EINVAL: NULL, or the cursor stands nowhere. MDB_INCOMPATIBLE: the database is not MDB_DUPSORT. MDB_NOTFOUND: behind
/// the last item.
///
/// # Safety
/// The caller's promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mdb_cursor_count(cursor: *mut MDB_cursor, count: *mut usize) -> c_int {
    code_of(cursor, || {
        // SAFETY: the caller's promise.
        let cursor = unsafe { behind_mut(cursor) }?;
        if count.is_null() {
            return Err(Code::INVALID_ARGUMENT);
        }
        let database = cursor.database;
        let txn: &mut Txn = cursor.txn()?;
        if !txn.flags(database)?.has(DatabaseFlags::DUP_SORT) {
            return Err(Code::INCOMPATIBLE);
        }
        txn.check_free()?;
        let _lent = lend(txn.open, &txn.state, ptr::null(), ptr::null());
        let counted = match (&mut cursor.at, &mut txn.kind) {
            (At::Read(place), Kind::Read(read)) => read.at_position(place)?.count()?,
            (At::Write(id), Kind::Write(writer)) => writer.get_mut().at(*id)?.count()?,
            _ => return Err(Code::INVALID_ARGUMENT),
        };
        let counted = counted.ok_or(Code::NOT_FOUND)?;
        // SAFETY: the caller's promise.
        unsafe { store(count, counted as usize) }
    })
}

/// What both kinds of cursor can do.
trait Mover {
    fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error>;
    fn is_single(&self) -> bool;
    fn is_at_end(&self) -> bool;
    /// Whether keys have one value each in this database.
    fn is_plain(&mut self) -> bool;
}

/// A cursor of a read transaction.
struct Reading<'t, 'p> {
    read: &'t ReadTxn<'static>,
    place: &'p mut CursorPosition,
}

impl Mover for Reading<'_, '_> {
    #[inline]
    fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error> {
        self.read.step(self.place, step)
    }

    fn is_single(&self) -> bool {
        self.place.is_single()
    }

    fn is_at_end(&self) -> bool {
        self.place.is_at_end()
    }

    fn is_plain(&mut self) -> bool {
        let counted = self.read.at_position(self.place).map(|mut at| at.count());
        matches!(counted, Ok(Err(Error::NoDuplicates)))
    }
}

impl Mover for WriteCursor<'_, '_> {
    #[inline]
    fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error> {
        WriteCursor::go(self, step)
    }

    fn is_single(&self) -> bool {
        WriteCursor::is_single(self)
    }

    fn is_at_end(&self) -> bool {
        WriteCursor::is_at_end(self)
    }

    fn is_plain(&mut self) -> bool {
        matches!(self.count(), Err(Error::NoDuplicates))
    }
}

#[inline]
unsafe fn get(
    mover: &mut impl Mover,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> Outcome {
    let step = match op {
        MDB_NEXT => Move::Next,
        MDB_PREV => Move::Prev,
        MDB_FIRST => Move::First,
        MDB_LAST => Move::Last,
        MDB_GET_CURRENT => Move::Current,
        MDB_NEXT_DUP => Move::NextDup,
        MDB_PREV_DUP => Move::PrevDup,
        MDB_NEXT_NODUP => Move::NextKey,
        MDB_PREV_NODUP => Move::PrevKey,
        // SAFETY: the caller's promise.
        MDB_SET_KEY => Move::Key(unsafe { searched(key) }?),
        // SAFETY: as above.
        MDB_SET_RANGE => Move::KeyOrAfter(unsafe { searched(key) }?),
        // SAFETY: as above.
        _ => return unsafe { get_otherwise(mover, key, data, op) },
    };
    let (found_key, found_data) = mover.go(step)?.ok_or(Code::NOT_FOUND)?;
    // SAFETY: the caller's promise.
    unsafe { point(key, found_key) };
    // SAFETY: as above.
    unsafe { point(data, found_data) };
    Ok(())
}

/// The operations that do not set both key and data.
#[inline(never)]
unsafe fn get_otherwise(
    mover: &mut impl Mover,
    key: *mut MDB_val,
    data: *mut MDB_val,
    op: MDB_cursor_op,
) -> Outcome {
    if data.is_null() && op != MDB_SET {
        return Err(Code::INVALID_ARGUMENT);
    }
    let was_at_end = mover.is_at_end();
    let step = match op {
        // SAFETY: the caller's promise.
        MDB_SET => Move::Key(unsafe { searched(key) }?),
        MDB_GET_BOTH | MDB_GET_BOTH_RANGE => {
            // SAFETY: as above.
            let wanted = match unsafe { searched(key) } {
                Err(_) if mover.is_plain() => return Err(Code::INCOMPATIBLE),
                wanted => wanted?,
            };
            // SAFETY: as above.
            let value = unsafe { octets(data) }?;
            if op == MDB_GET_BOTH {
                Move::Pair(wanted, value)
            } else {
                Move::PairOrAfter(wanted, value)
            }
        }
        MDB_FIRST_DUP => Move::FirstDup,
        MDB_LAST_DUP => Move::LastDup,
        MDB_GET_MULTIPLE => Move::Block,
        MDB_NEXT_MULTIPLE => Move::NextBlock,
        MDB_PREV_MULTIPLE => Move::PrevBlock,
        _ => return Err(Code::INVALID_ARGUMENT),
    };
    let found = mover.go(step)?.ok_or(Code::NOT_FOUND)?;
    let found: Record<'static> = {
        // SAFETY: pointers to key and value are handed out below; they stay good until the next change, whatever the
        // cursor is asked about itself before.
        unsafe { std::mem::transmute::<Record<'_>, Record<'static>>(found) }
    };
    let sets_key = match op {
        MDB_FIRST_DUP | MDB_LAST_DUP => mover.is_single(),
        MDB_NEXT_MULTIPLE => true,
        _ => false,
    };
    let sets_data = op != MDB_GET_MULTIPLE || !(mover.is_single() || was_at_end);
    if sets_key {
        // SAFETY: the caller's promise.
        unsafe { point(key, found.0) };
    }
    if sets_data {
        // SAFETY: as above.
        unsafe { point(data, found.1) };
    }
    Ok(())
}

/// A key to look for.
#[inline]
unsafe fn searched<'a>(key: *const MDB_val) -> Outcome<&'a [u8]> {
    // SAFETY: the caller's promise.
    let key = unsafe { octets(key) }?;
    if key.is_empty() {
        return Err(Code::BAD_LENGTH);
    }
    Ok(key)
}
