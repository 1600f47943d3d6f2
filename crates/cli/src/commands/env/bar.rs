//! A bar on the terminal for tools that count octets.

use std::io::IsTerminal;

use fulgurite_engine_tools::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar: octets, rate, remaining time. Without a terminal on standard error it stays silent.
pub(crate) struct OctetsBar(ProgressBar);

impl OctetsBar {
    pub(crate) fn new(quiet: bool) -> OctetsBar {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let template = "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        OctetsBar(bar)
    }

    pub(crate) fn update(&self, progress: Progress) {
        self.0.set_length(progress.total);
        self.0.set_position(progress.done);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Octets as people read them: three figures at least.
pub(crate) fn octets(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    if count < 10_000 {
        return format!("{count} octets");
    }
    let mut amount = count as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < units.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.1} {}", units[unit])
}

/// Octets per second as people read them.
pub(crate) fn rate(count: u64, seconds: f64) -> String {
    if seconds < 0.001 {
        return "at once".to_owned();
    }
    format!("{:.1} s, {:.0} MB/s", seconds, count as f64 / seconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_have_a_unit_that_fits() {
        assert_eq!(octets(4096), "4096 octets");
        assert_eq!(octets(1 << 20), "1.0 MiB");
        assert_eq!(octets(999 << 10), "999.0 KiB");
        assert_eq!(octets(5 << 50), "5120.0 TiB");
    }
}
