//! Cursors: places in the order of a database.

mod read;
mod write;

pub use read::Cursor;
pub use write::WriteCursor;

/// A key with its value, lent for `'t`.
pub type Record<'t> = (&'t [u8], &'t [u8]);
