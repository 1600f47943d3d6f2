//! The pauses between sessions.

use fulgurite_policy::RetryList;

/// The pause without a list, in seconds.
const DEFAULT_S: u64 = 3600;

/// The failures since the last success, and the pauses for them.
#[derive(Clone, Debug)]
pub(crate) struct Retry {
    list: RetryList,
    failures: u64,
}

impl Retry {
    pub(crate) fn new(list: Option<&RetryList>) -> Retry {
        let default = RetryList {
            steps: vec![(DEFAULT_S, None)],
        };
        Retry {
            list: list.cloned().unwrap_or(default),
            failures: 0,
        }
    }

    /// Begins the list anew.
    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Returns the pause after one more failure in milliseconds; `None` after the end of the list.
    /// It is up to a tenth shorter by `jitter` of 0 to 255.
    pub(crate) fn pause_ms(&mut self, jitter: u8) -> Option<u64> {
        let mut left = self.failures;
        self.failures += 1;
        for (seconds, count) in &self.list.steps {
            match count {
                Some(count) if left >= u64::from(*count) => left -= u64::from(*count),
                _ => {
                    let whole = seconds.saturating_mul(1000);
                    return Some(whole - whole / 10 * u64::from(jitter) / 255);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_walked_and_may_end() {
        let steps = vec![(1, Some(2)), (5, Some(1))];
        let mut retry = Retry::new(Some(&RetryList { steps }));
        let pauses: Vec<_> = (0..4).map(|_| retry.pause_ms(0)).collect();
        assert_eq!(pauses, [Some(1000), Some(1000), Some(5000), None]);
        retry.succeeded();
        assert_eq!(retry.pause_ms(255), Some(900));
        let mut for_ever = Retry::new(None);
        assert!((0..9).all(|_| for_ever.pause_ms(0) == Some(3_600_000)));
    }
}
