//! Entries: records of id2e.
//!
//! ```text
//!   32-bit words: attributes | values, with one more for each list | flags of classes | words up to the values
//!   per attribute: number | values        top bit: sorted       top bit: normal forms follow
//!                                         next bit: in id2v
//!                  length of each value, then of each normal form       (none if they are in id2v)
//!   then the values, each followed by a NUL, and after those of an attribute its normal forms
//! ```

use crate::error::EntryFault;
use crate::words::u32_at;

/// One attribute of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its description, as the server wrote it.
    pub description: String,
    /// Its values, in their order.
    pub values: Vec<Vec<u8>>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: u64,
    /// The id of its parent; 0 for a topmost entry.
    pub parent: u64,
    /// Its name.
    pub name: String,
    /// Its attributes, operational ones included, in their order.
    pub attributes: Vec<Attribute>,
}

const HEADER_WORDS: usize = 4;
const WORD_LEN: usize = 4;
const TOP: u32 = 1 << 31;
const IN_ID2V: u32 = 1 << 30;

/// An attribute of a record, and where its values are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field<'r> {
    /// Number in ad2i.
    pub(crate) number: u32,
    pub(crate) values: FieldValues<'r>,
}

/// The location of an attribute's values.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FieldValues<'r> {
    /// In the record.
    Inline(Vec<&'r [u8]>),
    /// In id2v, this many.
    Outside(usize),
}

/// Parses a record.
///
/// # Errors
/// [`EntryFault::Record`] if its parts do not fit into it, or do not fill it.
pub(crate) fn fields(record: &[u8]) -> Result<Vec<Field<'_>>, EntryFault> {
    let mut words = WordReader { record, next: 0 };
    let attributes = words.take("header")?;
    let values_expected = words.take("header")?;
    let _class_flags = words.take("header")?;
    let values_at = words.take("header")? as usize;
    let mut area = ValueReader {
        record,
        next: HEADER_WORDS
            .checked_add(values_at)
            .and_then(|words| words.checked_mul(WORD_LEN))
            .ok_or(EntryFault::Record("the place of the values"))?,
    };
    let mut fields = Vec::new();
    let mut values_found = 0_u32;
    for _ in 0..attributes {
        let (number, count) = (words.take("attributes")?, words.take("attributes")?);
        let has_normal = count & TOP != 0;
        let count = count & !TOP;
        let values = if number & IN_ID2V != 0 {
            FieldValues::Outside(count as usize)
        } else {
            let lengths = words.take_many(count)?;
            let normal_lengths = words.take_many(if has_normal { count } else { 0 })?;
            let values = area.take_many(lengths)?;
            // This project computes normal forms when it needs them.
            area.take_many(normal_lengths)?;
            values_found = values_found.wrapping_add(count + 1);
            if has_normal {
                values_found = values_found.wrapping_add(count + 1);
            }
            FieldValues::Inline(values)
        };
        fields.push(Field {
            number: number & !(TOP | IN_ID2V),
            values,
        });
    }
    if values_found > values_expected {
        return Err(EntryFault::Record("more values than it counts"));
    }
    if words.next != HEADER_WORDS + values_at {
        return Err(EntryFault::Record(
            "the attributes do not end where the values begin",
        ));
    }
    area.check_end()?;
    Ok(fields)
}

/// The words of a record, one after the other.
struct WordReader<'r> {
    record: &'r [u8],
    next: usize,
}

impl<'r> WordReader<'r> {
    fn take(&mut self, what: &'static str) -> Result<u32, EntryFault> {
        let word = u32_at(self.record, self.next * WORD_LEN).ok_or(EntryFault::Record(what))?;
        self.next += 1;
        Ok(word)
    }

    /// Returns the next `count` words. It checks that the record has all of them before any is
    /// used.
    fn take_many(&mut self, count: u32) -> Result<&'r [u8], EntryFault> {
        let len = (count as usize).saturating_mul(WORD_LEN);
        let at = self.next * WORD_LEN;
        let words = self.record.get(at..at.saturating_add(len));
        self.next += count as usize;
        words.ok_or(EntryFault::Record("lengths of values"))
    }
}

/// The values of a record, one after the other.
struct ValueReader<'r> {
    record: &'r [u8],
    next: usize,
}

impl<'r> ValueReader<'r> {
    fn take_many(&mut self, lengths: &[u8]) -> Result<Vec<&'r [u8]>, EntryFault> {
        let lengths = lengths.chunks_exact(WORD_LEN);
        let lengths = lengths.map(|word| u32_at(word, 0).unwrap_or(u32::MAX) as usize);
        lengths.map(|len| self.take(len)).collect()
    }

    /// Returns the next value. A NUL follows it.
    fn take(&mut self, len: usize) -> Result<&'r [u8], EntryFault> {
        let fault = EntryFault::Record("a value beyond the end");
        let Some(end) = self.next.checked_add(len) else {
            return Err(fault);
        };
        let (Some(value), Some(0)) = (self.record.get(self.next..end), self.record.get(end)) else {
            return Err(fault);
        };
        self.next = end + 1;
        Ok(value)
    }

    /// Checks that the record ends at the next multiple of eight bytes.
    fn check_end(&self) -> Result<(), EntryFault> {
        if self.record.len().saturating_sub(self.next) < 8 {
            Ok(())
        } else {
            Err(EntryFault::Record("bytes after the last value"))
        }
    }
}

/// Returns the value in a row of id2v: normal form, NUL, value, NUL, 16-bit length of the value. If
/// both forms are equal, only one is there and the length is zero.
pub(crate) fn outside_value(row: &[u8]) -> Option<&[u8]> {
    let (rest, length) = row.split_last_chunk::<2>()?;
    let rest = rest.strip_suffix(&[0])?;
    match usize::from(u16::from_ne_bytes(*length)) {
        0 => Some(rest),
        len => {
            let at = rest.len().checked_sub(len)?;
            let (normal, value) = rest.split_at_checked(at)?;
            (normal.last() == Some(&0)).then_some(value)
        }
    }
}
