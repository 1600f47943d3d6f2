//! Quotas of identities: the outstanding requests of all connections of one identity.
//!
//! A connection reports its outstanding requests at the end of a turn. A client that waits for each
//! response has none by then, so the usual case writes no shared memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The bound identities with their counts of outstanding requests.
#[derive(Debug)]
pub struct IdentityQuotas {
    outstanding_max: usize,
    counts: Mutex<HashMap<String, Weak<AtomicUsize>>>,
}

impl IdentityQuotas {
    /// Makes a table in which each identity may have `outstanding_max` requests outstanding.
    #[must_use]
    pub fn new(outstanding_max: usize) -> IdentityQuotas {
        IdentityQuotas {
            outstanding_max,
            counts: Mutex::default(),
        }
    }

    /// Returns the quota of an identity for one connection. Takes a lock, once per bind.
    pub(super) fn quota(&self, name: &str) -> IdentityQuota {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counts.get(name).and_then(Weak::upgrade);
        let count = known.unwrap_or_else(|| {
            if counts.len() == counts.capacity() {
                // Drop identities without connections before the table grows.
                counts.retain(|_, count| count.strong_count() > 0);
            }
            let count = Arc::default();
            counts.insert(name.to_owned(), Arc::downgrade(&count));
            count
        });
        IdentityQuota {
            count,
            reported: 0,
            max: self.outstanding_max,
        }
    }
}

/// The part of one connection in the count of its identity, subtracted again on drop.
#[derive(Debug)]
pub(super) struct IdentityQuota {
    count: Arc<AtomicUsize>,
    reported: usize,
    max: usize,
}

impl IdentityQuota {
    /// Reports the outstanding requests of the connection.
    pub(super) fn report(&mut self, outstanding: usize) {
        if outstanding > self.reported {
            self.count
                .fetch_add(outstanding - self.reported, Ordering::Relaxed);
        } else if outstanding < self.reported {
            self.count
                .fetch_sub(self.reported - outstanding, Ordering::Relaxed);
        }
        self.reported = outstanding;
    }

    /// Returns true if the identity has no room for another request. `outstanding` is the current
    /// count of this connection.
    pub(super) fn is_full(&self, outstanding: usize) -> bool {
        let others = self
            .count
            .load(Ordering::Relaxed)
            .saturating_sub(self.reported);
        others.saturating_add(outstanding) >= self.max
    }
}

impl Drop for IdentityQuota {
    fn drop(&mut self) {
        self.report(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_an_identity_share_a_quota() {
        let identities = IdentityQuotas::new(10);
        let (mut one, mut two) = (identities.quota("cn=a"), identities.quota("cn=a"));
        one.report(6);
        assert!(!two.is_full(3));
        assert!(two.is_full(4));
        assert!(!identities.quota("cn=b").is_full(9));
        one.report(2);
        two.report(4);
        assert!(!one.is_full(5));
        assert!(one.is_full(6));
        drop(two);
        assert!(!one.is_full(9));
    }

    #[test]
    fn identities_without_connections_are_dropped() {
        let identities = IdentityQuotas::new(1);
        for number in 0..1000 {
            identities.quota(&number.to_string()).report(1);
        }
        let counts = identities.counts.lock().unwrap();
        assert!(counts.len() < 10, "{}", counts.len());
    }
}
