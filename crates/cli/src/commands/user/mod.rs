//! `fulgurite user`.

mod add;
mod delete;
mod lock;
mod password;
mod show;

use std::process::ExitCode;

use super::exit_code;
use crate::arguments::people::{User, UserAction};

pub(crate) fn run(command: User) -> ExitCode {
    exit_code(match command.action {
        UserAction::Add(command) => add::run(&command),
        UserAction::Show(command) => show::show(&command),
        UserAction::List(command) => show::list(&command),
        UserAction::Passwd(command) => password::run(&command),
        UserAction::Lock(command) => lock::lock(&command),
        UserAction::Unlock(command) => lock::unlock(&command),
        UserAction::Delete(command) => delete::run(&command),
    })
}
