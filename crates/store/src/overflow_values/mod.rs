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
mod hash;
mod key;
mod rows;
mod split;

pub(crate) use block::Block;
pub(crate) use hash::{hash, hashed, same_as};
pub(crate) use key::{RowKind, of_block, parse_key};
pub(crate) use rows::{RemovedValue, ValueRows, clear_entry, each_row};
pub(crate) use split::{INLINE_MAX, split};

#[cfg(test)]
mod tests;
