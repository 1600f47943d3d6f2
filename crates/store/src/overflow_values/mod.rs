//! Overflow values: the values of attributes with many values, stored in rows outside the record.
//!
//! ```text
//! record of the group    ... | member: 100,000 overflow values | ...
//!
//! values   entry, member, 0, block number  ->  some forty values, in the order of insertion
//!          entry, member, 1, hash          ->  numbers of the blocks with a value of this hash
//! ```
//!
//! A new value is written behind the last block. A removed value is found by its hash. Either
//! changes a few pages, however many values there are. Readers see one list:
//! [`Values`](crate::Values) reads block after block. The hash is one of the normal form, as values
//! are equal if their normal forms are.

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
