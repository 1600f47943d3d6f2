//! The text of `gdbm_dump`: a header, and keys and values in base64.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::KeyAndValue;
use super::error::DumpError;
use super::lines::Lines;

/// The first bytes of a text.
pub(super) const BEGINS: [&[u8]; 2] = [b"# GDBM dump file", b"#:version="];

/// The first line of the binary format. It depends on the machine: its lengths are those of a
/// `long`.
pub(super) const BINARY_BEGIN: &[u8] = b"!";

/// The end of a text's header.
const HEADER_END: &[u8] = b"# End of header";

/// The end of a text.
const DATA_END: &[u8] = b"# End of data";

/// The longest key or value in bytes.
const LENGTH_MAX: u64 = u32::MAX as u64;

/// A reader of the text.
pub(super) struct Gdbm<'i> {
    pub(super) lines: Lines<'i>,
    records: u64,
}

impl<'i> Gdbm<'i> {
    /// Reads the header.
    pub(super) fn begin(mut lines: Lines<'i>) -> Result<Gdbm<'i>, DumpError> {
        loop {
            let Some(line) = lines.next()? else {
                return Err(lines.wrong("the input ends in the header"));
            };
            if line == HEADER_END {
                return Ok(Gdbm { lines, records: 0 });
            }
            if let Some(version) = line.strip_prefix(b"#:version=")
                && !version.starts_with(b"1.")
            {
                let text = format!("version {} is not supported", version.escape_ascii());
                return Err(lines.wrong(text));
            }
            if !line.starts_with(b"#") {
                return Err(lines.wrong("a line of the header begins with #"));
            }
        }
    }

    /// Reads a record; `None` after the last one.
    pub(super) fn record(&mut self) -> Result<Option<KeyAndValue>, DumpError> {
        let Some(key) = self.datum()? else {
            return Ok(None);
        };
        match self.datum()? {
            Some(value) => {
                self.records += 1;
                Ok(Some((key, value)))
            }
            None => Err(self.lines.wrong("the last key has no value")),
        }
    }

    /// Reads a key or a value; `None` at the end.
    fn datum(&mut self) -> Result<Option<Vec<u8>>, DumpError> {
        let length = loop {
            let Some(line) = self.lines.next()? else {
                return Err(self.lines.wrong("the input ends before \"# End of data\""));
            };
            if line == DATA_END {
                return Ok(None);
            }
            if let Some(length) = line.strip_prefix(b"#:len=") {
                let length = number(length);
                break length.ok_or_else(|| self.lines.wrong("the length is no number"))?;
            }
            if let Some(count) = line.strip_prefix(b"#:count=") {
                if number(count) != Some(self.records) {
                    let text = format!("{} records came before this count", self.records);
                    return Err(self.lines.wrong(text));
                }
            } else if !line.starts_with(b"#") && !line.is_empty() {
                return Err(self.lines.wrong("a key or a value begins with #:len="));
            }
        };
        let mut text = Vec::new();
        while let Some(line) = self.lines.next()? {
            if line.starts_with(b"#") {
                self.lines.hold();
                break;
            }
            text.extend_from_slice(line.trim_ascii());
        }
        let Ok(bytes) = BASE64_STANDARD.decode(&text) else {
            return Err(self.lines.wrong("the text above is no base64"));
        };
        if bytes.len() as u64 != length {
            let text = format!("{} bytes came, and {length} were announced", bytes.len());
            return Err(self.lines.wrong(text));
        }
        Ok(Some(bytes))
    }
}

fn number(text: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(text).ok()?.parse().ok();
    number.filter(|number| *number <= LENGTH_MAX)
}
