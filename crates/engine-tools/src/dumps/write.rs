//! An environment as a dump.

use std::io::{self, Write};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fulgurite::{Database, DatabaseFlags, Error, ReadTxn, Snapshot as _};
use fulgurite_terminal::dump_text::Format;

use super::error::DumpError;
use crate::open_read_only;

/// Letters of a line in base64, as `gdbm_dump` writes it.
const BASE64_LINE: usize = 76;

/// The format of a written dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpFormat {
    /// Berkeley DB's, two hexadecimal digits for each byte.
    ByteValue,
    /// Berkeley DB's, printable bytes as they are.
    Print,
    /// The text of GDBM.
    Gdbm,
}

/// The choices of a written dump.
#[derive(Debug, Clone, Copy)]
pub struct DumpWrite<'a> {
    /// The environment: a directory or a data file.
    pub path: &'a Path,
    /// The database; else all named ones, or the main one if none has a name.
    pub name: Option<&'a str>,
    /// The format.
    pub format: DumpFormat,
}

/// Writes databases so that `db5.3_load` or `gdbm_load` reads them. Works while others use the
/// environment. Returns the number of records.
///
/// # Errors
/// [`DumpError`].
pub fn write_dump(choices: DumpWrite<'_>, out: &mut dyn Write) -> Result<u64, DumpError> {
    let environment = open_read_only(choices.path)?;
    let txn = environment.read()?;
    let mut names = match choices.name {
        Some(name) => vec![name.as_bytes().to_vec()],
        None => names(&txn)?,
    };
    let is_main = names.is_empty();
    if choices.format == DumpFormat::Gdbm && names.len() > 1 {
        let reason = "it is one of several; name one";
        return Err(unfit(names.pop().as_deref(), choices.format, reason));
    }
    let mut records = 0;
    if is_main {
        records += write_database(&txn, (Database::MAIN, None), choices, out)?;
    }
    for name in &names {
        let database = txn.open_named(name)?;
        records += write_database(&txn, (database, Some(name)), choices, out)?;
    }
    out.flush()?;
    Ok(records)
}

/// Returns the names of databases.
fn names(txn: &ReadTxn<'_>) -> Result<Vec<Vec<u8>>, Error> {
    let mut names = Vec::new();
    if txn.flags(Database::MAIN)?.0 != 0 {
        return Ok(names);
    }
    let mut cursor = txn.cursor(Database::MAIN)?;
    while let Some((key, _)) = cursor.next()? {
        match txn.open_named(key) {
            Ok(_) => names.push(key.to_vec()),
            Err(Error::NoDatabase(_) | Error::WrongKind(_) | Error::NameLength { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(names)
}

fn write_database(
    txn: &ReadTxn<'_>,
    (database, name): (Database, Option<&Vec<u8>>),
    choices: DumpWrite<'_>,
    out: &mut dyn Write,
) -> Result<u64, DumpError> {
    let name = name.map(Vec::as_slice);
    let flags = txn.flags(database)?;
    let writer = Writer {
        format: choices.format,
        name,
        has_numbers: flags.has(DatabaseFlags::INTEGER_KEY),
        has_duplicates: flags.has(DatabaseFlags::DUP_SORT),
    };
    writer.begin(choices.path, out)?;
    let mut records = 0;
    let mut cursor = txn.cursor(database)?;
    while let Some((key, value)) = cursor.next()? {
        writer.record(key, value, out)?;
        records += 1;
    }
    writer.end(records, out)?;
    Ok(records)
}

/// A writer of one database.
struct Writer<'n> {
    format: DumpFormat,
    name: Option<&'n [u8]>,
    has_numbers: bool,
    has_duplicates: bool,
}

impl Writer<'_> {
    fn text_format(&self) -> Option<Format> {
        match self.format {
            DumpFormat::ByteValue => Some(Format::ByteValue),
            DumpFormat::Print => Some(Format::Print),
            DumpFormat::Gdbm => None,
        }
    }

    fn begin(&self, path: &Path, out: &mut dyn Write) -> Result<(), DumpError> {
        let Some(format) = self.text_format() else {
            if self.has_duplicates {
                return Err(unfit(self.name, self.format, "a key has several values"));
            }
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            writeln!(out, "# GDBM dump file created by fulgurite\n#:version=1.1")?;
            writeln!(
                out,
                "#:file={file}.gdbm\n#:format=standard\n# End of header"
            )?;
            return Ok(());
        };
        writeln!(out, "VERSION=3\nformat={}", format.word())?;
        if let Some(name) = self.name {
            out.write_all(&[b"database=", name, b"\n"].concat())?;
        }
        let kind = if self.has_numbers { "recno" } else { "btree" };
        writeln!(out, "type={kind}")?;
        if self.has_numbers {
            writeln!(out, "keys=1")?;
        }
        if self.has_duplicates {
            writeln!(out, "duplicates=1\ndupsort=1")?;
        }
        writeln!(out, "HEADER=END")?;
        Ok(())
    }

    fn record(&self, key: &[u8], value: &[u8], out: &mut dyn Write) -> Result<(), DumpError> {
        let Some(format) = self.text_format() else {
            write_datum(key, out)?;
            return Ok(write_datum(value, out)?);
        };
        let number = match self.has_numbers {
            true => Some(self.number(key)?.to_string()),
            false => None,
        };
        let key = number.as_ref().map_or(key, |number| number.as_bytes());
        for bytes in [key, value] {
            out.write_all(b" ")?;
            format.write(bytes, out)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Returns the number of a record.
    fn number(&self, key: &[u8]) -> Result<u32, DumpError> {
        let number = match (<[u8; 4]>::try_from(key), <[u8; 8]>::try_from(key)) {
            (Ok(bytes), _) => Some(u32::from_ne_bytes(bytes)),
            (_, Ok(bytes)) => u32::try_from(u64::from_ne_bytes(bytes)).ok(),
            _ => None,
        };
        let number = number.filter(|number| *number > 0 && !self.has_duplicates);
        let reason = "records are numbered from 1 to 4294967295, each with one value";
        number.ok_or_else(|| unfit(self.name, self.format, reason))
    }

    fn end(&self, records: u64, out: &mut dyn Write) -> Result<(), DumpError> {
        match self.format {
            DumpFormat::Gdbm => writeln!(out, "#:count={records}\n# End of data")?,
            _ => writeln!(out, "DATA=END")?,
        }
        Ok(())
    }
}

/// Writes a key or a value for GDBM.
fn write_datum(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "#:len={}", bytes.len())?;
    let text = BASE64_STANDARD.encode(bytes);
    for line in text.as_bytes().chunks(BASE64_LINE) {
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    if bytes.is_empty() {
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn unfit(name: Option<&[u8]>, format: DumpFormat, reason: &str) -> DumpError {
    let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
    DumpError::Unfit {
        database: name.unwrap_or_else(|| "without a name".to_owned()),
        format: match format {
            DumpFormat::Gdbm => "a dump of GDBM",
            _ => "a dump of Berkeley DB",
        },
        reason: reason.to_owned(),
    }
}
