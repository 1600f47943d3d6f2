//! The pauses between questions about one batch, while the log gives no outcome.

/// The first pause and the longest one, in milliseconds.
const FIRST_MS: u64 = 100;
const LONGEST_MS: u64 = 1600;

/// A pause that grows. The first question comes at once, because most doubts end with it.
#[derive(Debug, Default)]
pub(super) struct Pause {
    length_ms: u64,
    end_ms: u64,
}

impl Pause {
    /// Notes that a question has brought no outcome.
    pub(super) fn fail(&mut self, now_ms: u64) {
        self.end_ms = now_ms + self.length_ms;
        self.length_ms = (self.length_ms * 2).clamp(FIRST_MS, LONGEST_MS);
    }

    /// Notes that the doubt has ended.
    pub(super) fn reset(&mut self) {
        *self = Pause::default();
    }

    /// Returns true if the next question may go.
    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        now_ms >= self.end_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let mut pause = Pause::default();
        let mut now_ms = 5000;
        let mut lengths = Vec::new();
        for _ in 0..8 {
            pause.fail(now_ms);
            let begun_ms = now_ms;
            while !pause.is_over(now_ms) {
                now_ms += 1;
            }
            lengths.push(now_ms - begun_ms);
        }
        assert_eq!(lengths, [0, 100, 200, 400, 800, 1600, 1600, 1600]);
        pause.reset();
        assert!(pause.is_over(0));
    }
}
