//! Damaged LDAP messages for decoders and servers.
//!
//! [`corpus`] returns a valid message of every kind. [`Mutator`] damages messages by a seed.
//! [`fuzz_server`] sends them to a running server and then checks that it still answers. The same
//! seed gives the same messages on every machine, so two numbers describe a finding.

mod corpus;
mod fuzz;
mod mutator;
mod tree;

pub use corpus::{corpus, deep_filter, nested_sequences};
pub use fuzz::{FuzzReport, fuzz_server, fuzz_server_as};
pub use mutator::Mutator;
