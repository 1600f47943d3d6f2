//! Building and removing indexes while the store is in use.
//!
//! A request is recorded at once. The work is done in steps, each a write transaction of bounded
//! size. Between the steps other writers get their turn, and searches continue. Every writer adds
//! its changes to an index from the moment the index is recorded. Older entries are added step by
//! step. So an entry may be added twice, which does no harm, and none is missed. The progress is
//! part of each step's transaction. After an interruption or a crash, any process continues from
//! there.

mod request;
mod status;
mod step;

pub use status::{IndexStatus, IndexWork};
pub use step::IndexProgress;

#[cfg(test)]
mod tests;
