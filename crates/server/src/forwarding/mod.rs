//! Updates of copies that other servers make (`overlay chain`).
//!
//! ```text
//!   client --update--> Live::apply on the thread of the copy --> Forwarders --> connection --> provider
//!   client <--result-- once the copy has the change  <-------------------------- result <------'
//! ```
//!
//! Each copy has one thread and one connection, which carries many updates at once.

mod connection;
mod forwarder;

pub(crate) use forwarder::Forwarders;
