//! SCRAM, both sides (RFC 5802, RFC 7677). Client and server prove to each other that they
//! know the password, and neither sends it.
//!
//! ```text
//!   client                                     server
//!   n,,n=ada,r=abc                -- first -->  ClientFirst::parse
//!                                 <----------  r=abcXYZ,s=<salt>,i=<iterations>     ServerFirst
//!   c=biws,r=abcXYZ,p=<proof>     -- final ->  ServerFirst::verify(keys)
//!                                 <----------  v=<the server's own proof>
//! ```
//!
//! With `-PLUS` the proof covers data that is unique to the TLS layer. An attacker in the middle
//! cannot pass it on.

mod client;
mod exchange;
mod keys;

pub use client::ScramClient;
pub use exchange::{ChannelBinding, ClientFirst, ScramError, ServerFirst};
pub use keys::{ScramHash, ScramKeys, ScramKeysError, salt_for};
