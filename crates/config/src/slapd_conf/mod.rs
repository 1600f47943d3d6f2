//! Settings in the dialect of slapd.conf(5), read and refused as slapd does.
//!
//! ```text
//!   file --lines--> logical lines --tokens--> Statement --directives--> row of the table --> Layer
//!                   (continued, comments)                     ^
//!   cn=config directory: attribute and value -----------------'
//! ```
//!
//! Names, attribute types and access rules depend on the schema, so this reader does not check
//! them. The texts keep their lines for the messages of the crates that do.

pub(crate) mod berkeley;
mod builder;
mod directives;
mod lines;
mod reader;

pub(crate) use builder::LayerBuilder;
pub(crate) use directives::{KnownDirective, apply, directives, find, obey, refusal};
pub(crate) use lines::logical_lines;
