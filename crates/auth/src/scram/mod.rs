//! SCRAM, the server's side (RFC 5802, RFC 7677): the client proves that it knows the password, and
//! so does the server, and neither sends it.
//!
//! ```text
//!   client                                     server
//!   n,,n=ada,r=abc                -- first -->  ClientFirst::parse
//!                                 <----------  r=abcXYZ,s=<salt>,i=<iterations>     ServerFirst
//!   c=biws,r=abcXYZ,p=<proof>     -- final ->  ServerFirst::verify(keys)
//!                                 <----------  v=<the server's own proof>
//! ```
//!
//! With `-PLUS` the proof covers what is peculiar to the TLS layer, so that nobody in the middle
//! can pass it on.

mod exchange;
mod keys;

pub use exchange::{ChannelBinding, ClientFirst, ScramError, ServerFirst};
pub use keys::{ScramHash, ScramKeys, ScramKeysError, salt_for};
