//! The plan and the state of the backups that a server makes, for cn=Monitor and the figures.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;

/// The backups that the settings ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupPlan {
    /// The directory of all backups.
    pub(crate) to: PathBuf,
    /// The time from one backup to the next.
    pub(crate) every: Duration,
    /// The number of backups to keep.
    pub(crate) keep: usize,
}

/// A backup that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastBackup {
    /// Seconds since 1970 at its begin.
    pub(crate) time_s: u64,
    /// The bytes of its files.
    pub(crate) bytes: u64,
}

/// The backups of this server since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackupState {
    /// The newest backup, even one from before the start.
    pub(crate) last: Option<LastBackup>,
    /// The time that the last one took.
    pub(crate) took: Duration,
    /// The backups that were written.
    pub(crate) written: u64,
    /// The attempts that failed.
    pub(crate) failures: u64,
    /// The reason of the failure, if the last attempt failed.
    pub(crate) trouble: Option<String>,
}

/// The plan in force, and the state.
#[derive(Debug, Default)]
pub(crate) struct BackupStatus {
    plan: ArcSwapOption<BackupPlan>,
    state: Mutex<BackupState>,
}

impl BackupStatus {
    /// Puts a plan in force; `None` for no backups.
    pub(crate) fn set_plan(&self, plan: Option<BackupPlan>) {
        self.plan.store(plan.map(Arc::new));
    }

    pub(crate) fn plan(&self) -> Option<Arc<BackupPlan>> {
        self.plan.load_full()
    }

    pub(crate) fn state(&self) -> BackupState {
        self.lock().clone()
    }

    /// Changes the state.
    pub(crate) fn update(&self, change: impl FnOnce(&mut BackupState)) {
        change(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, BackupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
