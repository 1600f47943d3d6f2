//! `mdb_copy`: copies an environment to a directory or to standard output, while other processes
//! use it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fulgurite::{Environment, Error};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::command::{self, Call, print_version};
use crate::failure::{Failure, explain, system_text};

const USAGE: &str = "[-V] [-c] [-n] srcpath [dstpath]";

/// The system's number for a cancelled operation.
const CANCELLED: i32 = 125;

/// Copies an environment.
#[must_use]
pub fn main() -> ExitCode {
    command::run(USAGE, copy)
}

fn copy(call: Call) -> Result<(), Failure> {
    let (mut compact, mut no_subdir) = (false, false);
    let mut words = call.words.into_iter().peekable();
    // Here each option is a separate word, and all come before the paths.
    while let Some(option) = words.next_if(|word| word.as_encoded_bytes().starts_with(b"-")) {
        match option.as_encoded_bytes() {
            b"-V" => return print_version(),
            b"-c" => compact = true,
            b"-n" => no_subdir = true,
            _ => return Err(Failure::Usage(None)),
        }
    }
    let paths: Vec<OsString> = words.collect();
    let (from, to) = match paths.as_slice() {
        [from] => (from, None),
        [from, to] => (from, Some(Path::new(to))),
        _ => return Err(Failure::Usage(None)),
    };
    let environment = Environment::options()
        .no_subdir(no_subdir)
        .read_only(true)
        .open(Path::new(from))
        .map_err(|error| failed("opening environment", error.code()))?;
    let stop = watch_signals().map_err(|error| {
        let why = system_text(&error);
        Failure::message(format!("watching for signals failed: {why}"))
    })?;
    let copied = match to {
        Some(to) => to_path(&environment, to, no_subdir, compact, stop),
        None => to_output(&environment, compact, stop),
    };
    copied.map_err(|error| failed("copying", error.code()))
}

fn failed(what: &str, code: i32) -> Failure {
    Failure::message(format!("{what} failed, error {code} ({})", explain(code)))
}

fn to_path(
    environment: &Environment,
    to: &Path,
    no_subdir: bool,
    compact: bool,
    stop: Arc<AtomicBool>,
) -> Result<(), Error> {
    let to = if no_subdir {
        to.to_owned()
    } else {
        to.join("data.mdb")
    };
    environment.copy_to_file(&to, compact, &mut |_| check_signal(&stop))
}

fn to_output(environment: &Environment, compact: bool, stop: Arc<AtomicBool>) -> Result<(), Error> {
    let output = io::stdout().as_fd().try_clone_to_owned();
    let output = output.map_err(|source| Error::Io {
        doing: "writing the copy",
        source,
    })?;
    let mut copy = InterruptibleFile {
        to: File::from(output),
        stop,
    };
    environment.copy_to(&mut copy, compact)
}

/// Fails once a signal has arrived.
fn check_signal(stop: &AtomicBool) -> io::Result<()> {
    if stop.load(Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(CANCELLED));
    }
    Ok(())
}

/// A file whose writes fail once a signal has arrived.
struct InterruptibleFile {
    to: File,
    stop: Arc<AtomicBool>,
}

impl Write for InterruptibleFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_signal(&self.stop)?;
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Turns signals into a write error, so that the copy removes its incomplete file. A second signal
/// ends the program at once. A pipe without a reader is a write error in any case.
fn watch_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
