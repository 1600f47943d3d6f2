//! Numbered lines.

use std::io::BufRead;

use super::error::DumpError;

/// The lines of a dump.
pub(super) struct Lines<'i> {
    from: &'i mut dyn BufRead,
    /// The number of the last line, counting from 1.
    number: u64,
    line: Vec<u8>,
    /// True if the last line is read again.
    is_held: bool,
}

impl<'i> Lines<'i> {
    pub(super) fn new(from: &'i mut dyn BufRead) -> Lines<'i> {
        Lines {
            from,
            number: 0,
            line: Vec::new(),
            is_held: false,
        }
    }

    /// Reads a line, without its end; `None` at the end of input.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, DumpError> {
        if !std::mem::take(&mut self.is_held) {
            self.line.clear();
            let read = self.from.read_until(b'\n', &mut self.line);
            let read = read.map_err(DumpError::Input)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Lets the next call return the last line again.
    pub(super) fn hold(&mut self) {
        self.is_held = true;
    }

    /// Returns the number of the last line.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns an error about the last line.
    pub(super) fn wrong(&self, reason: impl Into<String>) -> DumpError {
        DumpError::Line {
            number: self.number.max(1),
            reason: reason.into(),
        }
    }
}
