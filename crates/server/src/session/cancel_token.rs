//! A token that decides between the cancellation and the start of a queued update.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

/// The writer gets the token with an update, and the connection keeps a clone. The first of the two
/// to change it decides.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicU8>);

impl CancelToken {
    /// Marks the update as begun, for the writer. Returns false if the connection has withdrawn it.
    #[must_use]
    pub fn begin(&self) -> bool {
        self.move_on(BEGUN)
    }

    /// Returns true if the writer has not begun the update.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.0.load(Ordering::Acquire) == QUEUED
    }

    /// Returns true if the connection has withdrawn the update. Only the thread of the connection
    /// may ask, because only that thread withdraws.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::Acquire) == WITHDRAWN
    }

    /// Withdraws the update, for the connection. Returns false if the writer was faster.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        self.move_on(WITHDRAWN)
    }

    fn move_on(&self, to: u8) -> bool {
        self.0
            .compare_exchange(QUEUED, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
