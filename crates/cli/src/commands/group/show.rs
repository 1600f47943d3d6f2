//! `fulgurite group show` and `fulgurite group list`.

use std::io;

use crate::arguments::people::{List, Show};
use crate::commands::listing::write_list;
use crate::remote::begin::begin;
use crate::remote::kinds::GROUP;
use crate::remote::printer::Printer;
use fulgurite_client::names::filter_value;

/// The columns of the list.
const COLUMNS: [&str; 4] = ["cn", "gidNumber", "description", "dn"];

pub(super) fn show(command: &Show) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let group = GROUP.get(&mut client, (&suffix, &command.name), &["*"])?;
    let names = group.attributes.iter().map(|(name, _)| name.as_str());
    let names: Vec<&str> = ["dn"].into_iter().chain(names).collect();
    let columns = if command.format.csv {
        names.as_slice()
    } else {
        &[]
    };
    let mut printer = Printer::new(io::stdout().lock(), command.format, columns)?;
    printer.entry(&group)?;
    printer.finish()?;
    Ok(())
}

pub(super) fn list(command: &List) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let filter = match &command.text {
        None => GROUP.filter.to_owned(),
        Some(text) => format!("(&{}(cn=*{}*))", GROUP.filter, filter_value(text)),
    };
    write_list(&mut client, (&suffix, &filter), &COLUMNS, command.format)
}
