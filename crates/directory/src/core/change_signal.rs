//! Wakes searches that wait for changes, after a commit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A function that wakes the searches of one thread.
pub type ChangeListener = Box<dyn Fn() + Send + Sync>;

/// Wakes searches that wait for changes. Clones are the same one; the directory of the next
/// configuration shares it.
#[derive(Clone, Default)]
pub(crate) struct ChangeSignal(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The number of searches in the persist stage.
    searches: AtomicUsize,
    /// The number of configurations that have been replaced.
    generation: AtomicUsize,
    listeners: Mutex<Vec<ChangeListener>>,
}

/// A search in the persist stage.
pub(crate) struct WaitingSearch {
    signal: ChangeSignal,
    generation: usize,
}

impl ChangeSignal {
    /// Adds a function to call after each commit. It must be fast, and must not wait.
    pub(crate) fn listen(&self, listener: ChangeListener) {
        self.listeners().push(listener);
    }

    /// Calls the listeners if a search waits.
    pub(crate) fn committed(&self) {
        if self.0.searches.load(Ordering::SeqCst) > 0 {
            self.listeners().iter().for_each(|listener| listener());
        }
    }

    /// Notes that another configuration is in force. Searches of older ones end.
    pub(crate) fn replaced(&self) {
        self.0.generation.fetch_add(1, Ordering::SeqCst);
        self.committed();
    }

    /// Registers a search that will wait.
    pub(crate) fn register(&self) -> WaitingSearch {
        self.0.searches.fetch_add(1, Ordering::SeqCst);
        WaitingSearch {
            signal: self.clone(),
            generation: self.0.generation.load(Ordering::SeqCst),
        }
    }

    /// Returns the number of searches in the persist stage.
    pub(crate) fn searches(&self) -> usize {
        self.0.searches.load(Ordering::SeqCst)
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, Vec<ChangeListener>> {
        let listeners = self.0.listeners.lock();
        listeners.unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingSearch {
    /// Returns true if another configuration has come into force since.
    pub(crate) fn is_outdated(&self) -> bool {
        self.generation != self.signal.0.generation.load(Ordering::SeqCst)
    }
}

impl Drop for WaitingSearch {
    fn drop(&mut self) {
        self.signal.0.searches.fetch_sub(1, Ordering::SeqCst);
    }
}
