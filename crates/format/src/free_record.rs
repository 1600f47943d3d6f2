//! Records of the free list: which pages a transaction no longer needed.

use crate::bytes::u64_at;
use crate::{Malformed, Pgno};

/// A checked free-list record: page numbers in strictly descending order.
#[derive(Debug, Clone, Copy)]
pub struct FreeRecord<'a> {
    numbers: &'a [u8],
}

impl<'a> FreeRecord<'a> {
    /// Checks a record's value against the snapshot's last page.
    /// # Errors
    /// [`Malformed::FreeRecord`] if the count does not fit, or a number is out of order or out of
    /// range.
    pub fn parse(value: &'a [u8], last: Pgno) -> Result<FreeRecord<'a>, Malformed> {
        let count = u64_at(value, 0).ok_or(Malformed::FreeRecord("no count"))?;
        let numbers = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(8))
            .and_then(|len| value.get(8..)?.get(..len))
            .ok_or(Malformed::FreeRecord("the count exceeds the record"))?;
        let record = FreeRecord { numbers };
        let mut above = last.0.saturating_add(1);
        for pgno in record.iter() {
            if pgno.0 >= above {
                return Err(Malformed::FreeRecord(
                    "numbers out of order or behind the last page",
                ));
            }
            above = pgno.0;
        }
        if above < Pgno::FIRST_DATA.0 {
            return Err(Malformed::FreeRecord("a meta page is listed as free"));
        }
        Ok(record)
    }

    /// Returns how many pages a record's value lists, without looking at their numbers.
    /// # Errors
    /// [`Malformed::FreeRecord`] if the value is shorter than that.
    pub fn count_in(value: &[u8]) -> Result<u64, Malformed> {
        let count = u64_at(value, 0).ok_or(Malformed::FreeRecord("no count"))?;
        if count > (value.len() as u64 - 8) / 8 {
            return Err(Malformed::FreeRecord("the count exceeds the record"));
        }
        Ok(count)
    }

    /// Number of pages listed.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.numbers.len() / 8
    }

    /// Returns true if no page is listed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The page numbers, descending.
    pub fn iter(&self) -> impl Iterator<Item = Pgno> + 'a {
        let (words, _) = self.numbers.as_chunks();
        words.iter().map(|word| Pgno(u64::from_le_bytes(*word)))
    }

    /// Bytes a record of `count` pages takes.
    #[must_use]
    pub const fn value_len(count: usize) -> usize {
        8 * (count + 1)
    }

    /// Writes `descending` into `value`, which may be longer than needed: the rest becomes zero.
    /// # Errors
    /// [`Malformed::FreeRecord`] when the record does not fit.
    pub fn write(value: &mut [u8], descending: &[Pgno]) -> Result<(), Malformed> {
        let count = descending.len();
        let (numbers, rest) = value
            .split_at_mut_checked(Self::value_len(count))
            .ok_or(Malformed::FreeRecord("longer than its room"))?;
        let (words, _) = numbers.as_chunks_mut();
        if let Some((first, others)) = words.split_first_mut() {
            *first = (count as u64).to_le_bytes();
            for (to, pgno) in others.iter_mut().zip(descending) {
                *to = pgno.0.to_le_bytes();
            }
        }
        rest.fill(0);
        Ok(())
    }
}
