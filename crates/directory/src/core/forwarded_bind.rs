//! The bind state that a bind has changed, for the server that a copy's updates go to.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fulgurite_ldap::ModifyOperation;

/// The time that the answer to a bind waits for the other server.
const ANSWER_WAIT: Duration = Duration::from_secs(1);

/// The changes of one bind.
#[derive(PartialEq, Eq)]
pub(crate) struct ForwardedBind {
    /// The name that was bound.
    pub(crate) dn: String,
    pub(crate) changes: Vec<ForwardedChange>,
    /// Dropped when nobody sends the changes any more.
    pub(crate) receipt: DeliveryReceipt,
}

/// The state that the binds at one copy share while they are on their way to another server.
#[derive(Debug, Default)]
pub(crate) struct ForwardedBinds {
    /// True if that server was too late for a bind, and has answered none since then.
    is_late: AtomicBool,
}

/// The way of one bind to another server, seen by the thread that answers the bind.
#[derive(Debug)]
pub(crate) struct BindDelivery {
    binds: Arc<ForwardedBinds>,
    since: Instant,
    is_over: Mutex<bool>,
    over: Condvar,
}

/// Ends a delivery: with the answer of the other server, or when it is dropped.
#[derive(Debug)]
pub(crate) struct DeliveryReceipt(Arc<BindDelivery>);

impl BindDelivery {
    /// Begins a delivery.
    pub(crate) fn begin(binds: Arc<ForwardedBinds>) -> (Arc<BindDelivery>, DeliveryReceipt) {
        let delivery = Arc::new(BindDelivery {
            binds,
            since: Instant::now(),
            is_over: Mutex::default(),
            over: Condvar::new(),
        });
        let receipt = DeliveryReceipt(Arc::clone(&delivery));
        (delivery, receipt)
    }

    /// Waits until the other server has answered, but not long. After it was too late once, nobody
    /// waits until it has answered a bind.
    pub(crate) fn wait(&self) {
        self.wait_for(ANSWER_WAIT);
    }

    fn wait_for(&self, time: Duration) {
        if self.binds.is_late.load(Ordering::Relaxed) {
            return;
        }
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .over
            .wait_timeout_while(is_over, time, |is_over| !*is_over);
        let (is_over, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !*is_over {
            self.binds.is_late.store(true, Ordering::Relaxed);
        }
    }

    fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.notify_all();
    }
}

impl DeliveryReceipt {
    /// Notes that the other server has answered. One that always answers late stays late.
    pub(crate) fn answered(&self) {
        if self.0.since.elapsed() < ANSWER_WAIT {
            self.0.binds.is_late.store(false, Ordering::Relaxed);
        }
        self.0.end();
    }
}

impl Drop for DeliveryReceipt {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl PartialEq for DeliveryReceipt {
    fn eq(&self, other: &DeliveryReceipt) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for DeliveryReceipt {}

/// A change of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForwardedChange {
    pub(crate) operation: ModifyOperation,
    pub(crate) attribute: String,
    pub(crate) values: Vec<Vec<u8>>,
}

impl fmt::Debug for ForwardedBind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attributes = self.changes.iter().map(|change| &change.attribute);
        f.debug_struct("ForwardedBind")
            .field("dn", &self.dn)
            .field("changes", &attributes.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl ForwardedChange {
    /// Makes the change of an attribute from its values before to those after a bind.
    ///
    /// If values have only been added, those that another server has recorded stay.
    pub(crate) fn new(
        (attribute, is_single): (String, bool),
        before: &[Vec<u8>],
        after: Vec<Vec<u8>>,
    ) -> ForwardedChange {
        let has_all = before.iter().all(|value| after.contains(value));
        let is_addition = !is_single && has_all && after.len() > before.len();
        let mut values = after;
        if is_addition {
            values.retain(|value| !before.contains(value));
        }
        ForwardedChange {
            operation: match is_addition {
                true => ModifyOperation::Add,
                // Without values, it removes those that there may be, and never fails.
                false => ModifyOperation::Replace,
            },
            attribute,
            values,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bind_waits_for_the_other_server_but_not_long() {
        // Longer than any test takes.
        let forever = Duration::from_secs(10_000);
        let binds = Arc::<ForwardedBinds>::default();
        let begin = || BindDelivery::begin(Arc::clone(&binds));
        let (answered, receipt) = begin();
        std::thread::scope(|scope| {
            scope.spawn(|| receipt.answered());
            answered.wait_for(forever);
        });
        let (unsent, receipt) = begin();
        drop(receipt);
        unsent.wait_for(forever);
        let (late, late_receipt) = begin();
        late.wait_for(Duration::from_millis(1));
        // Nobody waits for a server that was late.
        let (next, _receipt) = begin();
        next.wait_for(forever);
        assert!(binds.is_late.load(Ordering::Relaxed));
        late_receipt.answered();
        assert!(!binds.is_late.load(Ordering::Relaxed), "it is back");
    }

    #[test]
    fn a_new_value_is_added_and_all_else_is_replaced() {
        let values = |words: &[&str]| -> Vec<Vec<u8>> {
            words.iter().map(|word| word.as_bytes().to_vec()).collect()
        };
        for (is_single, before, after, operation, sent) in [
            (
                false,
                &["a"][..],
                &["a", "b"][..],
                ModifyOperation::Add,
                &["b"][..],
            ),
            (false, &[], &["a"], ModifyOperation::Add, &["a"]),
            (
                false,
                &["a", "b"],
                &["b", "c"],
                ModifyOperation::Replace,
                &["b", "c"],
            ),
            (false, &["a"], &[], ModifyOperation::Replace, &[]),
            (true, &[], &["a"], ModifyOperation::Replace, &["a"]),
        ] {
            let attribute = ("x".to_owned(), is_single);
            let change = ForwardedChange::new(attribute, &values(before), values(after));
            assert_eq!(change.operation, operation, "{before:?} {after:?}");
            assert_eq!(change.values, values(sent), "{before:?} {after:?}");
        }
    }
}
