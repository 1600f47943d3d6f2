//! `fulgurite cluster`: a cluster on etcd, made, changed and looked at.

mod connect;
pub(crate) mod copy;
mod files;
mod init;
mod join;
mod leave;
mod renew;
mod report;
mod status;
mod token;

use std::process::ExitCode;

use crate::arguments::cluster::{Cluster, ClusterAction};
use crate::commands::one_line;

/// The exit status of a command that could not do its work.
const FAILED: u8 = 2;

pub(crate) fn run(command: Cluster) -> ExitCode {
    let done = match command.action {
        ClusterAction::Init(command) => init::run(&command),
        ClusterAction::Token(command) => token::run(&command),
        ClusterAction::Join(command) => join::run(&command),
        ClusterAction::Renew(command) => renew::run(&command),
        ClusterAction::Leave(command) => leave::leave(&command),
        ClusterAction::Forget(command) => leave::forget(&command),
        ClusterAction::Status(command) => status::run(&command),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fulgurite: {}", one_line(&error));
            ExitCode::from(FAILED)
        }
    }
}
