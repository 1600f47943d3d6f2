//! B+trees over numbered pages.
//!
//! ```text
//!   search  key -> leaf        insert -> split -> insert one level up
//!   walk    leaf -> neighbour  delete -> rebalance -> delete one level up
//! ```
//!
//! Everything here is written against two small traits: give me page n, and give me page n to
//! change. A map with a transaction's private pages implements them, and so does a plain vector in
//! tests.

mod delete;
mod descriptor;
mod insert;
mod items;
mod pages;
mod path;
mod search;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use delete::{clear, remove, remove_plain};
pub(crate) use descriptor::Tree;
pub(crate) use insert::{insert, replace};
pub(crate) use pages::{Pages, PagesMut};
pub(crate) use path::{Path, Step, leaf_of};
pub(crate) use search::{
    child_at, find, find_fast, leaf_for, lower_bound, prefetch_probes, seek, touch_path,
};
pub(crate) use walk::{
    LeafStep, first, last, leaf_after, leaf_before, leaves_after, next, next_leaf, prefetch_leaf,
    previous, previous_leaf, settle,
};
