//! The consumer of a content synchronisation (RFC 4533), as a state machine without I/O.
//!
//! ```text
//!                 messages of the provider, the time
//!                            |
//!                            v
//!   Waiting -> Connecting -> Binding -> Refreshing -> Persisting      [`Consumer`]
//!      ^                        |            |             |
//!      '-------- lost ----------+------------+-------------'          pauses: [`retry`]
//!                            |
//!                            v
//!           bytes to send, changes of the content to store
//! ```
//!
//! It knows no sockets, no store and no clock. The driver connects, reads and writes, and stores
//! the changes in their order. A change of the state ([`ContentChange::Reached`]) is among them, so
//! what it covers is stored before it. The consumer begins each session at the state that the
//! driver says is stored.
//!
//! A deletion that only a set of UUIDs tells never moves the state, whatever cookie the set has.

#![forbid(unsafe_code)]

mod bind;
mod consumer;
mod cookie;
mod log_entry;
mod retry;
mod search;
mod trouble;
mod vector;

pub use bind::{Bind, BindSecrets};
pub use consumer::{Consumer, ConsumerStatus, Phase, Turn};
/// The changes that a consumer hands out.
pub use fulgurite_ldap::ContentChange;
pub use trouble::Trouble;
pub use vector::Vector;
