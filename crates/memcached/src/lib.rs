//! A memcached server whose cache is an environment of the engine.
//!
//! ```text
//!   net       listeners, TLS, one event loop per thread, the writer         all I/O with clients
//!    |
//!   command   sessions: bytes in, commands run, bytes out                   no sockets
//!    |
//!   cache     items in two databases: by key, by time of expiry             all use of the engine
//! ```
//!
//! Arrows point downward only. A [`Server`] answers the classic text commands and the meta commands
//! of memcached 1.6. Reads take no lock and come from the map. Writes of one turn of an event loop
//! are one transaction. With [`Durability::None`] the event loop commits it. Otherwise a writer
//! thread does, and an answer leaves after its commit is durable.
//!
//! The cache survives the end of the process. A restarted server answers from it at once. Other
//! programs may read, copy and compact the environment meanwhile.
//!
//! UDP and the binary protocol are left out. A client of the binary protocol gets a refusal in that
//! protocol.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod cache;
mod command;
mod error;
mod net;
mod options;
mod statistics;

pub use error::ServeError;
pub use net::server::{Server, StopHandle};
pub use options::{Address, Durability, Options, Tls};
