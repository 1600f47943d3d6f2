//! `cargo xtask tidy`: the rules of the house that the compiler does not check.

mod arrows;
mod commits;
mod dependencies;
mod names;
mod prose;
mod ratchet;
mod rooms;
mod sources;

pub(crate) use prose::{faults as prose_faults, sentence_count};

use crate::checkout::{dependency_metadata, metadata, tracked_texts};
use ratchet::Ratchet;
use std::path::Path;
use std::process::ExitCode;

/// Runs every check over the workspace and prints each fault on its own line.
pub(crate) fn run(root: &Path) -> ExitCode {
    let faults = match check(root) {
        Ok(faults) => faults,
        Err(reason) => vec![reason],
    };
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the breaches of the language rules in files whose path starts with `prefix`.
pub(crate) fn run_prose(root: &Path, prefix: &str) -> ExitCode {
    let texts = match tracked_texts(root) {
        Ok(texts) => texts,
        Err(reason) => {
            eprintln!("tidy: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let texts = texts.iter().filter(|(name, _)| name.starts_with(prefix));
    let faults: Vec<String> = texts
        .flat_map(|(name, text)| prose::faults(name, text))
        .collect();
    for fault in &faults {
        println!("{fault}");
    }
    eprintln!("tidy: {} breaches of the language rules", faults.len());
    ExitCode::SUCCESS
}

fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut faults = arrows::faults(&metadata(root)?);
    let read = |name: &str| {
        std::fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let dependencies = dependency_metadata(root)?;
    faults.extend(dependencies::faults(
        &read("deny.toml")?,
        &read("Cargo.lock")?,
        &dependencies,
    ));
    faults.extend(crate::header::fault(root));
    faults.extend(commits::faults(root));
    let texts = tracked_texts(root)?;
    let mut ratchet = match std::fs::read_to_string(root.join(ratchet::FILE)) {
        Ok(text) => Ratchet::read(&text)?,
        Err(_) => Ratchet::default(),
    };
    let mut rust = Vec::new();
    for (name, text) in &texts {
        faults.extend(sources::faults(name, text.as_bytes()));
        faults.extend(ratchet.judge_prose(name, prose::faults(name, text)));
        if name.ends_with(".rs") {
            match syn::parse_file(text) {
                Ok(file) => faults.extend(names::faults(name, &file)),
                Err(error) => faults.push(format!("{name}: {error}")),
            }
            rust.push((name.clone(), text.clone()));
        }
    }
    for file in ratchet.prose.keys() {
        faults.push(format!(
            "{}: there is no file {file}: remove its row",
            ratchet::FILE
        ));
    }
    faults.extend(rooms::faults(&rust, &ratchet.pairs));
    println!("tidy: {} files, {} faults", texts.len(), faults.len());
    Ok(faults)
}
