//! Commands at a running server: the connection, names, answers, and the output.
//!
//! ```text
//!   flags --> login --> Client        server_url: the server without --url
//!                         |
//!   names: DNs, filters --+--> answer: a result as an error with a sentence
//!                         |
//!   root_dse: suffix -----+--> entries: found, made; kinds, membership
//!                         |
//!                         +--> printer: table, JSON, CSV, LDIF
//! ```

pub(crate) mod answer;
pub(crate) mod begin;
pub(crate) mod entries;
pub(crate) mod kinds;
pub(crate) mod login;
pub(crate) mod membership;
pub(crate) mod printer;
pub(crate) mod root_dse;
mod server_url;
