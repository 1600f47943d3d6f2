//! `fulgurite cluster`: a cluster on etcd, prepared and looked at.

mod connect;
mod init;
mod report;
mod status;

use std::process::ExitCode;

use crate::arguments::cluster::{Cluster, ClusterAction};
use crate::commands::one_line;

/// The exit status of a command that could not do its work.
const FAILED: u8 = 2;

pub(crate) fn run(command: Cluster) -> ExitCode {
    let done = match command.action {
        ClusterAction::Init(command) => init::run(&command),
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
