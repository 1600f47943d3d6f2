//! How much one identity has outstanding, on all its connections together.
//!
//! Connections tell at the end of their turns what they have left undone. Who asks and waits has nothing left by then, so
//! the usual case writes nothing that other threads read.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The identities that are bound, and what each has outstanding.
#[derive(Debug)]
pub struct IdentityQuotas {
    outstanding_max: usize,
    counts: Mutex<HashMap<String, Weak<AtomicUsize>>>,
}

impl IdentityQuotas {
    /// No identity may have more than `outstanding_max` requests outstanding.
    #[must_use]
    pub fn new(outstanding_max: usize) -> IdentityQuotas {
        IdentityQuotas {
            outstanding_max,
            counts: Mutex::default(),
        }
    }

    /// The share of one connection of an identity. Takes a lock: once per bind.
    pub(super) fn share(&self, name: &str) -> IdentityQuota {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counts.get(name).and_then(Weak::upgrade);
        let count = known.unwrap_or_else(|| {
            if counts.len() == counts.capacity() {
                // Before it grows: those that nobody is bound as any more.
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

/// What one connection adds to its identity's count; taken off again when it is dropped.
#[derive(Debug)]
pub(super) struct IdentityQuota {
    count: Arc<AtomicUsize>,
    told: usize,
    max: usize,
}

impl IdentityQuota {
    /// Tells how much the connection has outstanding.
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

    /// Whether the identity has no room for another request, where this connection has so many outstanding now.
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
