//! From base, scope and filter to candidate entries.
//!
//! ```text
//! filter --build--> Term: postings, few ids, and/or/not     each with its exact size
//! scope  --------->   a few ids | the children | all of the subtree | a test per candidate
//!                         |
//!                     Candidates: one chunk of 2^13 ids at a time, ascending
//! ```
//!
//! Candidates always include every entry that matches. They are *exact* if they include no other
//! entry, and then the filter need not be tested.

mod builder;
mod candidates;
mod common;
mod explain;
mod intersection;
mod items;
mod listing;
mod missing_indexes;
mod planning;
mod scope;
mod search_scope;
mod sole_owner;
mod term;
mod term_plan;

pub use candidates::Candidates;
pub use planning::Planning;
pub(crate) use planning::plan;
pub use search_scope::Scope;
pub use sole_owner::{SoleOwner, WantedValue};

#[cfg(test)]
mod tests;
