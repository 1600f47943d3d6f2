//! The core of a cluster on an ordered log, as values without I/O.
//!
//! ```text
//!   one sequencer: updates -> batch of effects -> append to the log -> commit -> answers
//!                                                      |
//!   all other nodes:                  read the log in order -> apply
//! ```
//!
//! The log is the order of changes. One node at a time writes it, and every node applies it. A
//! record holds the effects of an update, so a node that applies it decides nothing.
//!
//! [`Node`] is the loop of a node. Time, messages and answers of the log come in. Questions and
//! answers go out. [`ChangeLog`] is the log, [`Content`] is the store.
//!
//! This crate knows no sockets, no store and no clock.

#![forbid(unsafe_code)]

mod alone;
mod batch;
mod follower;
mod lease;
mod log;
mod node;
mod parts;
mod rules;
mod sequencer;
mod values;

pub use alone::Alone;

pub use batch::{
    BATCH_BYTES_MAX, Batch, INLINE_VALUE_BYTES_MAX, LONG_BATCH_BYTES_MAX, Malformed, Operation,
    Operator, Record, RecordKind, Renaming, RequestMark, TooLong, VERSION_NEWEST, VERSION_OLDEST,
    Value, digest, seal,
};
pub use follower::{Divergence, Follower, Received};
pub use lease::Lease;
pub use log::{
    AppendOutcome, ChangeLog, Leadership, LeaseId, NodeState, ReadOutcome, Refusal, Unavailable,
};
pub use node::{
    Content, Effects, EndUse, Forwarded, LogAnswer, LogKeep, Node, NodeSettings, Outcome, Output,
    Question, Time,
};
pub use parts::PartList;
pub use rules::{Start, TrimFacts, is_too_far_ahead, start_from, trim_upto, version_to_write};
pub use sequencer::{Draft, Sequencer, Todo};
pub use values::{BatchId, Csn, Digest, Epoch, Head, NodeId, Position};
