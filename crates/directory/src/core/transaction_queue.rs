//! The updates of a client's transaction that wait for its end (RFC 5805).

use std::sync::{Arc, Mutex, PoisonError};

use fulgurite_ldap::{LdapResult, ResultCode, UpdateBuf};

use crate::core::result::refuse;

/// The number of updates that one transaction holds at most.
const UPDATES_MAX: usize = 10_000;

/// The bytes of updates that one transaction holds at most.
const BYTES_MAX: usize = 16 << 20;

/// A transaction that has begun; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    updates: Vec<UpdateBuf>,
    bytes: usize,
}

impl PartialEq for Transaction {
    fn eq(&self, other: &Transaction) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Transaction {}

impl Transaction {
    /// Queues an update. Returns false if there is no room for it.
    pub(crate) fn push(&self, update: UpdateBuf) -> bool {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.updates.len() >= UPDATES_MAX || queue.bytes + update.bytes() > BYTES_MAX {
            return false;
        }
        queue.bytes += update.bytes();
        queue.updates.push(update);
        debug_assert!(queue.updates.len() <= UPDATES_MAX && queue.bytes <= BYTES_MAX);
        true
    }

    pub(crate) fn take(&self) -> Vec<UpdateBuf> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *queue).updates
    }
}

/// Returns the refusal of an identifier that names no transaction of the connection.
pub(crate) fn unknown_transaction() -> LdapResult {
    refuse(
        ResultCode::TransactionIdInvalid,
        "invalid transaction identifier",
    )
}
