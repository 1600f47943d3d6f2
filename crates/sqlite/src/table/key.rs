//! Values as bytes whose order is that of SQLite: NULL, numbers, text, blobs.
//!
//! ```text
//!   NULL      05
//!   number    10, the greatest double not above it (8 bytes), the rest of an integer (2 bytes)
//!   text      20, its bytes with 00 as 00 FF, then 00 00
//!   blob      30, as text
//!   rowid     8 bytes, at the end of each key
//! ```

use std::ops::Bound;

use rusqlite::ffi;
use rusqlite::types::ValueRef;

use crate::error::{Result, corrupt, failure};
use crate::range::Range;

/// The first bytes of the kinds of values.
pub(crate) mod kind {
    pub(crate) const NULL: u8 = 0x05;
    pub(crate) const NUMBER: u8 = 0x10;
    pub(crate) const TEXT: u8 = 0x20;
    pub(crate) const BLOB: u8 = 0x30;
}

/// Appends a value.
pub(crate) fn push(key: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => key.push(kind::NULL),
        ValueRef::Integer(number) => {
            let (double, rest) = split(number);
            push_number(key, double, rest);
        }
        // An addition turns -0.0 into 0.0, which equals it.
        ValueRef::Real(number) => push_number(key, number + 0.0, 0),
        ValueRef::Text(text) => push_bytes(key, kind::TEXT, text),
        ValueRef::Blob(bytes) => push_bytes(key, kind::BLOB, bytes),
    }
}

/// Splits an integer into the greatest double that is not above it, and what is missing.
fn split(number: i64) -> (f64, u16) {
    let near = number as f64;
    let double = match near as i128 > i128::from(number) {
        true => near.next_down(),
        false => near,
    };
    let rest = i128::from(number) - double as i128;
    (
        double,
        u16::try_from(rest).expect("doubles of this size are at most 1024 apart"),
    )
}

fn push_number(key: &mut Vec<u8>, double: f64, rest: u16) {
    let bits = double.to_bits();
    let ordered = match double.is_sign_negative() {
        true => !bits,
        false => bits | 1 << 63,
    };
    key.push(kind::NUMBER);
    key.extend_from_slice(&ordered.to_be_bytes());
    key.extend_from_slice(&rest.to_be_bytes());
}

fn push_bytes(key: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    key.push(kind);
    for &byte in bytes {
        key.push(byte);
        if byte == 0 {
            key.push(0xFF);
        }
    }
    key.extend_from_slice(&[0, 0]);
}

/// Returns the length of the first value of a key.
pub(crate) fn first_len(key: &[u8]) -> Result<usize> {
    let damaged = || corrupt("an index entry is damaged");
    match *key.first().ok_or_else(damaged)? {
        kind::NULL => Ok(1),
        kind::NUMBER => Ok(11),
        kind::TEXT | kind::BLOB => {
            let mut at = 1;
            loop {
                match key.get(at..at + 2).ok_or_else(damaged)? {
                    [0, 0] => return Ok(at + 2),
                    [0, 0xFF] => at += 2,
                    [0, _] => return Err(damaged()),
                    _ => at += 1,
                }
            }
        }
        _ => Err(damaged()),
    }
}

/// Returns a rowid as a key.
pub(crate) fn of_rowid(rowid: i64) -> [u8; 8] {
    (rowid as u64 ^ 1 << 63).to_be_bytes()
}

/// Reads the rowid at the end of a key.
pub(crate) fn rowid(key: &[u8]) -> Result<i64> {
    let bytes = key.last_chunk::<8>();
    let bytes = bytes.ok_or_else(|| corrupt("a key without a rowid"))?;
    Ok((u64::from_be_bytes(*bytes) ^ 1 << 63) as i64)
}

/// The longest values of an index entry, in bytes. A key of LMDB has 511, with the rowid and what
/// ends a range.
const VALUES_MAX: usize = 490;

/// Returns the values of an index entry and its rowid as a key.
pub(crate) fn entry<'v>(
    values: impl Iterator<Item = ValueRef<'v>>,
    rowid: i64,
    index: &str,
) -> Result<Vec<u8>> {
    let mut key = Vec::new();
    values.for_each(|value| push(&mut key, value));
    if key.len() > VALUES_MAX {
        let text = format!(
            "the values for the index {index} have {} bytes; an index takes {VALUES_MAX}",
            key.len()
        );
        return Err(failure(ffi::SQLITE_TOOBIG, text));
    }
    key.extend_from_slice(&of_rowid(rowid));
    Ok(key)
}

/// Returns the range of the keys that begin with these bytes.
pub(crate) fn prefix(bytes: &[u8]) -> Range {
    if bytes.is_empty() {
        return Range::ALL;
    }
    Range {
        low: Bound::Included(bytes.to_vec()),
        high: Bound::Included(behind(bytes)),
    }
}

/// Returns bytes that are greater than each key with this beginning. A value or the eight bytes of
/// a rowid may follow in such a key. No value begins with FF.
fn behind(bytes: &[u8]) -> Vec<u8> {
    [bytes, &[0xFF; 9]].concat()
}

/// Widens a range whose bounds are longer than keys can be.
pub(crate) fn shortened(range: Range) -> Range {
    let low = match range.low {
        Bound::Included(mut low) | Bound::Excluded(mut low) if low.len() > VALUES_MAX => {
            low.truncate(VALUES_MAX);
            Bound::Included(low)
        }
        low => low,
    };
    let high = match range.high {
        Bound::Included(high) | Bound::Excluded(high) if high.len() > VALUES_MAX + 9 => {
            Bound::Included(behind(&high[..VALUES_MAX]))
        }
        high => high,
    };
    Range { low, high }
}
