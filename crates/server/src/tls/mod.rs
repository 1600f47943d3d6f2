//! TLS on listeners and by StartTLS, by rustls.
//!
//! ```text
//!   files --load--> Loaded { ServerConfig, end-point hash } --new connection--> Layer --handshake--> TlsFacts
//!     ^                  ^
//!     |  changed?        | replaced as a whole; connections keep what they began with
//!     '--- Tls::refresh -'
//! ```

mod options;

pub use options::{CrlCheck, TlsOptions, TlsVersion, VerifyClient};
