//! The state that surrounds a nested transaction.

use super::trees::Trees;
use crate::cursor::CursorSavepoint;

/// What a write transaction knew, next to its pages, when a nested one began.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) trees: Trees,
    pub(super) cursors: CursorSavepoint,
}
