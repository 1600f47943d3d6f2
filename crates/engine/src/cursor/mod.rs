//! Cursors: positions in the order of a database.
//!
//! ```text
//!   Move  ->  CursorPosition  <-  Cursor, PositionedCursor     over a snapshot
//!             | steps, block, saved      the slow path: every move, every error
//!             | fast_step, fast_seek,    the fast path: common moves of a read transaction
//!             |   descend_edge, prefetch
//!             '-- fast, sibling          its state, and the leaf next to a leaf
//!   CursorTable                          all cursors of a write transaction, kept in step with it
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
