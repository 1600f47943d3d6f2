//! Updates and their answers as bytes, for their way between the nodes of a cluster.
//!
//! ```text
//!   node of the client   WriteRequest --request--> bytes --peers--> bytes --> WriteRequest   sequencer
//!                        WriteReply   <--reply---- bytes <--peers-- bytes <-- WriteReply
//! ```
//! An update goes with its session: names, method, strengths and addresses, which access rules ask
//! for. A password modify goes with the hashes that its node has made. A verdict about a bind and
//! the end of a restriction come back with the reply.

mod bytes;
mod reply;
mod request;
mod session;
#[cfg(test)]
mod tests;

pub use bytes::WireError;
pub use reply::OrderedReply;
