//! Sockets and threads.
//!
//! ```text
//!   clients --> server (accepts) --> worker 0, worker 1, ...     each has its Poll and connections
//!                                      |  ^
//!                       sessions that  v  |  and come back after the commit
//!                            write   writer (a thread, unless durability is none)
//!                                      |
//!   sweeper (a thread) -----------> commit: one transaction for several sessions
//! ```
//!
//! A worker serves all connections that are ready, and collects the sessions that have to write. At
//! the end of the turn they go into one transaction. The worker commits it if no disk has to be
//! waited for. Otherwise the sessions move to the writer. It commits all that came while it was
//! busy, and the worker goes on with other connections.

mod commit;
mod connection;
mod listener;
mod messages;
pub(crate) mod server;
mod sweeper;
mod tls;
mod worker;
mod writer;
