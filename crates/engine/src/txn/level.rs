//! The state that surrounds a nested transaction.

use super::trees::Trees;
use crate::cursor::CursorSavepoint;

/// The state of a write transaction, other than its pages, when a nested one began.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) trees: Trees,
    pub(super) cursors: CursorSavepoint,
}
