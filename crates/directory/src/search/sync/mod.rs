//! The provider of content synchronisation (RFC 4533): searches that bring a consumer up to date,
//! and then go on.
//!
//! ```text
//!   cookie: the consumer's vector
//!     |-- covered by the log ----> log refresh:   each entry changed since, as it is now
//!     |-- deletions remembered --> index refresh: each deletion, and each entry with a later number
//!     `-- none, too old ---------> full refresh:  every entry, or only its UUID if it is unchanged
//!                                       |
//!                          mode 1: done |  mode 3: persist stage, woken after commits
//! ```
//!
//! A search in the persist stage has no queue. It is a position in the store's log of changes, and
//! pins no snapshot while it waits. A log refresh and the persist stage work alike. Both read a
//! *batch* of records, and send one message for each changed entry, about its newest state.
//!
//! ```text
//! start      from the request to a stage        run      the stages, one bounded step at a time
//! cookie     vectors as text                    batch    the changed entries, and their order
//! content    what the consumer asked for        send     one changed entry as messages
//! entries    entries of a full refresh
//! peer       facts for servers like this one
//! rearrange    a batch in which names moved, for a part of the tree
//! kinship      the entries that move together
//! name_tree    the names that new and renamed entries have, at one point of the log
//! glued        several databases as one content
//! following    any of the searches of a consumer
//! log_content  the records of a log of changes, for a consumer that repeats operations
//! tree_content the entries of the configuration
//! ```

mod batch;
pub(crate) mod content;
mod cookie;
pub(crate) mod entries;
pub(crate) mod following;
pub(crate) mod glued;
mod kinship;
pub(crate) mod log_content;
mod name_tree;
mod peer;
mod rearrange;
pub(crate) mod run;
mod send;
pub(crate) mod start;
pub(crate) mod tree_content;
