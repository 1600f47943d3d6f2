//! What a cursor can be told to do.

/// A move of a cursor. Each ends on a record, which it returns, or says that there is none.
///
/// In a database without duplicates each record is alone under its key: moves between the values of a key then behave
/// as those between records, or are refused with [`crate::Error::NoDuplicates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move<'k> {
    /// To the first record.
    First,
    /// To the last record.
    Last,
    /// To the next record; from nowhere, to the first. At the last one it stays and returns nothing.
    Next,
    /// To the previous record; from nowhere or from behind the last, to the last. At the first one it stays.
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
    /// Nowhere: the record the cursor stands on.
    Current,
    /// To the first value of this key. If there is none, before its successor, and nothing is returned.
    Key(&'k [u8]),
    /// To the first record whose key is not smaller.
    KeyOrAfter(&'k [u8]),
    /// To this value of this key.
    Pair(&'k [u8], &'k [u8]),
    /// To the first value of this key that is not smaller.
    PairOrAfter(&'k [u8], &'k [u8]),
    /// To the last of the packed values that share a page with the current one; returns all of them, back to back.
    Block,
    /// To the next value of the key, then as [`Move::Block`].
    NextBlock,
    /// To the page of packed values before the current one, as [`Move::Block`].
    PrevBlock,
}
