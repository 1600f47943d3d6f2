//! Counts the commits of a store, and the updates that found no room.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::StoreError;

/// The room that an update lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// The data file has reached its bound.
    Map,
    /// The disk is full, or a quota is used up.
    Disk,
}

/// The commits of a store in this process, and the updates that found no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitCounts {
    /// Commits.
    pub commits: u64,
    /// Updates that were refused because the data file has reached its bound.
    pub refused_map: u64,
    /// Updates that were refused because the disk is full.
    pub refused_disk: u64,
}

/// The counters behind [`CommitCounts`].
#[derive(Debug, Default)]
pub(crate) struct CommitCounters {
    commits: AtomicU64,
    refused_map: AtomicU64,
    refused_disk: AtomicU64,
}

impl CommitCounters {
    /// Counts a commit.
    pub(crate) fn committed(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an update that was refused for good.
    pub(super) fn refused(&self, shortage: Shortage) {
        let counter = match shortage {
            Shortage::Map => &self.refused_map,
            Shortage::Disk => &self.refused_disk,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> CommitCounts {
        CommitCounts {
            commits: self.commits.load(Ordering::Relaxed),
            refused_map: self.refused_map.load(Ordering::Relaxed),
            refused_disk: self.refused_disk.load(Ordering::Relaxed),
        }
    }
}

impl StoreError {
    /// Returns the room that the update lacks; `None` for another failure.
    #[must_use]
    pub fn shortage(&self) -> Option<Shortage> {
        let StoreError::Engine(error) = self else {
            return None;
        };
        match error {
            fulgurite::Error::MapFull(_) | fulgurite::Error::HeldByReader(_) => Some(Shortage::Map),
            fulgurite::Error::Io { source, .. } => {
                let kind = source.kind();
                let is_full = matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
                is_full.then_some(Shortage::Disk)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn shortages_are_told_from_other_failures() {
        let of_system = |code: i32| {
            StoreError::Engine(fulgurite::Error::Io {
                doing: "taking room on the disk",
                source: io::Error::from_raw_os_error(code),
            })
        };
        let (io, no_space, quota) = (5, 28, 122);
        assert_eq!(of_system(no_space).shortage(), Some(Shortage::Disk));
        assert_eq!(of_system(quota).shortage(), Some(Shortage::Disk));
        assert_eq!(of_system(io).shortage(), None);
        assert_eq!(StoreError::Poisoned.shortage(), None);
        let full = StoreError::Engine(fulgurite::Error::MapFull(1 << 20));
        assert_eq!(full.shortage(), Some(Shortage::Map));
    }
}
