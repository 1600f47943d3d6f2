//! Figures of this process, from the files of the system.

use std::fs;

use super::family::{self, Figures, Value};

/// Adds the figures that the system tells.
pub(super) fn add(figures: &mut Figures) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for (family, name) in [
        (&family::RESIDENT_MEMORY, "VmRSS:"),
        (&family::ANONYMOUS_MEMORY, "RssAnon:"),
    ] {
        if let Some(kibibytes) = field(&status, name) {
            figures.count(family, kibibytes * 1024);
        }
    }
    if let Some(seconds) = cpu_seconds() {
        figures.add(&family::CPU_TIME, Vec::new(), Value::Amount(seconds));
    }
    if let Ok(descriptors) = fs::read_dir("/proc/self/fd") {
        // One of them reads the folder.
        let open = descriptors.count().saturating_sub(1);
        figures.count(&family::OPEN_DESCRIPTORS, open as u64);
    }
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    if let Some(limit) = limit.current {
        figures.count(&family::DESCRIPTORS_LIMIT, limit);
    }
}

/// Returns the number behind a name.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the time of all threads in user and system mode.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may contain blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}
