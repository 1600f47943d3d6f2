//! The tree of names: from a parent and an RDN to a child.
//!
//! ```text
//! key    parent id u64 | hash of the RDN's normal form u64      both big-endian
//! value  list of { child id u64 | length u32 | normal form }    little-endian; several only on a collision
//! ```
//!
//! The length of an RDN has no limit. A child's record contains its parent and its RDN, for the way
//! up. So a rename changes one list here and one record, however many entries are below.

mod counts;
mod dn_cache;
mod key;
mod list;

pub(crate) use counts::Counts;
pub use dn_cache::DnCache;
pub(crate) use key::{DEPTH_MAX, is_child_of, key};
pub(crate) use list::{NameList, find, with, without};
