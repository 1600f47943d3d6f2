//! The tree of names: from a parent and an RDN to a child.
//!
//! ```text
//! key    parent id u64 | hash of the RDN's normal form u64      both big-endian
//! value  list of { child id u64 | length u32 | normal form }    little-endian; longer than one only on a collision
//! ```
//!
//! There is no limit to an RDN's length. The way up, from a child to its parent and its RDN, is in the child's
//! record. A rename therefore touches one list here and one record, whatever hangs below the entry.

mod counts;
mod dn_cache;
mod list;

pub(crate) use counts::Counts;
pub use dn_cache::DnCache;
pub(crate) use list::{List, find, with, without};

use crate::ids::EntryId;

/// More levels than any name can have: where climbing stops on a damaged, circular chain.
pub(crate) const DEPTH_MAX: usize = 1 << 16;

/// Key of the list that holds a child of this name.
pub(crate) fn key(parent: EntryId, rdn_hash: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let (head, tail) = key.split_at_mut(8);
    head.copy_from_slice(&parent.key());
    tail.copy_from_slice(&rdn_hash.to_be_bytes());
    key
}

/// Whether a key is of a list of children of `parent`.
pub(crate) fn is_child_of(key: &[u8], parent: EntryId) -> bool {
    key.starts_with(&parent.key())
}
