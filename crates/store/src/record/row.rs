//! The rows of a record: where the values of an attribute are.

use super::layout::{OVERFLOW_BIT, WIDE_ROW_LEN};
use crate::bytes::{take, u32_at};

/// Length in bytes up to which a row of one byte describes one value.
const ONE_LEN_MAX: u8 = 0xef;
const LONG_VALUE: u8 = 0xf0;
const ELEMENTS: u8 = 0xf1;
const LONG_ELEMENTS: u8 = 0xf2;
const OVERFLOW: u8 = 0xf3;
const SAME_FIRST: u8 = 0xf4;
const SAME_NTH: u8 = 0xf5;

/// The row of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeRow {
    /// One value of this length in bytes.
    One(usize),
    /// A number of values, whose elements have this length in bytes together.
    Elements(usize, usize),
    /// A number of overflow values.
    Overflow(usize),
    /// One value, stored at an earlier attribute: the position of the attribute, and the number of
    /// values before it there.
    Same(usize, usize),
}

impl AttributeRow {
    /// Returns the length in bytes of the values in the record.
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

    /// Skips some rows and adds up the lengths of their values. `None` if there are fewer rows.
    #[inline]
    pub(super) fn pass(rows: &mut &[u8], count: u8) -> Option<u64> {
        let bytes = *rows;
        let (mut at, mut values_len) = (0, 0_u64);
        for _ in 0..count {
            // Most attributes have one value, and a row of one byte.
            if let Some(len @ ..=ONE_LEN_MAX) = bytes.get(at) {
                values_len += u64::from(*len);
                at += 1;
                continue;
            }
            let mut rest = bytes.get(at..)?;
            values_len += AttributeRow::take(&mut rest)?.len() as u64;
            at = bytes.len() - rest.len();
        }
        *rows = bytes.get(at..)?;
        Some(values_len)
    }

    /// Returns true if none of some rows has more than `max` values, which is at least one.
    pub(super) fn have_few_values(mut rows: &[u8], count: usize, max: usize) -> bool {
        for _ in 0..count {
            if let [0..=ONE_LEN_MAX, rest @ ..] = rows {
                rows = rest;
                continue;
            }
            match AttributeRow::take(&mut rows) {
                Some(AttributeRow::One(_) | AttributeRow::Same(..)) => {}
                Some(AttributeRow::Elements(values, _)) if values <= max => {}
                _ => return false,
            }
        }
        true
    }

    /// Appends the row; `None` for numbers that are too large.
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

    /// Appends a row of a wide record, whose values begin at an offset. `None` for rows that such a
    /// record does not have.
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
