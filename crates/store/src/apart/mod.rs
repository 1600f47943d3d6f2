//! Attributes of many values: their values lie apart from the record, in rows of their own.
//!
//! ```text
//! record of the group    ... | member: apart, 100,000 values | ...
//!
//! values   entry, member, 0, block number  ->  some forty values, in the order in which they came
//!          entry, member, 1, hash          ->  numbers of the blocks that hold a value of this hash
//! ```
//!
//! So a value that comes is written behind the last block, one that goes is found by its hash, and either touches a
//! few pages however many values there are. Readers see one list: [`Values`](crate::Values) goes from block to block.
//! The hash is one of the value's normal form, for values are the same when their normal forms are.

mod block;
mod edit;
mod key;
mod split;

pub(crate) use block::Block;
pub(crate) use edit::{add, clear, clear_entry, holds, remove, rewrite, rows};
pub(crate) use key::{Row, of_block, parse_key};
pub(crate) use split::split;

use crate::bytes::stable_hash;
use crate::ids::{AttributeId, EntryId};
use fulgurite_schema::{AttributeIndex, Schema};

/// Attributes with more values than this lie apart, unless a store is made otherwise for tests.
pub(crate) const INLINE_MAX: usize = 256;

/// Where blocks come from: a state of the store.
pub(crate) trait Blocks {
    /// The first block of an attribute at or after a number. `None` behind the last one, and where something is
    /// damaged: then fewer values are found than the record says.
    fn block_from(
        &self,
        entry: EntryId,
        attribute: AttributeId,
        number: u32,
    ) -> Option<(u32, Block<'_>)>;
}

/// The entry that a record is of, and the state that it is seen in.
#[derive(Clone, Copy)]
pub(crate) struct Home<'a> {
    pub(crate) entry: EntryId,
    pub(crate) blocks: &'a dyn Blocks,
}

impl std::fmt::Debug for Home<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Home").field(&self.entry).finish()
    }
}

/// By which a value is found.
pub(crate) fn hash(schema: &Schema, attribute: AttributeIndex, value: &[u8]) -> u64 {
    match schema.normal_value(attribute, value) {
        Some(normal) => stable_hash(&normal),
        None => stable_hash(value),
    }
}

#[cfg(test)]
mod tests;
