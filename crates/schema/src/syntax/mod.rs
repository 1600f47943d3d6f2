//! Syntaxes: which bytes are a value (RFC 4517, section 3).
//!
//! `table.rs` has one row for each syntax, `grammar.rs` tests values. The other files hold the
//! tests of one family each.

mod authz;
mod grammar;
mod table;
mod text;
mod x500;

pub(crate) use grammar::{Binary, Kind};
pub use grammar::{InvalidSyntax, Syntax};
