//! Sets of entry ids: chunks of 2^13 ids, each an array, a bitmap or runs, whichever is shortest.
//!
//! ```text
//! posting of uid=jane    key "uid = jane" + chunk 0  ->  array [17]
//! posting of person      key "... person" + chunk 0  ->  runs  [1..=8191]
//!                        key "... person" + chunk 1  ->  runs  [0..=4711]
//! ```
//!
//! A chunk has 2^13 ids rather than Roaring's 2^16. A bitmap is then 1 KiB: several chunks share a
//! leaf page, and an update rewrites a part of one page. A bitmap of 2 KiB with its key would
//! exceed the engine's limit for a page. It would take an overflow page.
//!
//! A set that comes from the index is never read as a whole. A plan is evaluated one chunk at a
//! time, on [`Bitmap`].

mod bitmap;
mod chunk;
mod edit;
mod encode;
mod form;
mod id_set;
mod members;
mod position;

pub(crate) use bitmap::Bitmap;
pub(crate) use chunk::Chunk;
pub(crate) use edit::edit;
#[cfg(test)]
pub(crate) use encode::encode;
pub(crate) use encode::encode_sorted;
pub(crate) use id_set::IdSet;
pub(crate) use members::Members;
pub(crate) use position::{join, split};

#[cfg(test)]
mod tests;
