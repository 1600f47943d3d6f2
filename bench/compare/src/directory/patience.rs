//! How long servers may take, so that a run ends whatever they do.

use std::fmt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// The limits of one server's steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// After this the load generator sends no more requests of a question.
    pub(crate) seconds: u64,
    /// After this a question, a start or a stop has failed.
    pub(crate) answer: Duration,
    /// After this a load or an export has failed.
    pub(crate) load: Duration,
}

impl Patience {
    /// Returns the limits of a directory: one that is larger than the usual may take longer.
    pub(crate) fn new(seconds: u64, people: u64) -> Patience {
        let seconds = seconds.max(1);
        let answer = 3 * seconds * people.div_ceil(crate::targets::PEOPLE).max(1);
        Patience {
            seconds,
            answer: Duration::from_secs(answer),
            load: Duration::from_secs(10 * answer),
        }
    }
}

/// A step that has taken too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Late {
    step: &'static str,
    limit: Duration,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {} within {} s", self.step, self.limit.as_secs())
    }
}

impl std::error::Error for Late {}

/// Waits for the end of a process, and kills it after a time.
/// # Errors
/// Fails with [`Late`] if the process was killed.
pub(crate) fn wait(
    process: &mut Child,
    step: &'static str,
    limit: Duration,
) -> anyhow::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() > limit {
            process.kill()?;
            process.wait()?;
            return Err(Late { step, limit }.into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_does_not_end_is_named() {
        let mut process = Command::new("sleep").arg("60").spawn().expect("sleep");
        let error = wait(&mut process, "answered", Duration::from_secs(1)).expect_err("late");
        assert!(error.downcast_ref::<Late>().is_some());
        assert_eq!(error.to_string(), "not answered within 1 s");
        let mut process = Command::new("true").spawn().expect("true");
        let status = wait(&mut process, "answered", Duration::from_secs(60)).expect("in time");
        assert!(status.success());
    }

    #[test]
    fn larger_directories_may_take_longer() {
        let short = Patience::new(20, 100_000);
        assert_eq!(short.answer, Duration::from_secs(60));
        assert_eq!(Patience::new(20, 600).answer, short.answer);
        assert_eq!(Patience::new(20, 1_000_000).answer, short.answer * 10);
    }
}
