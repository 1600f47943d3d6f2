//! The seam to whoever orders the updates of a database, before its store sees them.

use std::fmt;

use crate::write::request::{WriteReply, WriteRequest};

/// The order of a cluster. All updates of its database go there, also those of binds. Nobody else
/// changes the store.
pub trait UpdateOrder: fmt::Debug + Send + Sync {
    /// Orders updates, and waits for their replies: one for each, in order. Threads call it that
    /// may wait.
    fn order(&self, requests: &[WriteRequest]) -> Vec<WriteReply>;
}
