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
mod key;
mod list;

pub(crate) use counts::Counts;
pub use dn_cache::DnCache;
pub(crate) use key::{DEPTH_MAX, is_child_of, key};
pub(crate) use list::{NameList, find, with, without};
