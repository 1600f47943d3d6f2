//! Conformance tests: the `fulgurite` program from outside, next to OpenLDAP's slapd.
//!
//! This library builds the program, starts it and stops it. `program` calls its commands,
//! `scenarios` plays an administrator's work. `peers` and `differential` put the same requests to
//! slapd and compare the answers.

#![forbid(unsafe_code)]

mod port;
mod program;
mod server;
mod store;

pub use port::HeldPort;
pub use program::{fulgurite, program};
pub use server::RunningServer;
pub use store::LoadedStore;

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

/// The suffix of the stores that tests load.
pub const SUFFIX: &str = "dc=example,dc=com";
/// The root identity.
pub const ROOT: &str = "cn=admin,dc=example,dc=com";
/// The password of the root identity.
pub const PASSWORD: &str = "secret";

/// The longest time that a test waits for the program.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the program to its end.
///
/// # Panics
/// If the program cannot be started.
#[must_use]
pub fn run(arguments: &[&str]) -> Output {
    fulgurite()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("run the program")
}

/// Returns the exit code and the message of a program that failed with one line.
///
/// # Panics
/// If the program printed several lines or died of a signal.
#[must_use]
pub fn failure(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stderr.clone()).expect("messages are text");
    assert_eq!(text.lines().count(), 1, "not one line: {text:?}");
    (
        output.status.code().expect("an exit, not a signal"),
        text.trim_end().to_owned(),
    )
}

/// Returns a path as text for an argument list. The text is never freed.
///
/// # Panics
/// If the path is not UTF-8.
#[must_use]
pub fn path(path: &Path) -> &'static str {
    Box::leak(
        path.to_str()
            .expect("a path in UTF-8")
            .to_owned()
            .into_boxed_str(),
    )
}
