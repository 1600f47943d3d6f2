//! `fulgurite group`.

mod add;
mod members;
mod show;

use std::process::ExitCode;

use super::exit_code;
use crate::arguments::people::{Group, GroupAction, Named};
use crate::remote::begin::begin;
use crate::remote::entries;
use crate::remote::kinds::GROUP;

pub(crate) fn run(command: Group) -> ExitCode {
    exit_code(match command.action {
        GroupAction::Add(command) => add::run(&command),
        GroupAction::Show(command) => show::show(&command),
        GroupAction::List(command) => show::list(&command),
        GroupAction::Members(command) => members::run(&command),
        GroupAction::Delete(command) => delete(&command),
    })
}

fn delete(command: &Named) -> anyhow::Result<()> {
    let (mut client, suffix) = begin(&command.server, &command.base)?;
    let group = GROUP.get(&mut client, (&suffix, &command.name), &["1.1"])?;
    entries::delete(&mut client, &group.dn)?;
    eprintln!("{} is deleted", group.dn);
    Ok(())
}
