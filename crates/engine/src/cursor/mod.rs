//! Cursors: places in the order of a database.
//!
//! ```text
//!   Move  ->  CursorPosition (where, and how to get elsewhere)  <-  Cursor, PositionedCursor   over a snapshot
//!                                                      <-  WriteCursor            in a write transaction, from its
//!                                                          CursorTable, which keeps all cursors in step
//! ```

mod block;
mod descend_edge;
mod fast;
mod fast_seek;
mod fast_step;
mod moves;
mod position;
mod prefetch;
mod read;
mod saved;
mod sibling;
mod steps;
mod table;

pub use fast_step::{FastStep, StepUnit};
pub use moves::Move;
pub use position::CursorPosition;
pub use read::{Cursor, PositionedCursor};
pub use table::CursorId;
pub(crate) use table::{CursorSavepoint, CursorTable, DeletedRecord};

/// A key with its value, lent for `'t`.
pub type Record<'t> = (&'t [u8], &'t [u8]);
