//! Keys of the tree of names.

use crate::ids::EntryId;

/// Levels of a name at most. Climbing stops there on a damaged, circular chain of parents.
pub(crate) const DEPTH_MAX: usize = 1 << 16;

/// Returns the key of the list that contains a child of this name.
pub(crate) fn key(parent: EntryId, rdn_hash: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let (head, tail) = key.split_at_mut(8);
    head.copy_from_slice(&parent.key());
    tail.copy_from_slice(&rdn_hash.to_be_bytes());
    key
}

/// Returns true if the key is of a list of children of `parent`.
pub(crate) fn is_child_of(key: &[u8], parent: EntryId) -> bool {
    key.starts_with(&parent.key())
}
