//! Records into text: the safe-string rule, base64, folding.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How a writer writes.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Columns after which a line is folded, `None` for never. OpenLDAP's tools fold at 78.
    pub columns: Option<usize>,
    /// True if UTF-8 beyond ASCII is written as it is, which people can read but RFC 2849 does not
    /// allow.
    pub utf8_in_clear: bool,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            columns: Some(78),
            utf8_in_clear: false,
        }
    }
}

/// Bytes of lines that are held back at most.
const LINES_MAX: usize = 1 << 16;

/// Columns that leave room for a fold's space and a whole UTF-8 character.
const COLUMNS_MIN: usize = 8;

/// Writes LDIF record by record: what was written reaches the output with the end of its record, if
/// not before. The output should be buffered.
///
/// ```
/// use fulgurite_ldif::Writer;
///
/// let mut text = Vec::new();
/// let mut writer = Writer::new(&mut text);
/// writer.name("dc=example,dc=com")?;
/// writer.value("dc", b"example")?;
/// writer.value("description", b" begins with a space")?;
/// writer.end()?;
/// assert_eq!(text, b"dn: dc=example,dc=com\ndc: example\ndescription:: IGJlZ2lucyB3aXRoIGEgc3BhY2U=\n\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    output: W,
    options: WriterOptions,
    /// Lines of the record that has not ended.
    lines: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Returns a writer with the default options.
    pub fn new(output: W) -> Self {
        Self::with_options(output, WriterOptions::default())
    }

    /// Returns a writer with options; fewer than eight columns count as eight.
    pub fn with_options(output: W, mut options: WriterOptions) -> Self {
        options.columns = options.columns.map(|columns| columns.max(COLUMNS_MIN));
        Self {
            output,
            options,
            lines: Vec::new(),
        }
    }

    /// Writes `version: 1`, the first line of a file if it has one.
    ///
    /// # Errors
    /// The output's, here and below.
    pub fn version(&mut self) -> io::Result<()> {
        self.lines.extend_from_slice(b"version: 1\n");
        self.pass_on()
    }

    /// Returns a comment; every line of `text` gets its own mark.
    ///
    /// # Errors
    /// The output's.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        for line in text.split(['\n', '\r']) {
            self.lines.extend_from_slice(b"# ");
            self.lines.extend_from_slice(line.as_bytes());
            self.lines.push(b'\n');
        }
        self.pass_on()
    }

    /// Returns the name that begins a record.
    ///
    /// # Errors
    /// The output's.
    pub fn name(&mut self, dn: &str) -> io::Result<()> {
        self.value("dn", dn.as_bytes())
    }

    /// Writes one value, or another line of a record such as `changetype` or `newrdn`.
    ///
    /// # Errors
    /// The output's.
    pub fn value(&mut self, description: &str, value: &[u8]) -> io::Result<()> {
        if !is_clear(value, self.options.utf8_in_clear) {
            return self.encoded(description, value);
        }
        let start = self.lines.len();
        self.lines.reserve(description.len() + value.len() + 3);
        self.lines.extend_from_slice(description.as_bytes());
        self.lines.push(b':');
        if !value.is_empty() {
            self.lines.push(b' ');
            self.lines.extend_from_slice(value);
        }
        self.end_line(start)
    }

    /// Writes one value in base64, whatever it is, so that nobody reads a password over a shoulder.
    ///
    /// # Errors
    /// The output's.
    pub fn encoded(&mut self, description: &str, value: &[u8]) -> io::Result<()> {
        let start = self.lines.len();
        self.lines.extend_from_slice(description.as_bytes());
        self.lines.extend_from_slice(b":: ");
        self.lines
            .extend_from_slice(STANDARD.encode(value).as_bytes());
        self.end_line(start)
    }

    /// Writes `-`, the end of one modification.
    ///
    /// # Errors
    /// The output's.
    pub fn dash(&mut self) -> io::Result<()> {
        self.lines.extend_from_slice(b"-\n");
        Ok(())
    }

    /// Returns the empty line that ends a record.
    ///
    /// # Errors
    /// The output's.
    pub fn end(&mut self) -> io::Result<()> {
        self.lines.push(b'\n');
        self.pass_on()
    }

    /// Gives the output back, flushed.
    ///
    /// # Errors
    /// The output's.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.pass_on()?;
        self.output.flush()?;
        Ok(self.output)
    }

    /// Ends the line that begins at `start`, folded if it is too long.
    fn end_line(&mut self, start: usize) -> io::Result<()> {
        let columns = self.options.columns.unwrap_or(usize::MAX);
        if self.lines.len() - start > columns {
            self.fold(start, columns);
        }
        self.lines.push(b'\n');
        // Values may be many: a record need not be in memory whole.
        if self.lines.len() < LINES_MAX {
            return Ok(());
        }
        self.pass_on()
    }

    #[cold]
    fn fold(&mut self, start: usize, columns: usize) {
        let line = self.lines.split_off(start);
        let mut rest = line.as_slice();
        // A continuation has its space in the first column.
        let mut room = columns;
        while rest.len() > room {
            let (part, after) = rest.split_at(boundary_below(rest, room));
            self.lines.extend_from_slice(part);
            self.lines.extend_from_slice(b"\n ");
            rest = after;
            room = columns - 1;
        }
        self.lines.extend_from_slice(rest);
    }

    /// Gives finished lines to the output.
    fn pass_on(&mut self) -> io::Result<()> {
        self.output.write_all(&self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// Returns the last position of at most `room` bytes where `text` may be cut: not within a
/// character.
fn boundary_below(text: &[u8], room: usize) -> usize {
    let begins = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    (0..=room).rev().find(begins).unwrap_or(room)
}

/// Returns true if a value may be written in clear: RFC 2849's SAFE-STRING, or UTF-8 if the options
/// allow it. A trailing space and control characters are encoded, as OpenLDAP's tools do. RFC
/// 2849's SAFE-STRING, less a trailing space and control characters, which OpenLDAP's tools encode
/// too; or UTF-8 if wanted.
fn is_clear(value: &[u8], utf8: bool) -> bool {
    let starts_safely = !matches!(value.first(), Some(b' ' | b':' | b'<'));
    let ends_safely = value.last() != Some(&b' ');
    let is_text = is_printable(value)
        || utf8 && !value.iter().any(u8::is_ascii_control) && std::str::from_utf8(value).is_ok();
    starts_safely && ends_safely && is_text
}

/// Returns true if all bytes are printable ASCII. Eight of them are tested in one step.
fn is_printable(value: &[u8]) -> bool {
    const LOWEST: u64 = u64::from_ne_bytes([b' '; 8]);
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHEST_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    let Some(last) = value.last_chunk::<8>() else {
        return value.iter().all(|byte| matches!(byte, b' '..=b'~'));
    };
    // The highest bit of a byte is set, or becomes set. Bytes below a space borrow from it, and
    // bytes from 7f on carry into it. The bytes after the last whole word are tested in a word that
    // overlaps it.
    let look = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        word | word.wrapping_sub(LOWEST) | word.wrapping_add(ONES)
    };
    let mut odd = look(last);
    for word in value.as_chunks::<8>().0 {
        odd |= look(word);
    }
    odd & HIGHEST_BITS == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(value: &[u8], options: WriterOptions) -> String {
        let mut writer = Writer::with_options(Vec::new(), options);
        writer.value("cn", value).unwrap();
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn unsafe_values_are_encoded() {
        let plain = WriterOptions::default();
        assert_eq!(line(b"Ada", plain), "cn: Ada\n");
        assert_eq!(line(b"", plain), "cn:\n");
        for value in [
            &b" a"[..],
            b":a",
            b"<a",
            b"a ",
            b"a\nb",
            b"a\rb",
            b"a\0b",
            "ä".as_bytes(),
            b"\xff",
        ] {
            assert!(line(value, plain).starts_with("cn:: "), "{value:?}");
        }
        let utf8 = WriterOptions {
            utf8_in_clear: true,
            ..plain
        };
        assert_eq!(line("ä".as_bytes(), utf8), "cn: ä\n");
        assert_eq!(line(b"\xff", utf8), "cn:: /w==\n");
    }

    #[test]
    fn every_byte_is_looked_at() {
        for byte in 0..=u8::MAX {
            for (len, at) in (0..20).flat_map(|len| (0..len).map(move |at| (len, at))) {
                let mut value = vec![b'~'; len];
                value[at] = byte;
                let expected = matches!(byte, b' '..=b'~');
                assert_eq!(is_printable(&value), expected, "{byte} at {at} of {len}");
            }
        }
    }

    #[test]
    fn folds_where_openldap_does() {
        // 78 columns, measured on slapcat 2.5: a line of exactly 78 stays whole, continuations are
        // 78 wide as well.
        let options = WriterOptions::default();
        assert_eq!(line(&[b'c'; 74], options).lines().count(), 1);
        let folded = line(&[b'b'; 300], options);
        let widths: Vec<usize> = folded.lines().map(str::len).collect();
        assert_eq!(widths, [78, 78, 78, 73]);
        let never = WriterOptions {
            columns: None,
            ..options
        };
        assert_eq!(line(&[b'b'; 300], never).lines().count(), 1);
    }

    #[test]
    fn folds_between_characters() {
        let options = WriterOptions {
            columns: Some(1),
            utf8_in_clear: true,
        };
        let folded = line("ääääääää€€€€".as_bytes(), options);
        assert!(
            folded.lines().all(|line| line.len() <= COLUMNS_MIN),
            "{folded}"
        );
        assert_eq!(folded.replace("\n ", ""), "cn: ääääääää€€€€\n");
    }
}
