//! The protocol between readers and writers under a model checker. The checker tries every order of
//! the threads' steps, and every value that the memory model lets a load see.
//!
//! ```text
//!   machine     words and threads of the checker; full fences
//!   weakness    ways in which the protocol could be wrong
//!   world       a lock file, two meta pages, some pages and a free list, all in memory; readers and writers on them
//!   pinning, entering, bonds, clearing, succession     models, with those that must fail
//! ```
//!
//! The models run [`SlotTable`] itself. Every model has weakened forms, in which one step is left
//! out or one order is relaxed. It asserts that the checker finds the fault: a model that cannot
//! fail proves nothing.

mod bonds;
mod clearing;
mod entering;
mod machine;
mod pinning;
mod succession;
mod weakness;
mod world;

use super::{Ownership, Slot, SlotOwner, SlotTable, WriterMark, may_be_reused};
