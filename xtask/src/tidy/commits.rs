//! The subjects of commits.

use super::prose;
use crate::checkout;
use std::path::Path;
use std::process::Command;

/// The last commit before the rules of language. Older subjects stay as they are.
const LAST_UNCHECKED: &str = "8849034";

/// Reports subjects that break the rules, of all commits since the rules exist.
///
/// A shallow clone without that commit has nothing to check.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let range = format!("{LAST_UNCHECKED}..HEAD");
    let arguments = ["log", "--no-merges", "--format=%s", &range];
    match checkout::output(Command::new("git").args(arguments).current_dir(root)) {
        Ok(subjects) => {
            let subjects = String::from_utf8_lossy(&subjects);
            subjects.lines().flat_map(prose::subject_faults).collect()
        }
        Err(_) => Vec::new(),
    }
}
