//! The content of a cluster's node on the store: the seam [`Content`](fulgurite_cluster::Content).
//!
//! ```text
//!   sequencer   requests -> op/ordered: one transaction, no commit -> recorder: records
//!                                                    |                        |
//!                                       end: the row of the end      the log takes the batch
//!                                                    '--------- commit -------'
//!   follower    batch -> replica: each record on the entry that it names -> end -> commit
//! ```
//!
//! The recorder compares each touched entry with the one before. So whatever has changed it, also a
//! bind or a feature, becomes a record. An update with effects that no record can tell is refused.
//! `replay` does operations byte by byte: a follower needs no matching rule, and decides nothing.

mod content;
mod end;
mod recorder;
mod replay;
mod replica;
mod requirements;
mod unsettled;
mod wire;

pub use content::{CheckpointRule, StoreContent};
pub use end::cluster_position;
pub use requirements::Unsuitable;
pub use wire::{OrderedReply, WireError};
