//! Sets of entry ids: chunks of 2^13 ids, each an array, a bitmap or runs, whichever is shortest.
//!
//! ```text
//! posting of uid=jane    key "uid = jane" + chunk 0  ->  array [17]
//! posting of person      key "... person" + chunk 0  ->  runs  [1..=8191]
//!                        key "... person" + chunk 1  ->  runs  [0..=4711]
//! ```
//!
//! 2^13 rather than Roaring's 2^16: a bitmap is then 1 KiB, so that every chunk lies inside a leaf page together
//! with others, and an update rewrites a part of one page. At 2 KiB a bitmap with its key would pass the engine's
//! limit for values on the page and take an overflow page for itself.
//!
//! Sets are never materialised as a whole when they come from the index: a plan is evaluated one chunk at a
//! time on [`Bitmap`].

mod bitmap;
mod chunk;
mod edit;
mod encode;
mod id_set;
mod position;

pub(crate) use bitmap::Bitmap;
pub(crate) use chunk::Chunk;
pub(crate) use edit::edit;
#[cfg(test)]
pub(crate) use encode::encode;
pub(crate) use encode::encode_sorted;
pub(crate) use id_set::IdSet;
pub(crate) use position::{join, split};

#[cfg(test)]
mod tests;
