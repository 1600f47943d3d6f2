//! The driver under the sessions: an event loop per core over mio.
//!
//! ```text
//!              accept                     hand over, least connections first
//!   clients ----------> acceptor (caller's thread, signals) -----+---------+
//!                                                                v         v
//!                                                            worker 0   worker 1  ...   each: its own Poll,
//!                                                              |  ^       |  ^                connections, ready queue
//!                                     updates, slow passwords  v  |       v  |  responses + wake
//!                                             writer (one thread)   hashing pool (few threads)
//! ```
//!
//! Workers share nothing they write to: no lock lies on the way of a read. One acceptor hands
//! connections out, rather than SO_REUSEPORT, which places them by a hash and so puts the four
//! connections of a small installation on one core as likely as not.
//!
//! What a round of turns brings of updates is a batch. A worker applies it itself where that takes no longer than as many
//! searches (`updates`): no disk, no other writer to wait for. All others meet in one channel. The writer takes all that
//! have queued up while it was busy and applies them as one batch, so that one sync to disk serves them all. One more
//! thread does what the handler has to do beside requests, in small portions.

pub(crate) mod acceptor;
mod connection;
mod context;
pub(crate) mod descriptors;
pub(crate) mod error;
mod hashing;
mod inbox;
mod listener;
mod run_queue;
pub(crate) mod server;
pub(crate) mod settings;
mod socket;
pub(crate) mod stop;
mod threads;
mod updates;
mod worker;
mod writer;
