//! Watches the room of the databases: their files, and the disks below them.
//!
//! ```text
//!   counters of refused updates --each second---> ERROR when the first is refused, and when it is over
//!   pages, free bytes           --each 30 s-----> WARN at 80 and at 90 % of the file's bound or the disk
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use fulgurite_store::{CommitCounts, Store};

use crate::metrics::health::{Health, ServedDatabase};

/// The interval of looks at the counters.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The interval of looks at files and disks.
const MEASURE_EVERY: Duration = Duration::from_secs(30);

/// A shortage is over if updates succeed, or there is room, and none was refused for this time.
const OVER_AFTER: Duration = Duration::from_secs(10);

/// A free share in percent that is room for updates. Of large files and disks, less is enough.
const ROOM_PERCENT: u64 = 10;

/// Free bytes that are room for updates.
const ROOM_BYTES: u64 = 64 << 20;

/// Shares in percent that are worth a warning.
const WARNINGS: [u64; 2] = [90, 80];

/// A warning is repeated only after the share has been lower than it by this number.
const HYSTERESIS: u64 = 2;

/// Watches until `pause` returns false. Calls `also` at each look.
pub(crate) fn run(
    health: &Health,
    also: &mut dyn FnMut(Instant),
    pause: &dyn Fn(Duration) -> bool,
) {
    let mut watched: Vec<WatchedDatabase> = Vec::new();
    while pause(LOOK_EVERY) {
        let present = health.databases();
        watched.retain(|one| present.iter().any(|other| one.is_of(other)));
        for database in present.iter() {
            match watched.iter_mut().find(|one| one.is_of(database)) {
                // Another generation may have another handle on the same store.
                Some(known) => known.store = Arc::clone(&database.store),
                None => watched.push(WatchedDatabase::new(database)),
            }
        }
        let now = Instant::now();
        also(now);
        let shortages = watched.iter_mut().filter_map(|one| one.look(now));
        health.set_shortages(shortages.collect());
    }
}

/// A database and what was said about it.
struct WatchedDatabase {
    suffix: String,
    store: Arc<Store>,
    map: Shortage,
    disk: Shortage,
    measured: Option<Instant>,
    map_level: WarningLevel,
    disk_level: WarningLevel,
    /// True if there was room at the last measurement.
    map_has_room: bool,
    disk_has_room: bool,
}

impl WatchedDatabase {
    fn new(database: &ServedDatabase) -> WatchedDatabase {
        WatchedDatabase {
            suffix: database.suffix.clone(),
            store: Arc::clone(&database.store),
            map: Shortage::default(),
            disk: Shortage::default(),
            measured: None,
            map_level: WarningLevel::default(),
            disk_level: WarningLevel::default(),
            map_has_room: false,
            disk_has_room: false,
        }
    }

    fn is_of(&self, database: &ServedDatabase) -> bool {
        self.store.path() == database.store.path()
    }

    /// Logs what is new. Returns a sentence if the database lacks room.
    fn look(&mut self, now: Instant) -> Option<String> {
        let counts = self.store.commit_counts();
        let name = format!("{} ({})", self.suffix, self.store.path().display());
        // So often that each shortage has been measured before it can be over.
        let every = match self.map.on.is_some() || self.disk.on.is_some() {
            true => OVER_AFTER,
            false => MEASURE_EVERY,
        };
        let is_due = |at: Instant| now.duration_since(at) >= every;
        if self.measured.is_none_or(is_due) {
            self.measured = Some(now);
            self.measure(&name);
        }
        let (map_room, disk_room) = (self.map_has_room, self.disk_has_room);
        let map = self.map.look(now, counts.refused_map, counts, map_room);
        let disk = self.disk.look(now, counts.refused_disk, counts, disk_room);
        for (change, what, advice) in [
            (
                map,
                "its file has reached its bound",
                "raise storage.map_bytes_max (maxsize), or delete entries",
            ),
            (disk, "the disk is full", "make room on it"),
        ] {
            match change {
                Some(Change::Begins) => {
                    tracing::error!("updates of {name} are refused: {what}; {advice}");
                }
                Some(Change::Ends(refused)) => tracing::error!(
                    "updates of {name} succeed again: {refused} were refused, because {what}"
                ),
                Some(Change::HasRoom(refused)) => tracing::error!(
                    "there is room for updates of {name} again: {refused} were refused, because \
                     {what}"
                ),
                None => {}
            }
        }
        let map = self.map.stops_updates(counts);
        let disk = self.disk.stops_updates(counts);
        let full = map.then_some("has reached the bound of its file");
        let full = full.or(disk.then_some("has no room on its disk"));
        full.map(|reason| format!("the database {} {reason}", self.suffix))
    }

    fn measure(&mut self, name: &str) {
        let (map, disk) = (used_of_map(&self.store), used_of_disk(&self.store));
        self.map_has_room = map.is_some_and(has_room);
        self.disk_has_room = disk.is_some_and(has_room);
        if let Some((used, bound)) = map
            && let Some(percent) = self.map_level.rises_to(used, bound)
        {
            tracing::warn!(
                "{name}: its file uses {percent} % of its maximum size, {used} of {bound} bytes"
            );
        }
        if let Some((used, size)) = disk
            && let Some(percent) = self.disk_level.rises_to(used, size)
        {
            let free = size - used;
            tracing::warn!("{name}: {percent} % of its disk is in use, {free} bytes are free");
        }
    }
}

/// Returns the bytes of the pages in use, and the bound of the file.
fn used_of_map(store: &Store) -> Option<(u64, u64)> {
    let environment = store.environment();
    let info = environment.info().ok()?;
    let page = info.page_size as u64;
    let pages = info.last_page + 1;
    // The free list is long in large files, so it is read only if it can make a difference.
    let free = match pages * page * 100 >= info.map_bytes_max.saturating_mul(WARNINGS[1]) {
        true => environment.read().ok()?.free_pages().ok()?.total(),
        false => 0,
    };
    Some((pages.saturating_sub(free) * page, info.map_bytes_max))
}

/// Returns the bytes in use of the file system, and its size, as df(1) computes them.
fn used_of_disk(store: &Store) -> Option<(u64, u64)> {
    let disk = rustix::fs::fstatvfs(store.environment().fd()).ok()?;
    let used = disk.f_blocks.saturating_sub(disk.f_bfree);
    Some((used * disk.f_frsize, (used + disk.f_bavail) * disk.f_frsize))
}

/// Returns true if the rest of a file or disk is enough for updates.
fn has_room((used, bound): (u64, u64)) -> bool {
    let free = bound.saturating_sub(used);
    free >= ROOM_BYTES || u128::from(free) * 100 > u128::from(bound) * u128::from(ROOM_PERCENT)
}

/// A change of a shortage.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Begins,
    /// Updates succeed. It has refused this number of them.
    Ends(u64),
    /// Nobody has tried since, but there is room.
    HasRoom(u64),
}

/// Updates that are refused for one reason.
#[derive(Debug, Default)]
struct Shortage {
    /// The number of refused updates that were seen. The first look comes after the start, so it
    /// begins at zero, not at the number of then.
    refused: u64,
    /// The last refused updates of a shortage that is on.
    on: Option<LastRefusal>,
}

#[derive(Debug)]
struct LastRefusal {
    at: Instant,
    /// Commits up to then.
    commits: u64,
    /// Refused updates before the shortage.
    before: u64,
}

impl Shortage {
    /// Returns true if no update has succeeded since the last refusal.
    fn stops_updates(&self, counts: CommitCounts) -> bool {
        let last = self.on.as_ref();
        last.is_some_and(|last| counts.commits <= last.commits)
    }

    /// Looks at the number of updates refused up to now.
    ///
    /// A server that is not ready gets no updates, so that room alone also ends a shortage.
    fn look(
        &mut self,
        now: Instant,
        refused: u64,
        counts: CommitCounts,
        has_room: bool,
    ) -> Option<Change> {
        let commits = counts.commits;
        if refused > self.refused {
            let before = std::mem::replace(&mut self.refused, refused);
            let before_all = self.on.as_ref().map_or(before, |last| last.before);
            let begins = self.on.is_none();
            self.on = Some(LastRefusal {
                at: now,
                commits,
                before: before_all,
            });
            return begins.then_some(Change::Begins);
        }
        let last = self.on.take_if(|last| {
            let is_usable = has_room || commits > last.commits;
            is_usable && now.duration_since(last.at) >= OVER_AFTER
        })?;
        let refused = refused - last.before;
        Some(match commits > last.commits {
            true => Change::Ends(refused),
            false => Change::HasRoom(refused),
        })
    }
}

/// The last warning about a share.
#[derive(Debug, Default)]
struct WarningLevel(u64);

impl WarningLevel {
    /// Returns the share in percent if it has risen to a new warning.
    fn rises_to(&mut self, used: u64, bound: u64) -> Option<u64> {
        let percent = (u128::from(used) * 100 / u128::from(bound.max(1))) as u64;
        let reached = WARNINGS.into_iter().find(|level| percent >= *level);
        let reached = reached.unwrap_or(0);
        if reached > self.0 {
            self.0 = reached;
            return Some(percent);
        }
        if percent + HYSTERESIS < self.0 {
            self.0 = reached;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(commits: u64) -> CommitCounts {
        CommitCounts {
            commits,
            ..CommitCounts::default()
        }
    }

    #[test]
    fn a_shortage_begins_once_and_ends_once() {
        let begun = Instant::now();
        let mut shortage = Shortage::default();
        let mut look = |seconds, refused, count| {
            let at = begun + Duration::from_secs(seconds);
            let change = shortage.look(at, refused, commits(count), false);
            (change, shortage.stops_updates(commits(count)))
        };
        assert_eq!(look(0, 0, 5), (None, false));
        assert_eq!(look(1, 4, 5), (Some(Change::Begins), true));
        assert_eq!(look(2, 9, 6), (None, true));
        // Nothing was committed since, then too little time has passed.
        assert_eq!(look(60, 9, 6), (None, true));
        assert_eq!(look(61, 10, 7), (None, true));
        assert_eq!(look(70, 10, 8), (None, false));
        assert_eq!(look(71, 10, 8), (Some(Change::Ends(10)), false));
        assert_eq!(look(72, 11, 8), (Some(Change::Begins), true));
    }

    #[test]
    fn room_ends_a_shortage_without_commits() {
        let begun = Instant::now();
        let mut shortage = Shortage::default();
        let mut look = |seconds, has_room| {
            let at = begun + Duration::from_secs(seconds);
            let change = shortage.look(at, 3, commits(5), has_room);
            (change, shortage.stops_updates(commits(5)))
        };
        assert_eq!(look(0, true), (Some(Change::Begins), true));
        assert_eq!(look(9, true), (None, true));
        assert_eq!(look(60, false), (None, true));
        assert_eq!(look(61, true), (Some(Change::HasRoom(3)), false));
    }

    #[test]
    fn room_is_a_share_or_many_bytes() {
        assert!(!has_room((95, 100)));
        assert!(has_room((85, 100)));
        assert!(has_room((99 << 30, 100 << 30)));
        assert!(!has_room((101, 100)));
    }

    #[test]
    fn a_share_is_warned_of_at_80_and_90_percent() {
        let mut level = WarningLevel::default();
        let mut rises = |percent| level.rises_to(percent, 100);
        let told: Vec<_> = [79, 80, 85, 79, 81, 90, 89, 91, 87, 90, 77, 80]
            .map(&mut rises)
            .into();
        let some = |percent| Some(percent);
        assert_eq!(
            told,
            [
                None,
                some(80),
                None,
                None,
                None,
                some(90),
                None,
                None,
                None,
                some(90),
                None,
                some(80)
            ]
        );
    }
}
