//! Checks and chores of the workspace, run as `cargo xtask COMMAND`.
//!
//! `tidy` holds the house to its plan: who may depend on whom, where unsafe code may live, how long a file may be.

#![forbid(unsafe_code)]

mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy    check arrows, unsafe code, file lengths and words";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy::run(),
        Some(other) => {
            eprintln!("xtask: there is no command \"{other}\"\n{USAGE}");
            ExitCode::FAILURE
        }
        None => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
    }
}
