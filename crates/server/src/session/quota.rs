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
    pub(super) fn share(&self, name: &str) -> IdentityQuota {
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
            told: 0,
            max: self.outstanding_max,
        }
    }
}

/// The part of one connection in the count of its identity, subtracted again on drop.
#[derive(Debug)]
pub(super) struct IdentityQuota {
    count: Arc<AtomicUsize>,
    told: usize,
    max: usize,
}

impl IdentityQuota {
    /// Reports the outstanding requests of the connection.
    pub(super) fn tell(&mut self, outstanding: usize) {
        if outstanding > self.told {
            self.count
                .fetch_add(outstanding - self.told, Ordering::Relaxed);
        } else if outstanding < self.told {
            self.count
                .fetch_sub(self.told - outstanding, Ordering::Relaxed);
        }
        self.told = outstanding;
    }

    /// Returns true if the identity has no room for another request. `outstanding` is the current
    /// count of this connection.
    pub(super) fn is_full(&self, outstanding: usize) -> bool {
        let others = self.count.load(Ordering::Relaxed).saturating_sub(self.told);
        others.saturating_add(outstanding) >= self.max
    }
}

impl Drop for IdentityQuota {
    fn drop(&mut self) {
        self.tell(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_an_identity_add_up() {
        let identities = IdentityQuotas::new(10);
        let (mut one, mut two) = (identities.share("cn=a"), identities.share("cn=a"));
        one.tell(6);
        assert!(!two.is_full(3));
        assert!(two.is_full(4));
        assert!(!identities.share("cn=b").is_full(9));
        one.tell(2);
        two.tell(4);
        assert!(!one.is_full(5));
        assert!(one.is_full(6));
        drop(two);
        assert!(!one.is_full(9));
    }

    #[test]
    fn identities_that_are_gone_are_forgotten() {
        let identities = IdentityQuotas::new(1);
        for number in 0..1000 {
            identities.share(&number.to_string()).tell(1);
        }
        let counts = identities.counts.lock().unwrap();
        assert!(counts.len() < 10, "{}", counts.len());
    }
}
