//! A small LDAP client for the commands of administrators, tests and benchmarks.
//!
//! It blocks. Connections are `ldap://`, `ldaps://`, StartTLS and `ldapi://`. A result code other
//! than success is a value, not an error.
//!
//! ```text
//!   URL ---- open: socket, TLS
//!     |
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
//! It is not a general client library: no referral chasing, no reconnecting, no client
//! certificates.

#![forbid(unsafe_code)]

mod any_certificate;
mod client;
mod connect;
mod connection;
mod entry;
mod error;
pub mod health;
pub mod monitored;
pub mod names;
mod search;
mod socket;
mod tls;

pub use any_certificate::AnyCertificate;
pub use client::{Client, Reply};
pub use connect::ConnectOptions;
pub use connection::{Receiver, Sender};
pub use entry::{Entry, OwnedControl};
pub use error::ClientError;
pub use search::{SearchEnd, SearchOutcome, SearchStream};
pub use tls::TlsSettings;

pub use fulgurite_ldap::{
    Change, Control, Deref, LdapResult, LdapUrl, ModifyOperation, PartialAttribute, Request,
    Response, ResponseMessage, ResultCode, Scope, SearchRequest,
};
