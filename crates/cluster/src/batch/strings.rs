//! The table of strings of a batch: each name once, in the order of first use.

use std::collections::{HashMap, HashSet};

use super::bytes::{Reader, put_number, put_text};
use super::malformed::Malformed;

/// The table while a batch is written.
#[derive(Default)]
pub(super) struct StringWriter<'a> {
    numbers: HashMap<&'a str, u64>,
    bytes: Vec<u8>,
}

impl<'a> StringWriter<'a> {
    /// Appends the number of a string.
    pub(super) fn put(&mut self, text: &'a str, out: &mut Vec<u8>) {
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(text).or_insert_with(|| {
            put_text(&mut self.bytes, text);
            next
        });
        put_number(out, number);
    }

    /// Returns the bytes of the table.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len() + 3);
        put_number(&mut out, self.numbers.len() as u64);
        out.extend_from_slice(&self.bytes);
        out
    }
}

/// The table while a batch is read.
pub(super) struct StringReader<'a> {
    texts: Vec<&'a str>,
    /// The number of strings that were used.
    used: usize,
}

impl<'a> StringReader<'a> {
    pub(super) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = reader.count()?;
        let mut texts = Vec::new();
        let mut seen = HashSet::new();
        for _ in 0..count {
            let text = reader.text()?;
            if !seen.insert(text) {
                return Err(Malformed::Strings);
            }
            texts.push(text);
        }
        Ok(StringReader { texts, used: 0 })
    }

    /// Reads the number of a string, and returns the string.
    pub(super) fn take(&mut self, reader: &mut Reader<'a>) -> Result<String, Malformed> {
        let number = reader.number()?;
        let at = usize::try_from(number).ok();
        let text = at.and_then(|at| Some((at, *self.texts.get(at)?)));
        let (at, text) = text.ok_or(Malformed::StringNumber(number))?;
        match at.cmp(&self.used) {
            std::cmp::Ordering::Greater => return Err(Malformed::Strings),
            std::cmp::Ordering::Equal => self.used += 1,
            std::cmp::Ordering::Less => {}
        }
        Ok(text.to_owned())
    }

    /// Checks that all strings were used.
    pub(super) fn finish(&self) -> Result<(), Malformed> {
        let all_used = self.used == self.texts.len();
        all_used.then_some(()).ok_or(Malformed::Strings)
    }
}
