//! Password storage schemes: is this the password, and what shall a new one be stored as?
//!
//! ```text
//!   userPassword: {SSHA512}base64(digest, salt)      stored ──┐
//!                 {ARGON2}$argon2id$v=19$...                  ├──> verify ──> true / false
//!                 {CRYPT}$6$...                   password ──┘
//!                 in clear
//! ```
//!
//! Stored values have RFC 2307's notation: `{SCHEME}`, in any case, and the scheme's form of the
//! password. A value without a scheme is the password in clear. `{SCHEME}`, in any case, and the
//! scheme's form of the password. Digests are compared in constant time. A slow scheme states its
//! cost in advance ([`cost`]), so that the check can run on a thread of workers. Absurd costs are
//! refused ([`SchemeError::TooCostly`]), because a user who may write a password must not stop the
//! server with it.
//!
//! The crate also has the parts of SASL that need no entry. These are mechanisms and their messages
//! ([`Mechanism`], [`PlainMessage`], [`ClientFirst`]) and the demands on them
//! ([`SecurityProperties`]). Names of users before they are names of entries are here too
//! ([`AuthzRegexp`], [`AuthzId`], [`sasl_dn`]).
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
pub use properties::{PropertyError, SecurityProperties};
pub use scheme::{Cost, HashError, Scheme, SchemeError, cost, hash, hash_with};
pub use scram::{
    ChannelBinding, ClientFirst, ScramClient, ScramError, ScramHash, ScramKeys, ScramKeysError,
    ServerFirst, salt_for,
};
pub use verify::{clear_text, decoy, dummy_verify, kind, verify};
