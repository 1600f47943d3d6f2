//! The backups that the server makes by itself: the newest is young, the last attempt succeeded.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fulgurite_config::Settings;
use fulgurite_server::{last_failure, list_backups};
use fulgurite_terminal::size::bytes_text;

use super::finding::{Findings, Severity};

const CHECK: &str = "backup";

/// Checks the backups of the settings. Returns false if the settings ask for none.
pub(super) fn check(settings: &Settings, findings: &mut Findings) -> bool {
    let global = &settings.global;
    let Some(directory) = &global.backup_to.value else {
        return false;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_s = now.map_or(0, |now| now.as_secs());
    check_directory(
        directory,
        global.backup_every.value.0.into(),
        now_s,
        findings,
    );
    true
}

fn check_directory(directory: &Path, every_s: u64, now_s: u64, findings: &mut Findings) {
    let shown = directory.display();
    if let Some(failure) = last_failure(directory) {
        let text = format!("the last attempt failed: {failure}");
        let remedy = "the server tries again; fulgurite backup now does at once";
        findings.add(CHECK, Severity::Failure, text, remedy);
    }
    let backups = match list_backups(directory) {
        Ok(backups) => backups,
        Err(error) => {
            let remedy = "the server makes the directory, if its user has the right; ask as root";
            return findings.add(CHECK, Severity::Warning, error.to_string(), remedy);
        }
    };
    let Some(newest) = backups.last() else {
        let text = format!("{shown} has none yet");
        let remedy = "the running server makes one at once; its log has the reason if not";
        return findings.add(CHECK, Severity::Warning, text, remedy);
    };
    let age_s = now_s.saturating_sub(newest.time_s);
    let text = format!(
        "the newest of {} is {} hours old, {}",
        backups.len(),
        age_s / 3600,
        bytes_text(newest.manifest.bytes())
    );
    match age_s > 2 * every_s {
        true => {
            let remedy = "is the server running? Its log has the reason if a backup failed";
            findings.add(CHECK, Severity::Warning, text, remedy);
        }
        false => findings.ok(CHECK, text),
    }
}

#[cfg(test)]
mod tests {
    use fulgurite_server::write_backup;

    use super::*;

    #[test]
    fn a_young_backup_without_a_failure_is_well() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        let judged = |now_s| {
            let mut findings = Findings::default();
            check_directory(&to, 3600, now_s, &mut findings);
            (findings.worst(), findings.text())
        };
        assert_eq!(judged(1_000_000).0, Severity::Warning);
        write_backup(&to, &[], 1_000_000, &mut || Ok(())).unwrap();
        assert_eq!(judged(1_007_200).0, Severity::Ok);
        assert_eq!(judged(1_007_201).0, Severity::Warning);
        std::fs::write(to.join("last-failure"), "19700112134640Z full\n").unwrap();
        let (worst, text) = judged(1_000_000);
        assert_eq!(worst, Severity::Failure);
        assert!(text.contains("failed: 19700112134640Z full"), "{text}");
    }
}
