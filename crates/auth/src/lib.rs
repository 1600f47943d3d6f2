//! Password storage schemes: is this the password, and what shall a new one be stored as?
//!
//! ```text
//!   userPassword: {SSHA512}base64(digest, salt)      stored ──┐
//!                 {ARGON2}$argon2id$v=19$...                  ├──> verify ──> true / false
//!                 {CRYPT}$6$...                   password ──┘
//!                 in clear
//! ```
//!
//! Stored values have RFC 2307's notation, `{SCHEME}` (in any case) and what the scheme makes of
//! the password; a value without it is the password in clear. Digests are compared in constant
//! time. What is slow on purpose says so beforehand ([`cost`]), so that it can run where it stalls
//! nobody, and what would be absurdly slow is refused ([`SchemeError::TooCostly`]): whoever may
//! write a password must not be able to stop the server with it.
//!
//! Beside that, what needs no entry of SASL: the mechanisms and their messages ([`Mechanism`],
//! [`PlainMessage`], [`ClientFirst`]), what is demanded of them ([`SecurityProperties`]), and the
//! names of people before they are names of entries ([`AuthzRegexp`], [`AuthzId`], [`sasl_dn`]).
//!
//! Not here: entries, access rules, connections.

#![forbid(unsafe_code)]

mod crypt;
mod des_crypt;
mod digest;
mod foreign;
mod identity;
mod mechanism;
mod pbkdf2;
mod properties;
mod scheme;
mod scram;
mod verify;

pub use fulgurite_policy::AuthzPolicy;
pub use identity::{AuthzId, AuthzRegexp, AuthzRegexpError, sasl_dn};
pub use mechanism::{Mechanism, PlainMessage};
pub use properties::{SecurityProperties, Unmet};
pub use scheme::{Cost, HashError, Scheme, SchemeError, cost, hash, hash_with};
pub use scram::{
    ChannelBinding, ClientFirst, ScramError, ScramHash, ScramKeys, ScramKeysError, ServerFirst,
    salt_for,
};
pub use verify::{clear_text, decoy, dummy_verify, kind, verify};
