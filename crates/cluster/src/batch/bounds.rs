//! The bounds and the version of the format.

/// Greatest size of a batch in bytes. etcd refuses 1,572,864 with its overhead.
pub const BATCH_BYTES_MAX: usize = 1_000_000;

/// Greatest size of a value inside a batch, in bytes. Longer ones are parts outside.
pub const INLINE_VALUE_BYTES_MAX: usize = 256 * 1024;

/// The newest version that this program reads and writes.
pub const VERSION_NEWEST: u16 = 1;
