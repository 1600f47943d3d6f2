//! The threads of a cluster's node.
//!
//! ```text
//!   LDAP workers --Handle: update, read--.
//!   other nodes --Handle: forwarded -----+--> inbox --> Driver: one thread, a tick each 100 ms
//!   Askers: answers of the log ----------'               |  owns Node, and with it the content
//!      ^                                                 |
//!      '---- questions, in four lanes -------------------+--> Peers: updates, outcomes, copies
//! ```
//!
//! [`Driver`] calls the loop of a node, [`Node`](fulgurite_cluster::Node), and fulfils its wishes.
//! The content never leaves its thread, so it may borrow from it.
//!
//! A client waits at [`Handle`] with a deadline. Each update has one outcome, also if the thread
//! ends or panics. A read waits here for its state only; the client then reads the store itself.
//!
//! # Limits
//! This crate knows the log by [`ChangeLog`](fulgurite_cluster::ChangeLog), the store by
//! [`Content`](fulgurite_cluster::Content), and other nodes by [`Peers`].

#![forbid(unsafe_code)]

mod askers;
mod driver;
mod handle;
mod inbox;
mod peers;
mod settings;
mod status;
mod waiters;

pub use askers::Askers;
pub use driver::Driver;
pub use handle::{Freshness, Handle};
pub use peers::{CopyProgress, Peers};
pub use settings::{Clock, DriverSettings, system_clock};
pub use status::{AnswerFigures, DriverStatus};
