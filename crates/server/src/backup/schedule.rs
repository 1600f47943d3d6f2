//! Backups by the plan of the settings, on a thread of the server.

use std::io;
use std::time::{Duration, Instant};

use super::folder::{
    Backup, BackupError, FUTURE_S, list_backups, record_failure, remove_old_backups,
};
use super::write::{BackupSource, write_backup};
use crate::backup_status::{BackupPlan, BackupStatus, LastBackup};

/// The interval of looks at the clock and the plan.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The interval of looks at the directory, where others may write and remove backups. In seconds.
const LIST_EVERY_S: u64 = 60;

/// The time after which a failed backup is tried again, in seconds.
const RETRY_AFTER_S: u64 = 600;

/// The surroundings of the schedule.
pub(crate) struct Surroundings<'a> {
    /// Returns the databases to copy.
    pub(crate) sources: &'a dyn Fn() -> Vec<BackupSource>,
    /// Returns the seconds since 1970.
    pub(crate) now_s: &'a dyn Fn() -> u64,
    /// Waits. Returns false if the server stops.
    pub(crate) pause: &'a dyn Fn(Duration) -> bool,
    /// Returns true if the server stops.
    pub(crate) is_stopping: &'a dyn Fn() -> bool,
}

/// Writes backups until the server stops.
pub(crate) fn run(status: &BackupStatus, around: &Surroundings<'_>) {
    let mut schedule = Schedule::default();
    while (around.pause)(LOOK_EVERY) {
        let plan = status.plan();
        let now_s = (around.now_s)();
        let Some(plan) = plan else {
            schedule = Schedule::default();
            continue;
        };
        if schedule.needs_list(&plan, now_s) {
            schedule.look(&plan, now_s);
            status.update(|state| state.last = schedule.last());
        }
        if schedule.is_due(&plan, now_s) {
            schedule.listed_s = None;
            schedule.failed_s = (!make(&plan, now_s, status, around)).then_some(now_s);
        }
    }
}

/// Writes a backup and removes old ones. Returns false if there is no backup.
fn make(plan: &BackupPlan, now_s: u64, status: &BackupStatus, around: &Surroundings<'_>) -> bool {
    let begun = Instant::now();
    let mut watch = || match (around.is_stopping)() {
        true => Err(io::Error::other("the server stops")),
        false => Ok(()),
    };
    let written = write_backup(&plan.to, &(around.sources)(), now_s, &mut watch);
    if (around.is_stopping)() && written.is_err() {
        return false;
    }
    match written {
        Ok(backup) => {
            let took = begun.elapsed();
            let (path, bytes) = (backup.path.display(), backup.manifest.bytes());
            tracing::info!("backup {path}: {bytes} bytes in {} ms", took.as_millis());
            status.update(|state| {
                state.last = Some(last_of(&backup));
                state.took = took;
                state.written += 1;
                state.trouble = None;
            });
            remove_old(plan, now_s);
            true
        }
        Err(error) => {
            let reason = error.to_string();
            let again = retry_after_s(plan);
            tracing::error!("no backup: {reason}; the next attempt is in {again} seconds");
            record_failure(&plan.to, now_s, &reason);
            status.update(|state| {
                state.failures += 1;
                state.trouble = Some(reason);
            });
            false
        }
    }
}

fn remove_old(plan: &BackupPlan, now_s: u64) {
    match remove_old_backups(&plan.to, plan.keep, now_s) {
        Ok(removed) => removed.into_iter().for_each(tell_removed),
        Err(error) => tell_removed(Err(error)),
    }
}

fn tell_removed(removed: Result<Backup, BackupError>) {
    match removed {
        Ok(backup) => tracing::info!("old backup removed: {}", backup.path.display()),
        Err(error) => tracing::warn!("an old backup stays: {error}"),
    }
}

fn last_of(backup: &Backup) -> LastBackup {
    LastBackup {
        time_s: backup.time_s,
        bytes: backup.manifest.bytes(),
    }
}

fn retry_after_s(plan: &BackupPlan) -> u64 {
    RETRY_AFTER_S.min(plan.every.as_secs())
}

/// The times that decide when the next backup is due.
#[derive(Debug, Default)]
struct Schedule {
    /// The plan that the directory was read for.
    plan: Option<BackupPlan>,
    /// The time of the last look at the directory.
    listed_s: Option<u64>,
    last: Option<LastBackup>,
    /// The time of the last attempt, if it failed.
    failed_s: Option<u64>,
}

impl Schedule {
    fn last(&self) -> Option<LastBackup> {
        self.last
    }

    fn needs_list(&self, plan: &BackupPlan, now_s: u64) -> bool {
        let is_old = |listed: u64| !(listed..listed + LIST_EVERY_S).contains(&now_s);
        self.plan.as_ref() != Some(plan) || self.listed_s.is_none_or(is_old)
    }

    /// Looks for the newest backup.
    fn look(&mut self, plan: &BackupPlan, now_s: u64) {
        if self.plan.as_ref() != Some(plan) {
            // A new plan is worth an attempt at once.
            self.failed_s = None;
            self.plan = Some(plan.clone());
        }
        self.listed_s = Some(now_s);
        // A directory that is missing or unreadable has none; the attempt to write tells why.
        let backups = list_backups(&plan.to).unwrap_or_default();
        let mut past = backups.iter().rev();
        let newest = past.find(|backup| backup.time_s <= now_s + FUTURE_S);
        self.last = newest.map(last_of);
    }

    fn is_due(&self, plan: &BackupPlan, now_s: u64) -> bool {
        if let Some(failed) = self.failed_s {
            // A clock that was set back ends the wait, too.
            return !(failed..failed + retry_after_s(plan)).contains(&now_s);
        }
        self.last
            .is_none_or(|last| now_s >= last.time_s + plan.every.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_due_by_the_last_one_and_after_failures() {
        let plan = BackupPlan {
            to: "/nowhere".into(),
            every: Duration::from_secs(86_400),
            keep: 7,
        };
        let mut schedule = Schedule::default();
        assert!(schedule.needs_list(&plan, 1_000_000));
        schedule.look(&plan, 1_000_000);
        assert!(!schedule.needs_list(&plan, 1_000_059));
        assert!(schedule.needs_list(&plan, 1_000_060));
        assert!(schedule.is_due(&plan, 1_000_000), "there is none");
        schedule.last = Some(LastBackup {
            time_s: 1_000_000,
            bytes: 1,
        });
        assert!(!schedule.is_due(&plan, 1_086_399));
        assert!(schedule.is_due(&plan, 1_086_400));
        schedule.failed_s = Some(1_086_400);
        assert!(!schedule.is_due(&plan, 1_086_999));
        assert!(schedule.is_due(&plan, 1_087_000));
        assert!(schedule.is_due(&plan, 1_086_399), "the clock was set back");
        // Another plan, such as another directory, is tried at once.
        let other = BackupPlan {
            to: "/elsewhere".into(),
            ..plan
        };
        assert!(schedule.needs_list(&other, 1_086_401));
        schedule.look(&other, 1_086_401);
        assert!(schedule.is_due(&other, 1_086_401));
    }
}
