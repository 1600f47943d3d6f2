//! Failures, in the words of the original's tools.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use fulgurite::{Error, OpenError, code_text};

/// Why a tool ends with exit status 1.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Wrong usage, perhaps with a message before the usage line.
    Usage(Option<Vec<u8>>),
    /// A step failed. It has the name of the function in LMDB's interface.
    Step(&'static str, i32),
    /// A message to print after the program's name.
    Message(Vec<u8>),
}

impl Failure {
    /// Makes a message to print after the program's name.
    pub(crate) fn message(text: impl Into<Vec<u8>>) -> Failure {
        Failure::Message(text.into())
    }

    /// Prints the failure on standard error.
    pub(crate) fn report(&self, program: &OsStr, usage: &str) {
        let program = program.as_encoded_bytes();
        let mut text = Vec::new();
        match self {
            Failure::Usage(complaint) => {
                if let Some(complaint) = complaint {
                    text.extend([program, b": ", complaint, b"\n"].concat());
                }
                text.extend([b"usage: ", program, b" ", usage.as_bytes()].concat());
            }
            Failure::Step(function, code) => {
                let text_of_step = format!("{function} failed, error {code} {}", explain(*code));
                text.extend(text_of_step.into_bytes());
            }
            Failure::Message(message) => text.extend([program, b": ", message].concat()),
        }
        text.push(b'\n');
        // A failed write to standard error cannot be reported anywhere.
        let _ = io::stderr().write_all(&text);
    }
}

/// Turns an engine's error into the failure of a step.
pub(crate) fn step(function: &'static str) -> impl Fn(Error) -> Failure {
    move |error| Failure::Step(function, error.code())
}

/// As [`step`], for opening.
pub(crate) fn opening(error: &OpenError) -> Failure {
    Failure::Step("mdb_env_open", error.code())
}

/// Makes the failure to open a file in place of standard input or output.
pub(crate) fn reopening(file: &OsStr, error: &io::Error) -> Failure {
    let why = system_text(error);
    Failure::message([file.as_bytes(), b": reopen: ", why.as_bytes()].concat())
}

/// Returns the text of a result code.
pub(crate) fn explain(code: i32) -> String {
    match code_text(code) {
        Some(text) => text.to_string_lossy().into_owned(),
        None => system_text(&io::Error::from_raw_os_error(code)),
    }
}

/// Returns the system's text of an error, without the number that Rust adds.
pub(crate) fn system_text(error: &io::Error) -> String {
    let mut text = error.to_string();
    if error.raw_os_error().is_some()
        && let Some(number) = text.rfind(" (os error ")
    {
        text.truncate(number);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_c_library() {
        assert_eq!(explain(2), "No such file or directory");
        assert_eq!(
            explain(-30798),
            "MDB_NOTFOUND: No matching key/data pair found"
        );
        assert_eq!(explain(-1), "Invalid error code");
    }
}
