//! The values of a row as the bytes of one record.
//!
//! Each value is a kind, and its bytes. Lengths and integers have seven bits a byte, the lowest
//! first. Integers are zigzag-coded, so that small negative ones are short.

use rusqlite::types::{Value, ValueRef};

use crate::error::{Result, corrupt};

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// Writes the values of a row.
pub(crate) fn encode(values: &[Value]) -> Vec<u8> {
    let mut row = Vec::new();
    for value in values {
        match value {
            Value::Null => row.push(NULL),
            Value::Integer(number) => {
                row.push(INTEGER);
                push_number(&mut row, (number << 1 ^ number >> 63) as u64);
            }
            Value::Real(number) => {
                row.push(REAL);
                row.extend_from_slice(&number.to_le_bytes());
            }
            Value::Text(text) => push_bytes(&mut row, TEXT, text.as_bytes()),
            Value::Blob(bytes) => push_bytes(&mut row, BLOB, bytes),
        }
    }
    row
}

fn push_bytes(row: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    row.push(kind);
    push_number(row, bytes.len() as u64);
    row.extend_from_slice(bytes);
}

fn push_number(row: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        row.push(number as u8 | 0x80);
        number >>= 7;
    }
    row.push(number as u8);
}

/// The values of a row, read from its bytes in their order.
pub(crate) struct Values<'r> {
    rest: &'r [u8],
}

impl<'r> Values<'r> {
    pub(crate) fn new(row: &'r [u8]) -> Values<'r> {
        Values { rest: row }
    }

    /// Reads the value of a column.
    pub(crate) fn column(mut self, column: usize) -> Result<ValueRef<'r>> {
        for _ in 0..column {
            self.next()?;
        }
        self.next()
    }

    /// Reads the next value.
    pub(crate) fn next(&mut self) -> Result<ValueRef<'r>> {
        match self.take(1)?[0] {
            NULL => Ok(ValueRef::Null),
            INTEGER => {
                let coded = self.number()?;
                Ok(ValueRef::Integer(
                    (coded >> 1) as i64 ^ -((coded & 1) as i64),
                ))
            }
            REAL => {
                let bytes = self.take(8)?.try_into().expect("eight bytes");
                Ok(ValueRef::Real(f64::from_le_bytes(bytes)))
            }
            TEXT => Ok(ValueRef::Text(self.bytes()?)),
            BLOB => Ok(ValueRef::Blob(self.bytes()?)),
            _ => Err(damaged()),
        }
    }

    fn bytes(&mut self) -> Result<&'r [u8]> {
        let len = usize::try_from(self.number()?).map_err(|_| damaged())?;
        self.take(len)
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn take(&mut self, len: usize) -> Result<&'r [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken)
    }
}

fn damaged() -> rusqlite::Error {
    corrupt("a row is damaged")
}
