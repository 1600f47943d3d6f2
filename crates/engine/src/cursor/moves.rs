//! The moves of a cursor.

/// A move of a cursor. Each ends on a record, which it returns, or returns `None`.
///
/// In a database without duplicates each key has one record. Moves between the values of a key then
/// behave as those between records, or are refused with [`crate::Error::NoDuplicates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move<'k> {
    /// To the first record.
    First,
    /// To the last record.
    Last,
    /// To the next record; from an unset cursor, to the first. At the last record the cursor stays
    /// and returns nothing.
    Next,
    /// To the previous record; from an unset cursor or past the last record, to the last. At the
    /// first it stays.
    Prev,
    /// To the first value of the next key.
    NextKey,
    /// To the last value of the previous key.
    PrevKey,
    /// To the next value of the same key.
    NextDup,
    /// To the previous value of the same key.
    PrevDup,
    /// To the first value of the same key.
    FirstDup,
    /// To the last value of the same key.
    LastDup,
    /// Nowhere: returns the current record.
    Current,
    /// To the first value of this key. Without such a key the cursor goes before its successor and
    /// returns nothing.
    Key(&'k [u8]),
    /// To the first record whose key is not smaller.
    KeyOrAfter(&'k [u8]),
    /// To this value of this key.
    Pair(&'k [u8], &'k [u8]),
    /// To the first value of this key that is not smaller.
    PairOrAfter(&'k [u8], &'k [u8]),
    /// To the last packed value in the page of the current one; returns all values of the page,
    /// concatenated.
    Block,
    /// To the next value of the key, then as [`Move::Block`].
    NextBlock,
    /// To the page of packed values before the current one, as [`Move::Block`].
    PrevBlock,
}
