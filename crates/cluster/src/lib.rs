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
//! This crate knows no sockets, no store and no clock. The server does not use it yet:
//! `docs/cluster.md` says how far the cluster has come.

#![forbid(unsafe_code)]

mod batch;
mod values;

pub use batch::{
    BATCH_BYTES_MAX, Batch, INLINE_VALUE_BYTES_MAX, Malformed, Operation, Operator, Record,
    RecordKind, Renaming, TooLong, VERSION_NEWEST, Value, digest, seal,
};
pub use values::{BatchId, Csn, Digest, Epoch, Head, NodeId, Position};
