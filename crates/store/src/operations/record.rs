//! The bytes of a record of the log of operations.
//!
//! ```text
//!   version  kind  start  session  result + 1, or 0  fields, each: number, length, bytes
//! ```
//! Numbers and lengths are LEB128, but those of version, kind and field take one byte.

use std::borrow::Cow;

use crate::bytes::{number, put_bytes, put_number, take};

const VERSION: u8 = 1;

/// An operation in the log. Its user gives kinds and fields their meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationRecord<'a> {
    /// The number of its kind.
    pub kind: u8,
    /// The time of its start in microseconds since 1970.
    pub start_us: u64,
    /// The number of the connection.
    pub session: u64,
    /// The result code, if it had a result.
    pub result: Option<u32>,
    /// Its other values in their order, each with the number of the field.
    pub fields: Vec<(u8, Cow<'a, [u8]>)>,
}

impl<'a> OperationRecord<'a> {
    /// Adds a value.
    pub fn push(&mut self, field: u8, value: impl Into<Cow<'a, [u8]>>) {
        self.fields.push((field, value.into()));
    }

    /// Returns the first value of a field.
    #[must_use]
    pub fn field(&self, field: u8) -> Option<&[u8]> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(number, _)| *number == field)?;
        Some(value)
    }

    /// Returns the encoded record.
    pub(super) fn encode(&self) -> Vec<u8> {
        let len = self.fields.iter().map(|(_, value)| value.len() + 4);
        let mut out = Vec::with_capacity(24 + len.sum::<usize>());
        out.extend_from_slice(&[VERSION, self.kind]);
        put_number(&mut out, self.start_us);
        put_number(&mut out, self.session);
        put_number(
            &mut out,
            self.result.map_or(0, |result| u64::from(result) + 1),
        );
        for (field, value) in &self.fields {
            out.push(*field);
            put_bytes(&mut out, value);
        }
        out
    }

    /// Reads a record; `None` if it is damaged.
    pub(super) fn decode(mut bytes: &'a [u8]) -> Option<OperationRecord<'a>> {
        let bytes = &mut bytes;
        let &[VERSION, kind] = take(bytes, 2)? else {
            return None;
        };
        let (start_us, session) = (number(bytes)?, number(bytes)?);
        let result = match number(bytes)?.checked_sub(1) {
            Some(code) => Some(u32::try_from(code).ok()?),
            None => None,
        };
        let mut fields = Vec::new();
        while let Some(&[field]) = take(bytes, 1) {
            let len = usize::try_from(number(bytes)?).ok()?;
            fields.push((field, Cow::Borrowed(take(bytes, len)?)));
        }
        Some(OperationRecord {
            kind,
            start_us,
            session,
            result,
            fields,
        })
    }
}
