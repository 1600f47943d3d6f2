//! `cargo xtask tidy`: the rules of the house that the compiler does not check.

mod arrows;
mod sources;

use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs every check over the workspace and prints each fault on a line of its own.
pub(crate) fn run() -> ExitCode {
    let root = crate::workspace_root();
    let mut faults = match metadata(&root) {
        Ok(metadata) => arrows::faults(&metadata),
        Err(reason) => vec![reason],
    };
    faults.extend(crate::header::fault(&root));
    match tracked_files(&root) {
        Ok(files) => {
            for file in &files {
                match std::fs::read(root.join(file)) {
                    Ok(bytes) => faults.extend(sources::faults(file, &bytes)),
                    Err(error) => faults.push(format!("{file}: {error}")),
                }
            }
            println!("tidy: {} files, {} faults", files.len(), faults.len());
        }
        Err(reason) => faults.push(reason),
    }
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn metadata(root: &Path) -> Result<serde_json::Value, String> {
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--no-deps",
        "--offline",
    ];
    let text = output(
        Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(root),
    )?;
    serde_json::from_slice(&text).map_err(|error| format!("cargo metadata is not JSON: {error}"))
}

/// Files under version control, or about to be: what git neither ignores nor has forgotten.
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

fn output(command: &mut Command) -> Result<Vec<u8>, String> {
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
