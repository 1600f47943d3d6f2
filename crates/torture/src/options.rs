//! The options that all runs share, and the clock that they start.

use std::time::{Duration, Instant, SystemTime};

use fulgurite_testkit::Random;

/// The options that all runs share.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RunOptions {
    /// The seed of all choices; a fresh one if absent
    #[arg(long)]
    pub seed: Option<u64>,
    /// Ends after this many seconds [default: 3600 for power-loss, 60 for fault-injection]
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Runs one case again, by the name that a failure printed: MODE:SEED:CUT:CHOICE for
    /// power-loss, HISTORY:CALL=ERROR,.. for fault-injection, SEED:NUMBER for corruption
    #[arg(long, value_name = "CASE")]
    pub replay: Option<String>,
}

impl RunOptions {
    /// Prints the seed of a run and starts its clock. `seconds` is the length by default.
    pub(crate) fn start(&self, name: &str, seconds: Option<u64>) -> RunClock {
        let seed = self.seed.unwrap_or_else(fresh_seed);
        println!("{name}: seed {seed}");
        RunClock {
            seed,
            began: Instant::now(),
            length: self.seconds.or(seconds).map(Duration::from_secs),
        }
    }
}

/// The seed of a run, and its time.
#[derive(Debug, Clone, Copy)]
pub struct RunClock {
    /// The seed of all choices.
    pub seed: u64,
    began: Instant,
    length: Option<Duration>,
}

impl RunClock {
    /// Returns a clock without an end.
    #[must_use]
    pub fn endless(seed: u64) -> RunClock {
        RunClock {
            seed,
            began: Instant::now(),
            length: None,
        }
    }

    /// Returns true after the time of the run.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.length
            .is_some_and(|length| self.began.elapsed() >= length)
    }

    /// Returns the length of the run; zero if it has no end.
    pub(crate) fn length(&self) -> Duration {
        self.length.unwrap_or_default()
    }

    /// Returns the seconds since the start, never zero.
    pub(crate) fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64().max(1e-9)
    }
}

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |now| Random::new(now.as_nanos() as u64).bits() >> 16)
}
