//! The thread that removes expired and flushed items while no client writes.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::commit::{Committer, seconds_now};
use crate::cache::changes::Changes;

/// Items that one transaction removes or looks at. A client's change waits for no longer.
const BATCH: usize = 128;

/// The pause between two looks, and between two batches of one look.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
const BATCH_INTERVAL: Duration = Duration::from_millis(5);

/// Sweeps until the channel closes.
pub(super) fn run(committer: Committer<'_>, stop: &Receiver<()>) {
    let mut pause = LOOK_INTERVAL;
    while stop.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        pause = match sweep(committer) {
            Ok(true) => BATCH_INTERVAL,
            Ok(false) => LOOK_INTERVAL,
            Err(error) => {
                tracing::warn!("cannot remove expired items: {error}");
                LOOK_INTERVAL
            }
        };
    }
}

/// Sweeps one batch. Returns true if there was something to do.
fn sweep(committer: Committer<'_>) -> Result<bool, fulgurite::Error> {
    let Committer {
        cache,
        server,
        counters,
    } = committer;
    let now_s = seconds_now();
    if !cache.needs_sweep(now_s)? {
        return Ok(false);
    }
    let mut changes = Changes::begin(cache, server.value_max, now_s)?;
    changes.use_reserve();
    changes.flush_if_due()?;
    let expired = changes.sweep_expired(BATCH)?;
    changes.sweep_flushed(BATCH)?;
    changes.commit()?;
    counters.reclaimed.add(expired as u64);
    Ok(true)
}
