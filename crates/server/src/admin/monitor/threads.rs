//! Threads, under the names that exporters of slapd's figures expect. All workers exist from the
//! start, so the pool never grows.

use std::sync::atomic::Ordering;

use fulgurite_directory::TreeEntry;

use super::figures::Monitor;

impl Monitor {
    pub(super) fn threads(&self, out: &mut Vec<TreeEntry>) {
        let threads = self.statistics.facts().threads;
        let connections = self.statistics.connections();
        let sum = |pick: fn(&crate::statistics::ConnectionCounters) -> u64| {
            connections
                .values()
                .map(|figures| pick(figures))
                .sum::<u64>()
        };
        let executing = sum(|figures| figures.executing.load(Ordering::Relaxed));
        let pending = sum(|figures| figures.pending.load(Ordering::Relaxed));
        let active = executing.min(threads);
        let waiting = executing - active + pending;
        for (name, value, description) in figures(threads, active, waiting) {
            let entry = self.entry("monitoredObject", name, "cn=Threads,cn=Monitor");
            out.push(
                entry
                    .with("monitoredInfo", value)
                    .with("description", [description]),
            );
        }
    }
}

/// Returns name, value and description of each entry.
fn figures(
    threads: u64,
    active: u64,
    waiting: u64,
) -> [(&'static str, Option<String>, &'static str); 10] {
    [
        (
            "Max",
            Some(threads.to_string()),
            "Maximum number of threads as configured",
        ),
        (
            "Max Pending",
            Some("0".to_owned()),
            "Maximum number of pending threads",
        ),
        ("Open", Some(threads.to_string()), "Number of open threads"),
        (
            "Starting",
            Some("0".to_owned()),
            "Number of threads being started",
        ),
        (
            "Active",
            Some(active.to_string()),
            "Number of active threads",
        ),
        (
            "Pending",
            Some(waiting.to_string()),
            "Number of pending threads",
        ),
        (
            "Backload",
            Some((active + waiting).to_string()),
            "Number of active plus pending threads",
        ),
        ("State", Some("running".to_owned()), "Thread pool state"),
        (
            "Runqueue",
            None,
            "Queue of running threads - besides those handling operations",
        ),
        (
            "Tasklist",
            None,
            "List of running plus standby threads - besides those handling operations",
        ),
    ]
}
