//! The driver of the sessions: one event loop per core, over mio.
//!
//! ```text
//!             accept                                hand out, least connections first
//!   clients ---------> acceptor (caller's thread) -----+----------+
//!                      signals                         v          v
//!                                                   worker 0   worker 1 ...   each has its own Poll,
//!                                                     |  ^       |  ^         connections, run queue
//!                            updates, slow passwords  v  |       v  |  responses, wake
//!                         writers (one per database)   hashing pool (few threads)
//! ```
//!
//! Workers share no memory that they write, so a read takes no lock. One acceptor distributes
//! connections to the workers. SO_REUSEPORT would distribute them by a hash, which often puts the
//! few connections of a small installation on one core.
//!
//! The updates of one round of turns are a batch. A worker applies a short batch itself if it has
//! to wait for no disk and no other writer (`updates`). All other updates go to the writer of their
//! database. It applies all updates that queued up while it was busy as one batch, with one sync to
//! disk. One more thread does the background work of the handler in small portions.

pub(crate) mod acceptor;
mod connection;
mod context;
pub(crate) mod descriptors;
pub(crate) mod error;
mod hashing;
mod inbox;
pub(crate) mod listener;
pub(crate) mod live_settings;
mod proxy_header;
mod run_queue;
pub(crate) mod server;
mod service_manager;
pub(crate) mod settings;
pub(crate) mod stop;
mod threads;
mod updates;
mod worker;
mod writer;
mod writers;
