//! Sockets, listeners and TLS, for the event loops of the servers.
//!
//! ```text
//!   ListeningSocket --accept--> Socket        TCP or Unix behind one type
//!   pem --> rustls::ServerConfig --> TlsStream    bytes of a socket on one side, plain ones on the other
//! ```
//!
//! All sockets are nonblocking sources of mio. The crate has no event loop, knows no protocol above
//! TLS, and reads no settings.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

mod listening;
pub mod pem;
mod socket;
mod tls;

pub use listening::{BufferSizes, ListeningSocket};
pub use socket::{Credentials, Socket};
pub use tls::TlsStream;
