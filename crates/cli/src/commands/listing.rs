//! Lists of entries, written page by page.

use std::io;

use fulgurite_client::Client;

use super::unless_pipe_closed;
use crate::arguments::server::FormatFlags;
use crate::remote::answer::MissingEntry;
use crate::remote::entries::each_below;
use crate::remote::printer::Printer;

/// Writes the entries below a base that match a filter. A column `dn` has their names.
pub(super) fn write_list(
    client: &mut Client,
    (base, filter): (&str, &str),
    columns: &[&str],
    format: FormatFlags,
) -> anyhow::Result<()> {
    unless_pipe_closed(list(client, (base, filter), columns, format))
}

fn list(
    client: &mut Client,
    (base, filter): (&str, &str),
    columns: &[&str],
    format: FormatFlags,
) -> anyhow::Result<()> {
    let mut printer = Printer::new(io::stdout().lock(), format, columns)?;
    let mut attributes = columns.to_vec();
    attributes.retain(|name| *name != "dn");
    let is_there = each_below(client, base, filter, &attributes, &mut |entry| {
        Ok(printer.entry(&entry)?)
    })?;
    printer.finish()?;
    match is_there {
        true => Ok(()),
        false => {
            Err(MissingEntry(format!("{base} is not there, or hidden from this identity")).into())
        }
    }
}
