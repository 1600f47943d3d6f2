//! Moving a cursor, and setting the key and data arguments of the program.

use core::ffi::c_int;
use core::ptr;

use fulgurite::{
    CursorPosition, DatabaseFlags, Error, FastStep, Move, ReadTxn, Record, Snapshot, StepUnit,
    WriteCursor,
};

use crate::codes::{Code, Outcome};
use crate::ffi::{CHandle, Out, Val, code_of, exported, val};
use crate::objects::cursor::{Cursor, Position};
use crate::objects::order::begin_comparisons;
use crate::objects::state::State;
use crate::objects::transaction::Kind;
use crate::types::{
    MDB_FIRST, MDB_FIRST_DUP, MDB_GET_BOTH, MDB_GET_BOTH_RANGE, MDB_GET_CURRENT, MDB_GET_MULTIPLE,
    MDB_LAST, MDB_LAST_DUP, MDB_NEXT, MDB_NEXT_DUP, MDB_NEXT_MULTIPLE, MDB_NEXT_NODUP, MDB_PREV,
    MDB_PREV_DUP, MDB_PREV_MULTIPLE, MDB_PREV_NODUP, MDB_SET, MDB_SET_KEY, MDB_SET_RANGE,
    MDB_cursor, MDB_cursor_op, MDB_val,
};

exported! {
    /// Moves a cursor, and points key and data to the item it reaches. Both may be NULL where they
    /// are not needed.
    ///
    /// MDB_NOTFOUND: there is no such item. EINVAL: NULL, an unknown operation, or an unset cursor
    /// where the operation needs a current item. MDB_INCOMPATIBLE: an operation on the values of a
    /// key, where keys have one each. MDB_BAD_VALSIZE: an empty key. MDB_BAD_TXN.
    ///
    /// MDB_SET and MDB_GET_BOTH do not change the key argument. MDB_FIRST_DUP, MDB_LAST_DUP and
    /// MDB_GET_MULTIPLE do not change it where the key has several values.
    fn mdb_cursor_get(
        cursor: *mut MDB_cursor,
        key: *mut MDB_val,
        data: *mut MDB_val,
        op: MDB_cursor_op,
    ) -> c_int { plain(get) }

    /// Counts the values of the current key.
    ///
    /// EINVAL: NULL, or the cursor is unset. MDB_INCOMPATIBLE: the database is not MDB_DUPSORT.
    /// MDB_NOTFOUND: behind the last item.
    fn mdb_cursor_count(cursor: *mut MDB_cursor, count: *mut usize) -> c_int {
        code_of(cursor, count_values)
    }
}

/// A function that handles operations of mdb_cursor_get. It is of C's kind and so known not to
/// unwind, which saves callers a frame.
type Get = extern "C" fn(CHandle<MDB_cursor>, Val<'_>, Val<'_>, MDB_cursor_op) -> c_int;

/// Scans consist of steps, so each step has a function. The step to the next record is tried here.
#[inline(always)]
fn get(cursor: CHandle<MDB_cursor>, key: Val<'_>, data: Val<'_>, op: MDB_cursor_op) -> c_int {
    if op == MDB_NEXT {
        return step_in_page::<true, RECORDS>(cursor, key, data, op);
    }
    dispatch(cursor, key, data, op)
}

#[inline(never)]
extern "C" fn dispatch(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    let get: Get = match op {
        MDB_PREV => step::<false, RECORDS>,
        MDB_NEXT_DUP => step::<true, VALUES>,
        MDB_PREV_DUP => step::<false, VALUES>,
        MDB_NEXT_NODUP => fast_step::<true, KEYS>,
        MDB_PREV_NODUP => fast_step::<false, KEYS>,
        MDB_GET_MULTIPLE => fast_block,
        MDB_NEXT_MULTIPLE => fast_next_block,
        MDB_SET_RANGE | MDB_SET_KEY => fast_seek,
        MDB_GET_BOTH => fast_seek_pair,
        _ => move_any,
    };
    get(cursor, key, data, op)
}

/// Units of a step, as const parameters.
const RECORDS: u8 = 0;
const VALUES: u8 = 1;
const KEYS: u8 = 2;

const fn fast_step_of<const FORWARDS: bool, const UNIT: u8>() -> FastStep {
    FastStep {
        forwards: FORWARDS,
        unit: match UNIT {
            VALUES => StepUnit::Values,
            KEYS => StepUnit::Keys,
            _ => StepUnit::Records,
        },
    }
}

/// Points key and data to an item.
#[inline(always)]
fn return_record(key: Val<'_>, data: Val<'_>, record: Record<'_>) -> c_int {
    key.point(record.0);
    data.point(record.1);
    0
}

/// Steps within the current page. Nothing here can panic, and calls come last, so it needs almost
/// no frame.
#[inline(always)]
fn step_in_page<const FORWARDS: bool, const UNIT: u8>(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    let mut slot = cursor.find_hot();
    let reader = slot.as_mut().and_then(|slot| reader_of(slot.get_mut()));
    let Some((read, position)) = reader else {
        return fast_step::<FORWARDS, UNIT>(cursor, key, data, op);
    };
    match read.fast_step_within(position, fast_step_of::<FORWARDS, UNIT>()) {
        Some(record) => return_record(key, data, record),
        None => fast_step::<FORWARDS, UNIT>(cursor, key, data, op),
    }
}

#[inline(never)]
extern "C" fn step<const FORWARDS: bool, const UNIT: u8>(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    step_in_page::<FORWARDS, UNIT>(cursor, key, data, op)
}

/// Steps to a neighbour, also in the next page.
#[inline(never)]
extern "C" fn fast_step<const FORWARDS: bool, const UNIT: u8>(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    if let Some(mut slot) = cursor.find_hot() {
        let cursor = slot.get_mut();
        if let Some((read, position)) = reader_of(cursor) {
            if let Some(record) = read.fast_step(position, fast_step_of::<FORWARDS, UNIT>()) {
                return return_record(key, data, record);
            }
            if UNIT == VALUES && read.is_at_last_value(position, FORWARDS) {
                return Code::NOT_FOUND.0;
            }
        } else if FORWARDS
            && UNIT == RECORDS
            && let Some(record) = next_of_writer(cursor)
        {
            return return_record(key, data, record);
        }
    }
    move_any(cursor, key, data, op)
}

/// Searches for a key, from which a scan is likely to begin.
#[inline(never)]
extern "C" fn fast_seek(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    if let Ok(wanted) = key.key()
        && let Some(mut slot) = cursor.find_hot()
        && let Some((read, position)) = reader_of(slot.get_mut())
        && let Some(record) = read.fast_seek(position, wanted, op == MDB_SET_KEY)
    {
        return return_record(key, data, record);
    }
    move_any(cursor, key, data, op)
}

/// Searches for a value of a key.
#[inline(never)]
extern "C" fn fast_seek_pair(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    if let Ok(wanted) = key.key()
        && let Ok(value) = data.bytes()
        && let Some(mut slot) = cursor.find_hot()
        && let Some((read, position)) = reader_of(slot.get_mut())
        && let Some((_, found)) = read.fast_seek_pair(position, wanted, value)
    {
        data.point(found);
        return 0;
    }
    move_any(cursor, key, data, op)
}

/// Returns the page of values of one size that has the current one.
#[inline(never)]
extern "C" fn fast_block(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    if let Some(mut slot) = cursor.find_hot()
        && let Some((read, position)) = reader_of(slot.get_mut())
        && !data.is_null()
        && let Some((_, values)) = read.fast_block(position)
    {
        data.point(values);
        return 0;
    }
    move_any(cursor, key, data, op)
}

/// Returns the next page of values of one size.
#[inline(never)]
extern "C" fn fast_next_block(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    if let Some(mut slot) = cursor.find_hot()
        && let Some((read, position)) = reader_of(slot.get_mut())
        && !data.is_null()
    {
        if let Some(record) = read.fast_next_block(position) {
            return return_record(key, data, record);
        }
        if read.is_at_last_block(position) {
            return Code::NOT_FOUND.0;
        }
    }
    move_any(cursor, key, data, op)
}

/// Returns the position of a read transaction's cursor, and the transaction, if both can be used.
#[inline(always)]
fn reader_of(cursor: &mut Cursor) -> Option<(&ReadTxn<'static>, &mut CursorPosition)> {
    let (position, txn) = cursor.parts().ok()?;
    if txn.state() != State::Active {
        return None;
    }
    match (position, &txn.kind) {
        (Position::Read(position), Kind::Read(read)) => Some((read, position)),
        _ => None,
    }
}

/// Steps a write transaction's cursor to the next record of the current leaf.
#[inline(always)]
fn next_of_writer(cursor: &mut Cursor) -> Option<Record<'_>> {
    let (position, txn) = cursor.parts().ok()?;
    txn.check_usable().ok()?;
    match (position, &txn.kind) {
        (Position::Write(id), Kind::Write(writer)) => writer.get().next_in_leaf(*id),
        _ => None,
    }
}

/// Handles every operation, in both kinds of transaction.
#[inline(never)]
extern "C" fn move_any(
    cursor: CHandle<MDB_cursor>,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> c_int {
    code_of(cursor, || {
        let mut slot = cursor.find()?;
        let (position, txn) = slot.get_mut().parts()?;
        txn.check_usable()?;
        let _busy = begin_comparisons(txn.open, &txn.state, key.as_ptr(), data.as_ptr());
        match (position, &mut txn.kind) {
            (Position::Write(id), Kind::Write(writer)) if is_step(op) => {
                let record = writer.get().step_cursor(*id, step_of(op))?;
                return_record(key, data, record.ok_or(Code::NOT_FOUND)?);
                Ok(())
            }
            (Position::Read(position), Kind::Read(read)) => {
                move_to(&mut ReadCursor { read, position }, key, data, op)
            }
            (Position::Write(id), Kind::Write(writer)) => {
                move_to(&mut writer.get_mut().at(*id)?, key, data, op)
            }
            _ => Err(Code::INVALID_ARGUMENT),
        }
    })
}

/// Returns true if the operation moves to a neighbour.
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

fn count_values(cursor: CHandle<MDB_cursor>, count: Out<'_, usize>) -> Outcome {
    let mut cursor = cursor.find()?;
    let cursor = cursor.get_mut();
    count.check()?;
    let database = cursor.database;
    let (position, txn) = cursor.parts()?;
    if !txn.flags(database)?.has(DatabaseFlags::DUP_SORT) {
        return Err(Code::INCOMPATIBLE);
    }
    txn.check_usable()?;
    let _busy = begin_comparisons(txn.open, &txn.state, ptr::null(), ptr::null());
    let values = match (position, &mut txn.kind) {
        (Position::Read(position), Kind::Read(read)) => read.at_position(position)?.count()?,
        (Position::Write(id), Kind::Write(writer)) => writer.get_mut().at(*id)?.count()?,
        _ => return Err(Code::INVALID_ARGUMENT),
    };
    count.store(values.ok_or(Code::NOT_FOUND)? as usize)
}

/// The operations that both kinds of cursor have.
trait MovableCursor {
    fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error>;
    fn is_single(&self) -> bool;
    fn is_at_end(&self) -> bool;
    /// Returns true if keys have one value each in this database.
    fn is_plain(&mut self) -> bool;
}

/// A cursor of a read transaction.
struct ReadCursor<'t, 'p> {
    read: &'t ReadTxn<'static>,
    position: &'p mut CursorPosition,
}

impl MovableCursor for ReadCursor<'_, '_> {
    #[inline]
    fn go(&mut self, step: Move<'_>) -> Result<Option<Record<'_>>, Error> {
        self.read.step(self.position, step)
    }

    fn is_single(&self) -> bool {
        self.position.is_single()
    }

    fn is_at_end(&self) -> bool {
        self.position.is_at_end()
    }

    fn is_plain(&mut self) -> bool {
        let counted = self
            .read
            .at_position(self.position)
            .map(|mut at| at.count());
        matches!(counted, Ok(Err(Error::NoDuplicates)))
    }
}

impl MovableCursor for WriteCursor<'_, '_> {
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
fn move_to(
    cursor: &mut impl MovableCursor,
    key: Val<'_>,
    data: Val<'_>,
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
        MDB_SET_KEY => Move::Key(key.key()?),
        MDB_SET_RANGE => Move::KeyOrAfter(key.key()?),
        _ => return move_partly(cursor, key, data, op),
    };
    let record = cursor.go(step)?.ok_or(Code::NOT_FOUND)?;
    return_record(key, data, record);
    Ok(())
}

/// Handles the operations that do not always set both key and data.
#[inline(never)]
fn move_partly(
    cursor: &mut impl MovableCursor,
    key: Val<'_>,
    data: Val<'_>,
    op: MDB_cursor_op,
) -> Outcome {
    if data.is_null() && op != MDB_SET {
        return Err(Code::INVALID_ARGUMENT);
    }
    let was_at_end = cursor.is_at_end();
    let step = match op {
        MDB_SET => Move::Key(key.key()?),
        MDB_GET_BOTH | MDB_GET_BOTH_RANGE => {
            let wanted = match key.key() {
                Err(_) if cursor.is_plain() => return Err(Code::INCOMPATIBLE),
                wanted => wanted?,
            };
            let value = data.bytes()?;
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
    let (found_key, found_data) = cursor.go(step)?.ok_or(Code::NOT_FOUND)?;
    let (found_key, found_data) = (val(found_key), val(found_data));
    let sets_key = match op {
        MDB_FIRST_DUP | MDB_LAST_DUP => cursor.is_single(),
        MDB_NEXT_MULTIPLE => true,
        _ => false,
    };
    if sets_key {
        key.set(found_key);
    }
    if op != MDB_GET_MULTIPLE || !(cursor.is_single() || was_at_end) {
        data.set(found_data);
    }
    Ok(())
}
