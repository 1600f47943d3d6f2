//! `cargo xtask header`: writes `lmdb.h` from the Rust definitions of the C interface.

mod c;
mod source;

use std::path::Path;
use std::process::ExitCode;

use source::Item;

/// The sources of the interface, in the order of the header, each with the title of its section.
const SOURCES: [(&str, &str); 16] = [
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
    ("extra", "Beyond the original"),
    ("long_readers", "Beyond the original: long readers"),
];

/// Where the header is, from the root.
const HEADER: &str = "crates/lmdb/include/lmdb.h";

/// Writes the header; or with `check` only looks whether it is what would be written.
pub(crate) fn run(root: &Path, check: bool) -> ExitCode {
    let result = if check {
        fault(root).map_or(Ok(()), Err)
    } else {
        generate(root).and_then(|text| {
            std::fs::write(root.join(HEADER), text).map_err(|error| format!("{HEADER}: {error}"))
        })
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("header: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the fault of a header that is missing or out of date.
pub(crate) fn fault(root: &Path) -> Option<String> {
    let text = match generate(root) {
        Ok(text) => text,
        Err(reason) => return Some(reason),
    };
    match std::fs::read_to_string(root.join(HEADER)) {
        Ok(present) if present == text => None,
        Ok(_) => Some(format!("{HEADER} is stale: run cargo xtask header")),
        Err(error) => Some(format!("{HEADER}: {error}")),
    }
}

/// The header's text.
fn generate(root: &Path) -> Result<String, String> {
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
