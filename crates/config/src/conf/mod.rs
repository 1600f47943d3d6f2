//! Settings in the dialect of slapd.conf(5), understood as slapd understands it and refused in its words.
//!
//! ```text
//!   file --lines--> logical lines --words--> Statement --table--> Directive --> Layer
//!                   (continued, comments)                 ^
//!   cn=config directory: attribute and value -------------'
//! ```
//!
//! Whatever depends on the schema (names, attribute types, access rules) is not looked at here; those texts keep their
//! lines, so that whoever does look can name them.

mod database;
mod directive;
mod global;
mod lines;
mod mdb;
mod reader;
mod table;
mod tls;

pub(crate) use directive::{Directive, Kind, Scope};
pub(crate) use lines::logical_lines;
pub(crate) use reader::{Reader, Section, Statement};
pub(crate) use table::{DIRECTIVES, find};
