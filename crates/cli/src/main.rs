//! The `fulgurite` program: an LDAP directory server and its tools, one sub-command each.
//!
//! ```text
//!   arguments -> flags::Layer --\
//!   --config FILE ---------------+--> Settings --> commands::{load, serve, export, generate}
//!   FULGURITE_... --------------/
//! ```
//!
//! An error is one sentence on standard error. The exit status is 2 for an error on the command
//! line, 1 for all others. The statuses of `check` are in its help.

#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod detach;
#[cfg(test)]
mod documents;
mod flags;
mod json_text;
mod lock;
mod logging;
mod passwords;
mod privileges;
mod remote;
mod rights;
mod slap;
mod slapd_places;

use std::process::ExitCode;

use rustix::fs::Mode;

use arguments::{Arguments, Command};

/// Requests and entries are made by one thread and freed by another. With the C library's allocator
/// this costs a fifth of a writer's time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Stores, copies, backups and logs hold passwords, so only the owner reads them.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let command_line: Vec<_> = std::env::args_os().collect();
    if let Some(invocation) = slap::Invocation::of(&command_line) {
        return invocation.run();
    }
    let arguments = match Arguments::of_process() {
        Ok(arguments) => arguments,
        Err(error) => return arguments::explain(&error),
    };
    let result = match arguments.command {
        Command::Setup(command) => return commands::setup::run(*command),
        Command::Doctor(command) => return commands::doctor::run(command),
        Command::Load(command) => commands::load::run(command),
        Command::Serve(command) => commands::serve::run(command),
        Command::Export(command) => commands::export::run(command),
        Command::Generate(command) => commands::generate::run(command),
        Command::Env(command) => commands::env::run(command),
        Command::Backup(command) => commands::backup::run(command),
        Command::Restore(command) => commands::backup::restore(command),
        // Its exit status is the result of the check.
        Command::Check(command) => return commands::check::run(command),
        // So is this one.
        Command::Replication(command) => return commands::replication::run(command),
        Command::Cluster(command) => return commands::cluster::run(command),
        // And this one.
        Command::Status(command) => return commands::status::run(&command),
        Command::Top(command) => return commands::top::run(command),
        // So are theirs.
        Command::User(command) => return commands::user::run(command),
        Command::Group(command) => return commands::group::run(command),
        Command::Ou(command) => return commands::ou::run(command),
        Command::Search(command) => return commands::search::run(command),
        Command::Apply(command) => return commands::apply::run(command),
        Command::Index(command) => commands::index::run(command),
        Command::Log(command) => commands::log::run(command),
        Command::Modify(command) => commands::modify::run(command),
        Command::Passwd(command) => commands::passwd::run(command),
        Command::CheckConfig(command) => commands::config::check(command),
        Command::Config(command) => commands::config::run(command),
        Command::Dn(command) => commands::dn::run(command),
        Command::Auth(command) => commands::auth::run(command),
        Command::Access(command) => commands::access::run(command),
        Command::SchemaCheck(command) => commands::schema_check::run(command),
        Command::Explain(command) => commands::explain::run(command),
        Command::Import(command) => commands::import::run(command),
        Command::Memcached(command) => commands::memcached::run(*command),
        Command::Dbload(command) => commands::dbload::run(command),
        Command::Migrate(command) => commands::migrate::run(command),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fulgurite: {}", commands::one_line(&error));
            ExitCode::FAILURE
        }
    }
}
