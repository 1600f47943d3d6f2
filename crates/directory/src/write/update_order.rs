//! The seam to whoever orders the updates of a database, before its store sees them.

use std::fmt;
use std::sync::Arc;

use fulgurite_schema::Schema;

use crate::write::request::{WriteReply, WriteRequest};

/// The order of a cluster. All updates of its database go there, also those of binds. Nobody else
/// changes the store.
pub trait UpdateOrder: fmt::Debug + Send + Sync {
    /// Orders updates of a directory, and waits for their replies: one for each, in order. Threads
    /// call it that may wait.
    fn order(&self, directory: &dyn OrderedDirectory, requests: &[WriteRequest])
    -> Vec<WriteReply>;
}

/// The directory whose updates a cluster orders.
pub trait OrderedDirectory {
    /// Returns the schema of its names.
    fn schema(&self) -> &Arc<Schema>;

    /// Returns the reply to an update that the cluster has not settled.
    fn unsettled(&self, request: &WriteRequest, outcome: Unsettled) -> WriteReply;
}

/// The outcome of an update that has no answer of its sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Nothing was done, for certain.
    Busy,
    /// Nothing was done, for certain: the effects of this update fit no batch.
    TooLong,
    /// Nothing was done, for certain: the sequencer cannot read this update.
    Unread,
    /// The log has it with this code of its result. The sequencer's answer is lost.
    Recorded(u32),
    /// Perhaps it is done, perhaps not.
    Unknown,
}
