//! The text of `db5.3_dump`: for each database a header and its records.

use fulgurite_terminal::dump_text::Format;

use super::error::DumpError;
use super::lines::Lines;
use super::{KeyAndValue, KeyKind, Section};

/// The newest version of the text.
const VERSION_MAX: u64 = 3;

/// Keywords about files of Berkeley DB, and those of LMDB about its map. They do not matter here.
const IGNORED: &[&str] = &[
    "bt_minkey",
    "chksum",
    "db_lorder",
    "db_pagesize",
    "dupsort",
    "encrypt",
    "extentsize",
    "h_ffactor",
    "h_nelem",
    "mapaddr",
    "mapsize",
    "maxreaders",
    "re_len",
    "re_pad",
    "recnum",
    "renumber",
    "subdatabase",
];

/// Keywords that only `mdb_load` understands.
const OF_LMDB: &[&str] = &[
    "reversekey",
    "integerkey",
    "dupfixed",
    "integerdup",
    "reversedup",
];

/// A reader of the text.
pub(super) struct Berkeley<'i> {
    pub(super) lines: Lines<'i>,
    format: Format,
    keys: KeyKind,
    /// True if the keys of numbered records are written.
    has_keys: bool,
    /// The number of the last record without a key.
    number: u32,
}

impl<'i> Berkeley<'i> {
    /// Begins at the first line.
    pub(super) fn new(lines: Lines<'i>) -> Berkeley<'i> {
        Berkeley {
            lines,
            format: Format::ByteValue,
            keys: KeyKind::Bytes,
            has_keys: true,
            number: 0,
        }
    }

    /// Reads the header of the next database; `None` at the end of input.
    pub(super) fn section(&mut self) -> Result<Option<Section>, DumpError> {
        let mut section = Section {
            name: None,
            keys: KeyKind::Bytes,
            has_duplicates: false,
        };
        let mut keys = None;
        (self.format, self.number) = (Format::ByteValue, 0);
        let mut is_first = true;
        loop {
            let Some(line) = self.lines.next()? else {
                return match is_first {
                    true => Ok(None),
                    false => Err(self.lines.wrong("the input ends in a header")),
                };
            };
            if line == b"HEADER=END" {
                break;
            }
            let Some((keyword, value)) = split(line) else {
                let text = format!("\"{}\" is no line of a header", line.escape_ascii());
                return Err(self.lines.wrong(text));
            };
            if is_first && keyword != "VERSION" {
                let text = "a database begins with VERSION=3".to_owned();
                return Err(self.lines.wrong(text));
            }
            is_first = false;
            if keyword == "keys" {
                keys = Some(value == b"1");
            } else if let Err(reason) = self.take(&mut section, &keyword, &value) {
                return Err(self.lines.wrong(reason));
            }
        }
        self.keys = section.keys;
        self.has_keys = keys.unwrap_or(section.keys == KeyKind::Bytes);
        if section.keys == KeyKind::Bytes && !self.has_keys {
            let reason = "keys=0 leaves out the keys; make the dump with them";
            return Err(self.lines.wrong(reason));
        }
        Ok(Some(section))
    }

    /// Takes a line of a header, or returns what is wrong with it.
    fn take(&mut self, section: &mut Section, keyword: &str, value: &[u8]) -> Result<(), String> {
        let shown = value.escape_ascii();
        match (keyword, value) {
            ("VERSION", _) => {
                let version: Option<u64> = number(value);
                if version.is_none_or(|version| version > VERSION_MAX) {
                    return Err(format!("VERSION={shown} is not supported; give up to 3"));
                }
            }
            ("format", b"bytevalue") => self.format = Format::ByteValue,
            ("format", b"print") => self.format = Format::Print,
            ("format", _) => {
                return Err(format!("format={shown} is neither bytevalue nor print"));
            }
            ("type", b"btree" | b"hash") => section.keys = KeyKind::Bytes,
            ("type", b"recno" | b"queue") => section.keys = KeyKind::Numbers,
            ("type", _) => {
                let known = "btree, hash, recno and queue";
                return Err(format!("type={shown} is not supported; known are {known}"));
            }
            ("database", _) => section.name = Some(value.to_vec()),
            ("duplicates", _) => section.has_duplicates = value == b"1",
            _ if IGNORED.contains(&keyword) => {}
            _ if OF_LMDB.contains(&keyword) => {
                return Err(format!("mdb_dump wrote {keyword}; load this with mdb_load"));
            }
            _ => return Err(format!("unknown keyword \"{keyword}\" in a header")),
        }
        Ok(())
    }

    /// Reads a record; `None` after the last one of the database.
    pub(super) fn record(&mut self) -> Result<Option<KeyAndValue>, DumpError> {
        let Some(first) = self.item()? else {
            return Ok(None);
        };
        if !self.has_keys {
            let next = self.number.checked_add(1);
            self.number = next.ok_or_else(|| self.lines.wrong("too many records"))?;
            return Ok(Some((self.number.to_ne_bytes().to_vec(), first)));
        }
        let key = match self.keys {
            KeyKind::Bytes => first,
            KeyKind::Numbers => match number::<u32>(&first) {
                Some(number) => number.to_ne_bytes().to_vec(),
                None => return Err(self.lines.wrong("the key is no number of a record")),
            },
        };
        match self.item()? {
            Some(value) => Ok(Some((key, value))),
            None => Err(self.lines.wrong("the last key has no value")),
        }
    }

    /// Reads a key or a value; `None` at the end of the database.
    fn item(&mut self) -> Result<Option<Vec<u8>>, DumpError> {
        let Some(line) = self.lines.next()? else {
            return Err(self.lines.wrong("the input ends before DATA=END"));
        };
        if line == b"DATA=END" {
            return Ok(None);
        }
        let Some(text) = line.strip_prefix(b" ") else {
            let reason = "a line of a record begins with a blank";
            return Err(self.lines.wrong(reason));
        };
        let format = self.format;
        let read = format.read(text);
        let wrong = || format!("the text is not of format={}", format.word());
        read.map(Some).ok_or_else(|| self.lines.wrong(wrong()))
    }
}

/// Splits a line of a header.
fn split(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let equals = line.iter().position(|byte| *byte == b'=')?;
    let keyword = std::str::from_utf8(line.get(..equals)?).ok()?;
    Some((keyword.to_owned(), line.get(equals + 1..)?.to_vec()))
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
