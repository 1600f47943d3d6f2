//! The items in their environment.
//!
//! ```text
//!   items    key                      -> cas, flags, expiry, time of storing, state, value
//!   expiry   time of expiry, key      -> (nothing)           items that expire, the next one first
//!   facts    "cas", "flushed", ...    -> numbers
//!
//!   changes   what commands do to items in a transaction
//!   sweep     expired and flushed items, in small batches
//!   evict     room for new items: a clock hand over the keys
//!   recency   the last use of items, in memory: a hit writes nothing to the environment
//! ```

pub(crate) mod changes;
mod evict;
pub(crate) mod item;
mod open;
pub(crate) mod recency;
mod sweep;
mod walks;

pub(crate) use open::Cache;
