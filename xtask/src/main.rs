//! Checks and chores of the workspace, run as `cargo xtask COMMAND`.
//!
//! `tidy` holds the house to its plan: who may depend on whom, where unsafe code may live, how long a file may be.
//! `header` writes the C header from the Rust definitions.

#![forbid(unsafe_code)]

mod header;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo xtask tidy              check arrows, unsafe code, file lengths, words, lmdb.h
       cargo xtask header [--check] write lmdb.h, or only look whether it is up to date";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["tidy"] => tidy::run(),
        ["header"] => header::run(&workspace_root(), false),
        ["header", "--check"] => header::run(&workspace_root(), true),
        [] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        other => {
            eprintln!(
                "xtask: there is no command \"{}\"\n{USAGE}",
                other.join(" ")
            );
            ExitCode::FAILURE
        }
    }
}

fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
