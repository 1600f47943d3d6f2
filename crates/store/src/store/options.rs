//! Settings of a store.

use crate::index::IndexSpec;
use fulgurite::Durability;

/// How to create or open a store.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// Names of the topmost entries, as text. On opening, none means those stored.
    pub suffixes: Vec<String>,
    /// What to index. On creation, `None` means [`IndexSpec::defaults`]. On opening, `None` means the indexes that
    /// the store has; others than those are asked for, as [`Store::request_indexes`] does, unless it is opened read-only.
    pub indexes: Option<Vec<IndexSpec>>,
    /// Open without the right to write: works beside a running server.
    pub read_only: bool,
    /// When commits reach the disk.
    pub durability: Option<Durability>,
    /// Upper bound of the number of views held at once; the engine's default when `None`.
    pub readers_max: Option<u32>,
    /// Upper bound of the file in bytes; the engine's default when `None`.
    pub map_bytes_max: Option<u64>,
    /// Permissions of files that are made, before the process's mask; the engine's default when `None`.
    pub file_mode: Option<u32>,
    /// Bytes of one entry's record at most, see [`Store::limit_entries`]; no bound when `None`.
    pub entry_bytes_max: Option<u64>,
    /// Makes RDN hashes collide, for tests.
    #[doc(hidden)]
    pub rdn_hash_bits_ignored: u64,
    /// Lets attributes of more than so many values lie apart, for tests.
    #[doc(hidden)]
    pub inline_values_max: Option<usize>,
}
