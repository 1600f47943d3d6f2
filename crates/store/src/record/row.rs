//! What lies in a record of one attribute.

use super::layout::{OVERFLOW_BIT, WIDE_ROW_LEN};
use crate::bytes::{take, u32_at};

/// Beyond this length one value has a row of its own kind.
const ONE_LEN_MAX: u8 = 0xef;
const LONG_VALUE: u8 = 0xf0;
const ELEMENTS: u8 = 0xf1;
const LONG_ELEMENTS: u8 = 0xf2;
const OVERFLOW: u8 = 0xf3;
const SAME_FIRST: u8 = 0xf4;
const SAME_NTH: u8 = 0xf5;

/// A row of any record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeRow {
    /// One value, of so many bytes.
    One(usize),
    /// So many values, whose elements have so many bytes.
    Elements(usize, usize),
    /// So many values that lie apart.
    Overflow(usize),
    /// One value, that of the attribute at an earlier place which has so many before it.
    Same(usize, usize),
}

impl AttributeRow {
    /// Bytes that lie there.
    #[inline]
    pub(super) fn len(self) -> usize {
        match self {
            AttributeRow::One(len) | AttributeRow::Elements(_, len) => len,
            AttributeRow::Overflow(_) | AttributeRow::Same(..) => 0,
        }
    }

    /// Takes the first of some rows.
    #[inline]
    pub(super) fn take(rows: &mut &[u8]) -> Option<AttributeRow> {
        let (kind, rest) = rows.split_first()?;
        if *kind <= ONE_LEN_MAX {
            *rows = rest;
            return Some(AttributeRow::One(usize::from(*kind)));
        }
        let (row, rest) = match **rows {
            [ELEMENTS, values, len, ref rest @ ..] => (
                AttributeRow::Elements(usize::from(values), usize::from(len)),
                rest,
            ),
            [SAME_FIRST, place, ref rest @ ..] => (AttributeRow::Same(usize::from(place), 0), rest),
            [SAME_NTH, place, nth, ref rest @ ..] => (
                AttributeRow::Same(usize::from(place), usize::from(nth)),
                rest,
            ),
            _ => {
                *rows = rest;
                return AttributeRow::take_long(*kind, rows);
            }
        };
        *rows = rest;
        Some(row)
    }

    #[cold]
    fn take_long(kind: u8, rows: &mut &[u8]) -> Option<AttributeRow> {
        let mut number = || Some(u32_at(take(rows, 4)?, 0)? as usize);
        match kind {
            LONG_VALUE => Some(AttributeRow::One(number()?)),
            LONG_ELEMENTS => Some(AttributeRow::Elements(number()?, number()?)),
            OVERFLOW => Some(AttributeRow::Overflow(number()?)),
            _ => None,
        }
    }

    /// Passes so many rows, and adds up the bytes that lie there: `None` where the rows end before.
    #[inline]
    pub(super) fn pass(rows: &mut &[u8], count: u8) -> Option<u64> {
        let mut values_len = 0_u64;
        let mut left = usize::from(count);
        while left > 0 {
            // Most have one value, and are one byte here.
            let short = rows.iter().take(left);
            let mut passed = 0;
            for len in short.take_while(|kind| **kind <= ONE_LEN_MAX) {
                values_len += u64::from(*len);
                passed += 1;
            }
            *rows = rows.get(passed..)?;
            left -= passed;
            if left > 0 {
                values_len += AttributeRow::take(rows)?.len() as u64;
                left -= 1;
            }
        }
        Some(values_len)
    }

    /// Appends the row; `None` for numbers that no record has.
    pub(super) fn put(self, out: &mut Vec<u8>) -> Option<()> {
        let number = |number| u32::try_from(number).ok();
        match self {
            AttributeRow::One(len) => match u8::try_from(len) {
                Ok(len @ ..=ONE_LEN_MAX) => out.push(len),
                _ => {
                    out.push(LONG_VALUE);
                    out.extend_from_slice(&number(len)?.to_le_bytes());
                }
            },
            AttributeRow::Elements(values, len) => {
                match (u8::try_from(values), u8::try_from(len)) {
                    (Ok(values), Ok(len)) => out.extend_from_slice(&[ELEMENTS, values, len]),
                    _ => {
                        out.push(LONG_ELEMENTS);
                        out.extend_from_slice(&number(values)?.to_le_bytes());
                        out.extend_from_slice(&number(len)?.to_le_bytes());
                    }
                }
            }
            AttributeRow::Overflow(values) => {
                out.push(OVERFLOW);
                out.extend_from_slice(&number(values)?.to_le_bytes());
            }
            AttributeRow::Same(place, 0) => {
                out.extend_from_slice(&[SAME_FIRST, u8::try_from(place).ok()?])
            }
            AttributeRow::Same(place, nth) => {
                out.extend_from_slice(&[
                    SAME_NTH,
                    u8::try_from(place).ok()?,
                    u8::try_from(nth).ok()?,
                ]);
            }
        }
        Some(())
    }

    /// Appends a row of a wide record, whose values begin at an offset; `None` for what such a record does not have.
    pub(super) fn put_wide(self, offset: usize, out: &mut Vec<u8>) -> Option<()> {
        let values = match self {
            AttributeRow::Elements(values, _) => u32::try_from(values)
                .ok()
                .filter(|n| n & OVERFLOW_BIT == 0)?,
            AttributeRow::Overflow(values) => u32::try_from(values).ok()? | OVERFLOW_BIT,
            AttributeRow::One(_) | AttributeRow::Same(..) => return None,
        };
        out.extend_from_slice(&u32::try_from(offset).ok()?.to_le_bytes());
        out.extend_from_slice(&values.to_le_bytes());
        Some(())
    }
}

/// A row of a wide record.
#[derive(Clone, Copy)]
pub(super) struct WideRow {
    pub(super) offset: usize,
    /// Number of values, with [`OVERFLOW_BIT`].
    pub(super) values: u32,
}

impl WideRow {
    pub(super) fn of(row: &[u8; WIDE_ROW_LEN]) -> WideRow {
        let number = |at| u32_at(row, at).unwrap_or(0);
        WideRow {
            offset: number(0) as usize,
            values: number(4),
        }
    }
}
