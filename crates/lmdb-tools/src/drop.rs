//! `mdb_drop`: empties or removes a database.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;

use fulgurite::{Environment, Snapshot};
use fulgurite_terminal::getopt::Getopt;

use crate::command::{self, Call, bad_option, one_operand, print_version};
use crate::failure::{Failure, opening, step};

const USAGE: &str = "[-V] [-n] [-L] [-d] [-s subdb] dbpath";

/// Empties or removes a database.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, drop)
}

fn drop(call: Call) -> Result<(), Failure> {
    let mut options = Getopt::new(call.words, "Vdns:L");
    let (mut remove, mut no_subdir, mut no_lock) = (false, false, false);
    let mut name: Option<OsString> = None;
    while let Some(option) = options.next_option().map_err(bad_option)? {
        match option.letter {
            'V' => return print_version(),
            'd' => remove = true,
            'n' => no_subdir = true,
            'L' => no_lock = true,
            's' => name = Some(option.value),
            _ => return Err(Failure::Usage(None)),
        }
    }
    let path = one_operand(options)?;
    let environment = Environment::options()
        .no_subdir(no_subdir)
        .no_lock(no_lock)
        .open(Path::new(&path))
        .map_err(|error| opening(&error))?;
    let mut txn = environment.write().map_err(step("mdb_txn_begin"))?;
    let database = match &name {
        Some(name) => txn.open_named(name.as_bytes()),
        None => txn.open_database(None),
    };
    let database = database.map_err(step("mdb_open"))?;
    let dropped = if remove && name.is_some() {
        txn.drop_database(database)
    } else {
        txn.clear_database(database)
    };
    dropped.map_err(step("mdb_drop"))?;
    txn.commit().map_err(step("mdb_txn_commit"))
}
