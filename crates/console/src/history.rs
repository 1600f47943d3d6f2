//! A few samples of the server's counters, taken when a user looks at them.

use std::collections::VecDeque;
use std::time::Instant;

/// Samples at most.
const SAMPLES_MAX: usize = 60;

/// Counters at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CounterSample {
    pub(crate) at: Instant,
    pub(crate) operations: u64,
    pub(crate) connections: u64,
}

/// The samples, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(VecDeque<CounterSample>);

impl History {
    /// Adds a sample.
    pub(crate) fn add(&mut self, sample: CounterSample) {
        if self.0.len() >= SAMPLES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(sample);
    }

    /// Returns operations per second between samples.
    pub(crate) fn rates(&self) -> Vec<f64> {
        let later = self.0.iter().skip(1);
        self.0
            .iter()
            .zip(later)
            .map(|(one, next)| {
                let seconds = next.at.saturating_duration_since(one.at).as_secs_f64();
                next.operations.saturating_sub(one.operations) as f64 / seconds.max(0.001)
            })
            .collect()
    }

    /// Returns the numbers of connections.
    pub(crate) fn connections(&self) -> Vec<f64> {
        self.0
            .iter()
            .map(|sample| sample.connections as f64)
            .collect()
    }
}
