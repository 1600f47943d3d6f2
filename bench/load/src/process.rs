//! CPU time of another process.

use std::time::Duration;

use anyhow::Context as _;

/// Ticks per second in `/proc/PID/stat`, fixed on Linux whatever the kernel's own rate.
const TICKS_PER_SECOND: u64 = 100;

/// User and system time of a process, all its threads: to the nanosecond where the kernel keeps
/// that.
pub(crate) fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let coarse = ticks(pid)?;
    // Threads that have ended are not in the fine sum; then the coarse one is the larger.
    Ok(nanoseconds(pid).map_or(coarse, |fine| fine.max(coarse)))
}

fn nanoseconds(pid: u32) -> Option<Duration> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let times = threads.flatten().map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    times.sum::<Option<u64>>().map(Duration::from_nanos)
}

fn ticks(pid: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("cannot read the times of process {pid}"))?;
    // The command in parentheses may contain anything; fields are counted from behind it.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u64 = fields
        .split_ascii_whitespace()
        .skip(11)
        .take(2)
        .map(|field| field.parse::<u64>().unwrap_or(0))
        .sum();
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_time_of_this_process_grows() {
        let pid = std::process::id();
        let before = super::cpu_time(pid).unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed() < std::time::Duration::from_millis(100) {
            std::hint::spin_loop();
        }
        assert!(super::cpu_time(pid).unwrap() > before);
    }
}
