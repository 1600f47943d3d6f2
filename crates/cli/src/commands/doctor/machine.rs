//! The machine: room on the disk, the clock, and the age of backups.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fulgurite_terminal::size::bytes_text;

use super::finding::{Findings, Severity};

/// Percent of a disk that are free, at least: below the first is a warning, below the second a
/// failure.
const FREE_PERCENT: [u64; 2] = [10, 2];

/// Difference of clocks that does no harm.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(60);

/// Seconds from 1970 to 2025. No clock of this program is right before that.
const EARLIEST_S: u64 = 1_735_689_600;

/// Age of the newest backup that needs attention.
const BACKUP_AGE_MAX: Duration = Duration::from_secs(48 * 3600);

/// The ending of the files that `fulgurite env backup` writes.
const BACKUP: &str = "fgb";

pub(super) fn check_disk(directory: &Path, findings: &mut Findings) {
    const CHECK: &str = "disk";
    let shown = directory.display();
    let room = match rustix::fs::statvfs(directory) {
        Ok(room) => room,
        Err(error) => {
            let text = format!("{shown}: {error}");
            let remedy = "fulgurite serve makes the folder; its user needs the right";
            return findings.add(CHECK, Severity::Warning, text, remedy);
        }
    };
    let free = room.f_bavail * room.f_frsize;
    let percent = room.f_bavail * 100 / room.f_blocks.max(1);
    let text = format!("{shown}: {} are free, {percent} %", bytes_text(free));
    let remedy = "make room, or move the data to another disk";
    match FREE_PERCENT {
        [_, least] if percent < least => findings.add(CHECK, Severity::Failure, text, remedy),
        [least, _] if percent < least => findings.add(CHECK, Severity::Warning, text, remedy),
        _ => findings.ok(CHECK, text),
    }
}

/// Compares the clock with the time of the last change of the data.
pub(super) fn check_clock(directory: &Path, findings: &mut Findings) {
    const CHECK: &str = "clock";
    let now = SystemTime::now();
    let changed = fs::metadata(directory.join("data.mdb")).and_then(|file| file.modified());
    let remedy = "set the clock, and let it follow a time server";
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.as_secs());
    if seconds < EARLIEST_S {
        findings.add(CHECK, Severity::Failure, "it is before 2025", remedy);
    } else if changed.is_ok_and(|changed| changed > now + CLOCK_TOLERANCE) {
        let text = "it is before the last change of the data";
        findings.add(CHECK, Severity::Failure, text, remedy);
    } else {
        findings.ok(CHECK, "it is after the last change of the data");
    }
}

pub(super) fn check_backups(folder: Option<&Path>, findings: &mut Findings) {
    const CHECK: &str = "backup";
    let Some(folder) = folder else {
        let text = "no folder of backups was named";
        let remedy =
            "backup.to lets the server make them; or --backups DIR, if fulgurite env backup does";
        return findings.add(CHECK, Severity::Note, text, remedy);
    };
    let files = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let backups = files.filter(|file| file.path().extension().is_some_and(|end| end == BACKUP));
    let times = backups.filter_map(|file| file.metadata().ok()?.modified().ok());
    let remedy = format!("fulgurite env backup DATA --to {}", folder.display());
    let Some(newest) = times.max() else {
        let text = format!("{} has none", folder.display());
        return findings.add(CHECK, Severity::Failure, text, remedy);
    };
    let age = newest.elapsed().unwrap_or_default();
    let text = format!("the newest is {} hours old", age.as_secs() / 3600);
    match age > BACKUP_AGE_MAX {
        true => findings.add(CHECK, Severity::Warning, text, remedy),
        false => findings.ok(CHECK, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_and_clock_are_judged_by_the_times_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let judged = |check: fn(&Path, &mut Findings)| {
            let mut findings = Findings::default();
            check(folder.path(), &mut findings);
            findings.worst()
        };
        let backups = |path: &Path, findings: &mut Findings| check_backups(Some(path), findings);
        assert_eq!(judged(backups), Severity::Failure);
        let file = fs::File::create(folder.path().join("1.fgb")).unwrap();
        assert_eq!(judged(backups), Severity::Ok);
        let old = SystemTime::now() - 2 * BACKUP_AGE_MAX;
        file.set_modified(old).unwrap();
        assert_eq!(judged(backups), Severity::Warning);
        let data = fs::File::create(folder.path().join("data.mdb")).unwrap();
        assert_eq!(judged(check_clock), Severity::Ok);
        data.set_modified(SystemTime::now() + 2 * CLOCK_TOLERANCE)
            .unwrap();
        assert_eq!(judged(check_clock), Severity::Failure);
    }
}
