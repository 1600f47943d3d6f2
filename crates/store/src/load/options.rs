//! Settings, progress and result of a load.

use std::path::PathBuf;
use std::thread;

/// Settings of a load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Memory for sorting, in bytes. A load needs some forty bytes per entry in addition, and
    /// memory for the parts under way.
    pub memory_bytes: usize,
    /// Directory of temporary files; `None` means the store's directory.
    pub temporary_dir: Option<PathBuf>,
    /// Number of threads that prepare entries and sort. The result does not depend on it. `None`
    /// means the number of processors.
    pub threads: Option<usize>,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            memory_bytes: 512 << 20,
            temporary_dir: None,
            threads: None,
        }
    }
}

impl LoadOptions {
    pub(super) fn thread_count(&self) -> usize {
        let available = || thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(available).max(1)
    }
}

/// The progress of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// This number of entries has been loaded.
    Entries(u64),
    /// Names are being written.
    Names,
    /// Indexes are being written.
    Indexes,
    /// The transaction is being committed.
    Commit,
}

/// The result of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// Entries loaded.
    pub entries: u64,
}
