//! Cursors: places in the order of a database.
//!
//! ```text
//!   Move  ->  Place (where, and how to get elsewhere)  <-  Cursor, PlacedCursor   over a snapshot
//!                                                      <-  WriteCursor            in a write transaction, from its
//!                                                          CursorTable, which keeps all cursors in step
//! ```

mod ahead;
mod block;
mod entrance;
mod leap;
mod moves;
mod parked;
mod place;
mod read;
mod steps;
mod stride;
mod table;
mod write;

pub use moves::Move;
pub use place::Place;
pub use read::{Cursor, PlacedCursor};
pub use stride::{Among, Stride};
pub use table::CursorId;
pub(crate) use table::{CursorTable, Gone, SavedCursors};
pub use write::WriteCursor;

/// A key with its value, lent for `'t`.
pub type Record<'t> = (&'t [u8], &'t [u8]);
