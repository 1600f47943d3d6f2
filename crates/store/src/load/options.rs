//! Settings, progress and result of a load.

use std::path::PathBuf;
use std::thread;

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// Memory for sorting, in bytes. Besides, some forty bytes per entry are needed, and the parts under way.
    pub memory_bytes: usize,
    /// Where temporary files go; the store's directory when `None`.
    pub temporary_dir: Option<PathBuf>,
    /// How many threads prepare entries and sort; what comes out does not depend on it. As many as there are processors
    /// when `None`.
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

/// What a load has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadProgress {
    /// So many entries have been taken in.
    Entries(u64),
    /// Names are being written.
    Names,
    /// Indexes are being written.
    Indexes,
    /// The transaction is being committed.
    Commit,
}

/// What a load has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// Entries loaded.
    pub entries: u64,
}
