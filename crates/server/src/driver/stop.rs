//! Stop requests for a running server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use mio::{Token, Waker};

/// The token of a stop handle's waker in the acceptor's event loop.
pub(crate) const STOP: Token = Token(0);

/// Stops a server, from any thread; clones stop the same one.
#[derive(Debug, Clone)]
pub struct StopHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requested: AtomicBool,
    panicked: OnceLock<&'static str>,
    waker: Waker,
}

impl StopHandle {
    pub(crate) fn new(waker: Waker) -> Self {
        StopHandle(Arc::new(Inner {
            requested: AtomicBool::new(false),
            panicked: OnceLock::new(),
            waker,
        }))
    }

    /// Asks the server to finish running operations and end, as SIGTERM does. A second call ends it
    /// at once.
    pub fn stop(&self) {
        self.0.requested.store(true, Ordering::Release);
        if let Err(error) = self.0.waker.wake() {
            tracing::error!("cannot wake the acceptor: {error}");
        }
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.0.requested.load(Ordering::Acquire)
    }

    /// Returns the thread that panicked, if any.
    pub(crate) fn panicked(&self) -> Option<&'static str> {
        self.0.panicked.get().copied()
    }

    /// Returns a guard that stops the server if its thread panics, because half a server is worse
    /// than none.
    pub(crate) fn on_panic(&self, thread: &'static str) -> PanicGuard {
        PanicGuard {
            stop: self.clone(),
            thread,
        }
    }
}

pub(crate) struct PanicGuard {
    stop: StopHandle,
    thread: &'static str,
}

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.stop.0.panicked.set(self.thread);
            self.stop.stop();
        }
    }
}
