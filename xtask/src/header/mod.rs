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
    ("api/version", "Version"),
    ("api/env", "Environments: create, open, close"),
    ("api/settings", "Environments: settings"),
    ("api/stat", "Environments: statistics, flushing, copies"),
    ("api/reader", "Environments: readers"),
    ("api/txn", "Transactions"),
    ("api/dbi", "Databases"),
    ("api/compare", "Comparison functions"),
    ("api/get_put", "Items by key"),
    ("api/cursor", "Cursors"),
    ("api/cursor_get", "Cursors: moving"),
    ("api/cursor_put", "Cursors: changing"),
    (
        "api/extra",
        "Functions that LMDB does not have: in libfulgurite (-lfulgurite), with all above",
    ),
    (
        "api/long_readers",
        "Functions that LMDB does not have, in libfulgurite: long readers",
    ),
];

/// Path of the header, from the root.
const HEADER: &str = "crates/lmdb/include/lmdb.h";

/// Writes the header; with `check` only fails if it is stale.
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

/// Returns the header's text.
fn generate(root: &Path) -> Result<String, String> {
    let mut sections: Vec<(&str, Vec<Item>)> = Vec::new();
    for (name, title) in SOURCES {
        let path = root.join(format!("crates/lmdb/src/{name}.rs"));
        let at_path = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| at_path(&error))?;
        let items = source::items(&text).map_err(|error| at_path(&error))?;
        sections.push((title, items));
    }
    Ok(c::header(&sections))
}
