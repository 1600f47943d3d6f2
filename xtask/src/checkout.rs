//! The files of a checkout, and what cargo and git answer about it.

use std::path::Path;
use std::process::Command;

/// Returns all tracked files that hold UTF-8 text, with their text.
pub(crate) fn tracked_texts(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut texts = Vec::new();
    for name in tracked_files(root)? {
        let bytes = std::fs::read(root.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            texts.push((name, text));
        }
    }
    Ok(texts)
}

/// Returns the answer of `cargo metadata` about the members of the workspace at `root`.
///
/// # Errors
/// Returns cargo's message.
pub(crate) fn metadata(root: &Path) -> Result<serde_json::Value, String> {
    ask_cargo(root, &["--no-deps", "--offline"])
}

/// Returns the answer of `cargo metadata` with all dependencies on Linux.
///
/// # Errors
/// Returns cargo's message.
pub(crate) fn dependency_metadata(root: &Path) -> Result<serde_json::Value, String> {
    ask_cargo(root, &["--filter-platform", "x86_64-unknown-linux-gnu"])
}

fn ask_cargo(root: &Path, options: &[&str]) -> Result<serde_json::Value, String> {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(["metadata", "--format-version", "1"])
        .args(options);
    let text = output(command.current_dir(root))?;
    serde_json::from_slice(&text).map_err(|error| format!("cargo metadata is not JSON: {error}"))
}

/// Lists the files that git tracks or would track: all that it does not ignore.
fn tracked_files(root: &Path) -> Result<Vec<String>, String> {
    let arguments = [
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ];
    let bytes = output(Command::new("git").args(arguments).current_dir(root))?;
    let names = String::from_utf8(bytes).map_err(|_| "a file's name is not UTF-8".to_owned())?;
    let exists = |name: &&str| !name.is_empty() && root.join(name).is_file();
    Ok(names
        .split('\0')
        .filter(exists)
        .map(str::to_owned)
        .collect())
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// Returns the standard error of a command that fails.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!(
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
