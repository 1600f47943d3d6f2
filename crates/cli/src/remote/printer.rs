//! Entries as a table, JSON, CSV or LDIF, written when they come.

use std::fmt::Write as _;
use std::io::{self, Write};

use anyhow::bail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fulgurite_client::Entry;

use crate::arguments::server::FormatFlags;
use crate::json_text::escaped;

/// Rows that a table measures before it writes the first one.
const MEASURED_ROWS: usize = 1000;

/// Columns of a cell at most, so that one long value does not stretch the table.
const CELL_MAX: usize = 60;

/// A form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
    Csv,
    Ldif,
}

/// Writes entries.
pub(crate) struct Printer<W: Write> {
    out: W,
    format: Format,
    /// The attributes to show in this order; none shows all, entry by entry.
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    entries: u64,
}

impl<W: Write> Printer<W> {
    /// Returns a printer of these attributes. The column of the name is `dn`.
    pub(crate) fn new(out: W, flags: FormatFlags, columns: &[&str]) -> anyhow::Result<Printer<W>> {
        let format = match flags {
            FormatFlags { json: true, .. } => Format::Json,
            FormatFlags { csv: true, .. } => Format::Csv,
            FormatFlags { ldif: true, .. } => Format::Ldif,
            _ => Format::Table,
        };
        if format == Format::Csv && columns.is_empty() {
            bail!("CSV has a column for each attribute: name the attributes");
        }
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut printer = Printer {
            out,
            format,
            columns,
            rows: Vec::new(),
            widths: None,
            entries: 0,
        };
        if format == Format::Csv {
            let heads: Vec<String> = printer.columns.iter().map(|name| csv_cell(name)).collect();
            writeln!(printer.out, "{}", heads.join(","))?;
        }
        Ok(printer)
    }

    /// Writes an entry.
    pub(crate) fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        self.entries += 1;
        match self.format {
            Format::Json => writeln!(self.out, "{}", json(entry)),
            Format::Csv => {
                let cells = self
                    .columns
                    .iter()
                    .map(|name| csv_cell(&cell(entry, name, raw)));
                let cells: Vec<String> = cells.collect();
                writeln!(self.out, "{}", cells.join(","))
            }
            Format::Ldif => ldif(&mut self.out, entry),
            Format::Table if self.columns.is_empty() => self.block(entry),
            Format::Table => {
                let cells = self.columns.iter().map(|name| cell(entry, name, shown));
                self.rows.push(cells.collect());
                match self.widths {
                    None if self.rows.len() < MEASURED_ROWS => Ok(()),
                    _ => self.write_rows(),
                }
            }
        }
    }

    /// Writes a remark where the form has room for one.
    pub(crate) fn remark(&mut self, text: &str) -> io::Result<()> {
        match self.format {
            Format::Ldif => fulgurite_ldif::Writer::new(&mut self.out).comment(text),
            _ => {
                eprintln!("{text}");
                Ok(())
            }
        }
    }

    /// Writes what is held back. Returns the number of entries.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        if self.format == Format::Table && !self.columns.is_empty() {
            self.write_rows()?;
        }
        self.out.flush()?;
        Ok(self.entries)
    }

    /// Writes an entry as lines of attribute and value.
    fn block(&mut self, entry: &Entry) -> io::Result<()> {
        if self.entries > 1 {
            writeln!(self.out)?;
        }
        let names = entry
            .attributes
            .iter()
            .map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0).max(2);
        writeln!(self.out, "{:<width$}  {}", "dn", shown(entry.dn.as_bytes()))?;
        for (name, values) in &entry.attributes {
            for value in values {
                writeln!(self.out, "{name:<width$}  {}", shown(value))?;
            }
        }
        Ok(())
    }

    fn write_rows(&mut self) -> io::Result<()> {
        let widths = match self.widths.take() {
            Some(widths) => widths,
            None => {
                let widths = widths(&self.columns, &self.rows);
                if !self.rows.is_empty() {
                    let names = self.columns.iter();
                    let heads: Vec<String> = names.map(|name| name.to_uppercase()).collect();
                    write_row(&mut self.out, &heads, &widths)?;
                }
                widths
            }
        };
        for row in self.rows.drain(..) {
            write_row(&mut self.out, &row, &widths)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

fn widths(columns: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|name| name.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(CELL_MAX));
        }
    }
    widths
}

fn write_row(out: &mut impl Write, row: &[String], widths: &[usize]) -> io::Result<()> {
    let mut line = String::new();
    for (cell, width) in row.iter().zip(widths) {
        let _ = write!(line, "{cell:<width$}  ");
    }
    writeln!(out, "{}", line.trim_end())
}

/// Returns the values of an attribute in one cell.
fn cell(entry: &Entry, name: &str, text: fn(&[u8]) -> String) -> String {
    if name.eq_ignore_ascii_case("dn") {
        return text(entry.dn.as_bytes());
    }
    let values: Vec<String> = entry.values(name).iter().map(|value| text(value)).collect();
    values.join("|")
}

/// Returns a value for a terminal: control characters escaped, other bytes counted.
pub(crate) fn shown(value: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(value) else {
        return format!("({} bytes)", value.len());
    };
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}

/// Returns a value as text, or in base64 if it is none.
fn raw(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => STANDARD.encode(value),
    }
}

/// Returns a cell of RFC 4180.
fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Returns an entry as an object; values that are no text are objects with `base64`.
fn json(entry: &Entry) -> String {
    let mut out = format!("{{\"dn\":\"{}\",\"attributes\":{{", escaped(&entry.dn));
    for (at, (name, values)) in entry.attributes.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}\"{}\":[", escaped(name));
        for (at, value) in values.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            let _ = match std::str::from_utf8(value) {
                Ok(text) => write!(out, "\"{}\"", escaped(text)),
                Err(_) => write!(out, "{{\"base64\":\"{}\"}}", STANDARD.encode(value)),
            };
        }
        out.push(']');
    }
    out.push_str("}}");
    out
}

fn ldif(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    let mut writer = fulgurite_ldif::Writer::new(out);
    writer.name(&entry.dn)?;
    for (name, values) in &entry.attributes {
        for value in values {
            if name.eq_ignore_ascii_case("userPassword") {
                writer.encoded(name, value)?;
            } else {
                writer.value(name, value)?;
            }
        }
    }
    writer.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada() -> Entry {
        let value = |text: &str| text.as_bytes().to_vec();
        Entry {
            dn: "uid=ada,dc=x".to_owned(),
            attributes: vec![
                ("uid".to_owned(), vec![value("ada")]),
                (
                    "cn".to_owned(),
                    vec![value("Ada \"A\", L"), value("a\u{1b}[1m")],
                ),
                ("photo".to_owned(), vec![vec![0xff, 0]]),
            ],
        }
    }

    fn printed(json: bool, csv: bool, ldif: bool, columns: &[&str]) -> String {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, FormatFlags { json, csv, ldif }, columns).unwrap();
        printer.entry(&ada()).unwrap();
        assert_eq!(printer.finish().unwrap(), 1);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn entries_have_four_forms() {
        assert_eq!(
            printed(false, false, false, &["uid", "cn"]),
            "UID  CN\nada  Ada \"A\", L|a\\u{1b}[1m\n"
        );
        assert_eq!(
            printed(false, true, false, &["dn", "cn", "photo"]),
            "dn,cn,photo\n\"uid=ada,dc=x\",\"Ada \"\"A\"\", L|a\u{1b}[1m\",/wA=\n"
        );
        assert_eq!(
            printed(true, false, false, &[]),
            "{\"dn\":\"uid=ada,dc=x\",\"attributes\":{\"uid\":[\"ada\"],\
             \"cn\":[\"Ada \\\"A\\\", L\",\"a\\u001b[1m\"],\"photo\":[{\"base64\":\"/wA=\"}]}}\n"
        );
        assert_eq!(
            printed(false, false, false, &[]),
            "dn     uid=ada,dc=x\nuid    ada\ncn     Ada \"A\", L\ncn     a\\u{1b}[1m\nphoto  (2 bytes)\n"
        );
        assert!(printed(false, false, true, &[]).contains("photo:: /wA=\n"));
        let none = FormatFlags {
            json: false,
            csv: true,
            ldif: false,
        };
        assert!(Printer::new(Vec::new(), none, &[]).is_err());
    }
}
