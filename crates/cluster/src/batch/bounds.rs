//! The bounds and the versions of the format.

/// Greatest size of a batch with several updates, in bytes, and of each batch of format 1. etcd
/// refuses 1,572,864 with its overhead.
pub const BATCH_BYTES_MAX: usize = 1_000_000;

/// Greatest size of a batch with one update, in bytes, from format 2 on. The log keeps it in parts.
pub const LONG_BATCH_BYTES_MAX: usize = 16 << 20;

/// Greatest size of a value inside a batch of format 1, in bytes.
pub const INLINE_VALUE_BYTES_MAX: usize = 256 * 1024;

/// The oldest version that this program reads and writes.
pub const VERSION_OLDEST: u16 = 1;

/// The newest version that this program reads and writes.
pub const VERSION_NEWEST: u16 = 2;

/// Returns true if batches of a version name the requests that they settle.
pub(crate) const fn has_requests(version: u16) -> bool {
    version >= 2
}

/// Returns the greatest size of a batch of a version.
pub(crate) const fn batch_bytes_max(version: u16) -> usize {
    match version {
        VERSION_OLDEST => BATCH_BYTES_MAX,
        _ => LONG_BATCH_BYTES_MAX,
    }
}

/// Returns the greatest size of a value inside a batch of a version.
pub(super) const fn value_bytes_max(version: u16) -> usize {
    match version {
        VERSION_OLDEST => INLINE_VALUE_BYTES_MAX,
        _ => LONG_BATCH_BYTES_MAX,
    }
}
