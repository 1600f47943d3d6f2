//! The start and end of all tools.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use fulgurite::{Database, Environment, Error, OpenOptions, ReadTxn, Snapshot};
use fulgurite_terminal::getopt::{Getopt, OptionError};

use crate::failure::{Failure, opening, system_text};

/// The line that `-V` prints.
const VERSION: &str = concat!("LMDB 0.9.36: (Fulgurite ", env!("CARGO_PKG_VERSION"), ")");

/// The command line of a tool.
pub(crate) struct Call {
    /// The name the tool was called by.
    pub(crate) program: OsString,
    pub(crate) words: Vec<OsString>,
}

/// Runs a tool: reports its failure, and exits with 0 or 1.
pub(crate) fn run(usage: &str, tool: impl FnOnce(Call) -> Result<(), Failure>) -> ExitCode {
    let (program, words) = command_line();
    let call = Call {
        program: program.clone(),
        words,
    };
    match tool(call) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(&program, usage);
            ExitCode::FAILURE
        }
    }
}

/// Returns the name the program was called by, and the words after it.
fn command_line() -> (OsString, Vec<OsString>) {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_else(|| OsStr::new("mdb").to_owned());
    (program, words.collect())
}

/// Turns an option that getopt(3) refuses into a failure.
pub(crate) fn bad_option(error: OptionError) -> Failure {
    Failure::Usage(Some(error.message()))
}

/// Returns the one operand that most tools take.
pub(crate) fn one_operand(options: Getopt) -> Result<OsString, Failure> {
    let [operand] =
        <[OsString; 1]>::try_from(options.into_operands()).map_err(|_| Failure::Usage(None))?;
    Ok(operand)
}

/// Prints the version, for `-V`.
pub(crate) fn print_version() -> Result<(), Failure> {
    writeln!(io::stdout(), "{VERSION}").map_err(|error| Failure::message(system_text(&error)))
}

/// Opens an environment for reading.
pub(crate) fn open_to_read(path: &OsStr, options: OpenOptions) -> Result<Environment, Failure> {
    let options = options.read_only(true).databases_max(usize::MAX);
    options
        .open(Path::new(path))
        .map_err(|error| opening(&error))
}

/// Opens the named database of a key of the main one, if the key is its name.
pub(crate) fn named(txn: &ReadTxn<'_>, name: &[u8]) -> Result<Option<Database>, Error> {
    if name.contains(&0) {
        return Ok(None);
    }
    match txn.open_named(name) {
        Ok(database) => Ok(Some(database)),
        Err(Error::NoDatabase(_) | Error::WrongKind(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the output: a file, or standard output.
pub(crate) fn output(file: Option<File>) -> Box<dyn Write> {
    match file {
        Some(file) => Box::new(BufWriter::new(file)),
        None => Box::new(BufWriter::new(io::stdout())),
    }
}

/// Makes the failure of a write.
pub(crate) fn writing(error: io::Error) -> Failure {
    Failure::message(system_text(&error))
}
