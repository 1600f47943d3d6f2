//! Whether a queued update may still be taken back: one word between its connection and the writer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Goes to the writer with an update; its clone stays with the connection. Whichever of the two comes first decides.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicU8>);

impl CancelToken {
    /// The writer begins; false if the update is not wanted any more.
    #[must_use]
    pub fn begin(&self) -> bool {
        self.move_on(BEGUN)
    }

    /// Whether the connection has taken the update back. Nothing changes that answer while its thread asks.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.0.load(Ordering::Acquire) == WITHDRAWN
    }

    /// The connection takes the update back; false if the writer was faster.
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
