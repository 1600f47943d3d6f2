//! The lines before and after the items of a dumped database.

use std::io::{self, Write};

use fulgurite::DatabaseFlags;
use fulgurite_terminal::dump_text::Format;

/// The names of persistent flags in a header, in the order of writing.
const FLAGS: [(&str, u16); 6] = [
    ("reversekey", DatabaseFlags::REVERSE_KEY),
    ("dupsort", DatabaseFlags::DUP_SORT),
    ("integerkey", DatabaseFlags::INTEGER_KEY),
    ("dupfixed", DatabaseFlags::DUP_FIXED),
    ("integerdup", DatabaseFlags::INTEGER_DUP),
    ("reversedup", DatabaseFlags::REVERSE_DUP),
];

/// The header of a dumped database.
#[derive(Debug)]
pub(crate) struct Header<'a> {
    pub(crate) format: Format,
    /// `None` for the main database.
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) flags: DatabaseFlags,
    pub(crate) map_size: u64,
    /// 0 if the environment has no fixed map.
    pub(crate) map_address: u64,
    pub(crate) readers_max: u32,
    pub(crate) page_size: usize,
}

impl Header<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "VERSION=3\nformat={}", self.format.word())?;
        if let Some(name) = self.name {
            out.write_all(&[b"database=", name, b"\n"].concat())?;
        }
        writeln!(out, "type=btree\nmapsize={}", self.map_size)?;
        if self.map_address != 0 {
            writeln!(out, "mapaddr={:#x}", self.map_address)?;
        }
        writeln!(out, "maxreaders={}", self.readers_max)?;
        if self.flags.has(DatabaseFlags::DUP_SORT) {
            writeln!(out, "duplicates=1")?;
        }
        for (name, _) in FLAGS.iter().filter(|(_, flag)| self.flags.has(*flag)) {
            writeln!(out, "{name}=1")?;
        }
        writeln!(out, "db_pagesize={}\nHEADER=END", self.page_size)
    }
}

/// The facts that a load reads from headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instructions {
    /// Kept by a later header without one, and so is the name.
    pub(crate) format: Format,
    pub(crate) name: Option<Vec<u8>>,
    /// Reset by each header.
    pub(crate) flags: DatabaseFlags,
    pub(crate) map_size: Option<u64>,
    pub(crate) has_fixed_map: bool,
    pub(crate) readers_max: Option<u32>,
}

/// The kind of a header line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A known keyword.
    Keyword,
    /// The last line.
    End,
    /// An unknown keyword: reported and ignored.
    UnknownKeyword,
}

impl Instructions {
    /// Makes the facts before any header; `name` is that of the command line.
    pub(crate) fn new(format: Format, name: Option<Vec<u8>>) -> Instructions {
        Instructions {
            format,
            name,
            flags: DatabaseFlags(0),
            map_size: None,
            has_fixed_map: false,
            readers_max: None,
        }
    }

    /// Reads a line, without its end.
    /// # Errors
    /// The message about a line that is invalid.
    pub(crate) fn take(&mut self, line: &[u8]) -> Result<Line, Vec<u8>> {
        if line.starts_with(b"HEADER=END") {
            return Ok(Line::End);
        }
        let equals = line.iter().position(|byte| *byte == b'=');
        let Some((keyword, value)) = equals.and_then(|at| line.split_at_checked(at)) else {
            return Err(b"unexpected format".to_vec());
        };
        let value = value.strip_prefix(b"=").unwrap_or(value);
        let refuse = |what: &str| Err([what.as_bytes(), b" ", value].concat());
        match keyword {
            b"VERSION" if leading_number(value).is_some_and(|version| version > 3) => {
                return refuse("unsupported VERSION");
            }
            b"VERSION" => {}
            b"format" if value.starts_with(b"print") => self.format = Format::Print,
            b"format" if value.starts_with(b"bytevalue") => self.format = Format::ByteValue,
            b"format" => return refuse("unsupported FORMAT"),
            b"type" if value.starts_with(b"btree") => {}
            b"type" => return refuse("unsupported type"),
            b"database" => self.name = Some(value.to_vec()),
            b"mapaddr" => self.has_fixed_map = true,
            b"mapsize" => match leading_number(value) {
                Some(size) => self.map_size = Some(size),
                None => return refuse("invalid mapsize"),
            },
            b"maxreaders" => match leading_number(value).map(u32::try_from) {
                Some(Ok(count)) => self.readers_max = Some(count),
                _ => return refuse("invalid maxreaders"),
            },
            _ => match FLAGS.iter().find(|(name, _)| name.as_bytes() == keyword) {
                Some((_, flag)) => self.flags.0 |= flag,
                None => return Ok(Line::UnknownKeyword),
            },
        }
        Ok(Line::Keyword)
    }
}

/// Returns the number at the start of a text.
fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let digits = text.get(..digits.count())?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_header_is_read_back() {
        let header = Header {
            format: Format::Print,
            name: Some(b"a=b"),
            flags: DatabaseFlags(0x7e),
            map_size: 12345,
            map_address: 0x7000,
            readers_max: 7,
            page_size: 4096,
        };
        let mut text = Vec::new();
        header.write(&mut text).expect("write");
        let mut read = Instructions::new(Format::ByteValue, None);
        let mut unknown = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            match read.take(line).expect("understood") {
                Line::Keyword => {}
                Line::End => break,
                Line::UnknownKeyword => unknown.push(String::from_utf8_lossy(line).into_owned()),
            }
        }
        assert_eq!(unknown, ["duplicates=1", "db_pagesize=4096"]);
        let expected = Instructions {
            format: Format::Print,
            name: Some(b"a=b".to_vec()),
            flags: DatabaseFlags(0x7e),
            map_size: Some(12345),
            has_fixed_map: true,
            readers_max: Some(7),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn an_invalid_header_is_reported() {
        let refusals = [
            ("nonsense", "unexpected format"),
            ("VERSION=4", "unsupported VERSION 4"),
            ("format=xml", "unsupported FORMAT xml"),
            ("type=hash", "unsupported type hash"),
            ("mapsize=big", "invalid mapsize big"),
            ("maxreaders=99999999999", "invalid maxreaders 99999999999"),
        ];
        for (line, refusal) in refusals {
            let said = Instructions::new(Format::Print, None).take(line.as_bytes());
            assert_eq!(said, Err(refusal.as_bytes().to_vec()));
        }
    }
}
