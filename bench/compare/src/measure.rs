//! The cost of a piece of work: wall-clock time, processor time of all threads. Where asked, the
//! time of each operation.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The result of one engine in one round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) operations: u64,
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    /// Of everything that was read, or is left: the same for everybody.
    pub(crate) digest: u64,
    pub(crate) latencies: Option<Latencies>,
    /// Operations of others meanwhile: of the writer next to readers.
    pub(crate) beside: u64,
    /// Octets on the disk when the store was closed.
    pub(crate) file_bytes: u64,
    /// Answers that said that it cannot be done, and answers that were not the right ones.
    pub(crate) errors: u64,
    pub(crate) wrong: u64,
    pub(crate) version: String,
}

/// How long single operations took, in nanoseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Latencies {
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) max_ns: u64,
}

/// Notes how long operations take, if that is wanted.
pub(crate) struct Stopwatch {
    wanted: bool,
    nanoseconds: Vec<u64>,
}

impl Stopwatch {
    pub(crate) fn new(wanted: bool) -> Self {
        Stopwatch {
            wanted,
            nanoseconds: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if !self.wanted {
            return work();
        }
        let begun = Instant::now();
        let result = work();
        self.nanoseconds.push(nanoseconds(begun.elapsed()));
        result
    }

    pub(crate) fn merge(&mut self, other: Stopwatch) {
        self.nanoseconds.extend(other.nanoseconds);
    }

    /// Returns the sum of all times.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.nanoseconds.iter().sum()
    }

    pub(crate) fn latencies(mut self) -> Option<Latencies> {
        self.nanoseconds.sort_unstable();
        let last = self.nanoseconds.len().checked_sub(1)?;
        let at = |percent: usize| self.nanoseconds.get(last * percent / 100).copied();
        Some(Latencies {
            p50_ns: at(50)?,
            p99_ns: at(99)?,
            max_ns: at(100)?,
        })
    }
}

/// Time that some work took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
}

/// Runs the work that counts.
///
/// The counting of instructions knows its name (`--toggle-collect=*bench_measured*`). So it is
/// never inlined, and does nothing else.
#[inline(never)]
pub(crate) fn bench_measured<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    let cpu = cpu_time();
    let begun = Instant::now();
    let result = work();
    let wall_ns = nanoseconds(begun.elapsed());
    let cpu_ns = nanoseconds(cpu_time().saturating_sub(cpu));
    (result, Taken { wall_ns, cpu_ns })
}

/// Of all threads of this process so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.cast_unsigned(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The median and the quarters on either side of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Middle {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Middle {
    /// Of any numbers; none if there are none.
    pub(crate) fn of(mut numbers: Vec<f64>) -> Option<Middle> {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        let at = |quarter: usize| -> f64 {
            // Between two where the quarter falls there.
            let (below, rest) = (last * quarter / 4, last * quarter % 4);
            let low = numbers[below];
            let high = numbers[(below + 1).min(last)];
            low + (high - low) * rest as f64 / 4.0
        };
        Some(Middle {
            low: at(1),
            median: at(2),
            high: at(3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_what_was_timed() {
        let watch = Stopwatch {
            wanted: true,
            nanoseconds: (1..=101).rev().collect(),
        };
        let latencies = watch.latencies().unwrap();
        assert_eq!(
            (latencies.p50_ns, latencies.p99_ns, latencies.max_ns),
            (51, 100, 101)
        );
        assert!(Stopwatch::new(false).latencies().is_none());
    }

    #[test]
    fn work_takes_processor_time_and_waiting_does_not() {
        let (_, worked) = bench_measured(|| {
            let begun = cpu_time();
            while cpu_time() - begun < Duration::from_millis(20) {}
        });
        assert!(worked.cpu_ns >= 20_000_000);
        let (_, waited) = bench_measured(|| std::thread::sleep(Duration::from_millis(20)));
        assert!(waited.wall_ns >= 20_000_000);
    }
}
