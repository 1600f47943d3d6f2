//! Tools for the administrator of an environment: what `fulgurite check` and `fulgurite env` do.
//!
//! What this crate is not: it has no command line (the `cli` crate has) and no storage logic (the engine has). Each tool
//! takes typed options and a writer for its text.

#![forbid(unsafe_code)]

mod error;
mod open;
mod stat;

pub use error::ToolError;
pub use open::{open_read_only, options_for};
pub use stat::stat;
