//! A small LDAP client for tests, benchmarks and demonstrations.
//!
//! It blocks and uses plain TCP. A result code other than success is a value, not an error.
//!
//! ```text
//!   Client ---- bind, search, add, modify ... : one request, its response
//!     |
//!     +-- Sender    send, send_raw     : requests, as fast as the server takes them
//!     +-- Receiver  receive            : responses, in the order they arrive
//! ```
//!
//! ```no_run
//! use fulgurite_client::{Client, Scope};
//!
//! let mut client = Client::connect("127.0.0.1:3890")?;
//! client.bind("cn=admin,dc=example,dc=com", b"secret")?;
//! let found = client.search("dc=example,dc=com", Scope::Subtree, "(uid=ada)", &["mail"])?;
//! for entry in &found.entries {
//!     println!("{}: {:?}", entry.dn, entry.first("mail"));
//! }
//! # Ok::<(), fulgurite_client::ClientError>(())
//! ```
//!
//! It is not a general client library: no TLS, no referral chasing, no reconnecting.

#![forbid(unsafe_code)]

mod client;
mod connection;
mod entry;
mod error;
mod search;

pub use client::{Client, Reply};
pub use connection::{Receiver, Sender};
pub use entry::{Entry, OwnedControl};
pub use error::ClientError;
pub use search::{SearchOutcome, SearchStream};

pub use fulgurite_ldap::{
    Change, Control, Deref, LdapResult, PartialAttribute, Request, Response, ResponseMessage,
    ResultCode, Scope, SearchRequest,
};
