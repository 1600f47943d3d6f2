//! Listeners, connections, sessions and dispatch of the LDAP server.
//!
//! ```text
//!   sockets    driver    acceptor, workers, writer, hashing pool      the only part that does I/O
//!      |         |
//!   bytes     Session    frames, order, limits, log                   bytes in, bytes out; no clock
//!      |         |
//!   messages  Handler    what the directory has to offer              a trait, so that both sides can be
//!                |                                                    tested and measured alone
//!             Directory
//! ```
//!
//! The protocol of a connection is a state machine ([`Session`]) that knows neither sockets nor time.
//! [`Server`] drives sessions by an event loop per core; another driver needs nothing but the same
//! public methods (`bench/` has one, for comparison).
//!
//! This crate does not know what an entry is: requests go to a [`Handler`], as messages borrowed from
//! the read buffer, and responses come back as bytes in the write buffer.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod check;
mod config_tree;
mod convert;
mod descriptors;
mod directory;
mod driver;
mod error;
mod handler;
mod indexing;
mod listen;
mod live;
mod monitor;
mod open;
mod reload;
mod seed;
mod server;
mod service;
mod session;
mod settings;
mod socket;
mod statistics;
mod stop;
mod ticket;
mod tls;

pub use check::{CheckError, check_settings};
pub use descriptors::raise_descriptor_limit;
pub use error::ServerError;
pub use handler::{BindStep, ExtendedStep, Handler, Progress, RunningSearch};
pub use live::{Live, Reload};
pub use monitor::{Monitor, MonitoredDatabase, MonitoredKind};
pub use open::{OpenError, open_directory, schema, store_options};
pub use seed::SeedError;
pub use server::Server;
pub use service::{Service, ServiceError, ServiceOptions};
pub use session::{CheckId, Identities, Job, OperationLog, Session, SessionLimits, Turn};
pub use settings::{AddressFamilies, Hangup, ServerSettings};
pub use statistics::Statistics;
pub use stop::StopHandle;
pub use ticket::Ticket;
pub use tls::{CrlCheck, TlsError, TlsOptions, TlsVersion, VerifyClient};
