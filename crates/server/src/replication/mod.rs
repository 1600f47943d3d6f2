//! Copies of other servers' databases: one thread for each `syncrepl`, with its connection.
//!
//! ```text
//!   runner   starts and ends threads as the newest configuration says
//!     `--> session   replica::Consumer <--messages-- outgoing::stream <-- provider
//!             |            `-- changes, gathered --> Directory::apply_content, one transaction
//!             `--> ReplicationStatus    for cn=Monitor and the command
//! ```
//!
//! `configuration` does the same for `cn=config`. Its entries gather in a `told_tree`. They come
//! into force as a whole.
//!
//! The threads block on their sockets. A server has few providers, and a commit waits for the disk
//! anyhow. So an event loop would save nothing.

mod configuration;
pub(crate) mod directory_source;
mod filling;
pub(crate) mod runner;
mod session;
mod told_tree;
