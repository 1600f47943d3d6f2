//! Records into text: the safe-string rule, base64, folding.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How a writer writes.
#[derive(Clone, Copy, Debug)]
pub struct WriterOptions {
    /// Columns after which a line is folded, `None` for never. OpenLDAP's tools fold at 78.
    pub columns: Option<usize>,
    /// Whether UTF-8 beyond ASCII is written as it is, which people can read but RFC 2849 does not allow.
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

/// Columns that leave room for a fold's space and a whole UTF-8 character.
const COLUMNS_MIN: usize = 8;

/// Writes LDIF line by line; the output should be buffered.
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
    /// One line, before it is folded.
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A writer with the default options.
    pub fn new(output: W) -> Self {
        Self::with_options(output, WriterOptions::default())
    }

    /// A writer with options; fewer than eight columns count as eight.
    pub fn with_options(output: W, mut options: WriterOptions) -> Self {
        options.columns = options.columns.map(|columns| columns.max(COLUMNS_MIN));
        Self {
            output,
            options,
            line: Vec::new(),
        }
    }

    /// `version: 1`, the first line of a file if any.
    ///
    /// # Errors
    /// The output's, here and below.
    pub fn version(&mut self) -> io::Result<()> {
        self.output.write_all(b"version: 1\n")
    }

    /// A comment; every line of `text` gets its own mark.
    ///
    /// # Errors
    /// The output's.
    pub fn comment(&mut self, text: &str) -> io::Result<()> {
        for line in text.split(['\n', '\r']) {
            self.output.write_all(b"# ")?;
            self.output.write_all(line.as_bytes())?;
            self.output.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The name that begins a record.
    ///
    /// # Errors
    /// The output's.
    pub fn name(&mut self, dn: &str) -> io::Result<()> {
        self.value("dn", dn.as_bytes())
    }

    /// One value; also any other line of a record, such as `changetype` or `newrdn`.
    ///
    /// # Errors
    /// The output's.
    pub fn value(&mut self, description: &str, value: &[u8]) -> io::Result<()> {
        if !is_clear(value, self.options.utf8_in_clear) {
            return self.encoded(description, value);
        }
        self.line.clear();
        self.line.extend_from_slice(description.as_bytes());
        self.line
            .extend_from_slice(if value.is_empty() { b":" } else { b": " });
        self.line.extend_from_slice(value);
        self.line.push(b'\n');
        self.write_folded()
    }

    /// One value in base64, whatever it is: passwords are not to be read over a shoulder.
    ///
    /// # Errors
    /// The output's.
    pub fn encoded(&mut self, description: &str, value: &[u8]) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(description.as_bytes());
        self.line.extend_from_slice(b":: ");
        self.line
            .extend_from_slice(STANDARD.encode(value).as_bytes());
        self.line.push(b'\n');
        self.write_folded()
    }

    /// `-`, the end of one modification.
    ///
    /// # Errors
    /// The output's.
    pub fn dash(&mut self) -> io::Result<()> {
        self.output.write_all(b"-\n")
    }

    /// The empty line that ends a record.
    ///
    /// # Errors
    /// The output's.
    pub fn end(&mut self) -> io::Result<()> {
        self.output.write_all(b"\n")
    }

    /// Gives the output back, flushed.
    ///
    /// # Errors
    /// The output's.
    pub fn into_inner(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    fn write_folded(&mut self) -> io::Result<()> {
        let columns = self.options.columns.unwrap_or(usize::MAX);
        let mut rest = self.line.as_slice();
        // The line end does not count; a continuation has its space in the first column.
        let mut room = columns;
        while rest.len() - 1 > room {
            let (part, after) = rest.split_at(boundary_below(rest, room));
            self.output.write_all(part)?;
            self.output.write_all(b"\n ")?;
            rest = after;
            room = columns - 1;
        }
        self.output.write_all(rest)
    }
}

/// The last position of at most `room` bytes where `text` may be cut: not within a character.
fn boundary_below(text: &[u8], room: usize) -> usize {
    let begins = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    (0..=room).rev().find(begins).unwrap_or(room)
}

/// Whether a value may stand in clear: RFC 2849's SAFE-STRING, less a trailing space and control characters, which
/// OpenLDAP's tools encode too; or UTF-8 if wanted.
fn is_clear(value: &[u8], utf8: bool) -> bool {
    let starts_safely = !matches!(value.first(), Some(b' ' | b':' | b'<'));
    let ends_safely = value.last() != Some(&b' ');
    // Without an early end, many octets are looked at in one step.
    let all = |safe: fn(u8) -> bool| value.iter().fold(true, |all, byte| all & safe(*byte));
    let is_text = all(|byte| byte.wrapping_sub(b' ') < 95)
        || utf8
            && all(|byte| byte.wrapping_sub(b' ') < 95 || !byte.is_ascii())
            && std::str::from_utf8(value).is_ok();
    starts_safely && ends_safely && is_text
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
    fn folds_where_openldap_does() {
        // 78 columns, measured on slapcat 2.5: a line of exactly 78 stays whole, continuations are 78 wide as well.
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
