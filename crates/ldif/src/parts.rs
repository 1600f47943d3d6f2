//! Input cut into parts that can be read for themselves, by different threads.
//!
//! Records end at empty lines, so a part ends after an empty line. Nothing else is looked at.

use std::io::{self, BufRead, Read};

use memchr::{memchr_iter, memrchr_iter};

use crate::error::{LdifError, LdifErrorKind};
use crate::options::ReaderOptions;
use crate::reader::Reader;

/// Parts are about so long unless a record is longer.
const PART_LEN: usize = 256 << 10;
/// Bytes of the first part. Each of the next parts is twice as long as the one before. The readers
/// of parts so start soon, and the first records teach them most attribute descriptions.
const FIRST_PART_LEN: usize = 8 << 10;
/// The greatest length of a record in the input, as a multiple of its greatest length unfolded.
/// Folded lines and comments count here.
const FOLDED: usize = 4;

/// Some records of an input.
#[derive(Debug)]
pub struct Part {
    text: Vec<u8>,
    /// Lines of the input before this part.
    lines_before: u64,
    /// True if a version can come first, because only comments and empty lines precede the part.
    is_first: bool,
    /// The error of a record that was too long to be read.
    error: Option<LdifError>,
    records_max: usize,
}

impl Part {
    /// Returns the number of records in the part at most.
    #[must_use]
    pub fn records_max(&self) -> usize {
        self.records_max
    }

    /// Reads the part; lines are those of the whole input.
    #[must_use]
    pub fn reader(&self, options: ReaderOptions) -> Reader<&[u8]> {
        Reader::of_part(&self.text, options, self.lines_before, self.is_first)
    }

    /// Takes the error at the end of the part, if it has one. Callers report it after all errors of
    /// the part's reader.
    pub fn take_error(&mut self) -> Option<LdifError> {
        self.error.take()
    }
}

/// Cuts an input into parts. Memory is bounded by the longest record that is allowed.
#[derive(Debug)]
pub struct Parts<R> {
    input: R,
    options: ReaderOptions,
    part_len: usize,
    /// The final value of `part_len`.
    part_len_full: usize,
    part_len_max: usize,
    /// Bytes that were read and belong to the next part.
    rest: Vec<u8>,
    lines: u64,
    begun: bool,
    bytes_read: u64,
    at_end: bool,
    /// The error that ended the input, reported after the records read before.
    failed: Option<io::Error>,
}

impl<R: BufRead> Parts<R> {
    /// Parts whose readers will have these options.
    pub fn new(input: R, options: ReaderOptions) -> Parts<R> {
        Parts::of_len(input, options, FIRST_PART_LEN, PART_LEN)
    }

    fn of_len(input: R, options: ReaderOptions, part_len: usize, part_len_full: usize) -> Parts<R> {
        let record_len_max = options.record_bytes_max.saturating_mul(FOLDED);
        Parts {
            input,
            options,
            part_len,
            part_len_full,
            part_len_max: record_len_max.max(part_len_full),
            rest: Vec::new(),
            lines: 0,
            begun: false,
            bytes_read: 0,
            at_end: false,
            failed: None,
        }
    }

    /// Returns the bytes of input in the parts so far, for progress.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns the next part, or `None` at the end.
    ///
    /// # Errors
    /// [`LdifErrorKind::Read`], after the records that were read before.
    pub fn next_part(&mut self) -> Result<Option<Part>, LdifError> {
        let mut text = std::mem::take(&mut self.rest);
        let mut looked_at = 0;
        let (end, too_long) = loop {
            let wanted = self.part_len.max(text.len() + self.part_len / 2 + 1);
            self.fill(&mut text, wanted);
            if self.failed.is_some() {
                break (last_border(&text, 0).unwrap_or(0), false);
            }
            if self.at_end {
                break (text.len(), false);
            }
            // An empty line may begin in what has been looked at before.
            if let Some(end) = last_border(&text, looked_at) {
                break (end, false);
            }
            looked_at = text.len().saturating_sub(2);
            if text.len() > self.part_len_max {
                break (text.len(), true);
            }
        };
        if end == 0 {
            return match self.failed.take() {
                None => Ok(None),
                Some(error) => Err(self.error(LdifErrorKind::Read(error))),
            };
        }
        self.rest = text.split_off(end);
        self.part_len = (2 * self.part_len).min(self.part_len_full);
        let mut part = self.part(text);
        if too_long {
            let kind = LdifErrorKind::TooLong(self.options.record_bytes_max);
            part.error = Some(LdifError {
                line: part.lines_before + 1,
                ..self.error(kind)
            });
            self.skip_record(&mut part);
        }
        Ok(Some(part))
    }

    fn error(&self, kind: LdifErrorKind) -> LdifError {
        LdifError {
            file: self.options.file.clone(),
            line: self.lines + 1,
            kind,
        }
    }

    /// Reads until `text` has `wanted` bytes.
    fn fill(&mut self, text: &mut Vec<u8>, wanted: usize) {
        let before = text.len();
        let missing = wanted.saturating_sub(before) as u64;
        let read = self.input.by_ref().take(missing).read_to_end(text);
        self.bytes_read += (text.len() - before) as u64;
        self.note(read);
        self.at_end |= ((text.len() - before) as u64) < missing;
    }

    fn note(&mut self, read: io::Result<usize>) {
        if let Err(error) = read {
            self.failed = Some(error);
            self.at_end = true;
        }
    }

    fn part(&mut self, text: Vec<u8>) -> Part {
        let is_first = !self.begun;
        let (mut lines, mut borders, mut line_start) = (0, 0, 0);
        let mut in_comment = false;
        for at in memchr_iter(b'\n', &text) {
            let line = text.get(line_start..at).unwrap_or_default();
            borders += usize::from(is_empty(line));
            // A line that begins with a space belongs to the line before it. Without a line before
            // it, it is an error in a first record.
            in_comment = matches!(line, [b'#', ..]) || in_comment && matches!(line, [b' ', ..]);
            self.begun |= !(in_comment || is_empty(line));
            line_start = at + 1;
            lines += 1;
        }
        let lines_before = self.lines;
        self.lines += lines;
        Part {
            text,
            lines_before,
            is_first,
            error: None,
            records_max: borders + 1,
        }
    }

    /// Reads on behind the record that `part` ends in the midst of, and takes the beginning out of
    /// it.
    fn skip_record(&mut self, part: &mut Part) {
        let mut at_start = part.text.ends_with(b"\n");
        part.text = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut piece = self.input.by_ref().take(PART_LEN as u64);
            let read = piece.read_until(b'\n', &mut line);
            self.note(read);
            self.bytes_read += line.len() as u64;
            let is_whole = line.ends_with(b"\n");
            self.lines += u64::from(is_whole);
            let ends = at_start && is_whole && is_empty(without_feed(&line));
            if ends || line.is_empty() || self.failed.is_some() {
                return;
            }
            at_start = is_whole;
        }
    }
}

fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Returns true if a line, less its line feed, is empty.
fn is_empty(line: &[u8]) -> bool {
    matches!(line, b"" | b"\r")
}

/// Returns the end of the last empty line that ends behind `from`.
fn last_border(text: &[u8], from: usize) -> Option<usize> {
    let feeds = memrchr_iter(b'\n', text.get(from..)?).map(|at| from + at);
    let mut ends = feeds.map(|at| at + 1);
    ends.find(|end| {
        let before = text.get(..*end).unwrap_or_default();
        before.ends_with(b"\n\n") || before.ends_with(b"\n\r\n")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn options() -> ReaderOptions {
        ReaderOptions {
            record_bytes_max: 120,
            ..ReaderOptions::default()
        }
    }

    /// Collects everything that a reader reports: records and errors.
    fn read_all(reader: &mut Reader<impl BufRead>, into: &mut Vec<String>) {
        loop {
            match reader.next_record() {
                Ok(None) => return,
                Ok(Some(record)) => into.push(format!("{record:?}")),
                Err(error) => into.push(error.to_string()),
            }
        }
    }

    fn by_parts(text: &[u8], len: usize) -> Vec<String> {
        let mut parts = Parts::of_len(text, options(), len.div_ceil(4), len);
        let mut all = Vec::new();
        let (mut bytes, mut records) = (0, 0);
        while let Some(mut part) = parts.next_part().unwrap() {
            let before = all.len();
            read_all(&mut part.reader(options()), &mut all);
            all.extend(part.take_error().map(|error| error.to_string()));
            records += part.records_max();
            assert!(all.len() - before <= part.records_max());
            bytes += part.text.len() as u64;
        }
        assert!(all.len() <= records && bytes <= parts.bytes_read());
        assert_eq!(parts.bytes_read(), text.len() as u64);
        all
    }

    proptest! {
        #[test]
        fn parts_read_as_the_whole_does(
            lines in prop::collection::vec(prop::sample::select(vec![
                "", "", "\r", "version: 1", "dn: cn=a", "dn: cn=b\r", "cn: a", " folded", "# comment", "no colon", "sn:: YQ==",
            ]), 0..60),
            len in 1_usize..200,
            ends in any::<bool>(),
        ) {
            let mut text = lines.join("\n");
            text.extend(ends.then_some('\n'));
            let mut whole = Vec::new();
            read_all(&mut Reader::with_options(text.as_bytes(), options()), &mut whole);
            prop_assert_eq!(by_parts(text.as_bytes(), len), whole);
        }
    }

    #[test]
    fn only_comments_come_before_a_version() {
        for (text, mistakes) in [
            ("# a\n b\n\nversion: 1\n\ndn: cn=a\nsn: b\n", 0),
            ("# a\n\n b\n\nversion: 1\n\n", 2),
            (" folded\n\n\n# comment\nversion: 1\n", 2),
        ] {
            let mut whole = Vec::new();
            let mut reader = Reader::with_options(text.as_bytes(), options());
            read_all(&mut reader, &mut whole);
            let found = whole
                .iter()
                .filter(|line| line.starts_with("line "))
                .count();
            assert_eq!(found, mistakes, "{whole:?}");
            assert_eq!(by_parts(text.as_bytes(), 1), whole);
        }
    }

    #[test]
    fn a_record_without_end_is_an_error_and_the_next_one_is_read() {
        let long = format!("dn: cn=a\n{}\ndn: cn=b\ncn: b\n", "cn: a\n".repeat(1000));
        let read_all = by_parts(long.as_bytes(), 20);
        let [mistake, next] = read_all.as_slice() else {
            panic!("{read_all:?}");
        };
        assert!(
            mistake.starts_with("line 1: the record is longer than 120 bytes"),
            "{mistake}"
        );
        assert!(next.contains("cn=b") && next.contains("1003"), "{next}");
    }
}
