//! Background mode: the program starts itself again without a terminal. The first process waits
//! until the second one serves or fails.
//!
//! The program does not fork during a run, because the processes would share open files and locks.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

/// The environment variable that marks the background process.
const MARK: &str = "FULGURITE_IN_BACKGROUND";
/// The message of the background process once it serves.
const READY: u8 = b'+';

/// Returns true in the background process.
pub(crate) fn is_in_background() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Starts this program again in the background, and waits for its message.
///
/// # Errors
/// The program fails to start.
pub(crate) fn go_into_background(command_line: &[OsString]) -> io::Result<ExitCode> {
    let (program, arguments) = command_line.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg0(program)
        .args(arguments)
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut word = [0];
    let heard = child.stdout.take().map(|mut pipe| pipe.read(&mut word));
    if matches!(heard, Some(Ok(1))) && word == [READY] {
        return Ok(ExitCode::SUCCESS);
    }
    let status = child.wait()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code
        .filter(|code| *code > 0)
        .map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Leaves the session of the terminal.
///
/// # Errors
/// Errors of the system.
pub(crate) fn leave_terminal() -> io::Result<()> {
    Ok(rustix::process::setsid().map(|_| ())?)
}

/// Reports to the waiting process that this one serves, and closes the terminal.
///
/// # Errors
/// Errors of the system.
pub(crate) fn report_ready() -> io::Result<()> {
    let mut output = io::stdout().lock();
    // The waiting process may have ended.
    let _ = output.write_all(&[READY]).and_then(|()| output.flush());
    drop(output);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(rustix::stdio::dup2_stderr(&nothing)?)
}
