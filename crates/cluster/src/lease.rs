//! A node's own view of its lease. It only saves useless work: the append's comparison decides.

/// The safety margin of a sequencer in milliseconds.
const MARGIN_MS: u64 = 1000;

/// A lease, on the monotonic clock of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    ttl_ms: u64,
    /// The time at which the last successful renewal was sent.
    renewed_ms: u64,
}

impl Lease {
    /// Returns a lease that was asked for at `asked_ms`.
    #[must_use]
    pub fn new(ttl_ms: u64, asked_ms: u64) -> Lease {
        Lease {
            ttl_ms,
            renewed_ms: asked_ms,
        }
    }

    /// Notes a renewal by the time at which it was sent.
    pub fn renewed(&mut self, sent_ms: u64) {
        self.renewed_ms = self.renewed_ms.max(sent_ms);
    }

    /// Returns true if a third of the lease is over.
    #[must_use]
    pub fn is_due(&self, now_ms: u64) -> bool {
        now_ms >= self.renewed_ms + self.ttl_ms / 3
    }

    /// Returns true if a sequencer may take updates: the lease has a second left.
    #[must_use]
    pub fn is_safe(&self, now_ms: u64) -> bool {
        now_ms + MARGIN_MS < self.renewed_ms + self.ttl_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_counts_from_the_question() {
        let mut lease = Lease::new(6000, 100);
        assert!(!lease.is_due(2099) && lease.is_due(2100));
        assert!(lease.is_safe(5099) && !lease.is_safe(5100));
        lease.renewed(2000);
        lease.renewed(1000);
        assert!(lease.is_safe(6999) && !lease.is_safe(7000));
    }
}
