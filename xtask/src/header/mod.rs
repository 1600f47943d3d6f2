//! `cargo xtask header`: writes `lmdb.h` from the Rust definitions of the C interface, so that the two cannot differ.

mod c;
mod source;

use std::path::Path;
use std::process::ExitCode;

use source::Item;

/// The sources of the interface, in the order of the header, each with the title of its section.
const SOURCES: [(&str, &str); 14] = [
    ("types", "Types and flags"),
    ("codes", "Result codes"),
    ("version", "Version"),
    ("env", "The environment: made, opened, closed"),
    ("settings", "The environment: settings"),
    ("facts", "The environment: facts, flushing, copies"),
    ("reader", "The environment: its readers"),
    ("txn", "Transactions"),
    ("dbi", "Databases"),
    ("compare", "Orders"),
    ("items", "Items by key"),
    ("cursor", "Cursors"),
    ("moves", "Cursors: moving"),
    ("changes", "Cursors: changing"),
];

/// Where the header is, from the root.
const HEADER: &str = "crates/lmdb/include/lmdb.h";

/// Writes the header; or with `check` only looks whether it is what would be written.
pub(crate) fn run(root: &Path, check: bool) -> ExitCode {
    let result = generate(root).and_then(|text| {
        let path = root.join(HEADER);
        if !check {
            return std::fs::write(&path, text).map_err(|error| format!("{HEADER}: {error}"));
        }
        match std::fs::read_to_string(&path) {
            Ok(present) if present == text => Ok(()),
            Ok(_) => Err(format!("{HEADER} is stale: run cargo xtask header")),
            Err(error) => Err(format!("{HEADER}: {error}")),
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("header: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// The header's text.
pub(crate) fn generate(root: &Path) -> Result<String, String> {
    let mut sections: Vec<(&str, Vec<Item>)> = Vec::new();
    for (name, title) in SOURCES {
        let path = root.join(format!("crates/lmdb/src/{name}.rs"));
        let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| told(&error))?;
        let items = source::items(&text).map_err(|error| told(&error))?;
        sections.push((title, items));
    }
    Ok(c::header(&sections))
}
