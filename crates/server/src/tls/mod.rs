//! TLS on listeners and by StartTLS, by rustls.
//!
//! ```text
//!   files --load--> TlsContext --new connection--> TlsLayer --handshake--> TlsFacts
//!     ^                  ^
//!     |  changed?        | replaced as a whole; connections keep what they began with
//!     '--- Tls::refresh -'
//! ```

pub(crate) mod authorities;
pub(crate) mod certificate;
pub(crate) mod certificate_watch;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod failure;
mod files;
pub(crate) mod layer;
pub(crate) mod reload;
mod suites;
mod verifier;
