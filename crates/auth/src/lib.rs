//! Password storage schemes: is this the password, and what shall a new one be stored as?
//!
//! ```text
//!   userPassword: {SSHA512}base64(digest, salt)      stored ──┐
//!                 {ARGON2}$argon2id$v=19$...                  ├──> verify ──> true / false
//!                 {CRYPT}$6$...                   password ──┘
//!                 in clear
//! ```
//!
//! Stored values have RFC 2307's notation, `{SCHEME}` (in any case) and what the scheme makes of the password; a
//! value without it is the password in clear. Digests are compared in constant time. What is slow on purpose says so
//! beforehand ([`cost`]), so that it can run where it stalls nobody, and what would be absurdly slow is refused
//! ([`SchemeError::TooCostly`]): whoever may write a password must not be able to stop the server with it.
//!
//! Not here: entries, access rules, SASL.

#![forbid(unsafe_code)]

mod crypt;
mod digest;
mod pbkdf2;
mod scheme;
mod verify;

pub use scheme::{Cost, HashError, Scheme, SchemeError, cost, hash};
pub use verify::{dummy_verify, verify};
