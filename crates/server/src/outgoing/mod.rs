//! Connections to other servers: the address, the socket and its options, TLS, whole messages.

mod client_tls;
pub(crate) mod connect;
pub(crate) mod stream;
