//! The walk over the trees of a snapshot that the map lends.
//!
//! ```text
//!   free-list tree ----> overflow runs of its records
//!   main tree ---------> overflow runs of values
//!       |--------------> named trees ----> overflow runs, trees of duplicates
//!       '--------------> trees of duplicates
//! ```
//!
//! [`TreeRole`] says what the leaves of a tree may refer to. [`visit_tree`] is the one visitor. It
//! serves the set of reached pages, the compact copy, its page count and the free-list count.
//!
//! Three walks have their own loop and share the roles only:
//!
//! - `shrink::resumable_walk` stops after some leaves, continues in a later snapshot, and changes
//!   the pages on its path. A visitor that calls back cannot be suspended.
//! - `check::tree` reports damage and goes on. It reads the file, which no snapshot need describe.
//! - `salvage::walk` distrusts depth, separators and claims, and reads a page again at another
//!   position of the tree.

mod role;
mod visitor;

#[cfg(feature = "std")]
pub(super) use role::VALUE_TREE;
pub(super) use role::{TreeRole, has_reference, referenced_tree};
pub(super) use visitor::{References, RunReference, TreePage, TreeVisitor, visit_tree};
