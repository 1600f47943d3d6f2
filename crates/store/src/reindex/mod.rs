//! Indexes made and unmade while the store is in use.
//!
//! What is asked for is recorded at once; then the work is done in steps, each a write transaction of bounded size,
//! between which other writers get their turn and searches go on. Every writer enters its changes into an index from
//! the moment it is recorded; entries that were there before are entered step by step. So an entry may be entered
//! twice, which does no harm, and none is missed. Where the work stands is part of each step's transaction: whoever
//! ends it, by intent or by a crash, it goes on from there, in whichever process.

mod request;
mod status;
mod step;

pub use status::{IndexStatus, IndexWork};
pub use step::IndexProgress;

#[cfg(test)]
mod tests;
