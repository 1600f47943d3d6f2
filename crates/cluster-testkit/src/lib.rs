//! A model of a node's store, and the checker of a cluster's promises. Only tests use them.
//!
//! ```text
//!   the simulator, in one thread on a model of etcd --.
//!                                                      +--> Store: the content of a node
//!   the tests of the driver, on a real etcd ----------'     Checker: what clients have seen
//! ```

#![forbid(unsafe_code)]

mod checker;
mod store;

pub use checker::{Checker, check_requests};
pub use store::{Entries, Store, StoredEntry, Update, effect, record};
