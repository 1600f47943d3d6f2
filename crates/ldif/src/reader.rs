//! Physical lines into records: folding, comments, empty lines, bounds.

use std::io::{self, BufRead};

use memchr::memchr;

use crate::error::{LdifError, LdifErrorKind};
use crate::line::Line;
use crate::options::ReaderOptions;
use crate::parse::RecordParser;
use crate::record::Record;

/// Reads records one at a time.
///
/// ```
/// use fulgurite_ldif::{Action, Reader};
///
/// let text = "version: 1\ndn: dc=example,dc=com\ndc: example\no:: w6Q=\n";
/// let mut reader = Reader::new(text.as_bytes());
/// let record = reader.next_record()?.expect("one record");
/// assert_eq!(record.dn(), "dc=example,dc=com");
/// let Action::Content(mut attributes) = record.action() else { panic!("an entry") };
/// assert_eq!(attributes.next().map(|one| (one.description, one.line)), Some(("dc", 3)));
/// assert_eq!(attributes.next().map(|one| one.value), Some("ä".as_bytes()));
/// # Ok::<(), fulgurite_ldif::LdifError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    options: ReaderOptions,
    /// Physical lines read so far.
    line: u64,
    /// The logical lines of one record, one after the other.
    text: Vec<u8>,
    lines: Vec<Line>,
    parser: RecordParser,
    /// True if a record (or a version) has been seen: a version may only come first.
    begun: bool,
    bytes_read: u64,
}

/// How the collection of a record's lines ended.
enum RecordEnd {
    Record,
    EndOfInput,
}

/// The kind of the line before the current one, which a continuation joins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreviousLine {
    Nothing,
    Line,
    Comment,
}

impl<R: BufRead> Reader<R> {
    /// Returns a reader with the default options. The input should be buffered generously: 64 KiB
    /// and more.
    pub fn new(input: R) -> Self {
        Self::with_options(input, ReaderOptions::default())
    }

    /// Returns a reader with options.
    pub fn with_options(input: R, mut options: ReaderOptions) -> Self {
        options.record_bytes_max = options.record_bytes_max.min(u32::MAX as usize);
        Self {
            input,
            options,
            line: 0,
            text: Vec::new(),
            lines: Vec::new(),
            parser: RecordParser::default(),
            begun: false,
            bytes_read: 0,
        }
    }

    /// Returns a reader of a part of an input.
    pub(crate) fn of_part(
        input: R,
        options: ReaderOptions,
        lines_before: u64,
        is_first: bool,
    ) -> Self {
        Self {
            line: lines_before,
            begun: !is_first,
            ..Self::with_options(input, options)
        }
    }

    /// Returns the bytes of input used so far, for progress.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns the next record, or `None` at the end.
    ///
    /// After an error about a record the next call goes on with the record after it.
    ///
    /// # Errors
    /// [`LdifError`] with file, line and a sentence.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, LdifError> {
        loop {
            let collected = self.collect();
            if matches!(collected, Ok(RecordEnd::EndOfInput)) {
                return Ok(None);
            }
            let first = !std::mem::replace(&mut self.begun, true);
            collected?;
            let parsed = self
                .parser
                .read(&mut self.text, &mut self.lines, first, &self.options);
            if let Err((line, kind)) = parsed {
                return Err(self.error(line, kind));
            }
            // A version that is a record by itself leaves no lines.
            if !self.lines.is_empty() {
                break;
            }
        }
        match self.parser.record(&self.text, &self.lines) {
            Ok(record) => Ok(Some(record)),
            Err((line, kind)) => Err(self.error(line, kind)),
        }
    }

    fn error(&self, line: u64, kind: LdifErrorKind) -> LdifError {
        LdifError {
            file: self.options.file.clone(),
            line,
            kind,
        }
    }

    /// Reads physical lines up to the empty line that ends a record, into `text` and `lines`.
    fn collect(&mut self) -> Result<RecordEnd, LdifError> {
        self.text.clear();
        self.lines.clear();
        let mut before = PreviousLine::Nothing;
        let mut first_error: Option<(u64, LdifErrorKind)> = None;
        loop {
            let start = self.text.len();
            let room = self.options.record_bytes_max.saturating_sub(start);
            let read = read_line(&mut self.input, &mut self.text, room, &mut self.bytes_read);
            let read =
                read.map_err(|error| self.error(self.line + 1, LdifErrorKind::Read(error)))?;
            self.line += u64::from(read != LineRead::End);
            let empty = self.text.len() == start && read != LineRead::TooLong;
            if empty {
                let comments_only = self.lines.is_empty() && first_error.is_none();
                match read {
                    LineRead::End if comments_only => return Ok(RecordEnd::EndOfInput),
                    _ if comments_only => {
                        before = PreviousLine::Nothing;
                        continue;
                    }
                    _ => break,
                }
            }
            let comment = match self.text.get(start) {
                Some(b'#') => true,
                Some(b' ') => before == PreviousLine::Comment,
                _ => false,
            };
            if comment {
                // Comments may be as long as they like.
                self.text.truncate(start);
                before = PreviousLine::Comment;
                continue;
            }
            if read == LineRead::TooLong {
                self.text.truncate(start);
                let long = LdifErrorKind::TooLong(self.options.record_bytes_max);
                first_error.get_or_insert((self.line, long));
                before = PreviousLine::Line;
                continue;
            }
            if self.text.get(start) == Some(&b' ') {
                if !self.join(start, before) {
                    first_error.get_or_insert((self.line, LdifErrorKind::NothingToContinue));
                }
                continue;
            }
            before = PreviousLine::Line;
            self.lines
                .push(Line::new(to_u32(start), to_u32(self.text.len()), self.line));
        }
        match first_error {
            Some((line, kind)) => Err(self.error(line, kind)),
            None => Ok(RecordEnd::Record),
        }
    }

    /// Joins the continuation from `start` on to the line before it. Returns false, and drops the
    /// continuation, if there is no such line.
    fn join(&mut self, start: usize, before: PreviousLine) -> bool {
        match self.lines.last_mut() {
            Some(last) if before == PreviousLine::Line => {
                self.text.copy_within(start + 1.., start);
                self.text.truncate(self.text.len() - 1);
                last.end = to_u32(self.text.len());
                true
            }
            _ => {
                self.text.truncate(start);
                false
            }
        }
    }
}

/// Positions within a record; its length is bounded by `u32::MAX` in `Reader::with_options`.
fn to_u32(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRead {
    /// A line, without its end; the last may lack one.
    Line,
    /// A line longer than the room; what fits of it was kept, the rest skipped.
    TooLong,
    /// Nothing: the input is at its end.
    End,
}

/// Appends one physical line, less LF or CR LF, to `text`, `room` bytes at most.
fn read_line(
    input: &mut impl BufRead,
    text: &mut Vec<u8>,
    room: usize,
    bytes_read: &mut u64,
) -> io::Result<LineRead> {
    let start = text.len();
    let mut outcome = LineRead::End;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        if outcome == LineRead::End {
            outcome = LineRead::Line;
        }
        let end = memchr(b'\n', available);
        let part = available
            .get(..end.unwrap_or(available.len()))
            .unwrap_or(available);
        // One byte more for a CR that will go again.
        let fits = (room + 1)
            .saturating_sub(text.len() - start)
            .min(part.len());
        if fits < part.len() {
            outcome = LineRead::TooLong;
        }
        text.extend_from_slice(part.get(..fits).unwrap_or_default());
        let used = end.map_or(part.len(), |end| end + 1);
        input.consume(used);
        *bytes_read += used as u64;
        if end.is_some() {
            break;
        }
    }
    if outcome == LineRead::Line && text.len() > start && text.last() == Some(&b'\r') {
        text.pop();
    }
    if text.len() - start > room {
        outcome = LineRead::TooLong;
    }
    Ok(outcome)
}
