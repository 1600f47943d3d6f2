//! The protocol of one connection, free of I/O: bytes in, bytes out.
//!
//! - `protocol`: the state machine of a connection, [`Session`](protocol::Session)
//! - `operations`: the operations that have begun and are not answered yet
//! - `input`, `output`: bytes from the client, cut into PDUs, and bytes to the client
//! - `class`: the order that requests of one connection must keep
//! - `job`, `cancel_token`: work for other threads, and how a session takes an update back
//! - `limits`, `quota`: bounds of one connection, and of all connections of one identity
//! - `bind_delays`: late answers after failed binds
//! - `log`: one line per operation
//! - `handler`: the port to the directory that answers requests

pub(crate) mod bind_delays;
pub(crate) mod cancel_token;
mod class;
pub(crate) mod handler;
mod input;
pub(crate) mod job;
mod last_code;
pub(crate) mod limits;
pub(crate) mod log;
mod operations;
mod output;
pub(crate) mod protocol;
pub(crate) mod quota;
