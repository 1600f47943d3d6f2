//! Cursors: places in the order of a database.
//!
//! ```text
//!   Move  ->  CursorPosition (where, and how to get elsewhere)  <-  Cursor, PositionedCursor   over a snapshot
//!                                                      <-  WriteCursor            in a write transaction, from its
//!                                                          CursorTable, which keeps all cursors in step
//! ```

mod prefetch;
mod block;
mod descend_edge;
mod fast;
mod fast_seek;
mod moves;
mod saved;
mod sibling;
mod position;
mod read;
mod steps;
mod fast_step;
mod table;
mod write;

pub use moves::Move;
pub use position::CursorPosition;
pub use read::{Cursor, PositionedCursor};
pub use fast_step::{StepUnit, FastStep};
pub use table::CursorId;
pub(crate) use table::{CursorTable, DeletedRecord, CursorSavepoint};
pub use write::WriteCursor;

/// A key with its value, lent for `'t`.
pub type Record<'t> = (&'t [u8], &'t [u8]);
