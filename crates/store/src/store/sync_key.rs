//! The keys of a consumer's rows.

/// The rows are among those of the store's description, with another prefix.
pub(crate) const PREFIX: &[u8] = b"sync/";

/// Returns the key of a row in the database of the description.
pub(crate) fn sync_key(key: &[u8]) -> Vec<u8> {
    [PREFIX, key].concat()
}
