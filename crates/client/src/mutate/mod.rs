//! Damaged messages, for tests of whoever has to survive them.
//!
//! [`corpus`] holds a valid message of every kind, [`Mutator`] damages them by a seed, and
//! [`fuzz_server`] sends the result to a running server and asks whether it still answers. The same
//! seed gives the same messages on every machine, so a finding can be told by two numbers.

mod corpus;
mod fuzz;
mod mutator;
mod random;
mod tree;

pub use corpus::{corpus, deep_filter, nested_sequences};
pub use fuzz::{FuzzReport, fuzz_server, fuzz_server_as};
pub use mutator::Mutator;
