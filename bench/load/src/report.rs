//! The results of a run.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::workload::Verdict;

/// A finished run.
pub(crate) struct Run {
    pub(crate) elapsed: Duration,
    pub(crate) tally: Tally,
}

/// Counts of one thread, then of all.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    latencies_us: Vec<u32>,
    entries: u64,
    errors: u64,
    wrong: u64,
}

impl Tally {
    pub(crate) fn record(&mut self, latency: Duration, entries: u64, verdict: Verdict) {
        self.latencies_us
            .push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
        self.entries += entries;
        self.errors += u64::from(verdict == Verdict::Error);
        self.wrong += u64::from(verdict == Verdict::Wrong);
    }

    pub(crate) fn merge(&mut self, other: Tally) {
        self.latencies_us.extend(other.latencies_us);
        self.entries += other.entries;
        self.errors += other.errors;
        self.wrong += other.wrong;
    }
}

/// One line: rate, percentiles, and whether all answers were right.
pub(crate) struct Report {
    run: Run,
    server_cpu: Option<Duration>,
    /// Pieces of names that were drawn again.
    rejected: u64,
}

impl Report {
    pub(crate) fn new(mut run: Run, server_cpu: Option<Duration>, rejected: u64) -> Self {
        run.tally.latencies_us.sort_unstable();
        Report {
            run,
            server_cpu,
            rejected,
        }
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.run.tally.errors == 0 && self.run.tally.wrong == 0
    }

    /// The same figures for programs; times in microseconds.
    pub(crate) fn json(&self) -> Value {
        let tally = &self.run.tally;
        json!({
            "requests": tally.latencies_us.len(),
            "entries": tally.entries,
            "errors": tally.errors,
            "wrong": tally.wrong,
            "rejected": self.rejected,
            "wall_us": u64::try_from(self.run.elapsed.as_micros()).unwrap_or(u64::MAX),
            "p50_us": self.percentile_us(500),
            "p99_us": self.percentile_us(990),
            "max_us": self.percentile_us(1000),
            "server_cpu_us": self.server_cpu.map(|cpu| u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX)),
        })
    }

    fn percentile_us(&self, per_thousand: usize) -> u32 {
        let latencies = &self.run.tally.latencies_us;
        let index = (latencies.len() * per_thousand / 1000).min(latencies.len().saturating_sub(1));
        latencies.get(index).copied().unwrap_or(0)
    }
}

impl fmt::Display for Report {
    #[expect(clippy::cast_precision_loss, reason = "rates for people")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = &self.run.tally;
        let requests = tally.latencies_us.len();
        let seconds = self.run.elapsed.as_secs_f64();
        write!(
            f,
            "requests={requests} entries={} errors={} wrong={} seconds={seconds:.3} rate={:.0}/s p50={}us p99={}us max={}us",
            tally.entries,
            tally.errors,
            tally.wrong,
            requests as f64 / seconds,
            self.percentile_us(500),
            self.percentile_us(990),
            self.percentile_us(1000),
        )?;
        if let Some(cpu) = self.server_cpu {
            let each = cpu.as_secs_f64() * 1e6 / (requests.max(1) as f64);
            write!(
                f,
                " server_cpu={:.2}s server_cpu_each={each:.1}us",
                cpu.as_secs_f64()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_wrong_answers() {
        let mut tally = Tally::default();
        for us in (1..=1000).rev() {
            let verdict = if us == 7 {
                Verdict::Wrong
            } else {
                Verdict::Right
            };
            tally.record(Duration::from_micros(us), 1, verdict);
        }
        tally.record(Duration::from_micros(5000), 0, Verdict::Error);
        let report = Report::new(
            Run {
                elapsed: Duration::from_secs(2),
                tally,
            },
            Some(Duration::from_secs(1)),
            0,
        );
        assert!(!report.is_clean());
        let text = report.to_string();
        assert!(
            text.starts_with("requests=1001 entries=1000 errors=1 wrong=1 seconds=2.000"),
            "{text}"
        );
        assert!(
            text.contains("p50=501us p99=991us max=5000us server_cpu=1.00s"),
            "{text}"
        );
    }
}
