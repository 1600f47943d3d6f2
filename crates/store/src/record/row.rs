//! What lies in a record of one attribute.

use super::layout::{APART, WIDE_ROW_LEN};
use crate::bytes::{take, u32_at};

/// Beyond this length one value has a row of its own kind.
const ONE_MAX: u8 = 0xef;
const LONG: u8 = 0xf0;
const SEVERAL: u8 = 0xf1;
const MANY: u8 = 0xf2;
const AWAY: u8 = 0xf3;
const FIRST: u8 = 0xf4;
const NTH: u8 = 0xf5;

/// A row of any record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// One value, of so many octets.
    One(usize),
    /// So many values, whose elements have so many octets.
    Elements(usize, usize),
    /// So many values that lie apart.
    Apart(usize),
    /// One value, that of the attribute at an earlier place which has so many before it.
    Same(usize, usize),
}

impl Row {
    /// Octets that lie there.
    #[inline]
    pub(super) fn len(self) -> usize {
        match self {
            Row::One(len) | Row::Elements(_, len) => len,
            Row::Apart(_) | Row::Same(..) => 0,
        }
    }

    /// Takes the first of some rows.
    #[inline]
    pub(super) fn take(rows: &mut &[u8]) -> Option<Row> {
        let (kind, rest) = rows.split_first()?;
        if *kind <= ONE_MAX {
            *rows = rest;
            return Some(Row::One(usize::from(*kind)));
        }
        let (row, rest) = match **rows {
            [SEVERAL, values, len, ref rest @ ..] => {
                (Row::Elements(usize::from(values), usize::from(len)), rest)
            }
            [FIRST, place, ref rest @ ..] => (Row::Same(usize::from(place), 0), rest),
            [NTH, place, nth, ref rest @ ..] => {
                (Row::Same(usize::from(place), usize::from(nth)), rest)
            }
            _ => {
                *rows = rest;
                return Row::take_long(*kind, rows);
            }
        };
        *rows = rest;
        Some(row)
    }

    #[cold]
    fn take_long(kind: u8, rows: &mut &[u8]) -> Option<Row> {
        let mut number = || Some(u32_at(take(rows, 4)?, 0)? as usize);
        match kind {
            LONG => Some(Row::One(number()?)),
            MANY => Some(Row::Elements(number()?, number()?)),
            AWAY => Some(Row::Apart(number()?)),
            _ => None,
        }
    }

    /// Passes so many rows, and adds up the octets that lie there: `None` where the rows end before.
    #[inline]
    pub(super) fn pass(rows: &mut &[u8], count: u8) -> Option<u64> {
        let mut octets = 0_u64;
        let mut left = usize::from(count);
        while left > 0 {
            // Most have one value, and are one octet here.
            let short = rows.iter().take(left);
            let mut passed = 0;
            for len in short.take_while(|kind| **kind <= ONE_MAX) {
                octets += u64::from(*len);
                passed += 1;
            }
            *rows = rows.get(passed..)?;
            left -= passed;
            if left > 0 {
                octets += Row::take(rows)?.len() as u64;
                left -= 1;
            }
        }
        Some(octets)
    }

    /// Appends the row; `None` for numbers that no record has.
    pub(super) fn put(self, out: &mut Vec<u8>) -> Option<()> {
        let number = |number| u32::try_from(number).ok();
        match self {
            Row::One(len) => match u8::try_from(len) {
                Ok(len @ ..=ONE_MAX) => out.push(len),
                _ => {
                    out.push(LONG);
                    out.extend_from_slice(&number(len)?.to_le_bytes());
                }
            },
            Row::Elements(values, len) => match (u8::try_from(values), u8::try_from(len)) {
                (Ok(values), Ok(len)) => out.extend_from_slice(&[SEVERAL, values, len]),
                _ => {
                    out.push(MANY);
                    out.extend_from_slice(&number(values)?.to_le_bytes());
                    out.extend_from_slice(&number(len)?.to_le_bytes());
                }
            },
            Row::Apart(values) => {
                out.push(AWAY);
                out.extend_from_slice(&number(values)?.to_le_bytes());
            }
            Row::Same(place, 0) => out.extend_from_slice(&[FIRST, u8::try_from(place).ok()?]),
            Row::Same(place, nth) => {
                out.extend_from_slice(&[NTH, u8::try_from(place).ok()?, u8::try_from(nth).ok()?]);
            }
        }
        Some(())
    }

    /// Appends a row of a wide record, whose values begin at an offset; `None` for what such a record does not have.
    pub(super) fn put_wide(self, offset: usize, out: &mut Vec<u8>) -> Option<()> {
        let values = match self {
            Row::Elements(values, _) => u32::try_from(values).ok().filter(|n| n & APART == 0)?,
            Row::Apart(values) => u32::try_from(values).ok()? | APART,
            Row::One(_) | Row::Same(..) => return None,
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
    /// Number of values, with [`APART`].
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
