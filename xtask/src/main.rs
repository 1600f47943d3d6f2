//! Checks and chores of the workspace, run as `cargo xtask COMMAND`.
//!
//! `tidy` checks the plan of the house: arrows, circles, names, language, unsafe code, file
//! lengths. `prose` lists breaches of the language rules, `survey` counts. `header` writes the C
//! header from the Rust sources.

#![forbid(unsafe_code)]

mod checkout;
mod header;
mod rust;
mod survey;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo xtask tidy              check arrows, circles, names, language, unsafe code, lmdb.h
       cargo xtask prose [PREFIX]   list breaches of the language rules, also those still allowed
       cargo xtask survey [ROOT]    print figures of the code: circles, sizes, language, assertions
       cargo xtask header [--check] write lmdb.h, or check that it is up to date";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["tidy"] => tidy::run(&workspace_root()),
        ["prose"] => tidy::run_prose(&workspace_root(), ""),
        ["prose", prefix] => tidy::run_prose(&workspace_root(), prefix),
        ["survey"] => survey::run(&workspace_root()),
        ["survey", root] => survey::run(Path::new(root)),
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
