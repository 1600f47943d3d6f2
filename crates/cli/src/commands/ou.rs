//! `fulgurite ou`.

use std::process::ExitCode;

use super::exit_code;
use super::listing::write_list;
use crate::arguments::people::{List, Named, Ou, OuAction, OuAdd};
use crate::remote::begin::begin;
use crate::remote::entries::{self, make_suffix, push, require_name, texts};
use crate::remote::kinds::UNIT;
use fulgurite_client::names::{child, filter_value};

/// The columns of the list.
const COLUMNS: [&str; 3] = ["ou", "description", "dn"];

pub(crate) fn run(command: Ou) -> ExitCode {
    exit_code(match command.action {
        OuAction::Add(command) => add(&command),
        OuAction::List(command) => list(&command),
        OuAction::Delete(command) => delete(&command),
    })
}

fn add(command: &OuAdd) -> anyhow::Result<()> {
    require_name(&command.name)?;
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let parent = command.under.as_deref().unwrap_or(&suffix);
    if command.under.is_none() {
        make_suffix(&mut client, &suffix)?;
    }
    let dn = child("ou", &command.name, parent);
    let mut attributes = texts(&[("objectClass", "organizationalUnit"), ("ou", &command.name)]);
    if let Some(text) = &command.description {
        push(&mut attributes, "description", text.as_bytes().to_vec());
    }
    match entries::add(&mut client, &dn, &attributes)? {
        true => eprintln!("{} is made: {dn}", command.name),
        false => eprintln!("{} is there already: {dn}", command.name),
    }
    Ok(())
}

fn list(command: &List) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let filter = match &command.text {
        None => UNIT.filter.to_owned(),
        Some(text) => format!("(&{}(ou=*{}*))", UNIT.filter, filter_value(text)),
    };
    write_list(&mut client, (&suffix, &filter), &COLUMNS, command.format)
}

fn delete(command: &Named) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let unit = UNIT.get(&mut client, (&suffix, &command.name), &["1.1"])?;
    entries::delete(&mut client, &unit.dn)?;
    eprintln!("{} is deleted", unit.dn);
    Ok(())
}
