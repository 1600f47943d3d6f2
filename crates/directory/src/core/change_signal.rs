//! Wakes searches that wait for changes, after a commit.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A function that wakes the searches of one thread.
pub type ChangeListener = Box<dyn Fn() + Send + Sync>;

/// Wakes searches that wait for changes. The directory of the next configuration shares it.
#[derive(Default)]
pub(crate) struct ChangeSignal {
    shared: Arc<Shared>,
    /// The number of the configuration whose directory holds this value.
    generation: usize,
}

#[derive(Default)]
struct Shared {
    /// The number of searches in the persist stage.
    searches: AtomicUsize,
    /// The number of the configuration in force.
    generation: AtomicUsize,
    listeners: Mutex<Vec<ChangeListener>>,
}

/// A search in the persist stage.
pub(crate) struct WaitingSearch {
    shared: Arc<Shared>,
    /// The number of the configuration that it reads.
    generation: usize,
}

impl ChangeSignal {
    /// Returns the signal for the directory of the next configuration.
    pub(crate) fn next(&self) -> ChangeSignal {
        ChangeSignal {
            shared: Arc::clone(&self.shared),
            generation: self.generation + 1,
        }
    }

    /// Adds a function to call after each commit. It must be fast, and must not wait.
    pub(crate) fn listen(&self, listener: ChangeListener) {
        self.listeners().push(listener);
    }

    /// Calls the listeners if a search waits.
    pub(crate) fn committed(&self) {
        if self.searches() > 0 {
            self.listeners().iter().for_each(|listener| listener());
        }
    }

    /// Notes that this configuration is in force. Searches of older ones end.
    pub(crate) fn replaced(&self) {
        let generation = self.generation;
        self.shared
            .generation
            .fetch_max(generation, Ordering::SeqCst);
        self.committed();
    }

    /// Registers a search that will wait. It reads the configuration of this signal, even if the
    /// next one has come into force before this call.
    pub(crate) fn register(&self) -> WaitingSearch {
        self.shared.searches.fetch_add(1, Ordering::SeqCst);
        WaitingSearch {
            shared: Arc::clone(&self.shared),
            generation: self.generation,
        }
    }

    /// Returns the number of searches in the persist stage.
    pub(crate) fn searches(&self) -> usize {
        self.shared.searches.load(Ordering::SeqCst)
    }

    fn listeners(&self) -> std::sync::MutexGuard<'_, Vec<ChangeListener>> {
        let listeners = self.shared.listeners.lock();
        listeners.unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingSearch {
    /// Returns true if a newer configuration than that of the search is in force.
    pub(crate) fn is_outdated(&self) -> bool {
        self.generation < self.shared.generation.load(Ordering::SeqCst)
    }
}

impl Drop for WaitingSearch {
    fn drop(&mut self) {
        self.shared.searches.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_of_the_configuration_that_it_reads() {
        let first = ChangeSignal::default();
        let second = first.next();
        let (early, of_second) = (first.register(), second.register());
        assert!(!early.is_outdated() && !of_second.is_outdated());
        second.replaced();
        // It has read the first configuration, but registers only now.
        let late = first.register();
        assert!(early.is_outdated() && late.is_outdated());
        assert!(!of_second.is_outdated());
        drop((early, late));
        assert_eq!(second.searches(), 1);
    }
}
