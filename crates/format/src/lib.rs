//! Layout of data and lock files as checked views over bytes: LMDB 0.9's format, as [`layout`]
//! describes it.
//!
//! ```text
//!   page 0, 1     meta pages      Meta, TreeRecord
//!   page 2 ..     tree pages      Page (read), PageMut (change), LeafNode, child numbers
//!                 overflow runs   OverflowHeader
//!   free list     records         FreeRecord
//!   lock file     words           lockfile::*
//! ```
//!
//! Every view checks the data that it returns: contradictory bytes give a [`Malformed`] value,
//! never a panic. Numbers in which a second version of the format would differ are in [`layout`]
//! only.
//!
//! This crate does no I/O, holds no state and knows no transactions.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod bytes;
mod checks;
mod flags;
mod free_record;
pub mod layout;
pub mod lockfile;
mod malformed;
mod meta;
mod node;
mod numbers;
mod overflow;
mod page;
mod page_copy;
mod page_fast;
mod page_mut;
mod search;
mod sub_page;
#[cfg(test)]
mod tests;
mod tree_record;

pub use flags::{DatabaseFlags, NodeFlags, PageFlags};
pub use free_record::FreeRecord;
pub use layout::{KEY_LEN_MAX, PAGE_SIZE_MAX, PAGE_SIZE_MIN};
pub use malformed::Malformed;
pub use meta::{META_PAGES, Meta, MetaError};
pub use numbers::{Pgno, Txnid};
pub use overflow::{OverflowHeader, overflow_pages, write_overflow_header};
pub use page::{LeafNode, Page, PageHeader, PageKind};
pub use page_copy::{copy_used, copy_without_gap, parts_in_use, wipe_gap};
pub use page_mut::{NodeValue, PageMut};
pub use search::LexicalKey;
pub use sub_page::{new_sub_page, sub_page_len, sub_page_with, sub_page_without};
pub use tree_record::{DEPTH_MAX, TREE_RECORD_LEN, TreeRecord};
