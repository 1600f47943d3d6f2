//! Settings of a store.

use crate::index::IndexSpec;
use fulgurite::Durability;

/// Settings for creating and opening a store.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// Names of the topmost entries, as text. An empty list on opening means the stored ones.
    pub suffixes: Vec<String>,
    /// The indexes. On creation, `None` means [`IndexSpec::defaults`]. On opening, `None` means the
    /// indexes of the store. Others are requested as by
    /// [`Store::request_indexes`](crate::Store::request_indexes), unless the store is opened
    /// read-only.
    pub indexes: Option<Vec<IndexSpec>>,
    /// True to open without the right to write, which works while a server runs.
    pub read_only: bool,
    /// True to use no lock file, for a store that no process changes meanwhile.
    pub no_lock: bool,
    /// The time at which commits reach the disk.
    pub durability: Option<Durability>,
    /// Number of concurrent views at most; `None` means the engine's default.
    pub readers_max: Option<u32>,
    /// Size of the file in bytes at most; `None` means the engine's default.
    pub map_bytes_max: Option<u64>,
    /// Bytes of records that the log of changes keeps at most, see
    /// [`Store::limit_log`](crate::Store::limit_log); `None` means the default.
    pub log_bytes_max: Option<u64>,
    /// Permissions of new files, before the process's mask; `None` means the engine's default.
    pub file_mode: Option<u32>,
    /// Size of a record in bytes at most, see
    /// [`Store::limit_entries`](crate::Store::limit_entries); `None` means no limit.
    pub entry_bytes_max: Option<u64>,
    /// True to flush at checkpoints only, see [`fulgurite::OpenOptions::checkpoints`]. Then
    /// [`StoreOptions::durability`] means nothing.
    pub checkpoints: bool,
    /// The options of the engine that all others are added to, for tests.
    #[doc(hidden)]
    pub environment: Option<fulgurite::OpenOptions>,
    /// Makes RDN hashes collide, for tests.
    #[doc(hidden)]
    pub rdn_hash_bits_ignored: u64,
    /// Number of values above which an attribute overflows, for tests.
    #[doc(hidden)]
    pub inline_values_max: Option<usize>,
}
